"""The closed-class words of ``lexicons/closed.tsv``: their tags, and what each is in a sentence where nothing else says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cxgen.errors import SchemaError
from cxgen.trees.chunks import Chunk, Link, Word
from cxgen.trees.relations import HEADS, UPOS, known

COLUMNS = ("form", "lemma", "upos", "xpos", "relation", "head", "before", "next")
# What can stand behind a word, by which its row is chosen.
_HEADS = {*HEADS, "VERB", "HOST"}
BEFORE = ("", "noun", "verb", "base", "ing", "participle", "clause", "end")


@dataclass(frozen=True)
class ClosedWord:
    """A row: a function word, or several that belong together, with a relation and a head.

    Attributes:
        before: only where this stands behind it: a noun, a verb, its base form, its -ing form, a clause, the end of one; or a word.
        next: what it makes of the noun behind it, unless that states something else.
    """

    chunk: Chunk
    before: str
    next: Link | None

    @property
    def relation(self) -> str:
        """Of the first word."""
        return self.chunk.words[0].link.relation

    @property
    def upos(self) -> str:
        """Part of speech of the first word."""
        return self.chunk.words[0].upos


@dataclass(frozen=True)
class ClosedClass:
    """All rows, by the words as written in lower case, in the order of the file."""

    rows: dict[tuple[str, ...], tuple[ClosedWord, ...]]
    longest: int

    @classmethod
    def load(cls, path: Path) -> ClosedClass:
        """Read ``closed.tsv``.

        Raises:
            SchemaError: a row that cannot be read, with its line.
        """
        rows: dict[tuple[str, ...], tuple[ClosedWord, ...]] = {}
        lines = path.read_text("utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#") or tuple(line.split("\t")) == COLUMNS:
                continue
            try:
                row = _row(line)
            except ValueError as error:
                raise SchemaError(str(error), file=path, line=number, hint="columns: " + ", ".join(COLUMNS)) from error
            rows[row.chunk.key] = (*rows.get(row.chunk.key, ()), row)
        return cls(rows, max(map(len, rows), default=0))

    def at(self, words: Sequence[str]) -> tuple[ClosedWord, ...]:
        """The rows of the longest entry with which ``words`` (in lower case) begin."""
        for size in range(min(self.longest, len(words)), 0, -1):
            if found := self.rows.get(tuple(words[:size])):
                return found
        return ()

    def single(self, relation: str) -> frozenset[str]:
        """The single words that have ``relation``."""
        return frozenset(key[0] for key, rows in self.rows.items() if len(key) == 1 and any(row.relation == relation for row in rows))

    def tagged(self, word: str, upos: str) -> Word | None:
        """The single word ``word`` as a ``upos``, if it can be one."""
        return next((row.chunk.words[0] for row in self.rows.get((word.lower(),), ()) if row.upos == upos), None)


def _row(line: str) -> ClosedWord:
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) > len(COLUMNS) or len(cells) < 6:
        raise ValueError(f"{len(cells)} columns instead of {len(COLUMNS)}")
    form, lemma, upos, xpos, relation, head, before, follows = cells + [""] * (len(COLUMNS) - len(cells))
    forms, lemmas, tags, fine = form.split(), lemma.split(), upos.split(), xpos.split()
    if not len(forms) == len(lemmas) == len(tags) == len(fine):
        raise ValueError(f"{form!r} needs as many lemmas and tags as words")
    for tag in tags:
        if tag not in UPOS:
            raise ValueError(f"{tag!r} is no part of speech of Universal Dependencies")
    links = [Link(*pair) for pair in zip(relation.split(), head.split(), strict=True)]
    links += [Link("fixed", "1") for _ in forms[len(links) :]]
    for link in links:
        known(link.relation)
        if not link.head.isdigit() and link.head not in _HEADS:
            raise ValueError(f"{link.head!r} is no head: a number, or one of {', '.join(sorted(_HEADS))}")
    if " " in before:
        raise ValueError(f"{before!r} is nothing that can follow: {', '.join(filter(None, BEFORE))}, or a word")
    words = tuple(Word(*cell, predicate=False) for cell in zip(forms, lemmas, tags, fine, links, strict=True))
    name, _, to = follows.partition(">")
    if follows:
        known(name)
    return ClosedWord(Chunk(words, {}), before, Link(name, to) if follows else None)


@cache
def closed_class(path: Path) -> ClosedClass:
    """`ClosedClass.load`, once per file."""
    return ClosedClass.load(path)
