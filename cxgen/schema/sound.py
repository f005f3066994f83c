"""What is shipped and was found sound when it was put together: reading it needs no second look.

A fifth of a preview's time went into checks of files that had not changed since. ``sound.json`` has the addresses of their contents;
whatever differs by one character is checked in full. `make generated` writes it, after checking everything.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib import resources


def address(content: str | bytes, rule: str) -> str:
    """Of contents that keep ``rule``: 32 hexadecimal digits of BLAKE2b."""
    data = content.encode() if isinstance(content, str) else content
    return hashlib.blake2b(data, digest_size=16, person=hashlib.blake2b(rule.encode(), digest_size=16).digest()).hexdigest()


def known_sound(content: str | bytes, rule: str) -> bool:
    """Whether these very contents are shipped, and were found to keep ``rule``."""
    return address(content, rule) in _known()


@cache
def _known() -> frozenset[str]:
    return frozenset(json.loads((resources.files(__package__) / "sound.json").read_text("utf-8")))
