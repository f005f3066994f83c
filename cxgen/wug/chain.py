"""The bigram chain: how many words have which transition between segments, by place and number of syllables.

As in Wuggy (Keuleers & Brysbaert 2010, Behavior Research Methods 42, 627-633), a word is ``^``, three segments for each syllable, ``$``; a
transition is keyed by the number of syllables of the word and its place in it, and counted by types.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.wug.compiled import Ints, compiled
from cxgen.wug.known import BASE, hashed
from cxgen.wug.syllables import Segments

Key = tuple[tuple[int, ...], int, int]  # what ``Chain.layers`` takes


_PLACES = 1000  # more than any word has


class Layers(NamedTuple):
    """The transitions that can be part of a whole word of some shape: from nodes, which stand for the segments of a place, to nodes.

    Attributes:
        starts: for every node its first transition, and their number: those of a node follow one another.
        right: of each transition, the node that it leads to.
        types: in how many words each transition occurs.
        places: for every place its first node (0 is the start, the last is the end), and their number.
        segments: segment number of each node.
        letters: of each node.
    """

    starts: Ints
    right: Ints
    types: Ints
    places: Ints
    segments: Ints
    letters: Ints


class Chain:
    """The chain.

    Attributes:
        texts: segment number -> letters.
        letters: segment number -> how many.
        hashes: of the segments, and the powers of the base by which what stands before them is multiplied (see ``cxgen.wug.known``).
    """

    def __init__(self, table: pl.DataFrame) -> None:
        """From the rows ``syllables``, ``place``, ``left``, ``right``, ``types`` (see ``cxgen.curate.wug``)."""
        left, right = table["left"].to_list(), table["right"].to_list()
        self.texts = sorted({*left, *right}, key=lambda text: (len(text), text))
        self._numbers = {text: number for number, text in enumerate(self.texts)}
        self.letters = np.array([len(text) for text in self.texts])
        powers = [pow(BASE, len(text), 2**64) for text in self.texts]
        self.hashes = hashed(self.texts), np.array(powers, dtype=np.uint64)
        self._rows = np.array(
            [
                table["syllables"].to_numpy(),
                table["place"].to_numpy(),
                [self._numbers[text] for text in left],
                [self._numbers[text] for text in right],
                table["types"].to_numpy(),
            ],
            dtype=np.int64,
        )
        codes = self._codes(*self._rows[:4])
        self._order = np.argsort(codes)
        self._codes_known = codes[self._order]
        self._groups = _group(self._rows[0], self._rows[1], self.letters[self._rows[2]], self.letters[self._rows[3]])
        self._places = _group(self._rows[0], self._rows[1])
        self._loose: dict[int, Ints] = {}
        self._selected: dict[tuple[int, int, tuple[int, int], int, int], Ints] = {}
        self._sources: dict[Segments, tuple[Ints, Ints, Ints]] = {}
        self._layers: dict[Key, Layers | None] = {}

    def numbers(self, parts: Segments) -> list[int]:
        """Segment numbers of a word with its start and end; -1 for a segment that no word of the lexicon has."""
        return [self._numbers.get(part, -1) for part in ("^", *parts, "$")]

    def frequencies(self, numbers: Ints) -> Ints:
        """The type counts of the transitions of words of equally many syllables, a row for each; 0 where no word has a transition.

        Args:
            numbers: from ``numbers``, a row for each word.
        """
        left, right = numbers[:, :-1], numbers[:, 1:]
        found = self._found(self._codes((numbers.shape[1] - 2) // 3, np.arange(left.shape[1]), left, right))
        return np.where((left >= 0) & (right >= 0), found, 0)

    def _found(self, codes: Ints) -> Ints:
        """Types of the transitions with these codes; 0 where there is none."""
        at = np.minimum(np.searchsorted(self._codes_known, codes), len(self._codes_known) - 1)
        return np.where(self._codes_known[at] == codes, self._rows[4, self._order[at]], 0)

    def compared(self, parts: Segments) -> tuple[Ints, Ints, Ints]:
        """What a search needs of its source: segment numbers and letters, with start and end, and transition frequencies."""
        if parts not in self._sources:
            numbers = np.array(self.numbers(parts))
            self._sources[parts] = numbers, np.array([1, *map(len, parts), 1]), self.frequencies(numbers[None])[0]
        return self._sources[parts]

    def layers(self, shape: tuple[int, ...], least: int, slack: int = 0) -> Layers | None:
        """The transitions of words whose segments have the letters ``shape``; None if there is no such word.

        Args:
            shape: letters of each segment.
            least: types that a transition must occur in; 0 takes every transition that is attested in the same part of a syllable,
                anywhere in a word of any length (but word-initial and word-final ones only there).
            slack: by how many letters each segment may be shorter or longer.
        """
        key = (shape, least, slack)
        if key not in self._layers:
            letters = pairwise((1, *shape, 1))
            rows = [self._rows_at(len(shape) // 3, place, wanted, least, slack) for place, wanted in enumerate(letters)]
            self._layers[key] = _layers(rows, self.letters)
        return self._layers[key]

    def _rows_at(self, syllables: int, place: int, wanted: tuple[int, int], least: int, slack: int) -> Ints:
        """``left, right, types`` of the transitions at ``place`` between segments of the ``wanted`` letters, sorted by ``left``."""
        key = (syllables, place, wanted, least, slack)
        if key not in self._selected:
            self._selected[key] = self._select(*key)
        return self._selected[key]

    def _select(self, syllables: int, place: int, wanted: tuple[int, int], least: int, slack: int) -> Ints:
        if least and not slack:
            start, end = self._groups.get((syllables, place, *wanted), (0, 0))
            rows = self._rows[2:, start:end]
            return rows[:, rows[2] >= least]
        if least:
            start, end = self._places.get((syllables, place), (0, 0))
            rows = self._rows[2:, start:end]
            rows = rows[:, rows[2] >= least]
        else:
            rows = self._anywhere(_part(syllables, place))
        near = [np.abs(self.letters[side] - length) <= slack for side, length in zip(rows[:2], wanted, strict=True)]
        rows = rows[:, near[0] & near[1]]
        rows = rows[:, np.lexsort((rows[1], rows[0]))]
        if least:
            return rows
        return np.vstack([rows, self._found(self._codes(syllables, place, *rows))])

    def _codes(self, syllables: int | Ints, place: int | Ints, left: Ints, right: Ints) -> Ints:
        """One number for each transition."""
        return ((syllables * _PLACES + place) * len(self.texts) + left) * len(self.texts) + right

    def _anywhere(self, part: int) -> Ints:
        """The transitions of a part of a word, in words of any length: ``left, right``, those that occur in two types or more."""
        if not self._loose:
            parts = np.array([_part(n, place) for n, place in self._rows[:2].T.tolist()])
            for number in np.unique(parts):
                rows = self._rows[2:, parts == number]
                pairs, where = np.unique(rows[:2], axis=1, return_inverse=True)
                self._loose[int(number)] = pairs[:, np.bincount(where.ravel(), weights=rows[2]) >= 2]
        return self._loose[part]


def _part(syllables: int, place: int) -> int:
    """Which of the three steps of a syllable, and whether it is the word's start or end."""
    step = place % 3
    return step + 3 * (place in {0, 1}) + 6 * (place >= 3 * syllables - 1)


