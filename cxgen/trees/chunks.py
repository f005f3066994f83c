"""The hand-annotated closed-class words of ``lexicons/chunks.yaml``: what ``docs/annotation.md`` explains, read and looked up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cxgen.errors import SchemaError
from cxgen.schema import Document, read_yaml
from cxgen.trees.relations import HEADS, UPOS, known

_TOKEN = re.compile(
    r"^(?P<form>[^=/]+)(?:=(?P<lemma>[^/]+))?/(?P<upos>[A-Z]+)/(?P<xpos>[^/]+)/(?P<mark>!?)(?P<rel>[a-z:]+)>(?P<head>[\w-]+)$"
)
_HINT = "the language of chunks is explained in docs/annotation.md"
_OTHER = re.compile(r"^(?P<anchor>NEXT|PREV|V|P)=(?P<rel>[a-z:]+)>(?P<head>[\w-]+)$")


@dataclass(frozen=True)
class Link:
    """A relation to a head: a number in the chunk (from 1), 0 for the root, or a key of ``HEADS``."""

    relation: str
    head: str


@dataclass(frozen=True)
class Word:
    """An annotated closed-class word; ``predicate`` marks the predicate of the clause."""

    form: str
    lemma: str
    upos: str
    xpos: str
    link: Link
    predicate: bool


@dataclass(frozen=True)
class Chunk:
    """Words in a row, and the relations that they give to anchors outside."""

    words: tuple[Word, ...]
    others: dict[str, Link]

    @property
    def key(self) -> tuple[str, ...]:
        """The forms in lower case."""
        return tuple(word.form.lower() for word in self.words)


class Chunks:
    """All chunks, found by the words that they consist of; of two with the same words the later one counts."""

    def __init__(self, chunks: Sequence[Chunk], adjectives: Iterable[str] = ()) -> None:
        self.adjectives = frozenset(adjectives)
        self._by_key = {chunk.key: chunk for chunk in chunks}
        self._longest = max(map(len, self._by_key), default=0)

    @classmethod
    def load(cls, *paths: Path) -> Chunks:
        """Read files such as ``chunks.yaml``; of two chunks with the same words, that of the later file holds.

        Raises:
            SchemaError: a line that cannot be read; the message says which token.
        """
        documents = [read_yaml(path, "chunks") for path in paths]
        chunks = [_parse(text, document, number) for document in documents for number, text in enumerate(document.data["chunks"])]
        return cls(chunks, [word for document in documents for word in document.data.get("adjectives", ())])

    def also(self, documents: Iterable[Document]) -> Chunks:
        """These, and those that template files bring under ``chunks:``, which count where the words are the same."""
        own = [_parse(text, document, number) for document in documents for number, text in enumerate(document.data.get("chunks", ()))]
        return Chunks([*self._by_key.values(), *own], self.adjectives) if own else self

    def longest(self, run: Sequence[str]) -> Chunk | None:
        """The longest chunk with which ``run`` begins."""
        words = tuple(word.lower() for word in run[: self._longest])
        return next((self._by_key[words[:size]] for size in range(len(words), 0, -1) if words[:size] in self._by_key), None)


def _parse(text: str, document: Document, number: int) -> Chunk:
    words: list[Word] = []
    others: dict[str, Link] = {}
    parts = text.split(" ")
    size = sum("/" in part for part in parts)
    for part in parts:
        try:
            if match := _OTHER.match(part):
                others[match["anchor"]] = _link(match, size)
            else:
                words.append(_word(part, size))
        except ValueError as error:
            raise SchemaError(
                f"cannot read the token {part!r}: {error}",
                file=document.path,
                line=document.line(["chunks", number]),
                hint=_HINT,
            ) from error
    for start in range(len(words)):
        at, steps = start, 0
        while steps <= size and words[at].link.head.isdigit() and words[at].link.head != "0":
            at, steps = int(words[at].link.head) - 1, steps + 1
        if steps > size:
            line = document.line(["chunks", number])
            raise SchemaError(f"the heads of {text[:80]!r} go round in a circle", file=document.path, line=line, hint=_HINT)
    return Chunk(tuple(words), others)


def _word(text: str, size: int) -> Word:
    match = _TOKEN.match(text)
    if match is None:
        raise ValueError("it must be form[=lemma]/UPOS/XPOS/relation>head, or NEXT=relation>head")
    if match["upos"] not in UPOS:
        raise ValueError(f"{match['upos']!r} is no part of speech of Universal Dependencies")
    return Word(match["form"], match["lemma"] or match["form"], match["upos"], match["xpos"], _link(match, size), bool(match["mark"]))


def _link(match: re.Match[str], size: int) -> Link:
    relation, head = match["rel"], match["head"]
    known(relation)
    if head not in HEADS and not head.islower() and not (head.isdigit() and int(head) <= size):
        raise ValueError(f"{head!r} is no head: a number up to {size}, or one of {', '.join(HEADS)}")
    return Link(relation, head)
