"""The fillers of many premises as a matrix of numbers, of which lists of structs are made as often as they are needed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.constructicon import Construction, Slot
from cxgen.lexicon import Lexicon
from cxgen.sets.plan import Rows
from cxgen.sets.pools import ABSENT


@dataclass(frozen=True)
class Fillers:
    """What fills the slots of premises.

    Attributes:
        slots: the slots that some premise has, in the order in which they are declared.
        rows: premises x slots: row of the lexicon, `ABSENT` where a premise has no such slot or leaves it out.
        lexicon: whose rows.
    """

    slots: tuple[Slot, ...]
    rows: NDArray[np.int64]
    lexicon: Lexicon

    @classmethod
    def of(
        cls,
        construction: Construction,
        lexicon: Lexicon,
        drawn: Mapping[str, Rows],
        parts: Sequence[Collection[str]],
        chosen: Rows,
    ) -> Fillers:
        """Those of the premises of some contrast sets.

        Args:
            construction: whose sets.
            lexicon: with the words that are said.
            drawn: slot -> row of the lexicon, per set.
            parts: the slots of every template.
            chosen: per premise, the number of its template; the premises of a kind stand in the order of the sets, kind after kind.
        """
        slots, columns = [], []
        for name, slot in construction.slots.items():
            has = np.array([name in slots_of for slots_of in parts])[chosen]
            if has.any():
                slots.append(slot)
                columns.append(np.where(has, np.tile(drawn[name], len(chosen) // max(len(drawn[name]), 1)), ABSENT))
        return cls(tuple(slots), np.stack(columns, axis=1) if columns else np.empty((len(chosen), 0), dtype=np.int64), lexicon)

    @cached_property
    def _words(self) -> tuple[NDArray[np.int64], pl.DataFrame]:
        """Which filler stands where, as row numbers of a table ``slot, role, lemma, sense, zipf, percentile, band``; -1 for none."""
        size = len(self.lexicon)
        codes = np.where(self.rows == ABSENT, ABSENT, self.rows + size * np.arange(len(self.slots)))
        used = np.zeros(size * len(self.slots) + 1, dtype=bool)  # the last one for those that are absent
        used[codes.reshape(-1)] = True
        used[-1] = False
        number = np.cumsum(used) - 1
        number[-1] = ABSENT
        slot, row = np.divmod(np.flatnonzero(used), size)
        facts = self.lexicon.table.select("lemma", "sense", "zipf", "percentile", "band")[row]
        names, roles = (pl.Series([getattr(each, what) for each in self.slots], dtype=pl.String)[slot] for what in ("name", "role"))
        return number[codes], facts.select(names.alias("slot"), roles.alias("role"), pl.all())

    @property
    def told(self) -> pl.Series:
        """Per premise ``slot=lemma slot=lemma ...``."""
        numbers, words = self._words
        text = pl.concat([words.select(pl.concat_str("slot", pl.lit("="), "lemma")).to_series(), pl.Series([None], dtype=pl.String)])
        columns = [text[np.where(column < 0, len(words), column)] for column in numbers.T]
        return pl.select(pl.concat_str(columns, separator=" ", ignore_nulls=True)).to_series()

    def listed(self, premises: Rows) -> pl.Series:
        """``slots`` of ``premises``: a list of structs each, in the order in which the slots are declared."""
        numbers, words = self._words
        wanted = numbers[premises]
        there = wanted != ABSENT
        flat = pl.DataFrame({"row": np.nonzero(there)[0], "slots": words.to_struct()[wanted[there]]})
        sorted_ = flat.with_columns(pl.col("row").set_sorted())  # groups are then slices
        return sorted_.group_by("row", maintain_order=True).agg("slots")["slots"]
