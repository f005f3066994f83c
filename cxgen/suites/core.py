"""What a suite is, and which there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxgen.families.scoring import Scoring
from cxgen.project import Project
from cxgen.schema import Column


@dataclass(frozen=True)
class Suite:
    """A config whose rows are not made from contrast sets. They are audited, packaged and scored beside the families' items.

    Attributes:
        name: of the suite and of its config.
        construction: whose suite it is.
        holds: what the config holds, in a sentence for README and card.
        sizes: what ``params.yaml`` may say of it (``suites``) -> how many where it does not.
        columns: those of its tables; ``id, contrast_set, construction, split`` among them.
        splits: those that have rows.
        card: Jinja text of its section of the dataset card.
        scoring: how its items are answered and scored.
        cluster: over rows: what is resampled together for intervals.
        dimensions: ways to divide its items when they are scored: name -> string, over rows.
        rows: (project, seed, sizes) -> all its rows.
        sample: (project, seed, n) -> the rows of ``n`` groups that belong together.
        violations: (project, rows) -> how often each rule is broken.
        counts: what there is of what.
        measures: what shallow predictors get: measure -> what `cxgen.measures.gates.measured` gives.
        shown: rows as ``sample`` prints them: a heading, and (mark, text) below it.
    """

    name: str
    construction: str
    holds: str
    sizes: Mapping[str, int]
    columns: tuple[Column, ...]
    splits: tuple[str, ...]
    card: str
    scoring: Scoring
    cluster: pl.Expr
    dimensions: Mapping[str, pl.Expr]
    rows: Callable[[Project, int, Mapping[str, int]], pl.DataFrame]
    sample: Callable[[Project, int, int], pl.DataFrame]
    violations: Callable[[Project, pl.DataFrame], dict[str, int]]
    counts: Callable[[pl.DataFrame], dict[str, Any]]
    measures: Callable[[pl.DataFrame], dict[str, dict[str, Any]]]
    shown: Callable[[pl.DataFrame], Iterator[tuple[str, list[tuple[str, str]]]]]


SUITES: dict[str, Suite] = {}


def register(suite: Suite) -> None:
    """Add a suite."""
    SUITES[suite.name] = suite
