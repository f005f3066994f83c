"""OLD20 and neighbours: Levenshtein distances to the lexicon.

OLD20 is the mean distance to the 20 nearest words, the word itself excluded (Yarkoni, Balota & Yap 2008, Psychonomic Bulletin & Review 15,
971-979); neighbours are the words at distance 1.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from cxgen.wug.trie import LANES, build, encode, near

NEAREST = 20
_START = 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5  # by the length of a form: within which distance 20 words mostly are


class Distances:
    """Measures forms against the words of a lexicon."""

    def __init__(self, words: Iterable[str]) -> None:
        ordered = sorted(words)
        lengths = np.array([len(word) for word in ordered])
        self._longest = int(lengths.max())
        self._trie = build(encode(ordered, self._longest), lengths)
        self._known: dict[str, tuple[float, int]] = {}
        self._asked: set[str] = set()
        self._waiting: dict[int, list[str]] = {}
        self._running: list[Future[dict[str, tuple[float, int]]]] = []
        self._threads = ThreadPoolExecutor(os.cpu_count())

    def prepare(self, forms: Iterable[str]) -> None:
        """Let forms be measured, in the background, as soon as there are enough of a length."""
        for form in forms:
            if form not in self._asked:
                self._asked.add(form)
                alike = self._waiting.setdefault(len(form), [])
                alike.append(form)
                if len(alike) == LANES:
                    self._running.append(self._threads.submit(self._measure, self._waiting.pop(len(form))))

    def measure(self, forms: Sequence[str]) -> list[tuple[float, int]]:
        """OLD20 and the number of neighbours of each form."""
        self.prepare(forms)
        self._running += [self._threads.submit(self._measure, alike) for alike in self._waiting.values()]
        for running in self._running:
            self._known.update(running.result())
        self._waiting, self._running = {}, []
        return [self._known[form] for form in forms]

    def _measure(self, forms: list[str]) -> dict[str, tuple[float, int]]:
        """The same for forms of one length, of those that are nearest first.

        A word that is k letters longer or shorter is at least k away: once 20 words of less than k letters more or less are within k, no
        others need be compared.
        """
        found = {}
        size = len(forms[0])
        most = _START[min(size, len(_START) - 1)]
        while forms:
            counts = near(self._trie, encode(forms, size), size, most)[1:]
            within = np.minimum(np.cumsum(counts, axis=0), NEAREST)
            distances = np.arange(1, most + 1) @ np.diff(within, axis=0, prepend=0) / NEAREST
            enough = ((within[-1] == NEAREST) | (most > max(size, self._longest))).tolist()
            for form, done, *figures in zip(forms, enough, distances.tolist(), counts[0].tolist(), strict=True):
                if done:
                    found[form] = tuple(figures)
            forms = [form for form, done in zip(forms, enough, strict=True) if not done]
            most += 1
        return found
