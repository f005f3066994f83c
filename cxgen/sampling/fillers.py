"""The fillers of many premises as a matrix of numbers, of which lists of structs are made only for the rows that are asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.constructicon import Construction, Slot
from cxgen.lexicon import Lexicon
from cxgen.sampling.plan import Rows
from cxgen.sampling.pools import ABSENT


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
        cls, construction: Construction, lexicon: Lexicon, drawn: Mapping[str, Rows], parts: Sequence[Collection[str]], chosen: Rows
    ) -> Fillers:
        """Those of the premises of some contrast sets.

        Args:
            construction: whose sets.
            lexicon: with the words that fill them.
            drawn: slot -> row of the lexicon, per set.
            parts: the slots of every template.
            chosen: per premise, the number of its template; the premises of a kind stand in the order of the sets, kind after kind.
        """
        has = {name: np.array([name in slots for slots in parts])[chosen] for name in construction.slots}
        slots = [slot for name, slot in construction.slots.items() if has[name].any()]
        columns = [np.where(has[slot.name], np.resize(drawn[slot.name], len(chosen)), ABSENT) for slot in slots]
        return cls(tuple(slots), np.array(columns, dtype=np.int64).reshape(len(slots), len(chosen)).T, lexicon)

    @cached_property
    def _words(self) -> tuple[NDArray[np.int64], pl.DataFrame]:
        """Which filler stands where, as row numbers of a table ``slot, role, lemma, sense, zipf, percentile, band``; -1 for none."""
        size = len(self.lexicon)
        codes = np.where(self.rows == ABSENT, -1, self.rows + size * np.arange(len(self.slots)))
        used = np.zeros(size * len(self.slots) + 1, dtype=bool)  # the last one for those that are absent
        used[codes.reshape(-1)] = True
        used[-1] = False
        number = np.cumsum(used) - 1
        number[-1] = ABSENT
        slot, row = np.divmod(np.flatnonzero(used), size)
        facts = self.lexicon.table.select("lemma", "sense", "zipf", "percentile", "band")[row]
        names, roles = (pl.Series([getattr(each, what) for each in self.slots], dtype=pl.String)[slot] for what in ("name", "role"))
        return number[codes], facts.select(names.alias("slot"), roles.alias("role"), pl.all())

    def lineage(self) -> pl.Series:
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
        ordered = flat.with_columns(pl.col("row").set_sorted())  # groups are then slices
        return ordered.group_by("row", maintain_order=True).agg("slots")["slots"]
