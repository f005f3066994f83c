"""The exact search: all sequences of segments within a largest deviation from the source's transition frequencies, fewest first.

One pass over the chain from the end finds the smallest largest deviation that any sequence reaches; another counts, for several thresholds
at once, the sequences that stay within them (dynamic programming; the state is the segment and how many segments must still differ from the
source's). With the counts any sequence can be read off by its number, so that all of a small set, or keyed draws from a large one, come
without trying any sequence in vain.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from cxgen.streams import uniform
from cxgen.wug.chain import Chain, Layers
from cxgen.wug.compiled import Floats, Ints, compiled
from cxgen.wug.known import Hashes, Known, Table, holds
from cxgen.wug.syllables import Segments

Graph = tuple[tuple[Ints, ...], Ints, Ints, Ints, Floats]
# Largest deviations between two neighbours of this list count as equally good.
RUNGS = np.unique([*range(8), *(round(2 ** (3 + step / 8)) for step in range(96))])
_RUNGS = RUNGS.tolist()
_AT_ONCE = 4  # thresholds counted in one pass
_WIDE = 4  # rungs between them
_ENOUGH = 60  # sequences looked at together
_MOST = 4096  # sequences drawn from one rung
_UNREACHED = 1 << 62
_ARRAYS = "UniTuple(i8[::1],6)"  # ``Layers``
_GRAPH = f"Tuple(({_ARRAYS},i8[::1],i8[::1],i8[:,::1],f8[:,:,::1]))"
_ROWS = "Tuple((i8[:,::1],i8[:,::1]))"
_HASHES = "Tuple((u8[::1],u8[::1],u4[::1]))"  # ``Chain.hashes``, and the table of a ``Known``


class Found(NamedTuple):
    """A sequence.

    Attributes:
        rung: which of ``RUNGS`` its largest deviation is within.
        parts: its segments.
        once: whether it has a transition that only one word has, or none.
    """

    rung: int
    parts: Segments
    once: bool


@dataclass(frozen=True)
class States:
    """What a sequence still owes, as numbers, and what entering a segment does to that.

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
    def owing(cls, changes: int, letters: int, moved: int) -> States:
        """For sequences with at least ``changes`` segments that differ.

        Args:
            changes: as said.
            letters: by how much the sequence is longer than the source, in letters.
            moved: sum of the differences between the segments' letters and the source's.
        """
        balances = [(balance, left) for left in range(moved + 1) for balance in range(-left, left + 1) if (balance - left) % 2 == 0]
        known = {(due, *rest): number for number, (rest, due) in enumerate(product(balances, range(changes + 1)))}
        dead = len(known)
        moves = [
            [known.get((max(due - differs, 0), balance - more, left - abs(more)), dead) for due, balance, left in known] + [dead]
            for differs, more in product((0, 1), (-2, -1, 0, 1, 2))
        ]
        return cls(known[changes, letters, moved], known[0, 0, 0], np.array(moves))


class Search:
    """The sequences of one source in one set of layers."""

    def __init__(self, chain: Chain, layers: Layers, source: Segments, states: States, known: Known) -> None:
        """Search ``layers`` for sequences that pay what they owe to ``source``.

        Args:
            chain: of the segments.
            layers: from ``Chain.layers``.
            source: its segments.
            states: what is owed.
            known: forms that are left out.
        """
        self._chain, self._layers, self._states, self._known = chain, tuple(layers), states, known
        self._deviations, self._entered = compare(self._layers, *chain.compared(source))
        best = smallest(self._layers, self._deviations, self._entered, states.moves, states.start, states.end)
        self._rung = bisect_left(_RUNGS, best)

    @cached_property
    def _all(self) -> Floats:
        """``_count`` without a limit."""
        return self._count(RUNGS[-1:])

    def ascending(self, *key: str | int) -> Iterator[Found]:
        """Sequences, best rung first, after a first item that only says which rung that is.

        Within a rung they are ordered by their sum of deviations, blurred by the random numbers of stream ``key``.
        """
        rung, wide = self._rung, _WIDE
        if rung < len(RUNGS):
            yield Found(rung, (), once=False)
        done, seen = -1, 0.0
        while rung < len(RUNGS):
            thresholds = _thresholds(rung, wide)
            ways = self._count(thresholds)
            totals = ways[0, :, self._states.start].tolist()
            # The first threshold with sequences enough, but rather a small step than a large set.
            column = bisect_left(totals, max(2 * seen, _ENOUGH))
            if column == len(totals):
                totals.append(float(self._all[0, 0, self._states.start]))
            if totals[column] > _MOST and (column > 0 or wide > 1):
                column, wide = column - 1, 1
            if column < 0:
                continue
            some_ = column < len(thresholds)
            threshold = int(thresholds[column] if some_ else RUNGS[-1])
            if totals[column] > seen:
                yield from self._drawn(ways if some_ else self._all, column if some_ else 0, threshold, done, *key)
            done, seen, wide = threshold, totals[column], _WIDE
            if seen == self._all[0, 0, self._states.start] <= _MOST:
                return
            rung = bisect_left(_RUNGS, done) + 1

    def _count(self, thresholds: Ints) -> Floats:
        """For every node, threshold and state: how many ways lead to the end."""
        return count(self._layers, self._deviations, self._entered, self._states.moves, self._states.end, thresholds)

    def _drawn(self, ways: Floats, column: int, threshold: int, done: int, *key: str | int) -> Iterator[Found]:
        """The unknown sequences within ``threshold``, not within ``done``, or some of very many."""
        total = int(min(ways[0, column, self._states.start], _MOST + 1))
        limits = column, threshold, done, self._states.start
        graph = self._layers, self._deviations, self._entered, self._states.moves, ways
        hashes = *self._chain.hashes, self._known.table
        if total <= _MOST:
            segments, figures = every(graph, limits, hashes, total)
        else:
            total, places = _MOST // 4, len(self._layers[3]) - 2
            chances = uniform(("ranks", threshold, *key), 0, total * places).reshape(places, total)
            segments, figures = some(graph, limits, hashes, chances)
        if not len(segments):
            return
        ranks, largest, sums, rarest = figures.T
        blurred = sums * (0.5 + uniform(("order", threshold, *key), 0, total)[ranks])
        rungs = RUNGS.searchsorted(largest)
        order = np.lexsort((blurred, rungs))
        texts = self._chain.texts
        for start in range(0, len(order), _ENOUGH):  # mostly only the first are wanted
            block = order[start : start + _ENOUGH]
            for row, rung, least in zip(segments[block].tolist(), rungs[block].tolist(), rarest[block].tolist(), strict=True):
                yield Found(rung, tuple([texts[segment] for segment in row]), least < 2)


