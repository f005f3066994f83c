"""Verbs are split before anything is drawn, so that no contrast set can straddle splits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from cxgen.errors import CxgenError
from cxgen.streams import order_key
from cxgen.vocabulary import SPLITS

ATTEMPTS = 64


def set_counts(wanted: float, rows: int, shares: Mapping[str, float]) -> dict[str, int]:
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
    sets = unit * math.ceil(round(wanted / rows / unit, 9))
    return {split: int(sets * share) for split, share in exact.items()}


FrameVerbs = Mapping[str, Sequence[Sequence[frozenset[str]]]]


def best_partition(
    pools: Sequence[frozenset[str]],
    usable: FrameVerbs,
    usual: FrameVerbs,
    shares: Mapping[str, float],
    seed: int,
    construction: str,
) -> dict[str, str]:
    """The partition, out of ``ATTEMPTS``, under which every split of every design can say something, and most without marked fillers.

    A frame serves a split with as many main verbs as it has there, if its other verb slots have one there too. The split that is worst off,
    relative to its share, decides.

    Args:
        pools: see `partition_verbs`.
        usable: design -> frames -> verbs of each verb slot, the main slot first.
        usual: the same without marked verbs.
        shares: split -> share.
        seed: the project's seed.
        construction: the construction's name.
    """

    def served(frames: Sequence[Sequence[frozenset[str]]], within: frozenset[str]) -> int:
        return sum(len(verbs[0] & within) if verbs and all(pool & within for pool in verbs) else not verbs for verbs in frames)

    def worst(splits: Mapping[str, str]) -> tuple[bool, float]:
        within = {split: frozenset(lemma for lemma, its in splits.items() if its == split) for split in SPLITS}
        possible = all(served(frames, within[split]) for frames in usable.values() for split in SPLITS)
        return possible, min((served(f, within[split]) / (shares[split] * len(f)) for f in usual.values() for split in SPLITS), default=0.0)

    tries = (partition_verbs(pools, shares, seed, construction, attempt) for attempt in range(ATTEMPTS))
    return max(tries, key=worst)  # the first of equals


def partition_verbs(
    pools: Sequence[frozenset[str]], shares: Mapping[str, float], seed: int, construction: str, attempt: int = 0
) -> dict[str, str]:
    """Verb lemma -> split.

    Lemmas come in an order fixed by seed and construction; each goes to the split that its pools lack most, so that every pool is divided
    in about the given shares.

    Args:
        pools: sets of verb lemmas that are drawn from together, such as one frame's.
        shares: split -> share.
        seed: the project's seed.
        construction: the construction's name.
        attempt: another number gives another order.
    """
    held: list[dict[str, int]] = [dict.fromkeys(SPLITS, 0) for _ in pools]
    lemmas = sorted({lemma for pool in pools for lemma in pool})
    # Lemmas of small pools first: they have the least choice.
    size = {lemma: min(len(pool) for pool in pools if lemma in pool) for lemma in lemmas}
    lemmas.sort(key=lambda lemma: (size[lemma], order_key(seed, construction, "verb", attempt, lemma)))
    result: dict[str, str] = {}
    for lemma in lemmas:
        mine = [number for number, pool in enumerate(pools) if lemma in pool]
        need = {
            split: sum((shares[split] * len(pools[n]) - held[n][split]) / (shares[split] * len(pools[n])) for n in mine) for split in SPLITS
        }
        best = max(SPLITS, key=lambda split: (round(need[split], 9), shares[split], order_key(seed, construction, attempt, lemma, split)))
        result[lemma] = best
        for number in mine:
            held[number][best] += 1
    return result
