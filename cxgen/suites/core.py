"""What a suite is: rows of its own, not made from contrast sets, that are audited, packaged and scored beside the families' items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import polars as pl

from cxgen.families.scoring import Scoring
from cxgen.project import Project
from cxgen.schema import Column


class Suite(Protocol):
    """A suite. Its rows are those of one config; which stage writes them, who reads and publishes them is shared.

    Attributes:
        name: of the suite and of its config.
        construction: whose suite it is.
        holds: what the config holds, in a sentence for README and card.
        sizes: what ``params.yaml`` may say of it (``suites``) -> how many where it does not.
        columns: those of its tables; ``id, contrast_set, construction, split`` among them.
        splits: those that have rows.
        card: Jinja text of its section of the dataset card.
        scoring: how its items are answered and scored.
    """

    name: str
    construction: str
    holds: str
    sizes: Mapping[str, int]
    columns: tuple[Column, ...]
    splits: tuple[str, ...]
    card: str
    scoring: Scoring

    def rows(self, project: Project, seed: int, sizes: Mapping[str, int]) -> pl.DataFrame:
        """All its rows: the same arguments give the same rows."""

    def sample(self, project: Project, seed: int, n: int) -> pl.DataFrame:
        """Rows to look at: those of ``n`` groups that belong together."""

    def violations(self, project: Project, rows: pl.DataFrame) -> dict[str, int]:
        """How often each rule is broken in finished rows; all 0 in sound ones."""

    def counts(self, rows: pl.DataFrame) -> dict[str, Any]:
        """What there is of what."""

    def measures(self, rows: pl.DataFrame) -> dict[str, dict[str, Any]]:
        """What shallow predictors get: measure -> what `cxgen.measures.gates.measured` gives."""

    def dimensions(self) -> dict[str, pl.Expr]:
        """Ways to divide its items when they are scored: name -> string."""

    def cluster(self) -> pl.Expr:
        """Over rows: what is resampled together for intervals."""

    def shown(self, rows: pl.DataFrame) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Rows as ``sample`` prints them: a heading, and (mark, text) below it."""
