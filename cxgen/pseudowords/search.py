"""The bigram chain of segments, and the sequences in it that are nearest to a word's transition frequencies.

As in Wuggy (Keuleers & Brysbaert 2010, Behavior Research Methods 42, 627-633), a word is ``^``, three segments for each syllable, ``$``; a
transition is keyed by the number of syllables and its place, and counted by types. One pass from the end (dynamic programming) finds for
every transition the smallest largest deviation of any way from there; with these, no way is entered from the start that leads to none.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.pseudowords.spelling import Segments
from cxgen.streams import uniform

_Ints = NDArray[np.int64]
_Edges = tuple[_Ints, _Ints, _Ints]  # left and right segment, type count; sorted by left
_FAR = 1 << 30
_WIDER = 1.3  # the next threshold
_MOST = 1024  # sequences within one threshold; of more, so many are drawn


class Sequence(NamedTuple):
    """Segments; the type count of each transition, less the source's; whether a transition has one word or none (``once``)."""

    parts: Segments
    deviations: list[int]
    once: bool


class Chain:
    """The transitions: rows ``syllables``, ``place`` (0: from the start to the first onset), ``left``, ``right``, ``types``."""

    def __init__(self, table: pl.DataFrame) -> None:
        self._texts = sorted({*table["left"], *table["right"]})
        self._numbers = {text: number for number, text in enumerate(self._texts)}
        self._counts: dict[tuple[int, int, str, str], int] = {}
        # (syllables, place) or (part,), and the letters left and right -> the types of each pair.
        self._pairs: dict[tuple[int, ...], dict[tuple[str, str], int]] = defaultdict(lambda: defaultdict(int))
        for size, place, left, right, types in table.sort("left", "right").iter_rows():
            self._counts[size, place, left, right] = types
            for key in ((size, place), (_part(size, place),)):
                self._pairs[*key, len(left), len(right)][left, right] += types
        self._edges = cache(self._between)

    def frequencies(self, parts: Segments) -> list[int]:
        """The type count of each transition of a word; 0 where no word has it."""
        size = len(parts) // 3
        return [self._counts.get((size, place, *pair), 0) for place, pair in enumerate(pairwise(("^", *parts, "$")))]

    def _between(self, size: int, place: int, left: int, right: int, loose: bool) -> _Edges:
        """The transitions at a place between segments of so many letters."""
        pairs = self._pairs[*((_part(size, place),) if loose else (size, place)), left, right]
        attested = [pair for pair, types in sorted(pairs.items()) if types > 1 or not loose]
        rows = [(self._numbers[a], self._numbers[b], self._counts.get((size, place, a, b), 0)) for a, b in attested]
        lefts, rights, types = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        return lefts, rights, types

    def near(self, source: Segments, shape: tuple[int, ...], loose: bool, *key: str | int) -> Iterator[tuple[int, Sequence | None]]:
        """Sequences that differ from ``source`` in a third of the segments or more, with their costs, the cheapest first.

        The largest deviation decides, then their sum, blurred at random. A cost without a sequence says that what follows costs as much at
        least. ``shape`` are the letters of each segment. If ``loose``, any transition will do that two words or more have in the same part
        of a syllable, anywhere in a word of any length (but word-initial and word-final ones only there). ``key`` names the random stream.
        """
        places = enumerate(pairwise((1, *shape, 1)))
        layers = [self._edges(len(shape) // 3, place, left, right, loose) for place, (left, right) in places]
        frequencies, numbers = np.array(self.frequencies(source)), np.array([self._numbers.get(part, -1) for part in source])
        least: list[_Ints] = []
        best = np.zeros(len(self._texts), dtype=np.int64)
        for (left, right, types), frequency in zip(reversed(layers), frequencies[::-1], strict=True):
            least.insert(0, np.maximum(best[right], np.abs(types - frequency)))
            best = np.full(len(self._texts), _FAR)
            np.minimum.at(best, left, least[0])
        threshold, done = int(best[self._numbers["^"]]), -1
        while threshold < _FAR:
            yield _cost(threshold), None
            ahead = int(threshold * _WIDER) + 1
            paths, following = _within(layers, least, ahead, self._numbers["^"], key)
            types = np.stack([types[edge] for (_, _, types), edge in zip(layers, paths.T, strict=True)], axis=1)
            parts = np.stack([right[edge] for (_, right, _), edge in zip(layers[:-1], paths.T[:-1], strict=True)], axis=1)
            deviations = types - frequencies
            largest = np.abs(deviations).max(axis=1)
            fits = (largest > done) & ((parts != numbers).sum(axis=1) >= len(source) // 3)
            blurred = np.abs(deviations).sum(axis=1) * (0.5 + uniform(("order", *key), 0, len(paths)))
            costs = np.array([_cost(size) for size in largest.tolist()], dtype=np.int64)
            order = np.lexsort((blurred, costs))
            for at in order[fits[order]].tolist():
                texts = tuple(self._texts[number] for number in parts[at].tolist())
                yield int(costs[at]), Sequence(texts, deviations[at].tolist(), bool(types[at].min() < 2))
            threshold, done = max(following, ahead + 1), ahead


@cache
def _cost(deviation: int) -> int:
    """Of the largest deviation: itself up to 8, then 8 more for every doubling."""
    return deviation if deviation < 8 else round(8 * math.log2(deviation / 8)) + 8


def _part(size: int, place: int) -> int:
    """Which of the three steps of a syllable, and whether it is the word's start or end."""
    return place % 3 + 3 * (place in {0, 1}) + 6 * (place >= 3 * size - 1)


def _within(layers: list[_Edges], least: list[_Ints], threshold: int, start: int, key: tuple[str | int, ...]) -> tuple[_Ints, int]:
    """The edges of each sequence within ``threshold``, evenly thinned out where they are too many; and the next deviation beyond it."""
    node, paths, following = np.array([start]), np.empty((1, 0), dtype=np.int64), _FAR
    for place, ((left, right, _), deviation) in enumerate(zip(layers, least, strict=True)):
        starts = np.searchsorted(left, node)
        spans = np.searchsorted(left, node, side="right") - starts
        origin = np.repeat(np.arange(len(node)), spans)
        edge = np.arange(len(origin)) + (starts - np.cumsum(spans) + spans)[origin]
        within = deviation[edge] <= threshold
        following = min([following, *deviation[edge[~within]].tolist()])
        kept = np.flatnonzero(within)
        if len(kept) > _MOST:
            drawn = (np.arange(_MOST) + uniform(("draw", threshold, place, *key), 0, _MOST)) / _MOST
            kept = np.unique(kept[(drawn * len(kept)).astype(np.int64)])
        origin, edge = origin[kept], edge[kept]
        node, paths = right[edge], np.column_stack([paths[origin], edge])
    return paths, following
