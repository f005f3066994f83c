"""OLD20 and neighbours: Levenshtein distances to the lexicon.

OLD20 is the mean distance to the 20 nearest words, the word itself excluded (Yarkoni, Balota & Yap 2008, Psychonomic Bulletin & Review 15,
971-979); neighbours are the words at distance 1.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from cxgen.errors import needs

NEAREST = 20
_TOGETHER = 256  # forms compared together: what they give should not be too large for the memory
_FAR = 255  # as far as distances are told apart


class Distances:
    """Measures forms against the words of a lexicon."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words: dict[int, list[str]] = {}  # by length
        for word in words:
            self._words.setdefault(len(word), []).append(word)
        self._known: dict[str, tuple[float, int]] = {}

    def measure(self, forms: Sequence[str]) -> list[tuple[float, int]]:
        """OLD20 and the number of neighbours of each form; many at once take less time."""
        new: dict[int, list[str]] = {}
        for form in sorted({*forms} - self._known.keys()):
            new.setdefault(len(form), []).append(form)
        for length, alike in new.items():
            for start in range(0, len(alike), _TOGETHER):
                self._measure(alike[start : start + _TOGETHER], length)
        return [self._known[form] for form in forms]

    def _measure(self, forms: list[str], length: int) -> None:
        """Measure forms of one length, by words of about that length first.

        A word that is k letters longer or shorter is at least k away: once 20 words of at most k letters more or less are within k + 1, no
        others need be compared.
        """
        with needs("pseudowords need rapidfuzz", "wug"):
            from rapidfuzz.distance import Levenshtein
            from rapidfuzz.process import cdist
        nearest = np.full((len(forms), NEAREST), _FAR, dtype=np.uint8)
        neighbours = np.zeros(len(forms), dtype=np.int64)
        waiting, reach, compared = np.arange(len(forms)), 1, -1
        while waiting.size and compared < max(*self._words, length):
            words = [word for size, alike in self._words.items() if compared < abs(size - length) <= reach for word in alike]
            some = [forms[place] for place in waiting]
            distances = cdist(some, words, scorer=Levenshtein.distance, score_cutoff=_FAR - 1, dtype=np.uint8, workers=-1)
            distances[distances == 0] = _FAR
            neighbours[waiting] += np.count_nonzero(distances == 1, axis=1)
            together = np.hstack([nearest[waiting], distances])
            together.partition(NEAREST - 1, axis=1)
            nearest[waiting] = together[:, :NEAREST]
            waiting = waiting[nearest[waiting].max(axis=1) > reach + 1]
            reach, compared = reach + 1, reach
        self._known.update(zip(forms, zip(nearest.mean(axis=1).tolist(), neighbours.tolist(), strict=True), strict=True))