def _thresholds(rung: int, wide: int) -> Ints:
    """The largest deviations of some rungs from ``rung`` on, ``wide`` apart."""
    return np.ascontiguousarray(RUNGS[rung + wide - 1 :: wide][:_AT_ONCE])


@compiled(f"UniTuple(i8[::1],2)({_ARRAYS},i8[::1],i8[::1],i8[::1])")
def compare(layers: tuple[Ints, ...], source: Ints, lengths: Ints, frequencies: Ints) -> tuple[Ints, Ints]:
    """For every transition its deviation from the source's; for every node the row of ``States.moves`` that entering it means.

    Args:
        layers: ``Layers``.
        source, lengths: segment number and letters of each place of the source.
        frequencies: of its transitions.
    """
    starts, _, types, places, segments, letters = layers
    deviations, entered = np.empty(len(types), np.int64), np.empty(len(segments), np.int64)
    for place in range(len(places) - 1):
        for node in range(places[place], places[place + 1]):
            entered[node] = 5 * (segments[node] != source[place]) + letters[node] - lengths[place] + 2
            for edge in range(starts[node], starts[node + 1]):
                deviations[edge] = abs(types[edge] - frequencies[place])
    return deviations, entered


@compiled(f"i8({_ARRAYS},i8[::1],i8[::1],i8[:,::1],i8,i8)")
def smallest(layers: tuple[Ints, ...], deviations: Ints, entered: Ints, moves: Ints, start: int, end: int) -> int:
    """The smallest largest deviation of all sequences."""
    starts, right, _, _, _, _ = layers
    best = np.full((len(entered), moves.shape[1]), _UNREACHED)  # the last state has no way out
    best[-1, end] = 0
    entering = np.empty_like(best)  # by the state before a node, not in it
    for node in range(len(entered) - 1, -1, -1):
        here, move = best[node], moves[entered[node]]
        for edge in range(starts[node], starts[node + 1]):
            following, deviation = entering[right[edge]], deviations[edge]
            for state in range(len(here)):
                here[state] = min(here[state], max(following[state], deviation))
        for state in range(len(here)):
            entering[node, state] = here[move[state]]
    return int(best[0, start])


@compiled(f"f8[:,:,::1]({_ARRAYS},i8[::1],i8[::1],i8[:,::1],i8,i8[::1])")
def count(layers: tuple[Ints, ...], deviations: Ints, entered: Ints, moves: Ints, end: int, thresholds: Ints) -> Floats:
    """For every node, threshold and state: how many ways lead to the end."""
    starts, right, _, _, _, _ = layers
    ways = np.zeros((len(entered), len(thresholds), moves.shape[1]))  # the last state has no way out
    ways[-1, :, end] = 1.0
    firsts = np.full(len(entered), len(thresholds))  # the first threshold within which there are any ways
    firsts[-1] = 0
    for node in range(len(entered) - 2, -1, -1):
        for edge in range(starts[node], starts[node + 1]):
            first = firsts[right[edge]]
            while first < len(thresholds) and deviations[edge] > thresholds[first]:
                first += 1
            firsts[node] = min(firsts[node], first)
            move = moves[entered[right[edge]]]
            for column in range(first, len(thresholds)):
                here, following = ways[node, column], ways[right[edge], column]
                for state in range(len(here) - 1):
                    here[state] += following[move[state]]
    return ways


