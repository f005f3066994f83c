"""Scores of scenarios that are made from one another: decision flips, and accuracy after calibration.

After Weissweiler et al. 2022: how often a change that must not matter (or that must) changes the decision, and how good decisions are once
what a model expects anyway is taken off.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from cxgen.evaluate.scores import CELL
from cxgen.measures.figures import Resampling, figure

_BASE = "S1"


def scenarios(rows: pl.DataFrame, how: Resampling) -> dict[str, Any]:
    """What the answers of scenarios say beside how many are right.

    Args:
        rows: from `answered`, of one config: ``scenario`` (string, null: there are none), ``contrast_set, right, answer, numbers``.
        how: the resampling.

    Returns:
        Scenario -> for those with right answers but the base: ``flips`` (figure: share of decided base items that are answered with the
        other word here) and ``should_flip`` (share of the base items whose right answer is the other one here); for those without:
        ``calibrated`` (figure: accuracy on the base items by s_w - c_w, with s_w the number given for word w in the base item and c_w that
        in this scenario: numbers must be log-probabilities, or the like; None where none were given). Empty if there are no scenarios.
    """
    rows = rows.filter(pl.col("scenario").is_not_null())
    bases = rows.filter(pl.col("scenario") == _BASE).select("contrast_set", *CELL, base="answer", wanted="right", before="numbers")
    report: dict[str, Any] = {}
    for name in rows["scenario"].unique().sort():
        others = rows.filter(pl.col("scenario") == name).select("contrast_set", "answer", "right", "numbers")
        both = bases.join(others, on="contrast_set", how="inner", maintain_order="left")
        if name == _BASE or not both.height:
            continue
        if both["right"].null_count() == both.height:
            report[name] = {"calibrated": _calibrated(both, how)}
            continue
        decided = both.drop_nulls(["base", "answer"]).select(*CELL, value=pl.col("base") != pl.col("answer"))
        should = (both["wanted"] != both["right"]).mean()
        report[name] = {"flips": figure(decided, how), "should_flip": round(float(should), 4) if isinstance(should, float) else None}
    return report


def _calibrated(both: pl.DataFrame, how: Resampling) -> dict[str, Any] | None:
    """The accuracy on base items when what is expected anyway is taken off; a tie is wrong."""
    if both["before"].null_count() or both["numbers"].null_count():
        return None
    left = [pl.col("before").list.get(place) - pl.col("numbers").list.get(place) for place in (0, 1)]
    choice = pl.when(left[0] > left[1]).then(0).when(left[1] > left[0]).then(1)
    return figure(both.select(*CELL, value=(choice == pl.col("wanted")).fill_null(value=False)), how)
