"""The bigram chain: how many words have which transition between segments, by place and number of syllables.

As in Wuggy (Keuleers & Brysbaert 2010, Behavior Research Methods 42, 627-633), a word is ``^``, three segments for each syllable, ``$``; a
transition is keyed by the number of syllables of the word and its place in it, and counted by types.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.pseudowords.segments import Segments

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Layer:
    """The transitions of one place that can be part of a whole word, from nodes to nodes: the segments that can stand there.

    Attributes:
        starts, spans: for every node on the left its first transition, and how many it has; they follow one another.
        right: of each transition, the node on the right.
        types: in how many words each transition occurs.
        nodes: segment numbers of the nodes on the right.
    """

    starts: Ints
    spans: Ints
    right: Ints
    types: Ints
    nodes: Ints


class Chain:
    """The chain.

    Attributes:
        texts: segment number -> letters.
        letters: segment number -> how many.
    """

    def __init__(self, table: pl.DataFrame) -> None:
        """From the rows ``syllables``, ``place``, ``left``, ``right``, ``types`` (see ``cxgen.curate.wug``)."""
        self.texts = sorted({*table["left"], *table["right"]}, key=lambda text: (len(text), text))
        self.letters = np.array([len(text) for text in self.texts])
        self._numbers = {text: number for number, text in enumerate(self.texts)}
        sides = [table[side].replace_strict(self._numbers, return_dtype=pl.Int64) for side in ("left", "right")]
        numbered = table.select("syllables", "place", *sides, "types").sort("left", "right")
        groups = numbered.partition_by("syllables", "place", as_dict=True, include_key=False)
        self._attested = {(n, place): group.cast(pl.Int64).to_numpy().T for (n, place), group in groups.items()}
        self._layers: dict[tuple[tuple[int, ...], bool, int], list[Layer] | None] = {}

    def numbers(self, parts: Segments) -> list[int]:
        """Segment numbers of a word with its start and end; -1 for a segment that no word of the lexicon has."""
        return [self._numbers.get(part, -1) for part in ("^", *parts, "$")]

    def frequencies(self, parts: Segments) -> list[int]:
        """The type count of each transition of a word; 0 where no word has it."""
        counts = (self._counts.get((len(parts) // 3, place), {}) for place in range(len(parts) + 1))
        return [known.get(pair, 0) for known, pair in zip(counts, pairwise(self.numbers(parts)), strict=True)]

    @cached_property
    def _counts(self) -> dict[tuple[int, int], dict[tuple[int, int], int]]:
        return {where: {(a, b): types for a, b, types in rows.T.tolist()} for where, rows in self._attested.items()}

    @cached_property
    def _anywhere(self) -> dict[int, Ints]:
        """The transitions of each part of a word, in words of any length: ``left, right``, those that occur in two types or more."""
        found = {}
        for part in {_part(*where) for where in self._attested}:
            rows = np.hstack([rows for where, rows in self._attested.items() if _part(*where) == part])
            pairs, which = np.unique(rows[:2], axis=1, return_inverse=True)
            found[part] = pairs[:, np.bincount(which.ravel(), weights=rows[2]) >= 2]
        return found

    def layers(self, shape: tuple[int, ...], *, loose: bool = False, slack: int = 0) -> list[Layer] | None:
        """The transitions, place by place, of words whose segments have the letters ``shape``; None if there is no such word.

        Args:
            shape: letters of each segment.
            loose: take every transition that is attested in the same part of a syllable, anywhere in a word of any length (but
                word-initial and word-final ones only there).
            slack: by how many letters each segment may be shorter or longer.
        """
        key = (shape, loose, slack)
        if key not in self._layers:
            rows = [self._rows(len(shape) // 3, place, loose=loose) for place in range(len(shape) + 1)]
            for place, wanted in enumerate(pairwise((1, *shape, 1))):
                near = np.abs(self.letters[rows[place][:2]] - np.array(wanted)[:, None]) <= slack
                rows[place] = rows[place][:, near.all(axis=0)]
            self._layers[key] = _linked(rows)
        return self._layers[key]

    def _rows(self, syllables: int, place: int, *, loose: bool) -> Ints:
        """``left, right, types`` of the transitions at a place, sorted by ``left``."""
        if not loose:
            return self._attested.get((syllables, place), np.empty((3, 0), dtype=np.int64))
        pairs = self._anywhere.get(_part(syllables, place), np.empty((2, 0), dtype=np.int64))
        counts = self._counts.get((syllables, place), {})
        return np.vstack([pairs, np.array([counts.get((a, b), 0) for a, b in pairs.T.tolist()], dtype=np.int64)])


def _part(syllables: int, place: int) -> int:
    """Which of the three steps of a syllable, and whether it is the word's start or end."""
    return place % 3 + 3 * (place in {0, 1}) + 6 * (place >= 3 * syllables - 1)


def _linked(rows: list[Ints]) -> list[Layer] | None:
    """The layers of ``left, right, types`` at each place, without the transitions that no whole word can use."""
    for place in range(1, len(rows)):
        rows[place] = rows[place][:, np.isin(rows[place][0], rows[place - 1][1])]
    for place in range(len(rows) - 2, -1, -1):
        rows[place] = rows[place][:, np.isin(rows[place][1], rows[place + 1][0])]
    if not rows[0].size:
        return None
    layers = []
    for (left, right, types), following in zip(rows, [*rows[1:], rows[-1][1:2]], strict=True):
        _, starts, spans = np.unique(left, return_index=True, return_counts=True)
        nodes = np.unique(following[0])
        layers.append(Layer(starts, spans, np.searchsorted(nodes, right), types, nodes))
    return layers
