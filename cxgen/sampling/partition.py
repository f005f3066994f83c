"""Verbs are split before anything is drawn, so that no contrast set can straddle splits; and how many sets each split has."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import groupby

import numpy as np

from cxgen.constructicon import Construction, Design, Slot
from cxgen.errors import CxgenError
from cxgen.lexicon import Frame
from cxgen.sampling.pools import crowded, frame_candidates, frames_of
from cxgen.streams import chance_of, order_key
from cxgen.vocabulary import SPLITS

_ATTEMPTS = 64
_MOST_SETS = 100  # that shares may ask for to be whole, unless as many are wanted: 0.333 asks for 1,000
Shares = Mapping[str, float]  # split -> share
Verbs = frozenset[str]  # lemmas
FrameVerbs = Mapping[str, Sequence[Sequence[Verbs]]]  # design -> frames -> the verbs of each verb slot, the main slot first
Key = tuple[int, str]  # the project's seed, and the construction's name


def set_counts(wanted: float, rows: int, shares: Shares) -> dict[str, int]:
    """The fewest contrast sets (of ``rows`` rows) of each split for which ``wanted`` rows are reached and every split's part is whole."""
    exact = {split: Fraction(str(shares[split])) for split in SPLITS}
    if sum(exact.values()) != 1 or min(exact.values()) <= 0:
        raise CxgenError(f"split shares must be positive and add up to 1: {dict(shares)}", hint="see split: in params.yaml")
    unit = math.lcm(*(share.denominator for share in exact.values()))
    if unit > max(_MOST_SETS, wanted / rows):
        hint = "split: in params.yaml: fewer decimals"
        raise CxgenError(f"only {unit} contrast sets can be divided exactly by the shares {dict(shares)}", hint=hint)
    sets = unit * math.ceil(round(wanted / rows / unit, 9))
    return {split: int(sets * share) for split, share in exact.items()}


def near_counts(wanted: float, rows: int, shares: Shares) -> dict[str, int]:
    """As `set_counts`, divided as nearly as can be: by the largest remainders; of equal ones, the later split's."""
    sets = math.ceil(round(wanted / rows, 9))
    exact = {split: sets * Fraction(str(shares[split])) for split in SPLITS}
    counts = {split: int(share) for split, share in exact.items()}
    for split in sorted(SPLITS, key=lambda name: (counts[name] - exact[name], -SPLITS.index(name)))[: sets - sum(counts.values())]:
        counts[split] += 1
    return counts


def split_of(verb: str, splits: Mapping[str, str], shares: Shares, seed: int, construction: str) -> str:
    """The split of a set with this verb: that of ``splits``; of a verb that these do not have, by hash, whoever else is there."""
    ends = np.cumsum([float(shares[split]) for split in SPLITS])
    place = np.searchsorted(ends, chance_of(seed, construction, "verb", verb), side="right")
    return splits.get(verb, SPLITS[place % len(SPLITS)])


def best_partition(
    pools: Sequence[Verbs], usable: FrameVerbs, usual: FrameVerbs, shares: Shares, key: Key, joint: Sequence[Verbs] = ()
) -> dict[str, str]:
    """The partition (verb lemma -> split), out of some, under which every split of every design can say something, and most unmarked.

    A frame serves a split with as many main verbs as it has there, if its other verb slots have one there too. The split that is worst off,
    relative to its share, decides. ``usual`` is ``usable`` without marked verbs; ``joint`` verbs stay together.
    """
    first = {lemma: lemma for pool in pools for lemma in pool}  # lemma -> the first of those that go where it goes
    for group in joint:
        met = {first[lemma] for lemma in group}
        first |= {lemma: min(met) for lemma, other in first.items() if other in met}
    units = [frozenset(map(first.__getitem__, pool)) for pool in pools]
    sizes = {(name, split): len(frames) * shares[split] for name, frames in usual.items() for split in SPLITS}

    def worth(chosen: Mapping[str, str]) -> tuple[bool, float]:
        own = {split: frozenset(lemma for lemma, unit in first.items() if chosen[unit] == split) for split in SPLITS}
        possible = all(_served(frames, own[split]) for frames in usable.values() for split in SPLITS)
        return possible, min((_served(usual[name], own[split]) / size for (name, split), size in sizes.items()), default=math.inf)

    best = max((partition(units, shares, key, attempt) for attempt in range(_ATTEMPTS)), key=worth)  # the first of equals
    return {lemma: best[first[lemma]] for lemma in sorted(first)}


def _served(frames: Sequence[Sequence[Verbs]], own: Verbs) -> int:
    """The main verbs, of a split's ``own``, of frames whose other slots have a verb there, too."""
    return sum(len(verbs[0] & own) if all(map(own.intersection, verbs)) else 0 for verbs in frames) if frames[0] else len(frames)


