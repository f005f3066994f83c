"""Squares that a writer fills in words of its own: the section ``natural`` of a template file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cxgen.constructicon.pattern import Part, parse_pattern

if TYPE_CHECKING:
    from cxgen.constructicon.model import Construction, Kind

EITHER, ANYTHING = " | ", "..."
VERBAL = ("base", "third", "ing", "past", "participle")
AGREEING = {"was": ("was", "were"), "is": ("is", "are"), "has": ("has", "have"), "does": ("does", "do"), "this": ("this", "these")}
SAYABLE = frozenset(("", "a", "np", "bare", *VERBAL, *AGREEING))  # the forms that hypotheses about a writer's words can have


@dataclass(frozen=True)
class Square:
    """What a writer is told of a design, and by what its sentences are known.

    Attributes:
        design: the design's name.
        tells: what happens in a set, in plain words.
        slots: slot -> what is to be marked as such.
        kinds: kind -> what its sentence must say.
        says: patterns, all of which a sentence must show; `` | `` divides those of which one is enough, ``...`` stands for any words.
        avoid: what no sentence may say.
        words: choice -> frame word -> the ways to write it; the first one stands in hypotheses.
        needs: lists of words, of each of which a sentence needs one.
    """

    design: str
    tells: str
    slots: dict[str, str]
    kinds: dict[str, str]
    says: tuple[str, ...]
    avoid: str = ""
    words: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    needs: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, design: str, raw: Mapping[str, Any]) -> Square:
        """From a schema-checked mapping."""
        words = {
            choice: {name: (value,) if isinstance(value, str) else tuple(value) for name, value in named.items()}
            for choice, named in raw.get("words", {}).items()
        }
        return cls(
            design,
            " ".join(raw["tells"].split()),
            dict(raw["slots"]),
            dict(raw["kinds"]),
            tuple(raw["says"]),
            " ".join(raw.get("avoid", "").split()),
            words,
            tuple(tuple(each) for each in raw.get("needs", ())),
        )

    @property
    def choices(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """The choices among frame words; one without any where the square has none."""
        return self.words or {"": {}}

    def patterns(self, kind: Kind) -> list[list[tuple[Part, ...]]]:
        """For each of ``says`` the alternatives, with the bindings of ``kind``.

        Raises:
            KeyError, ValueError: see `parse_pattern`.
        """
        bindings = {**kind.bindings, "verb": kind.verb}
        return [[parse_pattern(text, bindings) for text in says.split(EITHER)] for says in self.says]

    def marked(self, construction: Construction, kind: str) -> tuple[str, ...]:
        """The slots that a sentence of ``kind`` must have marked, in the square's order: those of its patterns, and those of nobody's."""
        shown = {name: self._shown(construction.kinds[name]) for name in self.kinds}
        special = set().union(*shown.values())
        return tuple(slot for slot in self.slots if slot in shown[kind] or slot not in special)

    def _shown(self, kind: Kind) -> set[str]:
        return {
            part.slot for each in self.patterns(kind) for parts in each for part in parts if part.slot in self.slots and part.form != "poss"
        }


def square_faults(construction: Construction, square: Square) -> Iterator[tuple[str, list[str]]]:
    """What is wrong with a square: in words, and the keys under ``natural`` that lead to it."""
    design = construction.designs.get(square.design)
    if design is None:
        yield f"there is no design {square.design!r}", [square.design]
        return
    if set(design.kinds) != set(square.kinds):
        odd = sorted(set(design.kinds) ^ set(square.kinds))
        yield f"the kinds are not those of the design: {', '.join(odd)}", [square.design, "kinds"]
        return
    for slot in square.slots:
        if slot not in construction.slots:
            yield f"there is no slot {slot!r}", [square.design, "slots", slot]
    try:
        said = {part for kind in design.kinds for each in square.patterns(construction.kinds[kind]) for parts in each for part in parts}
    except (KeyError, ValueError) as error:
        yield f"says: {error}", [square.design, "says"]
        return
    claimed = {part for rule in design.rules for wording in construction.rules[rule].wordings for part in parse_pattern(wording)}
    for form in sorted({part.form for part in claimed} - SAYABLE):
        yield f"its hypotheses ask for the form :{form}, which a writer's words do not have", [square.design]
    said |= claimed
    known = set(square.slots).union(*({*words} for words in square.choices.values()))
    for name in sorted({part.slot for part in said if part.slot} - known):
        where = "slots" if name in construction.slots else "words"
        yield f"{{{name}}} is said in a premise or hypothesis, and {where} does not have it", [square.design]
