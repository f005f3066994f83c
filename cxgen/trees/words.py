"""Closed-class words with their annotation: chunks (``chunks.yaml``), the table ``closed.tsv``, and the names of Universal Dependencies."""

import difflib
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Self, TypeVar

from cxgen.layout import LEXICONS
from cxgen.project import shipped_folder
from cxgen.schema import Document, read_yaml


def names(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


UPOS = names("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X")
RELATIONS = names(
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl fixed flat goeswith iobj "
    "list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative xcomp"
)
HEADS = ("V", "P", "R", "NEXT", "PREV", "OBJ")  # docs/annotation.md says what they mean
NOMINAL = frozenset({"NOUN", "PROPN", "PRON"})  # can be a subject or an object
_USUAL = {  # what a relation attaches to where no head is stated; all others to V
    **dict.fromkeys(names("nsubj csubj expl advmod advcl obl:tmod discourse vocative parataxis dislocated"), "P"),
    **dict.fromkeys(names("det amod nummod compound case clf nmod:poss"), "NEXT"),
    **dict.fromkeys(names("nmod appos acl conj flat fixed"), "PREV"),
    **{"compound:prt": "V", "root": "0"},
}
_STATED = re.compile(r"([a-z]+(?::[a-z]+)?)(?:>([A-Z]+|[a-z][a-z-]*))?")
_TOKEN = re.compile(r"(?:(NEXT\??|VERB\?|PREV|V|P)=|([^=/]+)(?:=([^/]+))?/([A-Z]+)/([^/]+)/(!?))([a-z:]+)>([\w-]+)")
_HINT = "the language of chunks is explained in docs/annotation.md"

T = TypeVar("T")
Link = tuple[str, str]  # a relation, and its head: a number in the chunk (from 1), 0 for the root, one of HEADS, or a slot


@dataclass(frozen=True)
class Word:
    """A word with its tags and its `Link` (none of the head of a filler); ``predicate`` marks the predicate of the clause."""

    form: str
    lemma: str
    upos: str
    xpos: str
    relation: str = ""
    head: str = ""
    predicate: bool = False


@dataclass(frozen=True)
class Chunk:
    """Words in a row, and the links that they give to anchors outside; of ``closed.tsv`` only where ``before`` stands behind it; of a
    template file perhaps in the premises of some kinds ``only``."""

    words: tuple[Word, ...]
    others: dict[str, Link] = field(default_factory=dict)
    before: str = ""
    only: tuple[str, ...] = ()


class Chunks:
    """All chunks, found by the words that they consist of; of two with the same words the later one counts."""

    def __init__(self, chunks: Iterable[Chunk], adjectives: Iterable[str]) -> None:
        self.adjectives = frozenset(adjectives)
        self._all = tuple(chunks)
        self.by_words = {tuple(word.form.lower() for word in chunk.words): chunk for chunk in self._all if not chunk.only}

    @classmethod
    def load(cls, *paths: Path) -> Self:
        """Read files such as ``chunks.yaml``; a token that cannot be read is a SchemaError at its line."""
        documents = [read_yaml(path, "chunks") for path in paths]
        return cls(_chunks(documents), [word for document in documents for word in document.data.get("adjectives", ())])

    def also(self, documents: Iterable[Document]) -> "Chunks":
        """These, and those that template files bring under ``chunks:``."""
        return Chunks([*self._all, *_chunks(documents)], self.adjectives)

    def of_kind(self, names: Container[str]) -> "Chunks":
        """These, those for one of ``names`` (a kind, the groups that it is in) among them, which win."""
        own = [replace(chunk, only=()) for chunk in self._all if any(name in names for name in chunk.only)]
        return Chunks([*self._all, *own], self.adjectives) if own else self


def longest(table: Mapping[tuple[str, ...], T], run: Sequence[str]) -> T | None:
    """What a table has for the longest beginning of ``run``."""
    words = tuple(word.lower() for word in run)
    return next((table[words[:size]] for size in range(len(words), 0, -1) if words[:size] in table), None)


def _chunks(documents: Iterable[Document]) -> list[Chunk]:
    chunks = []
    for document in documents:
        for number, entry in enumerate(document.data.get("chunks", ())):
            raw = {"chunk": entry} if isinstance(entry, str) else entry
            try:
                chunks.append(replace(_chunk(raw["chunk"]), only=tuple(raw.get("only", ()))))
            except ValueError as error:
                raise document.wrong(["chunks", number], str(error), _HINT) from error
    return chunks


def _chunk(text: str, heads: Sequence[str] = HEADS) -> Chunk:
    words: list[Word] = []
    others: dict[str, Link] = {}
    size = text.count(" ") + 1 - len(re.findall(r"(?:^| )[A-Z]+\??=", text))
    for part in text.split(" "):
        match = _TOKEN.fullmatch(part)
        if not match:
            raise ValueError(f"cannot read the token {part!r}: it must be form[=lemma]/UPOS/XPOS/relation>head, or NEXT=relation>head")
        anchor, form, lemma, upos, xpos, mark, relation, head = match.groups()
        if upos and upos not in UPOS:
            raise ValueError(f"cannot read the token {part!r}: {upos!r} is no part of speech of Universal Dependencies")
        if head not in heads and not head.islower() and not (head.isdigit() and int(head) <= size):
            raise ValueError(f"cannot read the token {part!r}: {head!r} is no head: a number up to {size}, or one of {', '.join(heads)}")
        _require_relation(relation)
        if anchor:
            others[anchor] = (relation, head)
        else:
            words.append(Word(form, lemma or ("I" if form == "i" else form), upos, xpos, relation, head, predicate=bool(mark)))
    return Chunk(tuple(words), others)


@cache
def closed_class() -> dict[tuple[str, ...], list[Chunk]]:
    """The rows of ``closed.tsv`` by their words in lower case, in the order of the file."""
    rows = defaultdict(list)
    for line in (shipped_folder() / LEXICONS / "closed.tsv").read_text("utf-8").splitlines()[1:]:
        if line and not line.startswith("#"):
            text, _, before = line.partition("\t")
            chunk = _chunk(text, (*HEADS, "VERB", "HOST"))
            rows[tuple(word.form.lower() for word in chunk.words)].append(replace(chunk, before=before))
    return dict(rows)


def stated(text: str) -> Link:
    """The link that ``text`` (``iobj``, ``obl:tmod>P``) states; a head in lower case is the slot that holds it. ValueError: it is none."""
    match = _STATED.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no relation")
    relation, head = match[1], match[2] or _USUAL.get(match[1], _USUAL.get(base(match[1]), "V"))
    _require_relation(relation)
    if head not in HEADS and head != "0" and not head.islower():
        raise ValueError(f"{head!r} is no head: {', '.join(HEADS)}")
    return relation, head


def base(relation: str) -> str:
    """The relation without its subtype."""
    return relation.partition(":")[0]


def _require_relation(relation: str) -> None:
    if base(relation) not in RELATIONS:
        near = difflib.get_close_matches(base(relation), RELATIONS, n=1)
        raise ValueError(f"{relation!r} is no relation of Universal Dependencies{f': {near[0]}?' if near else ''}")