def partition(pools: Sequence[Verbs], shares: Shares, key: Key, attempt: int) -> dict[str, str]:
    """Verb lemma -> split: lemmas come in an order fixed by ``key`` and attempt, those of small pools first, since they have the least
    choice; each goes to the split that its pools lack most."""
    lists: dict[str, list[int]] = {}  # lemma -> its pools
    for number, pool in enumerate(pools):
        for lemma in pool:
            lists.setdefault(lemma, []).append(number)
    placed, chosen = Counter[tuple[int, str]](), dict[str, str]()

    def need(lemma: str, split: str) -> tuple[float, float, bytes]:
        lacking = sum(1 - placed[number, split] / (len(pools[number]) * shares[split]) for number in lists[lemma])
        return round(lacking, 9), shares[split], order_key(*key, attempt, lemma, split)

    order = {lemma: (min(len(pools[number]) for number in own), order_key(*key, "verb", attempt, lemma)) for lemma, own in lists.items()}
    for lemma in sorted(lists, key=order.__getitem__):
        chosen[lemma] = max(SPLITS, key=partial(need, lemma))
        placed.update((number, chosen[lemma]) for number in lists[lemma])
    return chosen


def _slots(construction: Construction, preset: str, *, variants: bool = False) -> Iterator[tuple[Design, Slot, Frame, list[int]]]:
    """The verb slots of designs, frame by frame with what fills them; ``variants``: of pairs about participants, which are not divided."""
    for design in construction.designs.values():
        used = construction.design_slots(design) if bool(design.variant) == variants else ()
        for slot in (construction.slots[name] for name in construction.verb_slots if name in used):
            for frame in frames_of(construction, design):
                yield design, slot, frame, frame_candidates(frame, slot, construction.lexicon, "sliced" if variants else preset)


def _lemmas(construction: Construction, rows: Iterable[int]) -> Verbs:
    return frozenset(construction.lexicon.lemmas[row] for row in rows)


def verb_pools(construction: Construction, preset: str) -> list[Verbs]:
    """The verbs of every frame; those that it does not mark, frame by frame and in all, so that no split is left with marked verbs only;
    and of these those that by themselves entail what the construction says, and the others, so that every split has its share of both.
    """
    keys = construction.lexicon.keys
    pools: list[Verbs] = []
    for _, entries in groupby(_slots(construction, preset), key=lambda entry: (entry[0].name, entry[1].name)):
        usual, lexical, others = Verbs(), Verbs(), Verbs()
        for _, _, frame, rows in entries:
            unmarked = _lemmas(construction, (row for row in rows if keys[row] not in frame.marked))
            pools += [_lemmas(construction, rows), unmarked]
            usual |= unmarked
            lexical |= unmarked & frame.entails_alone
            others |= unmarked - frame.entails_alone
        pools += [usual, lexical, others]
    return list(dict.fromkeys(filter(None, pools)))


def further_verbs(construction: Construction, preset: str) -> Verbs:
    """The verbs of the designs whose verbs are not divided."""
    return Verbs().union(*(_lemmas(construction, rows) for _, _, _, rows in _slots(construction, preset, variants=True)))


def joint_verbs(construction: Construction, preset: str) -> list[Verbs]:
    """The verbs of frames that must hold several at once (*sing or dance, let alone juggle*): apart, small splits would have too few."""
    own = list(_slots(construction, preset))
    pairs = {(design.name, slot.name, slot.source) for design, slot, _, _ in own}
    joint = [rows for design, slot, _, rows in own if any((design.name, name, slot.source) in pairs for name in slot.distinct)]
    return list(dict.fromkeys(_lemmas(construction, rows) for rows in joint))


def frame_verbs(construction: Construction, preset: str, *, marked: bool) -> FrameVerbs:
    """What can be said, with marked fillers or without, in frames in which every slot is filled, by other words where it must be."""
    lexicon = construction.lexicon
    usable: dict[str, list[list[Verbs]]] = {}
    for design in (design for design in construction.designs.values() if not design.variant):
        main = construction.kinds[design.kinds[0]].verb
        slots = [construction.slots[name] for name in construction.design_slots(design) if construction.slots[name].from_frame]
        slots.sort(key=lambda slot: slot.name != main)
        for frame in frames_of(construction, design):
            rows = {slot.name: frame_candidates(frame, slot, lexicon, preset) for slot in slots}
            if not marked:
                rows = {name: [row for row in own if lexicon.keys[row] not in frame.marked] for name, own in rows.items()}
            if all(rows.values()) and not crowded(slots, rows, lexicon):
                verbs = [_lemmas(construction, own) for name, own in rows.items() if name in construction.verb_slots]
                usable.setdefault(design.name, []).append(verbs)
    return usable