def _group(*columns: Ints) -> dict[tuple[int, ...], tuple[int, int]]:
    """Where each run of equal rows starts and ends."""
    rows = np.stack(columns)
    cuts = [0, *(np.flatnonzero((rows[:, 1:] != rows[:, :-1]).any(axis=0)) + 1).tolist(), rows.shape[1]]
    return {tuple(rows[:, start].tolist()): (start, end) for start, end in pairwise(cuts)}


def _layers(rows: list[Ints], letters: Ints) -> Layers | None:
    """The ``left, right, types`` of each place, sorted by ``left``, without transitions that no whole word can use."""
    edges = np.cumsum([0, *(row.shape[1] for row in rows)])
    joined = np.ascontiguousarray(np.hstack(rows))
    kept = usable(joined, edges, len(letters))
    if not kept.any():
        return None
    starts, right, types, places, segments = link(joined, edges, len(letters), kept)
    return Layers(starts, right, types, places, segments, letters[segments])


@compiled("b1[::1](i8[:,::1],i8[::1],i8)")
def usable(rows: Ints, edges: Ints, count: int) -> NDArray[np.bool_]:
    """Which transitions a whole word can use.

    Args:
        rows: left and right segment and types of the transitions of all places, sorted by place and left segment.
        edges: for every place its first transition, and their number.
        count: of segments.
    """
    last = len(edges) - 1
    reached, leads = np.zeros((last + 1, count), np.bool_), np.zeros((last + 1, count), np.bool_)
    reached[0, :], leads[last, :] = True, True
    for place in range(last):
        for edge in range(edges[place], edges[place + 1]):
            if reached[place, rows[0, edge]]:
                reached[place + 1, rows[1, edge]] = True
    kept = np.zeros(rows.shape[1], np.bool_)
    for place in range(last - 1, -1, -1):
        for edge in range(edges[place], edges[place + 1]):
            kept[edge] = reached[place, rows[0, edge]] and leads[place + 1, rows[1, edge]]
            if kept[edge]:
                leads[place, rows[0, edge]] = True
    return kept


@compiled("UniTuple(i8[::1],5)(i8[:,::1],i8[::1],i8,b1[::1])")
def link(rows: Ints, edges: Ints, count: int, kept: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Number the segments of each place.

    Args:
        rows, edges, count: as for ``usable``, which leaves some.
        kept: from there.

    Returns:
        All but the last of the arrays of ``Layers``.
    """
    last, size = len(edges) - 1, kept.sum()
    numbers = np.full((last, count), -1, np.int64)  # nodes, by place and segment
    places, starts, segments = np.empty(last + 2, np.int64), np.empty(size + 2, np.int64), np.empty(size + 1, np.int64)
    right, types = np.empty(size, np.int64), np.empty(size, np.int64)
    nodes, to = 0, 0
    for place in range(last):
        places[place] = nodes
        for edge in range(edges[place], edges[place + 1]):
            segment = rows[0, edge]
            if kept[edge]:
                if numbers[place, segment] < 0:
                    numbers[place, segment], segments[nodes], starts[nodes] = nodes, segment, to
                    nodes += 1
                right[to], types[to] = rows[1, edge], rows[2, edge]
                to += 1
    segments[nodes] = right[size - 1]
    for place in range(last):
        for edge in range(starts[places[place]], starts[places[place + 1]] if place + 1 < last else size):
            right[edge] = numbers[place + 1, right[edge]] if place + 1 < last else nodes
    places[last], places[last + 1] = nodes, nodes + 1
    starts[nodes], starts[nodes + 1] = size, size
    return starts[: nodes + 2].copy(), right, types, places, segments[: nodes + 1].copy()
