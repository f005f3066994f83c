"""The sequences of a small set of layers (one syllable, mostly), all written out: compared with every source that has use for them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cxgen.streams import uniform
from cxgen.wug.chain import Chain, Ints, Layers
from cxgen.wug.compiled import compiled
from cxgen.wug.known import Hashes, Known, holds
from cxgen.wug.search import RUNGS, Found
from cxgen.wug.syllables import Segments

_MOST = 20_000  # sequences; more are searched
_BLOCK = 64  # sequences sorted at a time


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
        self._chain = chain
        self._numbers, self._types = np.ascontiguousarray(numbers[:, :-1]), types.astype(np.int32)
        self._letters = chain.letters[self._numbers].astype(np.int8)
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
        compared = numbers[1:-1], letters[1:-1], frequencies
        places, largest, sums = paying(self._numbers, self._types, self._letters, *compared, owed, self._hashes, known.table)
        if not len(places):
            return
        rungs = np.searchsorted(RUNGS, largest)
        blurred = sums * (0.5 + uniform(("order", *key), 0, len(self._once))[places])
        ranks = rungs + blurred / (1 + blurred.max())
        size, texts = _BLOCK, self._chain.texts
        while len(places):
            size = min(size, len(places))
            first = ranks <= np.partition(ranks, size - 1)[size - 1]
            best = np.flatnonzero(first)
            best = best[np.argsort(ranks[best], kind="stable")]
            for place, rung in zip(places[best].tolist(), rungs[best].tolist(), strict=True):
                yield Found(rung, tuple([texts[number] for number in self._numbers[place].tolist()]), bool(self._once[place]))
            places, rungs, ranks, size = places[~first], rungs[~first], ranks[~first], 4 * size


@compiled("UniTuple(i8[::1],3)(i8[:,::1],i4[:,::1],i1[:,::1],i8[::1],i8[::1],i8[::1],UniTuple(i8,3),u8[::1],u8[::1])")
def paying(
    numbers: Ints,
    types: NDArray[np.int32],
    letters: NDArray[np.int8],
    source: Ints,
    lengths: Ints,
    frequencies: Ints,
    owed: tuple[int, int, int],
    forms: Hashes,
    table: Hashes,
) -> tuple[Ints, Ints, Ints]:
    """Which unknown sequences pay what is ``owed``, the largest deviation of each, and the sum of its deviations.

    Args:
        numbers, types, letters: segments, their letters and transition types of each sequence.
        source, lengths, frequencies: segments, letters and transition frequencies of the source.
        owed: changes, letters more, and letters moved.
        forms: the hash of each sequence.
        table: of known forms.
    """
    changes, longer, moved = owed
    places, largest, sums = np.empty(len(numbers), np.int64), np.empty(len(numbers), np.int64), np.empty(len(numbers), np.int64)
    size = 0
    for row in range(len(numbers)):
        differs, more, shifted = 0, 0, 0
        for at in range(len(source)):
            by = letters[row, at] - lengths[at]
            more, shifted = more + by, shifted + abs(by)
        if more != longer or shifted != moved:
            continue
        for at in range(len(source)):
            differs += numbers[row, at] != source[at]
        if differs >= changes and not holds(table, forms[row]):
            places[size], largest[size], sums[size] = row, 0, 0
            for at in range(len(frequencies)):
                deviation = abs(types[row, at] - frequencies[at])
                largest[size], sums[size] = max(largest[size], deviation), sums[size] + deviation
            size += 1
    return places[:size].copy(), largest[:size].copy(), sums[:size].copy()
