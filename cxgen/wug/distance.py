"""OLD20 and neighbours: Levenshtein distances to the lexicon.

OLD20 is the mean distance to the 20 nearest words, the word itself excluded (Yarkoni, Balota & Yap 2008, Psychonomic Bulletin & Review 15,
971-979); neighbours are the words at distance 1.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from cxgen.wug.trie import LANES, build, encode, near

NEAREST = 20
_Figures = tuple[float, int]
_START = 2, 2, 2, 2, 2, 3, 3, 3, 4, 5, 5, 6, 6, 7, 8, 9  # by the length of a form: within which distance 20 words mostly are


class Distances:
    """Measures forms against the words of a lexicon."""

    def __init__(self, words: Iterable[str]) -> None:
        ordered = sorted(words)
        lengths = np.array([len(word) for word in ordered])
        self._longest = int(lengths.max())
        self._trie = build(encode(ordered, self._longest), lengths)
        self._known: dict[str, _Figures] = {}
        self._asked: set[str] = set()
        self._waiting: dict[tuple[int, int], list[str]] = {}  # by length, and the largest distance that is to be counted
        self._running: deque[tuple[list[str], int, Future[list[_Figures | None]]]] = deque()
        self._threads = ThreadPoolExecutor(os.cpu_count())

    def prepare(self, forms: Iterable[str]) -> None:
        """Let forms be measured, in the background, as soon as there are enough of a length."""
        for form in forms:
            if form not in self._asked:
                self._asked.add(form)
                self._wait(form, _START[min(len(form), len(_START) - 1)])
        while self._running and self._running[0][-1].done():
            self._end()

    def measure(self, forms: Sequence[str]) -> list[_Figures]:
        """OLD20 and the number of neighbours of each form."""
        self.prepare(forms)
        while self._waiting or self._running:
            for key in sorted(self._waiting, reverse=True):  # the longest take longest
                self._begin(*key)
            self._end()
        return [self._known[form] for form in forms]

    def _wait(self, form: str, most: int) -> None:
        alike = self._waiting.setdefault((len(form), most), [])
        alike.append(form)
        if len(alike) == LANES:
            self._begin(len(form), most)

    def _begin(self, size: int, most: int) -> None:
        forms = self._waiting.pop((size, most))
        self._running.append((forms, most, self._threads.submit(self._nearest, forms, most)))

    def _end(self) -> None:
        forms, most, running = self._running.popleft()
        for form, found in zip(forms, running.result(), strict=True):
            if found is None:
                self._wait(form, most + 1 + most // 8)
            else:
                self._known[form] = found

    def _nearest(self, forms: list[str], most: int) -> list[_Figures | None]:
        """The same for forms of one length; None for those that have no 20 words within ``most``.

        A word that is k letters longer or shorter is at least k away: once 20 words of less than k letters more or less are within k, no
        others need be compared.
        """
        size = len(forms[0])
        counts = near(self._trie, encode(forms, size), size, most)[1:]
        within = np.minimum(np.cumsum(counts, axis=0), NEAREST)
        distances = np.arange(1, most + 1) @ np.diff(within, axis=0, prepend=0) / NEAREST
        enough = (within[-1] == NEAREST) | (most > max(size, self._longest))
        figures = zip(distances.tolist(), counts[0].tolist(), strict=True)
        return [found if done else None for done, found in zip(enough.tolist(), figures, strict=True)]
