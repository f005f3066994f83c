"""The sequences of a small set of layers (one syllable, mostly), all written out: compared with every source that has use for them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cxgen.streams import uniform
from cxgen.wug.chain import Chain, Layers
from cxgen.wug.compiled import Ints, compiled
from cxgen.wug.known import Known, unheld
from cxgen.wug.search import RUNGS, Found
from cxgen.wug.syllables import Segments

_MOST = 20_000  # sequences; more are searched
_BLOCK = 512  # sequences sorted at a time


class Listed:
    """All sequences of some layers."""

    def __init__(self, chain: Chain, layers: Layers) -> None:
        spans = np.diff(layers.starts)
        node = np.zeros(1, dtype=np.int64)
        numbers, types = np.empty((1, 0), dtype=np.int64), np.empty((1, 0), dtype=np.int64)
        for _ in range(len(layers.places) - 2):
            edge = np.repeat(layers.starts[node] - np.cumsum(spans[node]) + spans[node], spans[node]) + np.arange(spans[node].sum())
            before = np.repeat(np.arange(len(node)), spans[node])
            node = layers.right[edge]
            numbers = np.column_stack([numbers[before], layers.segments[node]])
            types = np.column_stack([types[before], layers.types[edge]])
        # Those with the same letters in each segment follow one another, so that most need not be looked at.
        shapes = chain.letters[numbers[:, :-1]]
        order = np.lexsort(shapes.T)
        numbers, types, shapes = numbers[order], types[order], shapes[order]
        cuts = np.flatnonzero((shapes[1:] != shapes[:-1]).any(axis=1)) + 1
        self._chain, self._places = chain, order
        self._shapes, self._starts = shapes[np.r_[0, cuts]], np.r_[0, cuts, len(shapes)]
        self._numbers, self._types = np.ascontiguousarray(numbers[:, :-1]), types
        self._once = types.min(axis=1) < 2
        self._hashes = np.zeros(len(numbers), dtype=np.uint64)
        values, powers = chain.hashes
        for segments in self._numbers.T:
            self._hashes = self._hashes * powers[segments] + values[segments]

    @classmethod
    def of(cls, chain: Chain, layers: Layers) -> Listed | None:
        """All sequences of ``layers``; None if they are too many."""
        ways = np.zeros(len(layers.segments))
        ways[-1] = 1
        for place in range(len(layers.places) - 3, -1, -1):
            starts = layers.starts[layers.places[place] : layers.places[place + 1] + 1]
            onward = ways[layers.right[starts[0] : starts[-1]]]
            ways[layers.places[place] : layers.places[place + 1]] = np.add.reduceat(onward, starts[:-1] - starts[0])
        return cls(chain, layers) if ways[0] <= _MOST else None

    def ascending(self, source: Segments, owed: tuple[int, int, int], known: Known, *key: str | int) -> Iterator[Found]:
        """As ``Search.ascending``, less the forms that are ``known``; ``owed`` is what ``States.owing`` takes."""
        numbers, letters, frequencies = self._chain.compared(source)
        more = self._shapes - letters[1:-1]
        shapes = np.flatnonzero((more.sum(axis=1) == owed[1]) & (np.abs(more).sum(axis=1) == owed[2]))
        rows, largest, sums = paying(self._numbers, self._types, self._starts, shapes, numbers[1:-1], frequencies, owed[0])
        if not len(rows):
            return
        rungs = RUNGS.searchsorted(largest)
        blurred = sums * (0.5 + uniform(("order", *key), 0, len(self._once))[self._places[rows]])
        ranks = rungs + blurred / (1 + blurred.max())
        size, texts = _BLOCK, self._chain.texts
        while len(rows):
            size = min(size, len(rows))
            first = ranks <= np.partition(ranks, size - 1)[size - 1]
            best = np.flatnonzero(first)
            best = best[np.lexsort((self._places[rows[best]], ranks[best]))]
            best = best[unheld(known.table, self._hashes[rows[best]])]
            for row, rung in zip(rows[best].tolist(), rungs[best].tolist(), strict=True):
                yield Found(rung, tuple([texts[number] for number in self._numbers[row].tolist()]), bool(self._once[row]))
            rows, rungs, ranks, size = rows[~first], rungs[~first], ranks[~first], 4 * size


@compiled("UniTuple(i8[::1],3)(i8[:,::1],i8[:,::1],i8[::1],i8[::1],i8[::1],i8[::1],i8)")
def paying(
    numbers: Ints,
    types: Ints,
    starts: Ints,
    shapes: Ints,
    source: Ints,
    frequencies: Ints,
    changes: int,
) -> tuple[Ints, Ints, Ints]:
    """The sequences of some shapes with enough segments that differ, the largest deviation of each, and the sum of its deviations.

    Args:
        numbers, types: segments and transition types of each sequence.
        starts: for each shape its first sequence, and their number.
        shapes: which are wanted.
        source, frequencies: segments and transition frequencies of the source.
        changes: segments that must differ.
    """
    total = 0
    for shape in shapes:
        total += starts[shape + 1] - starts[shape]
    rows, largest, sums = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int64)
    size = 0
    for shape in shapes:
        for row in range(starts[shape], starts[shape + 1]):
            differs = 0
            for at in range(len(source)):
                differs += numbers[row, at] != source[at]
            if differs >= changes:
                rows[size], largest[size], sums[size] = row, 0, 0
                for at in range(len(frequencies)):
                    deviation = abs(types[row, at] - frequencies[at])
                    largest[size], sums[size] = max(largest[size], deviation), sums[size] + deviation
                size += 1
    return rows[:size].copy(), largest[:size].copy(), sums[:size].copy()
