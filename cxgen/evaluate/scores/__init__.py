"""Scores of one set of predictions: pure functions over tables of questions and answers.

A new one is a file here, with a function under `score`: reports, tables and leaderboards have its figures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import polars as pl

from cxgen.evaluate.questions import DIMENSIONS
from cxgen.measures.figures import Resampling
from cxgen.suites import scoring_of

Figures = Mapping[str, dict[str, Any] | None]
Score = Callable[[pl.DataFrame, Resampling], Figures]
CELL = ["construction", "cluster"]
SCORES: dict[str, Score] = {}  # name of a figure -> what gives it


def score(*names: str) -> Callable[[Score], Score]:
    """Register a function as what gives the figures ``names``: (rows from `answered`, resampling) -> those of them that apply."""

    def register(function: Score) -> Score:
        SCORES.update(dict.fromkeys(names, function))
        return function

    return register


for _module in sorted(module.name for module in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")


def scores(rows: pl.DataFrame, how: Resampling) -> dict[str, Any]:
    """What the answers to a config's questions are worth, over all and by every dimension that divides them.

    Args:
        rows: from `answered`, of one config.
        how: the resampling.

    Returns:
        What `part` gives, with ``chance`` (of a guess) and ``by``: dimension -> value -> what `part` gives; where there are scenarios of
        one another, with ``scenarios``, see there. Questions that have no right answer count only there.
    """
    from cxgen.evaluate.scores.scenarios import scenarios

    more = scenarios(rows, how)
    chance = 1 / len(scoring_of(rows["config"][0]).answers)
    rows = rows.filter(pl.col("right").is_not_null())
    by: dict[str, dict[str, Any]] = {}
    for dimension in DIMENSIONS:
        values = rows[dimension].drop_nulls().unique().sort()
        if len(values) > 1 or (dimension == "construction" and len(values)):
            by[dimension] = {value: part(rows.filter(pl.col(dimension) == value), how) for value in values}
    return {**part(rows, how), "chance": round(chance, 4), "by": by, **({"scenarios": more} if more else {})}


def part(rows: pl.DataFrame, how: Resampling) -> dict[str, Any]:
    """``items, right, undecided, sets, verbs`` (counts; sets count as far as their items are among ``rows``) and the figures that apply."""
    counts = {
        "items": rows.height,
        "right": int(rows["hit"].sum()),
        "undecided": rows["answer"].null_count(),
        "sets": rows["contrast_set"].n_unique(),
        "verbs": rows.select(CELL).unique().height,
    }
    return counts | {name: value for function in dict.fromkeys(SCORES.values()) for name, value in function(rows, how).items()}
