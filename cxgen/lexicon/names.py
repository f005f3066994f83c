"""Errors about words and classes that the lexicon does not have."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

from cxgen.errors import UnknownNameError
from cxgen.lexicon.sources import lemma_of

if TYPE_CHECKING:
    from cxgen.lexicon.snapshot import Lexicon

_ALIKE = 0.7


def near(name: str, names: Iterable[str], most: int = 5) -> list[str]:
    """The ``names`` nearest to ``name``, best first: alike as a whole, or in their parts between hyphens (books, cm-books)."""
    parts = name.lower().split("-")
    scores: dict[str, float] = {}
    for other in names:
        found = [max(_ratio(part, one) for one in other.lower().split("-")) for part in parts]
        scores[other] = max(_ratio(name.lower(), other.lower()), sum(found) / len(found) - 0.05)
    good = [other for other, score in scores.items() if score >= _ALIKE]
    return sorted(good, key=lambda other: (-scores[other], len(other), other))[:most]


def _ratio(one: str, other: str) -> float:
    if min(len(one), len(other)) * 2 < _ALIKE * (len(one) + len(other)):
        return 0.0  # too different in length to be alike
    return SequenceMatcher(None, one, other).ratio()


def missing(lexicon: Lexicon, name: str, file: Path | None = None, line: int | None = None) -> UnknownNameError:
    """The error about ``name``, a class name or the key of a lexeme, which ``lexicon`` does not have."""
    lemma, pos = lemma_of(name)
    if pos in {"phrase", "name"}:
        return UnknownNameError(f"{name} is not in the lexicon", file=file, line=line, hint=f'add {{text: "{lemma}"}} to a class')
    if pos:
        known = _keys(lexicon, lemma, pos)
        sense = "" if name.startswith("own:") else f', sense: "{name}"'
        hint = f"add {{lemma: {lemma}{sense}}} to the members of a class of {pos}s"
        hint += f"; the lexicon has {', '.join(known)}" if known else ""
        return UnknownNameError(
            f"{lemma} ({pos}) is not in the lexicon: add it under classes: in this file", file=file, line=line, hint=hint
        )
    known = _keys(lexicon, name)
    if known:
        return UnknownNameError(f"{name!r} is a word, not a word class", file=file, line=line, hint=f"write {' or '.join(known)}")
    alike = near(name, lexicon.classes)
    hint = (
        f"did you mean {' or '.join(alike)}?"
        if alike
        else "declare it under classes: in this file; `cxgen lexicon classes` lists the others"
    )
    return UnknownNameError(f"unknown word class {name!r}", file=file, line=line, hint=hint)


def _keys(lexicon: Lexicon, lemma: str, pos: str = "") -> list[str]:
    return [lexicon.table["key"][row] for row in lexicon.rows_of(lemma) if pos in {"", lexicon.table["pos"][row]}]
