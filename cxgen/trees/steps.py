"""How long a regular expression may take, told from its parts: Python's engine tries every way of matching, and stops for nobody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from math import inf, prod
from typing import Any, Final

MOST_LETTERS: Final = 30  # of a word that is matched; no English one has more
MOST_STEPS: Final = 100_000
_MOST_LENGTH: Final = 300
# The parser of `re` has no public name; what it gives has been the same since Python 3.11.
_parser: Any = import_module("re._parser")


def regexes(value: Any) -> Iterator[str]:
    """Every regular expression in a pattern, or a part of one."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "REGEX" and isinstance(inner, str):
                yield inner
            else:
                yield from regexes(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from regexes(inner)


def cost(regex: str) -> float:
    """Ways, at most, in which ``regex`` is tried on a word of `MOST_LETTERS` letters.

    Raises:
        re.error: it is none.
    """
    if len(regex) > _MOST_LENGTH:
        return inf
    re.compile(regex)
    parts = list(_parser.parse(regex))
    anchored = bool(parts) and str(parts[0][0]) == "AT" and "BEGINNING" in str(parts[0][1])
    return _ways(parts) * (1 if anchored else MOST_LETTERS)


def _ways(parts: Any) -> float:
    return prod(_ways_of(str(name), value) for name, value in parts)


def _ways_of(name: str, value: Any) -> float:
    if name.endswith("_REPEAT"):
        least, most, inner = value
        each = _ways(inner)
        # What can itself be matched in several ways may be so at each turn: ways without end.
        return inf if each > 1 and most > 1 else each * (min(most, MOST_LETTERS) - min(least, MOST_LETTERS) + 1)
    if name == "BRANCH":
        return sum(map(_ways, value[1]))
    if name in {"SUBPATTERN", "ATOMIC_GROUP", "ASSERT", "ASSERT_NOT"}:
        return _ways(value if name == "ATOMIC_GROUP" else value[-1])
    if name == "GROUPREF_EXISTS":
        return inf
    return MOST_LETTERS if name == "GROUPREF" else 1
