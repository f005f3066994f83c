"""Squares that a writer fills in words of its own: the section ``natural`` of a template file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cxgen.constructicon.pattern import Part, parse_pattern

if TYPE_CHECKING:
    from cxgen.constructicon.model import Construction, Kind

ANYTHING = "..."
_EITHER = " | "
_VERBAL = ("base", "third", "ing", "past", "participle")
AGREEING = {"was": ("was", "were"), "is": ("is", "are"), "has": ("has", "have"), "does": ("does", "do"), "this": ("this", "these")}
_SAYABLE = frozenset(("", "a", "np", "bare", *_VERBAL, *AGREEING))  # the forms that hypotheses about a writer's words can have


def listed(value: Any) -> tuple[Any, ...]:
    """One value, or several, as several."""
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


@dataclass(frozen=True)
class Square:
    """What a writer is told of a design, and by what its sentences are known."""

    design: str
    tells: str  # what happens in a set, in plain words
    slots: dict[str, str]  # slot -> what is to be marked as such
    kinds: dict[str, str]  # kind -> what its sentence must say
    says: tuple[str, ...]  # patterns that a sentence must show; `` | `` divides those of which one is enough, ``...`` is any words
    avoid: str  # what no sentence may say
    words: dict[str, dict[str, tuple[str, ...]]]  # choice -> frame word -> the ways to write it; the first one stands in hypotheses
    needs: tuple[tuple[str, ...], ...]  # lists of words, of each of which a sentence needs one

    @classmethod
    def of(cls, design: str, raw: Mapping[str, Any]) -> "Square":
        """From a schema-checked mapping."""
        words = {choice: {name: listed(value) for name, value in named.items()} for choice, named in raw.get("words", {}).items()}
        tells, avoid = (" ".join(raw.get(key, "").split()) for key in ("tells", "avoid"))
        needs = tuple(map(tuple, raw.get("needs", ())))
        return cls(design, tells, dict(raw["slots"]), dict(raw["kinds"]), tuple(raw["says"]), avoid, words or {"": {}}, needs)

    def patterns(self, kind: "Kind") -> list[list[tuple[Part, ...]]]:
        """For each of ``says`` the alternatives, with the bindings of ``kind``; errors as `parse_pattern`."""
        bindings = {**kind.bindings, "verb": kind.verb}
        return [[parse_pattern(text, bindings) for text in says.split(_EITHER)] for says in self.says]

    def parts(self, kind: "Kind") -> set[Part]:
        """The parts of all its patterns."""
        return {part for alternatives in self.patterns(kind) for parts in alternatives for part in parts}

    def marked(self, construction: "Construction", kind: str) -> tuple[str, ...]:
        """The slots that a sentence of ``kind`` must have marked, in order: those of its patterns, and those that no kind's have."""
        shown = {name: {part.slot for part in self.parts(construction.kinds[name]) if part.form != "poss"} for name in self.kinds}
        return tuple(slot for slot in self.slots if slot in shown[kind] or not any(slot in own for own in shown.values()))


def square_faults(construction: "Construction", square: Square) -> Iterator[tuple[str, list[str]]]:
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
        shown = set().union(*(square.parts(construction.kinds[kind]) for kind in design.kinds))
    except (KeyError, ValueError) as error:
        yield f"says: {error}", [square.design, "says"]
        return
    claimed = {part for rule in design.rules for wording in construction.rules[rule].wordings for part in parse_pattern(wording)}
    for form in sorted({part.form for part in claimed} - _SAYABLE):
        yield f"its hypotheses ask for the form :{form}, which a writer's words do not have", [square.design]
    known = set(square.slots).union(*square.words.values())
    for name in sorted({part.slot for part in shown | claimed if part.slot} - known):
        where = "slots" if name in construction.slots else "words"
        yield f"{{{name}}} is said in a premise or hypothesis, and {where} does not have it", [square.design]
