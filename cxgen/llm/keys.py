"""The key: where it comes from, and that it gets nowhere."""

from __future__ import annotations

import os
import re
from typing import Final

from cxgen.errors import CxgenError

KEY: Final = "OPENAI_API_KEY"
_UNSENT = ("localhost", "127.0.0.1", "[::1]")
_SHORT = 6  # shorter ones ("none", "EMPTY") stand for no key, and are words


def api_key(base_url: str | None) -> str:
    """The key from the environment; a server on this machine needs none.

    Raises:
        CxgenError: there is none, or it cannot stand in a header.
    """
    key = os.environ.get(KEY, "").strip()
    if key and not (key.isascii() and key.isprintable()):
        raise CxgenError(f"{KEY} is no key: it holds a line break or a character that is not ASCII", hint="copy it again")
    if key:
        return key
    if base_url and any(f"//{name}" in base_url for name in _UNSENT):
        return "none"
    raise CxgenError(f"no API key: {KEY} is not set", hint=f"export {KEY}=... (any text for a server that needs none)")


def redacted(text: str) -> str:
    """``text`` without the key: a server may quote what it was sent."""
    key = os.environ.get(KEY, "").strip()
    if len(key) < _SHORT or key.lower() not in text.lower():
        return text
    return re.sub(re.escape(key), "[key]", text, flags=re.IGNORECASE)
