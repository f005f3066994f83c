"""The plan: a table of draws, one row per contrast set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cxgen.constructicon import Construction, Design, Slot
from cxgen.errors import EmptySlotError
from cxgen.lexicon import Lexicon
from cxgen.sets.pools import ABSENT, Pools, Segments
from cxgen.streams import uniform_at

Rows = NDArray[np.int64]
TRIES = 24
PICKY = 8  # tries that still prefer unmarked fillers
# Pronouns of a slot's referent: he, she, singular they, it, plural they.
HE, SHE, THEY, IT, PLURAL = range(5)


@dataclass(frozen=True)
class Plan:
    """Draws for some contrast sets.

    Attributes:
        stream: where the draws come from: seed, construction, design, split.
        numbers: which sets of the stream these are.
        frame: frame number per set.
        fillers: slot -> lexeme row per set; -1 where an optional slot is left out.
        number: slot -> 0 singular, 1 plural.
        pronoun: slot -> 0 he, 1 she, 2 singular they, 3 it, 4 plural they.
    """

    stream: tuple[str | int, ...]
    numbers: Rows
    frame: Rows
    fillers: dict[str, Rows]
    number: dict[str, Rows]
    pronoun: dict[str, Rows]

    def __len__(self) -> int:
        return len(self.numbers)

    def chance(self, name: str) -> NDArray[np.float64]:
        """Further random numbers, one per set: for templates, wordings and selections."""
        return uniform_at((*self.stream, name), self.numbers)


def draw_plan(construction: Construction, design: Design, pools: Pools, stream: tuple[str | int, ...], numbers: Rows) -> Plan:
    """Draw the sets ``numbers`` of ``stream`` (seed, construction, design, split).

    Raises:
        EmptySlotError: a related slot whose parent's fillers have no such relation.
    """

    def chance(name: str) -> NDArray[np.float64]:
        return uniform_at((*stream, name), numbers)

    frame = np.searchsorted(np.cumsum(pools.weights), chance("frame"), side="right").clip(max=len(pools.frames) - 1).astype(np.int64)
    fillers: dict[str, Rows] = {}
    for slot in construction.draw_order(design):
        lists, segments = _segments(slot, construction, pools, frame, fillers)
        drawn = segments.draw(lists, chance(slot.name))
        for attempt in range(1, TRIES):
            clash = _clash(slot, drawn, fillers, construction.lexicon)
            if not clash.any():
                break
            source = segments if attempt < PICKY else segments.unmarked
            drawn = np.where(clash, source.draw(lists, chance(f"{slot.name}#{attempt}")), drawn)
        if slot.optional:
            drawn = np.where(chance(f"{slot.name}?") < slot.optional, ABSENT, drawn)
        fillers[slot.name] = drawn
    number, pronoun = _agreement(construction, pools, frame, fillers, chance)
    return Plan(stream, numbers, frame, fillers, number, pronoun)


def _segments(slot: Slot, construction: Construction, pools: Pools, frame: Rows, fillers: dict[str, Rows]) -> tuple[Rows, Segments]:
    """Which list each set draws from, and the lists."""
    lexicon = construction.lexicon
    if not slot.lexical:
        return frame, pools.segments(slot, lexicon.bands)
    parents, lists = np.unique(fillers[slot.parent], return_inverse=True)
    related = [lexicon.related(slot.lexical, int(parent)) for parent in parents]
    for parent, rows in zip(parents, related, strict=True):
        if not rows:
            raise EmptySlotError(
                f"{construction.name}: slot {slot.name!r}: {lexicon.lemmas[parent]!r} has no {slot.lexical} in the lexicon",
                file=construction.document.path,
                line=construction.document.line(["slots", slot.name]),
                hint=f"add {slot.lexical} to {lexicon.table['key'][int(parent)]} under lexicons/classes",
            )
    return lists.astype(np.int64), Segments(related, lexicon.bands, even=False)


def _clash(slot: Slot, drawn: Rows, fillers: dict[str, Rows], lexicon: Lexicon) -> NDArray[np.bool_]:
    clash = np.zeros(len(drawn), dtype=bool)
    lemma = lexicon.lemma_codes
    for other in slot.distinct:
        if other in fillers:
            clash |= lemma[drawn] == lemma[fillers[other]]
    return clash


def _agreement(
    construction: Construction,
    pools: Pools,
    frame: Rows,
    fillers: dict[str, Rows],
    chance: Callable[[str], NDArray[np.float64]],
) -> tuple[dict[str, Rows], dict[str, Rows]]:
    """Grammatical number and pronoun of every slot's referent."""
    lexicon = construction.lexicon
    number: dict[str, Rows] = {}
    pronoun: dict[str, Rows] = {}
    for name, rows in fillers.items():
        slot = construction.slots[name]
        if slot.number == "frame":
            words = np.array([f.words.get("number", "singular") == "plural" for f in pools.frames], dtype=np.int64)
            number[name] = words[frame]
        else:
            number[name] = np.full(len(rows), int(slot.number == "plural"), dtype=np.int64)
        gender = lexicon.genders[rows]  # 0 m, 1 f, 2 any, 3 none
        drawn = np.digitize(chance(f"{name}#gender"), [0.48, 0.96])
        single = np.where(gender == 2, drawn, gender)
        pronoun[name] = np.where(number[name] == 1, PLURAL, single)
    return number, pronoun
