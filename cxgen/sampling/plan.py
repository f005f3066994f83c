"""The plan: a table of draws, one row per contrast set; and which wordings and templates occur in the test split only."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cxgen.constructicon import Construction, Design, Slot
from cxgen.sampling.pools import ABSENT, Pools
from cxgen.streams import chance_of, elect, uniform_at
from cxgen.vocabulary import SPLITS, Split

Rows = NDArray[np.int64]
Chances = NDArray[np.float64]
_PLACES = 1 << 16  # frames share them out, and a set has the frame of its place: the time that takes has a bound
_TRIES = 24
_PICKY = 8  # tries that still prefer unmarked fillers


@dataclass(frozen=True)
class HoldOut:
    """What is held out of the other splits: the second of three wordings of a rule; a quarter of the templates of kinds that share them."""

    wordings: bool = False
    templates: bool = False

    def of_wordings(self, count: int) -> list[bool]:
        """Which of ``count`` wordings are held out: the second of every three, so that one added at the end changes nothing before it."""
        return [self.wordings and number % 3 == 1 for number in range(count)]


NOTHING, USUAL = HoldOut(), HoldOut(wordings=True)


@dataclass(frozen=True)
class Plan:
    """Draws for the sets ``numbers`` of ``stream`` (seed, construction, design, split)."""

    stream: tuple[str | int, ...]
    numbers: Rows
    frame: Rows  # per set its number
    fillers: dict[str, Rows]  # slot -> row of the lexicon; `ABSENT` where an optional slot is left out

    def __len__(self) -> int:
        return len(self.numbers)

    def chance(self, name: str) -> Chances:
        """The random numbers ``name`` of the stream, one per set."""
        return uniform_at((*self.stream, name), self.numbers)

    def choose(self, name: str, options: Sequence[str | int], held: Sequence[bool], split: str) -> Rows:
        """For every set the place of one of ``options``, from the stream ``name``; one that is added changes only the sets that get it.

        In train and validation it is none that is ``held`` out; in test, half of the sets have one that is.
        """
        stream, seen, out = (*self.stream, name), [float(not is_out) for is_out in held], list(map(float, held))
        if split not in SPLITS or not any(held):
            return elect(stream, options, self.numbers)
        usual = elect(stream, options, self.numbers, seen)
        if split != Split.test:
            return usual
        coin = self.chance(f"{name.partition(':')[0]}s?")
        return np.where(coin < 0.5, elect(stream, options, self.numbers, out), usual)


def draw_plan(
    construction: Construction, design: Design, pools: Pools, stream: tuple[str | int, ...], numbers: Rows, only: Collection[str] = ()
) -> Plan:
    """Draw the sets ``numbers`` of ``stream``, or of their slots ``only`` some and those that these depend on."""
    stream_of_frames = (*stream, "frame")
    places, back = np.unique((uniform_at(stream_of_frames, numbers) * _PLACES).astype(np.int64), return_inverse=True)
    frame = elect(stream_of_frames, [f.name for f in pools.frames], places, pools.weights.tolist())[back]
    plan = Plan(stream, numbers, frame, {})
    names = [*construction.design_slots(design)]
    needed = set(only or names)
    for name in reversed(names):
        needed |= {*construction.slots[name].distinct} if name in needed else set()
    for name in filter(needed.__contains__, names):
        plan.fillers[name] = _drawn(construction.slots[name], construction, pools, plan)
    return plan


def _drawn(slot: Slot, construction: Construction, pools: Pools, plan: Plan) -> Rows:
    """The fillers of ``slot``; those that repeat the word of a slot drawn before are drawn again, some times."""
    segments = pools.segments[slot.name]
    drawn = segments.draw(plan.frame, plan.chance(slot.name))
    lemma = construction.lexicon.lemma_codes
    others = [lemma[plan.fillers[other]] for other in slot.distinct if other in plan.fillers]
    for attempt in range(1, _TRIES):
        clash = np.any([lemma[drawn] == other for other in others], axis=0)
        if not clash.any():
            break
        left = Plan(plan.stream, plan.numbers[clash], plan.frame[clash], {})
        drawn[clash] = segments.draw(left.frame, left.chance(f"{slot.name}#{attempt}"), unmarked=attempt >= _PICKY)
    return np.where(plan.chance(f"{slot.name}?") < slot.optional, ABSENT, drawn) if slot.optional else drawn


def pick(chance: Chances, size: int) -> Rows:
    """Numbers in [0, 1) to choices in 0..size-1."""
    return (chance * size).astype(np.int64).clip(max=size - 1)


def held_templates(construction: Construction, seed: int) -> frozenset[str]:
    """The names of the templates that are held out: each by its own chance, of two or more one at least; every kind keeps one."""
    lists = {tuple(template.name for template in construction.templates_for(kind)) for kind in construction.kinds} - {()}
    chance = {name: chance_of(seed, construction.name, "template", name) for names in lists for name in names}
    held = {name for name in chance if chance[name] < 1 / 4} | {min(names, key=chance.__getitem__) for names in lists if len(names) > 1}
    return frozenset(held - {max(names, key=chance.__getitem__) for names in lists if held.issuperset(names)})
