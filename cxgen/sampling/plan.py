"""The plan: a table of draws, one row per contrast set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cxgen.constructicon import Construction, Design, Slot
from cxgen.errors import EmptySlotError
from cxgen.lexicon import Lexicon
from cxgen.sampling.pools import ABSENT, Pools, Segments
from cxgen.streams import uniform_at

Rows = NDArray[np.int64]
Chances = NDArray[np.float64]
TRIES = 24
PICKY = 8  # tries that still prefer unmarked fillers
PLURAL = 4  # pronouns of a slot's referent: he, she, singular they, it, plural they


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

    def chance(self, name: str) -> Chances:
        """The random numbers ``name`` of the stream, one per set."""
        return uniform_at((*self.stream, name), self.numbers)


def pick(chance: Chances, size: int) -> Rows:
    """Numbers in [0, 1) to choices in 0..size-1."""
    choice: Rows = np.minimum((chance * size).astype(np.int64), size - 1)
    return choice


def draw_plan(construction: Construction, design: Design, pools: Pools, stream: tuple[str | int, ...], numbers: Rows) -> Plan:
    """Draw the sets ``numbers`` of ``stream`` (seed, construction, design, split).

    Raises:
        EmptySlotError: a related slot whose parent's fillers have no such relation.
    """
    plan = Plan(stream, numbers, np.empty(0, dtype=np.int64), {}, {}, {})
    ends = np.cumsum(pools.weights)
    frame = np.searchsorted(ends, plan.chance("frame"), side="right").clip(max=len(pools.frames) - 1).astype(np.int64)
    plan = Plan(stream, numbers, frame, {}, {}, {})
    for slot in construction.draw_order(design):
        plan.fillers[slot.name] = _drawn(slot, construction, pools, plan)
    for name, rows in plan.fillers.items():
        plan.number[name] = _number(construction.slots[name], pools, frame)
        gender = construction.lexicon.genders[rows]  # 0 m, 1 f, 2 any, 3 none
        either = np.digitize(plan.chance(f"{name}#gender"), [0.48, 0.96])
        plan.pronoun[name] = np.where(plan.number[name] == 1, PLURAL, np.where(gender == 2, either, gender))
    return plan


def _drawn(slot: Slot, construction: Construction, pools: Pools, plan: Plan) -> Rows:
    """The fillers of ``slot``; those that repeat the word of a slot drawn before are drawn again, some times."""
    lists, segments = _segments(slot, construction, pools, plan)
    drawn = segments.draw(lists, plan.chance(slot.name))
    lemma = construction.lexicon.lemma_codes
    others = [plan.fillers[other] for other in slot.distinct if other in plan.fillers]
    for attempt in range(1, TRIES):
        clash = np.any([lemma[drawn] == lemma[other] for other in others], axis=0) if others else np.zeros(1)
        if not clash.any():
            break
        source = segments if attempt < PICKY else segments.unmarked
        drawn = np.where(clash, source.draw(lists, plan.chance(f"{slot.name}#{attempt}")), drawn)
    return np.where(plan.chance(f"{slot.name}?") < slot.optional, ABSENT, drawn) if slot.optional else drawn


def _segments(slot: Slot, construction: Construction, pools: Pools, plan: Plan) -> tuple[Rows, Segments]:
    """Which list each set draws from, and the lists."""
    lexicon = construction.lexicon
    if not slot.lexical:
        return plan.frame, pools.segments(slot, lexicon.bands)
    parents, lists = np.unique(plan.fillers[slot.parent], return_inverse=True)
    related = [lexicon.related(slot.lexical, int(parent)) for parent in parents]
    for parent, rows in zip(parents, related, strict=True):
        if not rows:
            raise _unrelated(slot, construction, lexicon, int(parent))
    return lists.astype(np.int64), Segments(related, lexicon.bands, even=False)


def _unrelated(slot: Slot, construction: Construction, lexicon: Lexicon, parent: int) -> EmptySlotError:
    return EmptySlotError(
        f"{construction.name}: slot {slot.name!r}: {lexicon.lemmas[parent]!r} has no {slot.lexical} in the lexicon",
        file=construction.document.path,
        line=construction.document.line(["slots", slot.name]),
        hint=f"add {slot.lexical} to {lexicon.table['key'][parent]} under lexicons/classes",
    )


def _number(slot: Slot, pools: Pools, frame: Rows) -> Rows:
    """The grammatical number of what fills ``slot``: its own, or that of the frame."""
    if slot.number != "frame":
        return np.full(len(frame), int(slot.number == "plural"), dtype=np.int64)
    plural = [frame.words.get("number", "singular") == "plural" for frame in pools.frames]
    return np.array(plural, dtype=np.int64)[frame]
