"""From an item to its annotated premise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cxgen.constructicon import Construction
from cxgen.errors import DataError
from cxgen.project import closed_class_file
from cxgen.trees.chunks import Chunk, Chunks
from cxgen.trees.closed import closed_class
from cxgen.trees.links import Linker
from cxgen.trees.phrases import lemmas_of, phrase_chunk
from cxgen.trees.reading import ABSENT, Reader, Reading, Step
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

    def __init__(self, construction: Construction, chunks: Chunks) -> None:
        self.construction = construction
        self.chunks = chunks.also(construction.documents)
        self.rules = Rules(self.chunks, closed_class(closed_class_file()))
        self.reader = Reader(construction, self.chunks.adjectives)

    def sentence(self, item: Mapping[str, Any]) -> Sentence:
        """Annotate the premise of ``item``.

        Args:
            item: ``premise_id, construction, kind, template, premise`` and ``slots`` (a list of ``slot, lemma, sense``).

        Raises:
            DataError: the premise is not what its template and fillers give, or its template gives no tree.
        """
        draft, verb = self.draft(item)
        problems = [*(f"no annotation for {words!r}" for words in draft.missing), *draft.problems]
        if problems:
            document, template = self.construction.document, item["template"]
            add = "add the words, as they stand between two slots, to lexicons/chunks.yaml: "
            raise DataError(
                f"{self.construction.name}: template {template!r} as {item['kind']!r}: {'; '.join(problems)}",
                file=document.path,
                line=document.line(["templates", template]),
                hint=f"{add if draft.missing else ''}see docs/annotation.md",
            )
        return self.finished(item, draft, verb)

    def finished(self, item: Mapping[str, Any], draft: Draft, verb: int) -> Sentence:
        """The sentence of a ``draft`` that nothing keeps from being a tree."""
        return Sentence(item["premise_id"], item["construction"], item["premise"], finish(draft, item["premise"]), verb)

    def draft(self, item: Mapping[str, Any]) -> tuple[Draft, int]:
        """The premise of ``item`` with all that keeps it from being a tree, and the number of its verb.

        Raises:
            DataError: the premise is not what its template and fillers give.
        """
        verb_slot = self.construction.kinds[item["kind"]].verb
        pieces = list(self._pieces(item, verb_slot))
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
                draft.miss(cell.word, beside=number == last + 1)
                last = number
            else:
                draft.add_filler(step.part, piece.look)
                verb = verb or (draft.units[-1].head if step.slot == verb_slot else 0)
        if not verb:
            draft.problems.append(f"there is no {verb_slot!r}, the verb of {item['kind']!r}, in it")
        elif not draft.missing:
            Linker(draft, verb, self.construction.slots).link()
        return draft, verb

    def _pieces(self, item: Mapping[str, Any], verb_slot: str) -> Iterator[tuple[Cell, Step, Reading | Chunk | None]]:
        """The premise word by word, and filler by filler."""
        steps = self.reader.steps(item["kind"], item["template"])
        fillers = {entry["slot"]: self.reader.row(entry["lemma"], entry["sense"]) for entry in item["slots"]}
        fills = [fillers.get(step.slot, ABSENT) for step in steps]
        for step, row, reading in zip(steps, fills, self.reader.read(item["premise"], steps, fills), strict=True):
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
                yield Cell("", top.upos, top.xpos, step.slot == verb_slot, leans), step, reading

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
