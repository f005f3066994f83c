"""How frequent a word is among those of its part of speech: fixed cuts, so that a word added moves no other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cxgen.errors import DataError

LOW, HIGH = 20, 60  # low < 20 <= mid <= 60 < high


@dataclass(frozen=True)
class Cuts:
    """Zipf values at percentiles, as in ``lexicons/bands.yaml``.

    Attributes:
        rows: each with ``at`` (a percentile, ascending) and, for every part of speech, the zipf value there.
    """

    rows: Sequence[Mapping[str, float]]

    def percentile(self, pos: str, zipf: float) -> float:
        """The percentile, 0 to 100 with two decimals, of ``zipf`` among words of ``pos``.

        Raises:
            DataError: there are no cuts.
        """
        if not self.rows:
            raise DataError("the lexicon's snapshot has no cuts of frequency bands", hint="run `cxgen lexicon build`")
        return round(float(np.interp(zipf, [row[pos] for row in self.rows], [row["at"] for row in self.rows])), 2)

    def band(self, pos: str, zipf: float) -> str:
        """``low``, ``mid`` or ``high``."""
        percentile = self.percentile(pos, zipf)
        return "low" if percentile < LOW else "mid" if percentile <= HIGH else "high"
