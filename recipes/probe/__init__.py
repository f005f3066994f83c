"""A linear probe per layer: see README.md."""
