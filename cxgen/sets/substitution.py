"""Pseudowords in place of words, of all modes and variants at once: a block's cost is in its steps, not in its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cxgen.sets.forms import Forms
from cxgen.sets.plan import Plan, Rows
from cxgen.sets.pools import ABSENT


@dataclass(frozen=True)
class Substitution:
    """What replaces the words of contrast sets.

    Attributes:
        broken: mode -> the slots whose words it replaces, so that no label may rest on what they mean.
        forms: the words' forms, over copies of the lexicon: the variants of the first mode, then those of the next.
        variants: copies per mode; a set takes the one of its number.
    """

    broken: Mapping[str, frozenset[str]]
    forms: Forms
    variants: int

    def plan(self, real: Plan, modes: Sequence[str]) -> tuple[Plan, Rows]:
        """The sets of ``real`` once in each of ``modes``, mode after mode, and of each the number of its mode in ``broken``."""
        names = list(self.broken)
        at = np.tile(np.arange(len(real)), len(modes))
        case = np.repeat(np.array([names.index(mode) for mode in modes], dtype=np.int64), len(real))
        size = len(self.forms.lexicon) // (len(names) * self.variants)
        first = (case * self.variants + real.numbers[at] % self.variants) * size

        def taken(columns: Mapping[str, Rows]) -> dict[str, Rows]:
            return {name: rows[at] for name, rows in columns.items()}

        fillers = {name: np.where(rows == ABSENT, ABSENT, rows + first) for name, rows in taken(real.fillers).items()}
        several = replace(real, numbers=real.numbers[at], frame=real.frame[at], fillers=fillers)
        return replace(several, number=taken(real.number), pronoun=taken(real.pronoun)), case
