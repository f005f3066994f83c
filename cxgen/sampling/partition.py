"""Verbs are split before anything is drawn, so that no contrast set can straddle splits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cxgen.errors import CxgenError
from cxgen.streams import chance_of, order_key, order_keys
from cxgen.vocabulary import SPLITS

ATTEMPTS = 64
MOST_SETS = 10_000  # that shares may ask for to be whole: 0.33333 asks for 100,000
Shares = Mapping[str, float]
Pool = frozenset[str]
FrameVerbs = Mapping[str, Sequence[Sequence[Pool]]]


def set_counts(wanted: float, rows: int, shares: Shares) -> dict[str, int]:
    """How many contrast sets each split has: the least number for which ``wanted`` rows are reached and every split's part is whole.

    Args:
        wanted: rows over all splits.
        rows: rows that a set counts for.
        shares: split -> share; they add up to 1.
    """
    exact = {split: Fraction(str(shares[split])) for split in SPLITS}
    if sum(exact.values()) != 1 or min(exact.values()) <= 0:
        raise CxgenError(f"split shares must be positive and add up to 1: {dict(shares)}", hint="see split: in params.yaml")
    unit = math.lcm(*(share.denominator for share in exact.values()))
    if unit > MOST_SETS:
        plain = {split: float(share) for split, share in exact.items()}
        raise CxgenError(
            f"only {unit} contrast sets can be divided exactly by the shares {plain}", hint="split: in params.yaml: fewer decimals"
        )
    sets = unit * math.ceil(round(wanted / rows / unit, 9))
    return {split: int(sets * share) for split, share in exact.items()}


def near_counts(wanted: float, rows: int, shares: Shares) -> dict[str, int]:
    """How many contrast sets each split has: the least number for which ``wanted`` rows are reached, divided as nearly as can be (largest
    remainders; of equal ones, the later split's). Arguments as for `set_counts`.
    """
    sets = math.ceil(round(wanted / rows, 9))
    exact = {split: sets * Fraction(str(shares[split])) for split in SPLITS}
    counts = {split: int(share) for split, share in exact.items()}
    later = SPLITS[::-1]
    for split in sorted(later, key=lambda name: counts[name] - exact[name])[: sets - sum(counts.values())]:
        counts[split] += 1
    return counts


def split_of(verb: str, splits: Mapping[str, str], shares: Shares, seed: int, construction: str) -> str:
    """The split of a set with this verb: the partition's; of a verb that it does not have, by hash, the same whoever else is there.

    Args:
        splits: verb lemma -> split, as for ``nli``.
        shares: split -> share.
        seed, construction: as for the partition.
    """
    if verb in splits:
        return splits[verb]
    chance, end = chance_of(seed, construction, "verb", verb), 0.0
    for split in SPLITS:
        end += float(shares[split])
        if chance < end:
            return split
    return SPLITS[0]


def best_partition(
    pools: Sequence[Pool], usable: FrameVerbs, usual: FrameVerbs, shares: Shares, key: tuple[int, str], joint: Sequence[Pool] = ()
) -> dict[str, str]:
    """The partition (verb lemma -> split), out of ``ATTEMPTS``, under which every split of every design can say something, and most
    without marked fillers.

    A frame serves a split with as many main verbs as it has there, if its other verb slots have one there too. The split that is worst off,
    relative to its share, decides.

    Args:
        pools: sets of verb lemmas that are drawn from together, such as one frame's.
        usable: design -> frames -> verbs of each verb slot, the main slot first.
        usual: the same without marked verbs.
        shares: split -> share.
        key: the project's seed, and the construction's name.
        joint: verbs that go to one split together.
    """
    lemmas = sorted(frozenset().union(*pools))
    first = _first_of_joint(lemmas, joint)
    units = sorted(set(first.values()))
    chosen = partitions([frozenset(map(first.__getitem__, pool)) for pool in pools], shares, key, range(ATTEMPTS))
    chosen = chosen[:, [units.index(first[lemma]) for lemma in lemmas]]
    within = (chosen[:, :, np.newaxis] == np.arange(len(SPLITS))).astype(np.float64)

    def served(frames: Sequence[Sequence[Pool]]) -> NDArray[np.float64]:
        """Per attempt and split, the main verbs of frames whose other slots have a verb there, too."""
        counts = [_members(verbs, lemmas) @ within for verbs in zip(*frames, strict=True)] or [
            np.ones((ATTEMPTS, len(frames), len(SPLITS)))
        ]
        total: NDArray[np.float64] = np.where(np.all(counts, axis=0), counts[0], 0.0).sum(axis=1)
        return total

    part = np.array([shares[split] for split in SPLITS])
    possible = np.logical_and.reduce([served(frames).all(axis=1) for frames in usable.values()] or [np.ones(ATTEMPTS, dtype=bool)])
    worst = np.minimum.reduce([(served(frames) / (part * len(frames))).min(axis=1) for frames in usual.values()] or [np.zeros(ATTEMPTS)])
    best = max(range(ATTEMPTS), key=lambda attempt: (possible[attempt], worst[attempt]))  # the first of equals
    return {lemma: SPLITS[number] for lemma, number in zip(lemmas, chosen[best].tolist(), strict=True)}


def _first_of_joint(lemmas: Sequence[str], joint: Sequence[Pool]) -> dict[str, str]:
    """Lemma -> the first of those that go where it goes."""
    first = {lemma: lemma for lemma in lemmas}
    for group in joint:
        met = {first[lemma] for lemma in group}
        first |= {lemma: min(met) for lemma, other in first.items() if other in met}
    return first


def _members(pools: Sequence[Pool], lemmas: Sequence[str]) -> NDArray[np.float64]:
    """Pools x lemmas: 1 for a member."""
    return np.array([[lemma in pool for lemma in lemmas] for pool in pools], dtype=np.float64).reshape(len(pools), len(lemmas))


def partitions(pools: Sequence[Pool], shares: Shares, key: tuple[int, str], attempts: Sequence[int]) -> NDArray[np.int64]:
    """Attempts x lemmas, in alphabetical order: the number of the split.

    Lemmas come in an order fixed by ``key`` and attempt; each goes to the split that its pools lack most, so that every pool is divided in
    about the given shares. Every attempt places its next lemma at the same time.
    """
    lemmas = sorted(frozenset().union(*pools))
    member = _members(pools, lemmas)
    sizes = member.sum(axis=1)
    least = [sizes[column > 0].min() for column in member.T]
    orders = []
    for attempt in attempts:
        keys = order_keys((*key, "verb", attempt), lemmas)
        # Lemmas of small pools first: they have the least choice.
        orders.append(sorted(range(len(lemmas)), key=list(zip(least, keys, strict=True)).__getitem__))
    wanted = np.outer(sizes, [shares[split] for split in SPLITS])[:, :, np.newaxis]
    placed = np.zeros((len(pools), len(SPLITS), len(attempts)))
    chosen = np.empty((len(attempts), len(lemmas)), dtype=np.int64)
    rows = np.arange(len(attempts))
    for now in np.array(orders, dtype=np.int64).T:
        own = member[:, now]
        need = (own[:, np.newaxis] * ((wanted - placed) / wanted)).sum(axis=0).round(9)
        most = need == need.max(axis=0)
        best = most.argmax(axis=0)
        for row in np.flatnonzero(most.sum(axis=0) > 1).tolist():
            tied, lemma = np.flatnonzero(most[:, row]).tolist(), lemmas[now[row]]
            best[row] = max(tied, key=lambda n: (shares[SPLITS[n]], order_key(*key, attempts[row], lemma, SPLITS[n])))
        placed[:, best, rows] += own
        chosen[rows, now] = best
    return chosen
