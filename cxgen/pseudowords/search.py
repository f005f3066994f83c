"""The exact search: all sequences of segments within a largest deviation from the source's transition frequencies, fewest first.

One pass over the chain from the end (dynamic programming; the state is the segment and what a sequence still owes, such as segments that
differ from the source's) finds for every transition the smallest largest deviation of any way from there. With these, sequences are written
out from the start without ever entering a way that leads to none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from cxgen.pseudowords.chain import Chain, Ints, Layer
from cxgen.pseudowords.syllables import Segments
from cxgen.streams import uniform

# Largest deviations between two neighbours of this list count as equally good.
RUNGS = np.unique([*range(8), *(round(2 ** (3 + step / 8)) for step in range(96))])
_WIDE = 4  # rungs searched together
_ENOUGH = 60  # sequences; where there are fewer, more rungs are searched together
_MOST = 2048  # sequences of one rung; of more, so many are drawn


class Found(NamedTuple):
    """A sequence.

    Attributes:
        rung: which of ``RUNGS`` its largest deviation is within.
        parts: its segments.
        deviations: type count of each of its transitions, less the source's.
        once: whether it has a transition that only one word has, or none.
    """

    rung: int
    parts: Segments
    deviations: list[int]
    once: bool


@dataclass(frozen=True)
class Owed:
    """What a sequence owes, as numbers, and what entering a segment does to that.

    Attributes:
        start: the state before the first segment.
        end: the state in which a whole sequence must end.
        moves: for a segment as the source's, and one that differs, with two letters less to two more: state -> state; the last number is a
            state without a way out.
    """

    start: int
    end: int
    moves: Ints

    @classmethod
    @cache
    def of(cls, changes: int, longer: int = 0, moved: int = 0) -> Owed:
        """What is owed by sequences with at least ``changes`` segments that differ.

        Args:
            changes: as said.
            longer: by how much the sequence is longer than the source, in letters.
            moved: sum of the differences between the segments' letters and the source's.
        """
        balances = [(balance, left) for left in range(moved + 1) for balance in range(-left, left + 1) if (balance - left) % 2 == 0]
        known = {(due, *rest): number for number, (rest, due) in enumerate(product(balances, range(changes + 1)))}
        dead = len(known)
        moves = [
            [known.get((max(due - differs, 0), balance - more, left - abs(more)), dead) for due, balance, left in known] + [dead]
            for differs, more in product((0, 1), (-2, -1, 0, 1, 2))
        ]
        return cls(known[changes, longer, moved], known[0, 0, 0], np.array(moves))


class Search:
    """The sequences of some layers, compared with a source.

    Attributes:
        rung: of the best of them; None if there are none that pay what they owe.
    """

    def __init__(self, chain: Chain, layers: list[Layer], source: Segments, owed: Owed) -> None:
        """Search ``layers`` (from ``chain``) for sequences that pay what they owe to ``source``."""
        self._texts, self._layers, self._owed = chain.texts, layers, owed
        self._frequencies = np.array(chain.frequencies(source))
        self._after: list[Ints] = []  # node, state before it -> state in it
        letters = [*map(len, source), 1]
        for layer, number, length in zip(layers, chain.numbers(source)[1:], letters, strict=True):
            self._after.append(owed.moves[(layer.nodes != number) * 5 + chain.letters[layer.nodes] - length + 2])
        self._least: list[Ints] = []  # transition, state before it -> the smallest largest deviation from there to the end
        best = np.full((1, owed.moves.shape[1]), np.iinfo(np.int64).max)
        best[0, owed.end] = 0
        for layer, frequency, after in zip(reversed(layers), self._frequencies[::-1], reversed(self._after), strict=True):
            onward = np.take_along_axis(best, after, axis=1)[layer.right]
            self._least.insert(0, np.maximum(onward, np.abs(layer.types - frequency)[:, None]))
            best = np.minimum.reduceat(self._least[0], layer.starts, axis=0)
        found = int(np.searchsorted(RUNGS, best[0, owed.start]))
        self.rung = found if found < len(RUNGS) else None

    def ascending(self, *key: str | int) -> Iterator[Found]:
        """Sequences, best rung first; of a rung that has very many, some.

        Within a rung they are ordered by their sum of deviations, blurred by the random numbers of stream ``key``.
        """
        rung, wide, done = self.rung, _WIDE, -1
        while rung is not None and rung < len(RUNGS):
            last = min(rung + wide, len(RUNGS)) - 1
            paths = self._within(int(RUNGS[last]), last == rung, *key)
            if paths is None:
                wide = 1
                continue
            yield from self._ordered(paths, done, *key)
            wide = 2 * wide if len(paths) < _ENOUGH else _WIDE
            rung, done = last + 1, int(RUNGS[last])

    def _within(self, threshold: int, draw: bool, *key: str | int) -> Ints | None:
        """The transitions of each sequence within ``threshold``; if they are too many, some of them, or None."""
        node, state = np.zeros(1, dtype=np.int64), np.full(1, self._owed.start)
        paths = np.empty((1, 0), dtype=np.int64)
        for place, (layer, least, after) in enumerate(zip(self._layers, self._least, self._after, strict=True)):
            spans = layer.spans[node]
            origin = np.repeat(np.arange(len(node)), spans)
            edge = np.arange(len(origin)) + (layer.starts[node] - np.cumsum(spans) + spans)[origin]
            kept = np.flatnonzero(least[edge, state[origin]] <= threshold)
            if len(kept) > _MOST:
                if not draw:
                    return None
                # One of each of so many equal stretches: those that have the same beginning are evenly thinned out.
                drawn = (np.arange(_MOST) + uniform(("draw", threshold, place, *key), 0, _MOST)) / _MOST
                kept = np.unique(kept[(drawn * len(kept)).astype(np.int64)])
            origin, edge = origin[kept], edge[kept]
            node = layer.right[edge]
            state = after[node, state[origin]]
            paths = np.column_stack([paths[origin], edge])
        return paths

    def _ordered(self, paths: Ints, done: int, *key: str | int) -> Iterator[Found]:
        """The sequences that are not within ``done``, best first."""
        types = np.stack([layer.types[edge] for layer, edge in zip(self._layers, paths.T, strict=True)], axis=1)
        deviations = types - self._frequencies
        sizes = np.abs(deviations)
        largest, once = sizes.max(axis=1), types.min(axis=1) < 2
        blurred = sizes.sum(axis=1) * (0.5 + uniform(("order", *key), 0, len(paths)))
        rungs = np.searchsorted(RUNGS, largest)
        order = np.lexsort((blurred, rungs))
        nodes = [layer.nodes[layer.right] for layer in self._layers[:-1]]
        for at in order[largest[order] > done].tolist():
            parts = tuple([self._texts[node[edge]] for node, edge in zip(nodes, paths[at].tolist(), strict=False)])
            yield Found(int(rungs[at]), parts, deviations[at].tolist(), bool(once[at]))
