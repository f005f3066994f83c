"""Pseudowords in place of content words: the same draws with other words, and the labels that then hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from cxgen.constructicon import Construction, Design
from cxgen.errors import DataError
from cxgen.generate.forms import Forms
from cxgen.generate.plan import Rows, draw_plan
from cxgen.generate.pools import Pools
from cxgen.generate.sets import LABEL, realise_sets
from cxgen.lexicon import Lexicon
from cxgen.semantics import LABELS, Selection, label_matrix

# Which parts of speech are replaced. `content`: every open-class slot, as in CxMP, section 5.3; names stay, since pronouns refer to them.
MODES = {
    "verb": frozenset({"verb"}),
    "nouns": frozenset({"noun"}),
    "adjectives": frozenset({"adjective"}),
    "content": frozenset({"noun", "verb", "adjective"}),
}
INVENTORY = "pseudowords.parquet"
_FORMS = ("plural", "third", "ing", "past", "participle", "comparative", "superlative")
_NUMBERS = ("zipf", "percentile")


@dataclass(frozen=True)
class Wugs:
    """The pseudowords of a lexicon.

    Attributes:
        table: ``key`` (of the lexeme), ``variant`` (i8, from 0), ``lemma``, ``article`` and the inflected
            forms, as in the lexicon (strings).
    """

    table: pl.DataFrame
    _forms: dict[tuple[str, int], Forms] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> Wugs:
        """Read them from a snapshot folder.

        Raises:
            DataError: there are none, or the file is damaged.
        """
        try:
            table = pl.read_parquet(folder / INVENTORY)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise DataError(f"no usable pseudowords: {error}", file=folder / INVENTORY, hint="run `cxgen lexicon build`") from error
        return cls(table)

    @cached_property
    def variants(self) -> int:
        """How many pseudowords a lexeme has at the most; those with fewer have their last one in the further variants, too."""
        return self.table["variant"].n_unique()

    def forms(self, lexicon: Lexicon, mode: str, variant: int) -> Forms:
        """The forms of ``lexicon`` with the words of ``mode`` replaced; composed once, so always give the same lexicon."""
        if (mode, variant) not in self._forms:
            self._forms[mode, variant] = Forms(self.in_place(lexicon, mode, variant))
        return self._forms[mode, variant]

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
        kept = {name: pl.col(name).is_not_null() for name in _FORMS}  # a mass noun's pseudoword has no plural either
        changes = [
            *(pl.when(replaced).then(f"{name}_wug").otherwise(name).alias(name) for name in ("lemma", "article")),
            *(pl.when(replaced & kept[name]).then(f"{name}_wug").otherwise(name).alias(name) for name in _FORMS),
            *(pl.when(replaced).then(None).otherwise(name).alias(name) for name in ("sense", "band", *_NUMBERS)),
        ]
        return Lexicon(table.with_columns(changes).select(lexicon.table.columns), lexicon.classes, {})


def slot_pos(construction: Construction, name: str, lexicon: Lexicon) -> set[str]:
    """Parts of speech of what can fill a slot, as far as its classes exist."""
    slot = construction.slots[name]
    if slot.relation:
        return {"adjective"}
    names = {*slot.classes, *(value for frame in construction.frames for value in frame.slots.get(slot.source, ()))}
    known = [lexicon.resolve(value) for value in names if value in lexicon.classes or value in lexicon.index]
    return {group.pos for group in known}


def broken_slots(construction: Construction, lexicon: Lexicon, mode: str) -> frozenset[str]:
    """The slots whose words ``mode`` replaces."""
    return frozenset(name for name in construction.slots if slot_pos(construction, name, lexicon) & MODES[mode])


def substituted(
    construction: Construction,
    design: Design,
    pools: Pools,
    found: list[Selection],
    lexicon: Lexicon,
    stream: tuple[str | int, ...],
    numbers: Rows,
    wugs: Wugs,
    mode: str,
) -> pl.DataFrame:
    """The sets ``numbers`` of a stream with pseudowords; within a set, a lexeme has one pseudoword throughout.

    Labels are computed anew. A hypothesis stays in its set if it is still equally often entailed, open and contradicted there.

    Returns:
        The columns of `generate_items` but ``split``; no rows where ``mode`` replaces nothing or nothing survives.
    """
    broken = broken_slots(construction, lexicon, mode)
    if not broken & set(construction.design_slots(design)) or not len(numbers):
        return pl.DataFrame()
    plan = draw_plan(construction, design, pools, lexicon, stream, 0, int(numbers.max()) + 1)
    tables = []
    for variant in range(wugs.variants):
        rows = np.sort(numbers[numbers % wugs.variants == variant])
        if len(rows):
            forms = wugs.forms(lexicon, mode, variant)
            block = realise_sets(construction, design, plan.select(rows), pools, found, forms)
            tables.append(block.with_columns(pl.Series("set_number", rows).gather(block["set_number"])))
    items = pl.concat(tables).sort("set_number", maintain_order=True)
    cells = [(kind, rule, label) for kind, row in label_matrix(construction, design, broken).items() for rule, label in row.items()]
    labels = pl.DataFrame(cells, schema={"kind": pl.String, "rule": pl.String, "label": LABEL}, orient="row")
    items = items.drop("label").join(labels, on=["kind", "rule"], how="left", maintain_order="left")
    counts = [(pl.col("label") == label).sum().over("set_number", "rule") for label in range(len(LABELS))]
    return items.filter((counts[0] == counts[1]) & (counts[0] == counts[2]))
