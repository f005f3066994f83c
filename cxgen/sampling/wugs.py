"""Pseudowords in place of content words: the same draws over copies of the lexicon, one for each mode and variant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from cxgen.constructicon import Construction
from cxgen.errors import DataError
from cxgen.lexicon import Lexicon
from cxgen.lexicon.snapshot import HINT, PSEUDOWORDS
from cxgen.sampling.plan import Plan, Rows
from cxgen.sampling.pools import ABSENT
from cxgen.sampling.ways import Forms
from cxgen.streams import order_key
from cxgen.tables import read_table
from cxgen.vocabulary import INFLECTIONS, MODES

INVENTORY = "pseudowords.parquet"


@dataclass(frozen=True)
class Substitution:
    """What replaces the words of contrast sets."""

    broken: Mapping[str, frozenset[str]]  # mode -> the slots whose words it replaces, so that no label may rest on what they mean
    forms: Forms  # over copies of the lexicon: the variants of the first mode, then those of the next
    variants: int  # copies per mode; a set takes the one of its number

    def plan(self, real: Plan, modes: Sequence[str]) -> tuple[Plan, Rows]:
        """The sets of ``real`` once in each of ``modes``, mode after mode, and of each the number of its mode in ``broken``."""
        at = np.tile(np.arange(len(real)), len(modes))
        case = np.repeat(np.array([list(self.broken).index(mode) for mode in modes], dtype=np.int64), len(real))
        size = len(self.forms.lexicon) // (len(self.broken) * self.variants)
        first = (case * self.variants + real.numbers[at] % self.variants) * size
        fillers = {name: np.where(rows[at] == ABSENT, ABSENT, rows[at] + first) for name, rows in real.fillers.items()}
        return Plan(real.stream, real.numbers[at], real.frame[at], fillers), case


@dataclass(frozen=True)
class Wugs:
    """The pseudowords of a lexicon: ``key`` (of the lexeme), ``variant`` (i8, from 0), ``lemma``, ``article``, inflected forms (strings).

    A lexeme with fewer variants than others has its last one in the further ones, too.
    """

    table: pl.DataFrame
    _forms: dict[tuple[Lexicon, tuple[str, ...]], Forms] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> "Wugs":
        """Those of a snapshot folder."""
        return cls(read_table(folder / INVENTORY, PSEUDOWORDS, HINT))

    def substitution(self, construction: Construction, modes: Sequence[str]) -> Substitution:
        """Those of ``modes`` that replace words of the construction (its own have borrowed pseudowords); composed once for each lexicon."""
        broken = {mode: slots for mode in modes if (slots := broken_slots(construction, mode))}
        lexicon, variants = construction.lexicon, self.table["variant"].n_unique()
        key = lexicon, tuple(broken)
        if broken and key not in self._forms:
            own = Wugs(pl.concat([self.table, borrowed(construction, self.table)]))
            copies = [own.in_place(lexicon, mode, variant) for mode in broken for variant in range(variants)]
            self._forms[key] = Forms(Lexicon(pl.concat([copy.table for copy in copies], rechunk=True), lexicon.classes))
        return Substitution(broken, self._forms.get(key, Forms(lexicon)), variants)

    def in_place(self, lexicon: Lexicon, mode: str, variant: int) -> Lexicon:
        """``lexicon`` with the words of ``mode`` replaced; what is known of a word only (sense, frequency) is null."""
        last = pl.col("variant").max().over("key")
        own = self.table.filter(pl.col("variant") == pl.min_horizontal(last, variant)).drop("variant")
        table = lexicon.table.join(own, on="key", how="left", maintain_order="left", suffix="_wug")
        replaced = pl.col("pos").is_in(MODES[mode])
        lacking = table.filter(replaced & pl.col("lemma_wug").is_null())
        if lacking.height:
            raise DataError(f"{lacking['lemma'][0]!r} has no pseudoword", hint="run `cxgen lexicon build`")
        there = {name: replaced & pl.col(name).is_not_null() for name in ("lemma", "article", *INFLECTIONS)}  # a mass noun has no plural
        changes = [
            *(pl.when(changed).then(f"{name}_wug").otherwise(name).alias(name) for name, changed in there.items()),
            *(pl.when(replaced).then(None).otherwise(name).alias(name) for name in ("sense", "band", "zipf", "percentile")),
        ]
        return Lexicon(table.with_columns(changes).select(lexicon.table.columns), lexicon.classes)


def broken_slots(construction: Construction, mode: str) -> frozenset[str]:
    """The slots whose words ``mode`` replaces."""
    return frozenset(name for name, pos in construction.parts_of_speech.items() if pos & MODES[mode])


def borrowed(construction: Construction, inventory: pl.DataFrame) -> pl.DataFrame:
    """Pseudowords of other lexemes for the lexemes that ``inventory`` has none for, under their keys.

    Each lends to one: of the same part of speech, as near in length as there is, and none that the construction itself can draw.
    Which one it is does not depend on the other own words, unless two want the same.
    """
    lexicon, known = construction.lexicon, set(inventory["key"])
    names = set().union(*map(construction.fillers, construction.slots.values()))
    drawn = {*lexicon.named(*filter(lexicon.has, names))}
    rows = lexicon.table.select("key", "lemma", "pos").rows()
    free: dict[str, dict[str, int]] = {}
    for row, (key, lemma, pos) in enumerate(rows):
        if key in known and row not in drawn:
            free.setdefault(pos, {})[key] = len(lemma)
    lent = {}
    for key, lemma, pos in rows:
        lenders = free.get(pos)
        if key not in known and lenders:
            lender = min(lenders, key=lambda other: (abs(lenders[other] - len(lemma)), order_key(key, other)))
            del lenders[lender]
            lent[lender] = key
    return inventory.filter(pl.col("key").is_in(list(lent))).with_columns(pl.col("key").replace(lent))