@compiled(f"{_ROWS}({_GRAPH},UniTuple(i8,4),{_HASHES},i8)")
def every(graph: Graph, limits: tuple[int, int, int, int], hashes: tuple[Hashes, Hashes, Table], total: int) -> tuple[Ints, Ints]:
    """All unknown sequences within ``threshold``, not within ``done``.

    Args:
        graph: what is searched: layers, deviations, entered, moves, and ways from ``count``.
        limits: column of ``ways`` that stands for ``threshold``; ``threshold`` and ``done``, largest deviations; the state at the start.
        hashes: of the segments; powers of the base for them; the table of known forms.
        total: how many sequences there are within ``threshold``.

    Returns:
        Segment numbers of each sequence; and of each its rank among all, its largest deviation, the sum of its deviations, and the types of
        its rarest transition.
    """
    layers, deviations, entered, moves, ways = graph
    starts, right, types, places, segments, _ = layers
    column, threshold, done, start = limits
    values, powers, table = hashes
    dead, last = moves.shape[1] - 1, len(places) - 2
    found, figures = np.empty((total, last - 1), np.int64), np.empty((total, 4), np.int64)
    edges, nodes, states = np.zeros(last, np.int64), np.zeros(last + 1, np.int64), np.full(last + 1, start)
    largest, sums, rarest = np.zeros(last + 1, np.int64), np.zeros(last + 1, np.int64), np.full(last + 1, 2)
    forms = np.zeros(last + 1, np.uint64)
    edges[0] = starts[0]
    place, size, rank = 0, 0, 0
    while place >= 0:
        edge = edges[place]
        if edge == starts[nodes[place] + 1]:
            place -= 1
            continue
        edges[place] += 1
        node = right[edge]
        state = moves[entered[node], states[place]]
        if deviations[edge] > threshold or state == dead or ways[node, column, state] == 0:
            continue
        largest[place + 1], sums[place + 1] = max(largest[place], deviations[edge]), sums[place] + deviations[edge]
        rarest[place + 1] = min(rarest[place], types[edge])
        if place + 1 < last:
            segment = segments[node]
            nodes[place + 1], states[place + 1], edges[place + 1] = node, state, starts[node]
            forms[place + 1] = forms[place] * powers[segment] + values[segment]
            place += 1
            continue
        if largest[last] > done and not holds(table, forms[place]):
            for at in range(last - 1):
                found[size, at] = segments[nodes[at + 1]]
            figures[size, 0], figures[size, 1], figures[size, 2], figures[size, 3] = rank, largest[last], sums[last], rarest[last]
            size += 1
        rank += 1
    return found[:size].copy(), figures[:size].copy()


@compiled(f"{_ROWS}({_GRAPH},UniTuple(i8,4),{_HASHES},f8[:,::1])")
def some(graph: Graph, limits: tuple[int, int, int, int], hashes: tuple[Hashes, Hashes, Table], chances: Floats) -> tuple[Ints, Ints]:
    """Sequences drawn as ``chances`` (place x draw, in [0, 1)) say, otherwise as ``every``."""
    layers, deviations, entered, moves, ways = graph
    starts, right, types, places, segments, _ = layers
    column, threshold, done, start = limits
    values, powers, table = hashes
    dead, last = moves.shape[1] - 1, len(places) - 2
    total = chances.shape[1]
    found, figures = np.empty((total, last), np.int64), np.empty((total, 4), np.int64)
    size = 0
    for draw in range(total):
        node, state, largest, summed, rarest, form = 0, start, 0, 0, 2, np.uint64(0)
        for place in range(last):
            left = chances[place, draw] * ways[node, column, state]
            chosen, entering = -1, dead
            for edge in range(starts[node], starts[node + 1]):
                after = moves[entered[right[edge]], state]
                if deviations[edge] <= threshold and after != dead and ways[right[edge], column, after] > 0:
                    chosen, entering = edge, after
                    if left < ways[right[edge], column, after]:
                        break
                    left -= ways[right[edge], column, after]
            node, state = right[chosen], entering
            found[size, place] = segments[node]
            largest, summed, rarest = max(largest, deviations[chosen]), summed + deviations[chosen], min(rarest, types[chosen])
            if place + 1 < last:
                form = form * powers[segments[node]] + values[segments[node]]
        if largest > done and not holds(table, form):
            figures[size, 0], figures[size, 1], figures[size, 2], figures[size, 3] = draw, largest, summed, rarest
            size += 1
    return found[:size, : last - 1].copy(), figures[:size].copy()
