"""Sequences of segments near a source's transition frequencies, best first, under narrower and wider constraints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cxgen.pseudowords.chain import Chain, Ints, Layer
from cxgen.pseudowords.segments import Segments
from cxgen.streams import uniform

# Largest deviations between two neighbours of this list count as equally good.
RUNGS = np.unique([*range(8), *(round(2 ** (3 + step / 8)) for step in range(96))])
BEAM = 768  # beginnings that are followed up


@dataclass(frozen=True)
class Step:
    """How the constraints of a search are widened.

    Attributes:
        number: the value of ``widened`` for an output that needs it.
        cost: how many rungs better an output of it must be than one without.
        loose: whether transitions may be attested elsewhere in words only: see `Chain.layers`.
        moved: by how many letters the segments may differ from the source's, summed.
        longer: by how many letters the whole is longer.
        base: whether an output must look like a base form.
    """

    number: int
    cost: int
    loose: bool = False
    moved: int = 0
    longer: int = 0
    base: bool = True


# The dearest come into play only where the cheaper have no outputs left: 1000 is more than there are rungs.
STEPS = (
    Step(0, 0),
    Step(3, 6, moved=2),
    Step(4, 40, loose=True),
    Step(4, 56, loose=True, moved=2),
    Step(4, 900, loose=True, moved=4),
    Step(5, 1000, base=False),
    *(Step(6, 2000 + 100 * abs(by) + 30 * more, True, abs(by) + more, by) for by in (1, 2, 3, -1, -2) for more in (0, 2)),
)


@dataclass(frozen=True)
class Sequence:
    """A sequence of segments.

    Attributes:
        parts: the segments.
        deviations: type count of each transition, less the source's.
        rung: the place in `RUNGS` of the largest deviation.
        once: whether a transition occurs in one word only.
    """

    parts: Segments
    deviations: list[int]
    rung: int
    once: bool


def sequences(chain: Chain, source: Segments, step: Step, last: int, *key: str | int) -> Iterator[Sequence]:
    """Sequences that keep the constraints of ``step`` up to rung ``last``, best first.

    Within a rung they are ordered by summed deviation, blurred by the random numbers of stream ``key``.
    A third of the segments differ from the source's. Beginnings are extended segment by segment; of those that can still become a whole
    word, the `BEAM` with the smallest largest deviation (reached, or to come) are followed up.
    """
    layers = chain.layers(tuple(map(len, source)), loose=step.loose, slack=min((step.moved + 1) // 2, 2))
    if layers is None:
        return
    frequencies = np.array(chain.frequencies(source))
    to_come = _to_come(layers, frequencies)
    numbers, letters = chain.numbers(source)[1:], [*map(len, source), 1]
    node, worst, total, changed, balance, moved = (np.zeros(1, dtype=np.int64) for _ in range(6))
    paths = np.empty((1, 0), dtype=np.int64)
    for place, layer in enumerate(layers):
        spans = layer.spans[node]
        origin = np.repeat(np.arange(len(node)), spans)
        edge = np.arange(len(origin)) + (layer.starts[node] - np.cumsum(spans) + spans)[origin]
        node = layer.right[edge]
        sizes = np.abs(layer.types[edge] - frequencies[place])
        worst, total = np.maximum(worst[origin], sizes), total[origin] + sizes
        segment = layer.nodes[node]
        more = chain.letters[segment] - letters[place]
        changed = changed[origin] + (segment != numbers[place])
        balance, moved = balance[origin] + more, moved[origin] + np.abs(more)
        left = len(source) - 1 - place  # segments to come
        possible = (changed + max(left, 0) >= len(source) // 3) & (moved + np.abs(step.longer - balance) <= step.moved)
        if left <= 0:
            possible &= (balance == step.longer) & (moved == step.moved)
        bound = np.maximum(worst, to_come[place][node])
        kept = np.flatnonzero(possible & (bound <= RUNGS[last]))
        rungs = np.searchsorted(RUNGS, bound[kept])
        rank = rungs * 1e9 + total[kept] * (0.5 + uniform((place, "".join(source), *key), 0, len(kept)))
        if len(kept) > BEAM:
            kept, rank = kept[first := np.argpartition(rank, BEAM)[:BEAM]], rank[first]
        if left < 0:
            kept = kept[np.argsort(rank)]
        node, worst, total, changed, balance, moved = (values[kept] for values in (node, worst, total, changed, balance, moved))
        paths = np.column_stack([paths[origin[kept]], edge[kept]])
    nodes = [layer.nodes[layer.right] for layer in layers[:-1]]
    types = np.array([layer.types[edges] for layer, edges in zip(layers, paths.T, strict=True)]).T
    for path, counts, rung in zip(paths.tolist(), types, np.searchsorted(RUNGS, worst).tolist(), strict=True):
        parts = tuple(chain.texts[segments[at]] for segments, at in zip(nodes, path, strict=False))
        yield Sequence(parts, (counts - frequencies).tolist(), rung, bool(counts.min() < 2))


def _to_come(layers: list[Layer], frequencies: Ints) -> list[Ints]:
    """For each node on the right of each layer, the smallest largest deviation from there to the end."""
    best = np.zeros(1, dtype=np.int64)
    found = [best]
    for layer, frequency in zip(layers[:0:-1], frequencies[:0:-1], strict=True):
        best = np.minimum.reduceat(np.maximum(best[layer.right], np.abs(layer.types - frequency)), layer.starts)
        found.insert(0, best)
    return found
