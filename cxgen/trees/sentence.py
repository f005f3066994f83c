"""From an item to its annotated premise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cxgen.constructicon import Construction
from cxgen.errors import DataError
from cxgen.project import closed_class_file
from cxgen.trees.chunks import Chunk, Chunks
from cxgen.trees.closed import closed_class
from cxgen.trees.links import Linker
from cxgen.trees.phrases import lemmas_of, phrase_chunk
from cxgen.trees.reading import ABSENT, Numbering, Reader, Reading, Step, unnumbered
from cxgen.trees.rules import Cell, Rules
from cxgen.trees.surface import head
from cxgen.trees.units import LEANING, Draft, Token

_WORD = re.compile(r"[A-Za-z]+(?=n't|'s\b)|n't|'s\b|[\w'-]+|\S")


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


class Annotator:
    """Annotates the premises of one construction and its look-alikes."""

    def __init__(self, construction: Construction, chunks: Chunks, number: Numbering = unnumbered) -> None:
        """Prepare; ``number`` as for `Reader`."""
        self.construction = construction
        self.chunks = chunks.also(construction.documents)
        self.rules = Rules(self.chunks, closed_class(closed_class_file()))
        self.reader = Reader(construction, self.chunks.adjectives, number)

    def sentence(self, item: Mapping[str, Any]) -> Sentence:
        """Annotate the premise of ``item``.

        Args:
            item: ``premise_id, construction, kind, template, premise`` and ``slots`` (a list of ``slot, lemma, sense``).

        Raises:
            DataError: the premise is not what its template and fillers give, or its template gives no tree.
        """
        return self.finished(item, *self.sound(item["kind"], item["template"], *self._read(item)))

    def sound(self, kind: str, template: str, fills: Sequence[int], readings: Sequence[Reading | None]) -> tuple[Draft, int]:
        """The premise that `Reader.read` has read, ready to be `finished`, and the number of its verb.

        Raises:
            DataError: its template gives no tree.
        """
        draft, verb = self._drafted(kind, template, fills, readings)
        problems = [*(f"no annotation for {words!r}" for words in draft.missing), *draft.problems]
        if problems:
            document = self.construction.document
            add = "add the words, as they stand between two slots, to lexicons/chunks.yaml: "
            raise DataError(
                f"{self.construction.name}: template {template!r} as {kind!r}: {'; '.join(problems)}",
                file=document.path,
                line=document.line(["templates", template]),
                hint=f"{add if draft.missing else ''}see docs/annotation.md",
            )
        return draft, verb

    def finished(self, item: Mapping[str, Any], draft: Draft, verb: int) -> Sentence:
        """The sentence of a ``draft`` that nothing keeps from being a tree."""
        return Sentence(item["premise_id"], item["construction"], item["premise"], finish(draft, item["premise"]), verb)

    def draft(self, item: Mapping[str, Any]) -> tuple[Draft, int]:
        """The premise of ``item`` with all that keeps it from being a tree, and the number of its verb.

        Raises:
            DataError: the premise is not what its template and fillers give.
        """
        return self._drafted(item["kind"], item["template"], *self._read(item))

    def _read(self, item: Mapping[str, Any]) -> tuple[list[int], list[Reading | None]]:
        """Of every step of its template, which row of the lexicon fills it and how that is written."""
        steps = self.reader.steps(item["kind"], item["template"])
        fillers = {entry["slot"]: self.reader.row(entry["lemma"], entry["sense"]) for entry in item["slots"]}
        fills = [fillers.get(step.slot, ABSENT) for step in steps]
        return fills, self.reader.read(item["premise"], steps, fills)

    def _drafted(self, kind: str, template: str, fills: Sequence[int], readings: Sequence[Reading | None]) -> tuple[Draft, int]:
        verb_slot = self.construction.kinds[kind].verb
        pieces = list(self._pieces(kind, template, fills, readings))
        cells = [cell for cell, _, _ in pieces]
        first = cells[0].word.lower() if cells else ""
        if first != "i" and (self.rules.closed.at([first]) or lemmas_of(first)):
            cells[0] = Cell(first)
        draft, verb, at, last = Draft(), 0, 0, 0
        chunks = self.rules.chunks_of(tuple(cells))
        for number, (cell, step, piece) in enumerate(pieces):
            if number < at:
                continue
            if chunk := chunks.get(number):
                draft.add_chunk(chunk)
                at = number + len(chunk.words)
            elif isinstance(piece, Chunk):
                draft.add_chunk(piece, step.slot if len(piece.words) == 1 else "")
            elif piece is None or step.part is None:
                if draft.missing and number and number - 1 == last:
                    draft.missing[-1] += f" {cell.word}"
                else:
                    draft.missing.append(cell.word)
                last = number
            else:
                draft.add_filler(step.part, piece.look)
                verb = verb or (draft.units[-1].head if step.slot == verb_slot else 0)
        if not verb:
            draft.problems.append(f"there is no {verb_slot!r}, the verb of {kind!r}, in it")
        elif not draft.missing:
            Linker(draft, verb, self.construction.slots).link()
        return draft, verb

    def _pieces(
        self, kind: str, template: str, fills: Sequence[int], readings: Sequence[Reading | None]
    ) -> Iterator[tuple[Cell, Step, Reading | Chunk | None]]:
        """The premise word by word, and filler by filler."""
        for step, row, reading in zip(self.reader.steps(kind, template), fills, readings, strict=True):
            if step.slot and row == ABSENT:
                continue
            phrase = self.phrase(reading.text) if reading and step.slot and not reading.look else None
            if phrase:
                yield Cell(upos="PRON" if phrase.words[0].upos == "PRON" else "ADV"), step, phrase
            elif reading is None or not reading.look:
                yield from ((Cell(word), step, None) for word in _WORD.findall(reading.text if reading else step.text))
            else:
                top = reading.look[head(reading.look)]
                leans = step.part is not None and step.part.form in LEANING
                yield Cell("", top.upos, top.xpos, step.slot == self.construction.kinds[kind].verb, leans), step, reading

    def phrase(self, text: str) -> Chunk | None:
        """The tree of what fills a slot with words of its own: a chunk's, or one that follows from its build."""
        words = _WORD.findall(text)
        known = self.chunks.longest(words)
        if known and len(known.words) == len(words):
            return known
        pronoun = self.rules.closed.tagged(words[0], "PRON") if len(words) == 1 else None
        return Chunk((pronoun,), {}) if pronoun else phrase_chunk(tuple(words))


def finish(draft: Draft, text: str) -> tuple[Token, ...]:
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
        # `replace` takes five times as long
        done.append(Token(written, token.lemma, token.upos, token.xpos, head, relation, token.slot, token.anchor, space))
    return tuple(done)
