"""What a benchmark family is: how contrast sets become its items, and what must be true of them."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import polars as pl

from cxgen.constructicon import Construction, Design
from cxgen.families.scoring import Scoring
from cxgen.sampling import Draws
from cxgen.schema import Column

Shown = tuple[dict[str, Any], list[tuple[str, str]]]  # a premise with its lines to print below it: (mark, text)


class Family(Protocol):
    """A benchmark family: what it adds to words, plan, premises, splits and streams, which all families share."""

    name: str
    configs: Mapping[str, str]  # config, which designs can name -> what it holds, in a sentence for README and card
    sizes: Mapping[str, int]  # config -> rows per construction where params.yaml says nothing
    text: str  # the column that holds the premise in its finished tables
    compared: Mapping[str, str]  # premise, hypothesis and label -> the columns that `diff` shows and compares as such
    substituted: tuple[str, ...]  # the configs whose sets are said again with pseudowords
    survives: tuple[str, ...]  # the `violations` that must be 0 with pseudowords, too
    by_set: tuple[str, ...]  # the `violations` that contrast sets have or have not by themselves, whatever others there are
    scoring: Scoring
    balanced: bool = True  # whether what it asks must have several labels in a set
    trees: bool = True  # whether its premises have gold trees

    def columns(self, config: str) -> tuple[Column, ...]:
        """The columns that its items have besides those of all families."""

    def unsound(self, construction: Construction, design: Design, config: str) -> str:
        """Why ``design`` gives no contrast sets for ``config``; empty if it gives some."""

    def rows_per_set(self, construction: Construction, design: Design, config: str) -> int:
        """How many rows of a set count towards the size of ``config``."""

    def sharing(self, construction: Construction, design: Design, config: str) -> list[Design]:
        """The designs of ``config`` among which its size is divided by weight, ``design`` among them."""
        return [other for other in construction.designs.values() if config in other.configs]

    def items(self, draws: Draws) -> pl.DataFrame:
        """Items of every set, in the order of the draws; rows of a set and mode are adjacent: ``id``, lineage and `columns`; with
        pseudowords only what still holds."""

    def fault(self) -> pl.Expr:
        """Over items: what is wrong with an item as a whole, in words; empty where nothing is."""

    def violations(self, rows: pl.DataFrame) -> dict[str, int]:
        """How often each rule of balance is broken in the finished rows of its configs (column ``config``); all 0 in a sound dataset."""

    def balance(self, rows: pl.DataFrame) -> dict[str, Any]:
        """The counts that prove it: config -> construction -> ``sentences``, ``unequal`` (of these) and whatever else is counted."""

    def shown(self, items: pl.DataFrame) -> Iterator[Shown]:
        """Items as ``sample`` prints them, premise by premise."""


def badly_formed(column: str) -> pl.Expr:
    """Whether a text is no sentence: capital letter, full stop, no braces, `misspaced`."""
    return ~pl.col(column).str.contains(r"^\p{Lu}.*\.$") | pl.col(column).str.contains("[{}]") | misspaced(column)


def misspaced(column: str) -> pl.Expr:
    """Whether a text has a blank before a blank or a mark, or two commas."""
    return pl.col(column).str.contains(r"\s([\s,;:!?]|\.$)|,\s*,")
