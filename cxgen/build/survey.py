"""Which set numbers of a construction's sources say something new, found from the draws alone, before anything is written."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from cxgen.sampling import Sampler, letters, span

BLOCK = 1 << 16  # sets that are drawn at once
MOST = 1 << 20  # sets of a round: with four premises each, 32 MB of hashes
DRY = 0.01  # share of new sets in a round below which a source has run dry
_SPARE = 8


@dataclass(frozen=True)
class Found:
    """What a source can give.

    Attributes:
        numbers: of the sets to keep, ascending.
        drawn: how many numbers they were chosen from: those up to the last one, or all that were looked at if there are too few.
    """

    numbers: NDArray[np.int64]
    drawn: int


@dataclass(frozen=True)
class Stretch:
    """Set numbers of one of several sources: ``count`` of them, from ``start``; ``source`` counts from 0."""

    source: int
    start: int
    count: int


Hasher = Callable[[Sequence[Stretch]], Iterator[NDArray[np.uint64]]]


def hashes(source: Sampler, stretch: Stretch) -> NDArray[np.uint64]:
    """Of the sets of ``stretch``, all of ``source``: sets x kinds, see `letters`."""
    return letters(source.draw(span(stretch.start, stretch.count)))


def survey(sources: Sequence[Sampler], wanted: Sequence[int], hasher: Hasher | None = None) -> list[Found]:
    """The first ``wanted`` set numbers of every source whose premises all occur for the first time.

    A set is new if none of its premises was drawn before, in it or in a lower number of its source or in any number of a source before it,
    that were looked at; whether that one was kept does not matter. So what is found depends on what is asked for, and on nothing else.
    Premises are compared by 64-bit hashes of their letters: that two of ten million different ones are taken for the same has a
    chance of 1 in 400,000.

    Args:
        sources: of one construction and config.
        wanted: sets, per source.
        hasher: gives the `hashes` of stretches, in their order, wherever they are made; here, if it is not given.

    Returns:
        Per source; with fewer numbers than wanted where it has run dry.
    """
    made = hasher or (lambda asked: (hashes(sources[each.source], each) for each in asked))
    seen = np.empty(0, dtype=np.uint64)
    found = []
    ahead = [_round(number, 0, want, 1.0) if want else [] for number, want in enumerate(wanted)]  # known before anything is drawn
    first = made([stretch for asked in ahead for stretch in asked])
    for number, want in enumerate(wanted):
        kept: list[NDArray[np.int64]] = []
        drawn = have = 0
        rate = 1.0
        while have < want and rate >= DRY:
            asked = _round(number, drawn, want - have, rate)
            drawings = made(asked) if drawn else islice(first, len(asked))
            numbers = span(drawn, sum(stretch.count for stretch in asked))
            new, seen = _new(np.concatenate(list(drawings)), seen)
            kept.append(numbers[new][: want - have])
            have += len(kept[-1])
            rate = float(new.mean())
            drawn += len(numbers)
        chosen = np.concatenate(kept) if kept else np.empty(0, dtype=np.int64)
        found.append(Found(chosen, int(chosen[-1]) + 1 if len(chosen) and len(chosen) == want else drawn))
    return found


def _round(source: int, drawn: int, lacking: int, rate: float) -> list[Stretch]:
    """What to draw next of a source of which ``drawn`` sets were looked at, one in ``1 / rate`` of them new."""
    end = drawn + min(MOST, max(BLOCK, 2 * drawn), math.ceil(lacking / rate) + _SPARE)
    return [Stretch(source, at, min(BLOCK, end - at)) for at in range(drawn, end, BLOCK)]


def _new(hashes: NDArray[np.uint64], seen: NDArray[np.uint64]) -> tuple[NDArray[np.bool_], NDArray[np.uint64]]:
    """Of sets x premises, which sets have premises that occur here for the first time; and ``seen``, sorted, with these premises."""
    unique, first = np.unique(hashes, return_index=True)
    fresh = np.zeros(hashes.size, dtype=bool)
    fresh[first] = True
    if len(seen):
        at = np.searchsorted(seen, unique).clip(max=len(seen) - 1)
        fresh[first[seen[at] == unique]] = False
    new = np.logical_and.reduce(fresh.reshape(hashes.shape), axis=1, dtype=np.bool_)
    return np.asarray(new), np.sort(np.concatenate([seen, unique]), kind="stable")
