"""Sentence patterns: literal text with ``{slot}``, ``{slot:form}``, ``{slot:form=relation}`` and ``{@binding}``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

_FIELD = re.compile(r"\{(@?)([a-z][a-z0-9_-]*)((?::([a-z-]+))?(?:=([a-z]+(?::[a-z]+)?(?:>(?:[A-Z]+|[a-z][a-z-]*))?))?)\}")
_DEPTH = 5
_LONGEST = 10_000  # characters, bindings replaced: a chain of them may grow without end


@dataclass(frozen=True)
class Part:
    """A piece of a pattern: literal ``text``, or the ``form`` of what fills ``slot`` and, if stated, its relation in the tree."""

    text: str = ""
    slot: str = ""
    form: str = ""
    deprel: str = ""


def parse_pattern(pattern: str, bindings: Mapping[str, str] | None = None) -> tuple[Part, ...]:
    """Split ``pattern`` into parts, bindings replaced by what they stand for.

    ``{@verb:past}`` is the ``past`` form of the slot that the premise kind binds to ``verb``; ``{@path}`` is the kind's text ``path``;
    ``{recipient=iobj}`` states what the filler is in the tree.

    Raises:
        KeyError: a binding that is not given; its argument is the name.
        ValueError: braces that do not form a field, or a pattern that grows too long.
    """
    return _parsed(pattern, tuple((bindings or {}).items()))


@lru_cache(10_000)  # a construction's patterns are asked for set by set
def _parsed(pattern: str, bound: tuple[tuple[str, str], ...]) -> tuple[Part, ...]:
    bindings, expanded = dict(bound), pattern
    for _ in range(_DEPTH):
        _bounded(expanded)
        replaced = _FIELD.sub(lambda match: _bind(match, bindings), expanded)
        if replaced == expanded:
            break
        expanded = replaced
    _bounded(expanded)
    parts: list[Part] = []
    end = 0
    for match in _FIELD.finditer(expanded):
        if match.start() > end:
            parts.append(Part(text=expanded[end : match.start()]))
        parts.append(Part(slot=match[2], form=match[4] or "", deprel=match[5] or ""))
        end = match.end()
    if end < len(expanded):
        parts.append(Part(text=expanded[end:]))
    stray = next((part.text for part in parts if "{" in part.text or "}" in part.text), None)
    if stray is not None:
        raise ValueError(f"stray brace in {stray!r}")
    return tuple(parts)


def _bounded(pattern: str) -> None:
    if len(pattern) > _LONGEST:
        raise ValueError(f"a pattern of more than {_LONGEST} characters, bindings replaced")


def _bind(match: re.Match[str], bindings: Mapping[str, str]) -> str:
    if not match[1]:
        return match[0]
    value = bindings[match[2]]
    return f"{{{value}{match[3]}}}" if match[3] else value
