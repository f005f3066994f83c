"""Pseudowords in place of content words: the same draws with other words, and the labels that then hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from cxgen.constructicon import Construction
from cxgen.errors import DataError
from cxgen.generate.borrow import borrowed
from cxgen.generate.source import Source
from cxgen.lexicon import Lexicon
from cxgen.lexicon.stored import HINT, PSEUDOWORDS
from cxgen.sets import Forms, Rows, Substitution
from cxgen.tables import read_table
from cxgen.vocabulary import INFLECTIONS, MODES

INVENTORY = "pseudowords.parquet"
_NUMBERS = ("zipf", "percentile")
_CELL = ("config", "design", "split", "set_number", "kind", "rule")  # what tells a set's items apart, as far as a family has it


@dataclass(frozen=True)
class Wugs:
    """The pseudowords of a lexicon.

    Attributes:
        table: ``key`` (of the lexeme), ``variant`` (i8, from 0), ``lemma``, ``article`` and the inflected
            forms, as in the lexicon (strings).
    """

    table: pl.DataFrame
    _forms: dict[tuple[Lexicon, tuple[str, ...]], Forms] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> Wugs:
        """Read them from a snapshot folder.

        Raises:
            DataError: there are none, or the file is damaged.
        """
        return cls(read_table(folder / INVENTORY, PSEUDOWORDS, HINT))

    @cached_property
    def variants(self) -> int:
        """How many pseudowords a lexeme has at the most; those with fewer have their last one in the further variants, too."""
        return self.table["variant"].n_unique()

    def substitution(self, construction: Construction, modes: Sequence[str]) -> Substitution:
        """Those of ``modes`` that replace words of the construction; composed once for each lexicon.

        Words of the construction's own have borrowed pseudowords.
        """
        found = {mode: slots for mode in modes if (slots := broken_slots(construction, mode))}
        lexicon = construction.lexicon
        key = lexicon, tuple(found)
        if found and key not in self._forms:
            mine = Wugs(pl.concat([self.table, borrowed(construction, self.table)]))
            copies = [mine.in_place(lexicon, mode, variant) for mode in found for variant in range(self.variants)]
            self._forms[key] = Forms(Lexicon(pl.concat([copy.table for copy in copies], rechunk=True), lexicon.classes, {}))
        return Substitution(found, self._forms.get(key, Forms(lexicon)), self.variants)

    def in_place(self, lexicon: Lexicon, mode: str, variant: int) -> Lexicon:
        """``lexicon`` with the words of ``mode`` replaced; what is known of a word only (sense, frequency) is null.

        Raises:
            DataError: a word has no pseudoword.
        """
        last = pl.col("variant").max().over("key")
        mine = self.table.filter(pl.col("variant") == pl.min_horizontal(last, variant)).drop("variant")
        table = lexicon.table.join(mine, on="key", how="left", maintain_order="left", suffix="_wug")
        replaced = pl.col("pos").is_in(MODES[mode])
        lacking = table.filter(replaced & pl.col("lemma_wug").is_null())
        if lacking.height:
            raise DataError(f"{lacking['lemma'][0]!r} has no pseudoword", hint="run `cxgen lexicon build`")
        kept = {name: pl.col(name).is_not_null() for name in INFLECTIONS}  # a mass noun's pseudoword has no plural either
        changes = [
            *(pl.when(replaced).then(f"{name}_wug").otherwise(name).alias(name) for name in ("lemma", "article")),
            *(pl.when(replaced & kept[name]).then(f"{name}_wug").otherwise(name).alias(name) for name in INFLECTIONS),
            *(pl.when(replaced).then(None).otherwise(name).alias(name) for name in ("sense", "band", *_NUMBERS)),
        ]
        return Lexicon(table.with_columns(changes).select(lexicon.table.columns), lexicon.classes, {})


def broken_slots(construction: Construction, mode: str) -> frozenset[str]:
    """The slots whose words ``mode`` replaces."""
    return frozenset(name for name, pos in construction.parts_of_speech.items() if pos & MODES[mode])


def changed_sets(items: pl.DataFrame, real: pl.DataFrame) -> pl.DataFrame:
    """The sets of ``items`` (with ``mode``) in which every premise differs from those of ``real``, each in the first mode that says it so.

    Where a set happens to have no word of a mode (only names, say), there is nothing to replace; where two modes replace the same
    words, the sentences are the same.
    """
    if not items.height:
        return items
    keys = ["mode", "config", "contrast_set"]
    same = pl.col("premise").is_in(real["premise"].unique().implode())
    first = pl.col("mode") == pl.col("mode").first().over("config", "contrast_set")
    return items.filter(~same.any().over(keys) & first)


def substituted(source: Source, numbers: Rows, wugs: Wugs, modes: Sequence[str]) -> pl.DataFrame:
    """The sets ``numbers`` of ``source`` with pseudowords, once in each of ``modes``; in a set, a lexeme has one pseudoword throughout.

    Labels are computed anew; what does not hold any more is left out, as the family says.

    Returns:
        The columns of `Source.block` and ``mode``, mode after mode; no rows where no mode replaces anything or nothing survives.
    """
    construction = source.construction
    mine = set(construction.design_slots(source.design))
    by = wugs.substitution(construction, modes)
    modes = [mode for mode, slots in by.broken.items() if slots & mine]
    return source.substituted(np.sort(numbers), by, modes) if modes and len(numbers) else pl.DataFrame()


def said_again(items: pl.DataFrame) -> pl.DataFrame:
    """Those of ``items``, all of one config, that are to be said with pseudowords: of minimal pairs, those about participants."""
    return items.filter(pl.col("variant") != "") if "variant" in items.columns else items


def paired(items: pl.DataFrame, real: pl.DataFrame) -> pl.DataFrame:
    """Those of ``items``, from `substituted`, that are changed and have a source among the ``real`` ones, all of one config.

    Returns:
        The columns of ``items`` and, of the item that each comes from, ``source_id`` and ``acceptability`` (strings).
    """
    items = changed_sets(items, real)
    if not items.height:
        return items
    cell = [name for name in _CELL if name in real.columns]
    return items.join(real.select(*cell, source_id="id", acceptability="acceptability"), on=cell, how="inner", maintain_order="left")
