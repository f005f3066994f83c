"""Releases: the folder that the Hugging Face Hub shows, its card, the gates before it, and the one commit that publishes it."""

from cxgen.build.content import content_hash, rows_hash
from cxgen.publish.card import card_metadata, render_card
from cxgen.publish.features import features, num_bytes

__all__ = ["card_metadata", "content_hash", "features", "num_bytes", "render_card", "rows_hash"]
