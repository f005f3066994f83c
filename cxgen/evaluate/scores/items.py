"""Accuracy and consistency, those of contrast sets (Gardner et al. 2020, "Evaluating models' local decision boundaries via contrast sets"),
and what look-alikes are taken for."""

from __future__ import annotations

import polars as pl

from cxgen.evaluate.scores import CELL, Figures, score
from cxgen.measures.figures import Resampling, figure
from cxgen.vocabulary import NEUTRAL


@score("accuracy", "consistency")
def accuracy(rows: pl.DataFrame, how: Resampling) -> Figures:
    """The share of items that are right, and the share of sets in which every item is."""
    return {"accuracy": figure(rows.select(*CELL, value="hit"), how), "consistency": figure(whole_sets(rows), how)}


def whole_sets(rows: pl.DataFrame) -> pl.DataFrame:
    """``construction, cluster, value``: a row per contrast set, whether all its items are right."""
    sets = rows.group_by("contrast_set", maintain_order=True)
    return sets.agg(pl.col(CELL).first(), value=pl.col("hit").all()).drop("contrast_set")


@score("capture", "excess")
def capture(rows: pl.DataFrame, how: Resampling) -> Figures:
    """Of items with a ``lure``: the share answered with it; and, on those that are neutral, that share less the share answered with the
    third label, neither right nor lure: above 0, it is the misreading and not mere doubt.
    """
    rows = rows.filter(pl.col("lure").is_not_null())
    if not rows.height:
        return {}
    taken = (pl.col("answer") == pl.col("lure")).fill_null(value=False)
    third = ((pl.col("answer") != pl.col("lure")) & (pl.col("answer") != pl.col("right"))).fill_null(value=False)
    excess = rows.filter(pl.col("right") == NEUTRAL).select(*CELL, value=taken.cast(pl.Int8) - third.cast(pl.Int8))
    return {"capture": figure(rows.select(*CELL, value=taken), how), "excess": figure(excess, how)}
