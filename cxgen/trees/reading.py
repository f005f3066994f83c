"""Reading a premise along its template: which way to write its filler stands in each place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cxgen.constructicon import Construction, Part
from cxgen.errors import DataError
from cxgen.sampling.ways import WORD_FORMS
from cxgen.trees.surface import Look, looks
from cxgen.vocabulary import INFLECTIONS

ABSENT = -1


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to write a filler, and its tokens (none for a phrase)."""

    text: str
    look: Look


@dataclass(frozen=True, slots=True)
class Step:
    """A literal text, or the place of a filler; ``slot`` says whose, as what is around an optional filler goes with it."""

    slot: str = ""
    part: Part | None = None
    text: str = ""


class Reader:
    """Reads the premises of one construction and its look-alikes."""

    def __init__(self, construction: Construction, adjectives: frozenset[str]) -> None:
        """Prepare; ``adjectives`` are first words of nouns of several words that are adjectives."""
        self.construction = construction
        self.lexicon = construction.lexicon
        self.adjectives = adjectives
        self._steps: dict[tuple[str, str], tuple[Step, ...]] = {}
        self._known: dict[tuple[int, str], list[Reading]] = {}

    @cached_property
    def rows(self) -> Mapping[tuple[str, str | None], int]:
        """(lemma, sense) -> row of the lexicon."""
        table = self.lexicon.table
        return {key: row for row, key in reversed(list(enumerate(zip(table["lemma"], table["sense"], strict=True))))}

    @cached_property
    def _lexemes(self) -> list[dict[str, Any]]:
        return self.lexicon.table.select("lemma", "pos", "article", *INFLECTIONS).rows(named=True)

    def row(self, lemma: str, sense: str | None) -> int:
        """The row of a filler.

        Raises:
            DataError: the lexicon has no such word.
        """
        if (lemma, sense) not in self.rows:
            raise DataError(f"{lemma!r} ({sense}) is not in the lexicon", hint="the lexicon has changed: run `cxgen generate` again")
        return self.rows[lemma, sense]

    def steps(self, kind: str, template: str) -> tuple[Step, ...]:
        """The template as ``kind`` fills it."""
        if (kind, template) not in self._steps:
            steps: list[Step] = []
            for part in self.construction.premise_parts(kind, template):
                if not part.slot:
                    steps.append(Step(text=part.text))
                    continue
                before, _, after = "", "", ""
                if part.slot not in self.construction.slots:
                    steps.append(Step("", part))  # a word of the frame
                    continue
                if not WORD_FORMS[part.form].closed:
                    before, _, after = self.construction.slots[part.slot].wrap.partition("{}")
                steps += [Step(part.slot, text=before), Step(part.slot, part), Step(part.slot, text=after)]
            self._steps[kind, template] = tuple(step for step in steps if step.part or step.text)
        return self._steps[kind, template]

    def read(self, text: str, steps: Sequence[Step], fills: Sequence[int]) -> list[Reading | None]:
        """What stands at each of ``steps``; None at literals and where an optional slot is left out. The longest way that fits is meant.

        Args:
            text: the premise.
            steps: of its kind and template.
            fills: row of the lexicon that fills the slot of each step, -1 for none; of no consequence where a step has no slot.

        Raises:
            DataError: the text is not what the steps and fillers give.
        """
        found: list[Reading | None] = []
        at = 0
        for step, row in zip(steps, fills, strict=True):
            reading = None
            if row != ABSENT or not step.slot:
                if step.part is None:
                    written = step.text if text.startswith(step.text, at) else _written(text, at, step.text)
                else:
                    reading = self._stands(text, at, step, row)
                    written = reading.text if reading else None
                if written is None:
                    break
                at += len(written)
            found.append(reading)
        if at != len(text) or len(found) != len(steps):
            raise DataError(f"{text!r} does not follow its template at {text[at:]!r}", hint="run `cxgen generate` again")
        return found

    def _stands(self, text: str, at: int, step: Step, row: int) -> Reading | None:
        """The longest way to write the filler of ``step`` that stands in ``text`` at ``at``."""
        assert step.part is not None
        key = (row, step.part.form) if step.slot else (ABSENT, step.part.slot)
        if key not in self._known:
            ways = self._ways(*key) if step.slot else self._frame_words(step.part.slot)
            self._known[key] = sorted(ways, key=lambda way: (-len(way.text), way.text))
        for reading in self._known[key]:
            if text.startswith(reading.text, at) or (at == 0 and _written(text, at, reading.text)):
                end = at + len(reading.text)
                if not text[end : end + 1].isalpha():
                    return reading
        return None

    def _frame_words(self, name: str) -> list[Reading]:
        return [Reading(text, ()) for text in {frame.words[name] for frame in self.construction.frames if name in frame.words}]

    def _ways(self, row: int, form: str) -> list[Reading]:
        """The ways to write ``form`` of the lexicon's ``row``."""
        lexeme = self._lexemes[row]
        if lexeme["pos"] == "phrase":
            return [Reading(lexeme["lemma"], ())]
        ways: dict[str, Look] = {}
        for text, look in looks(lexeme, form, self.adjectives):
            ways.setdefault(text, look)  # a mass noun is not its own plural
        return [Reading(text, look) for text, look in ways.items()]


def _written(text: str, at: int, part: str) -> str | None:
    """How ``part`` is written in ``text`` at ``at`` where not as it is: with a capital letter, or without a space that is there already."""
    if at == 0:
        return part if text.startswith(part[1:], 1) and text[:1].lower() == part[:1].lower() else None
    stripped = part.lstrip(" ")
    return stripped if text[at - 1] == " " and text.startswith(stripped, at) else None
