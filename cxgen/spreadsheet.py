"""Texts for spreadsheets. Imports nothing of cxgen."""

from typing import Any

# What the common programs take for the start of a formula, the wide forms included; they skip blanks before it.
_STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def as_text(value: Any) -> Any:
    """``value``; if it is a text that a spreadsheet would run as a formula, marked as text by an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value.lstrip().startswith(_STARTS) else value
