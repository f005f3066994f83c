"""From an item to its annotated premise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from cxgen.annotate.chunks import Chunk, Chunks, Link
from cxgen.annotate.surface import Look, looks
from cxgen.constructicon import Construction, Part
from cxgen.errors import DataError
from cxgen.lexicon import Lexicon
from cxgen.sets.forms import AGREEMENT, PRONOUNS

_WORD = re.compile(r"[A-Za-z]+(?=n't|'s\b)|n't|'s\b|[\w'-]+|[.,]")


@dataclass(frozen=True)
class Token:
    """An annotated token.

    Attributes:
        head: number of the head, from 1; 0 for the root.
        relation: of Universal Dependencies 2.
        slot: the slot that it fills, empty for closed-class words.
        anchor: it is the head of its slot's filler.
        space_after: whether a space follows.
    """

    form: str
    lemma: str
    upos: str
    xpos: str
    head: int = 0
    relation: str = ""
    slot: str = ""
    anchor: bool = False
    space_after: bool = True


@dataclass(frozen=True)
class Sentence:
    """An annotated premise.

    Attributes:
        item: its ``premise_id``.
        construction: the construction of its meaning.
        text: as in the dataset.
        tokens: in order.
        verb: number of the construction's verb, from 1.
    """

    item: str
    construction: str
    text: str
    tokens: tuple[Token, ...]
    verb: int


@dataclass
class _Unit:
    """A run of closed-class words, or a filler: where it starts, how long it is, its head (all from 1)."""

    start: int
    size: int
    head: int = 0
    chunk: Chunk | None = None
    slot: str = ""
    form: str = ""


@dataclass
class _Draft:
    tokens: list[Token] = field(default_factory=list)
    units: list[_Unit] = field(default_factory=list)
    links: dict[int, tuple[str, int]] = field(default_factory=dict)


class Annotator:
    """Annotates the premises of one construction and its look-alikes."""

    def __init__(self, construction: Construction, lexicon: Lexicon, chunks: Chunks) -> None:
        self.construction = construction
        self.lexicon = lexicon
        self.chunks = chunks
        self._looks: dict[tuple[int, str], list[tuple[str, Look]]] = {}

    @cached_property
    def _rows(self) -> Mapping[tuple[str, str | None], int]:
        table = self.lexicon.table
        return {key: row for row, key in reversed(list(enumerate(zip(table["lemma"], table["sense"], strict=True))))}

    def _row(self, lemma: str, sense: str | None) -> int:
        if (lemma, sense) not in self._rows:
            raise DataError(f"{lemma!r} ({sense}) is not in the lexicon that is loaded", hint="run `dvc repro`: the lexicon has changed")
        return self._rows[lemma, sense]

    def sentence(self, item: Mapping[str, Any]) -> Sentence:
        """Annotate the premise of ``item``.

        Args:
            item: ``premise_id, construction, kind, template, premise`` and ``slots`` (a list of ``slot, lemma, sense``).

        Raises:
            DataError: the premise is not what its template and fillers give, or a word of the template has no annotation.
        """
        kind = self.construction.kinds[item["kind"]]
        parts = self.construction.premise_parts(item["kind"], item["template"])
        fillers = {entry["slot"]: self._row(entry["lemma"], entry["sense"]) for entry in item["slots"]}
        draft = _Draft()
        run: list[str] = []
        for piece in self._pieces(item["premise"], parts, fillers):
            if isinstance(piece, str):
                run += _WORD.findall(piece)
                continue
            self._close(run, draft)
            slot, form, look = piece
            _add_filler(draft, slot, form, look)
        self._close(run, draft)
        try:
            verb = next(unit.head for unit in draft.units if unit.slot == kind.verb)
        except StopIteration:
            raise DataError(f"no verb in {item['premise']!r}", file=self.construction.document.path) from None
        _link(draft, verb)
        return Sentence(item["premise_id"], item["construction"], item["premise"], _finish(draft, item["premise"]), verb)

    def _close(self, run: list[str], draft: _Draft) -> None:
        """Turn the words of ``run`` into units and empty it."""
        for chunk in self.chunks.split(run) if run else ():
            draft.units.append(_Unit(len(draft.tokens) + 1, len(chunk.words), chunk=chunk))
            draft.tokens += [Token(word.form, word.lemma, word.upos, word.xpos) for word in chunk.words]
        run.clear()

    def _pieces(self, text: str, parts: Sequence[Part], fillers: Mapping[str, int]) -> Iterator[str | tuple[str, str, Look]]:
        """The literal texts and fillers of ``text``, found by reading it from left to right."""
        at = 0
        for part in parts:
            if not part.slot:
                found = _literal(text, at, part.text)
                yield part.text
                at = found
                continue
            if part.slot not in fillers:
                continue  # an optional slot left out
            before, _, after = self.construction.slots[part.slot].wrap.partition("{}")
            at = _literal(text, at, before)
            yield before
            if self.lexicon.table["pos"][fillers[part.slot]] == "phrase":
                phrase = self.lexicon.lemmas[fillers[part.slot]]
                at = _literal(text, at, phrase)
                yield f" {phrase} "
            else:
                written, look = self._match(text, at, fillers[part.slot], part)
                at += len(written)
                yield part.slot, part.form, look
            at = _literal(text, at, after)
            yield after

    def _match(self, text: str, at: int, row: int, part: Part) -> tuple[str, Look]:
        """The longest way to write the filler that stands in ``text`` at ``at``."""
        key = (row, part.form)
        if key not in self._looks:
            ways: dict[str, Look] = {}
            for look in looks(self.lexicon.table.row(row, named=True), part.form, self.chunks.adjectives):
                ways.setdefault(" ".join(piece.form for piece in look), look)  # a mass noun is not its own plural
            self._looks[key] = sorted(ways.items(), key=lambda way: -len(way[0]))
        for written, look in self._looks[key]:
            if _stands(text, at, written) and not text[at + len(written) : at + len(written) + 1].isalpha():
                return written, look
        raise DataError(f"{part.slot} of {text!r} is not {self.lexicon.lemmas[row]!r}", hint="run `cxgen generate` again")


def _stands(text: str, at: int, part: str) -> bool:
    found = text[at : at + len(part)]
    return found == part or (at == 0 and found[1:] == part[1:] and found[:1].lower() == part[:1].lower())


def _literal(text: str, at: int, part: str) -> int:
    """The position after ``part``, spaces being single wherever two parts meet."""
    if at and text[at - 1] == " ":
        part = part.lstrip(" ")
    if not _stands(text, at, part):
        raise DataError(f"{text!r} does not follow its template at {text[at:]!r}", hint="run `cxgen generate` again")
    return at + len(part)


def _add_filler(draft: _Draft, slot: str, form: str, look: Look) -> None:
    start = len(draft.tokens) + 1
    head = next(number for number, piece in enumerate(look) if piece.head < 0)
    draft.units.append(_Unit(start, len(look), start + head, slot=slot, form=form))
    named = "" if form in PRONOUNS or form in AGREEMENT else slot  # pronouns and agreeing verbs are not the filler
    for number, piece in enumerate(look):
        anchor = bool(named) and number == head
        draft.tokens.append(Token(piece.form, piece.lemma, piece.upos, piece.xpos, slot=named, anchor=anchor))
        if piece.head >= 0:
            draft.links[start + number] = (piece.relation, start + piece.head)


def _link(draft: _Draft, verb: int) -> None:
    """Give every token its relation: those of the chunks, then those that follow from place and part of speech."""
    anchors = {"V": verb, "P": _predicate(draft) or verb}
    pending: dict[int, tuple[str, str | int]] = {}
    for number, unit in enumerate(draft.units):
        if unit.chunk is None:
            continue
        around = dict(anchors)
        if number and draft.units[number - 1].slot:
            around["PREV"] = draft.units[number - 1].head
        if number + 1 < len(draft.units) and draft.units[number + 1].slot:
            around["NEXT"] = draft.units[number + 1].head
        for offset, word in enumerate(unit.chunk.words):
            pending.setdefault(unit.start + offset, _head(word.link, unit, around))
        for anchor, link in unit.chunk.others.items():
            if anchor in around:
                pending[around[anchor]] = _head(link, unit, around)
    for number, unit in enumerate(draft.units):
        if unit.slot and unit.head not in pending:
            after = draft.units[number + 1] if number + 1 < len(draft.units) else None
            pending[unit.head] = _default(draft.tokens[unit.head - 1], unit, anchors, after)
        if unit.form == "was" and number:
            pending[draft.units[number - 1].head] = ("nsubj:pass", anchors["P"])
    pending.setdefault(anchors["P"], ("root", 0))
    root = next(number for number, (relation, _) in pending.items() if relation == "root")
    thing = next((unit.head for unit in draft.units if unit.slot and pending[unit.head] == ("obj", verb)), verb)
    late = {"R": root, "OBJ": thing}
    for number, (relation, head) in pending.items():
        draft.links[number] = (relation, late[head] if isinstance(head, str) else head)


def _predicate(draft: _Draft) -> int:
    for unit in draft.units:
        for offset, word in enumerate(unit.chunk.words if unit.chunk else ()):
            if word.predicate:
                return unit.start + offset
    return 0


def _head(link: Link, unit: _Unit, around: Mapping[str, int]) -> tuple[str, str | int]:
    if link.head.isdigit():
        inside = int(link.head)
        return link.relation, unit.start + inside - 1 if inside else 0
    return link.relation, around.get(link.head, link.head)


def _default(token: Token, unit: _Unit, anchors: Mapping[str, int], after: _Unit | None) -> tuple[str, str | int]:
    """The relation of a filler that no chunk has claimed."""
    verb, predicate = anchors["V"], anchors["P"]
    if unit.head == verb:
        return ("root", 0) if verb == predicate else ("xcomp", predicate)
    if token.upos == "AUX":
        return ("aux:pass" if unit.form == "was" else "aux", verb)
    if unit.form == "poss" and after is not None:
        return ("nmod:poss", after.start)
    if token.upos == "ADV":
        return ("advmod", predicate)
    if token.upos == "ADJ":
        return ("xcomp", verb)
    return ("nsubj", predicate) if unit.head < verb else ("obj", verb)


def _finish(draft: _Draft, text: str) -> tuple[Token, ...]:
    """Tokens as written in ``text``, with heads."""
    done: list[Token] = []
    at = 0
    for number, token in enumerate(draft.tokens, 1):
        relation, head = draft.links[number]
        written = text[at : at + len(token.form)]
        if written.lower() != token.form.lower():
            raise DataError(f"cannot align {text!r} at {text[at:]!r}")
        at += len(written)
        space = text[at : at + 1] == " "
        at += space
        done.append(replace(token, form=written, head=head, relation=relation, space_after=space))
    return tuple(done)
