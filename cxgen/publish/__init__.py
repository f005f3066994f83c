"""Releases: the folder that the Hugging Face Hub shows, its card, the gates before it, and the one commit that publishes it."""
