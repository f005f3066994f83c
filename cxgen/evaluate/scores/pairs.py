"""Biases of minimal pairs, after CxMP (Oba and Sugawara 2026, "CxMP: A linguistic minimal-pair benchmark for evaluating constructional
understanding in language models", section 5.2), and how pairs fail together."""

from __future__ import annotations

import numpy as np
import polars as pl

from cxgen.constructicon.load import VARIANTS
from cxgen.evaluate.scores import CELL, Figures, score
from cxgen.measures.figures import Resampling, figure

_ORDERS = 2  # values of ``switched``


@score("bias_i", "bias_ii")
def biases(rows: pl.DataFrame, how: Resampling) -> Figures:
    """The two biases of CxMP: absolute differences of accuracies between cells of ``rows``.

    With acc(c, e, v, o) the accuracy on the pairs of construction c and entity type e that ask from side v, with the participants in
    order o, and acc(c, e, v) its mean over both orders:

    - ``bias_i``: the mean of abs(acc(c, e, v, original) - acc(c, e, v, switched)). Who goes by the continuation alone has it.
    - ``bias_ii``: the mean of abs(acc(c, e, A) - acc(c, e, B)). Who takes the first participant, or the nearest one, has it.

    Means are taken within constructions, then over them. Participants that cannot change places have no ``bias_i``, and the accuracy of a
    side is then that of its only order. There are no intervals: resampling adds to absolute differences, so that their ends would lie
    too high.
    """
    cell = ["construction", "entity_type"]
    orders = rows.drop_nulls(["variant", "entity_type"]).group_by(*cell, "variant", "switched", maintain_order=True)
    sides = (
        orders.agg(score=pl.col("hit").mean())
        .group_by(*cell, "variant", maintain_order=True)
        .agg(gap=_range("score"), score=pl.col("score").mean(), orders=pl.len(), still=pl.col("switched").is_null().all())
    )
    both = sides.filter((pl.col("orders") == _ORDERS) | "still").group_by(cell, maintain_order=True)
    asked = both.agg(gap=_range("score"), sides=pl.len()).filter(pl.col("sides") == len(VARIANTS))
    gaps = {"bias_i": _gap(sides.filter(pl.col("orders") == _ORDERS)), "bias_ii": _gap(asked)}
    return {name: {"value": value, "low": None, "high": None} for name, value in gaps.items() if value is not None}


def _range(name: str) -> pl.Expr:
    return pl.col(name).max() - pl.col(name).min()


def _gap(cells: pl.DataFrame) -> float | None:
    """The mean of ``gap`` within constructions, then over them; None where there is none."""
    gaps = cells.group_by("construction", maintain_order=True).agg(pl.col("gap").mean())["gap"]
    return round(float(np.mean(gaps.to_numpy())), 4) if len(gaps) else None


@score("same_choice", "both_wrong")
def failures(rows: pl.DataFrame, how: Resampling) -> Figures:
    """How two premises with the same two continuations fail together, as shares of the pairs of premises that are decided as a whole:
    the same continuation is chosen after both, whatever they say; each time the one that the other premise entails.
    """
    pairs = rows.filter(pl.col("group").is_not_null()).group_by("group", maintain_order=True)
    right = pairs.agg(pl.col(CELL).first(), pl.col("hit").sum(), whole=(pl.len() == 2) & pl.col("answer").is_not_null().all())
    right = right.filter("whole")
    wrong = {"same_choice": pl.col("hit") == 1, "both_wrong": pl.col("hit") == 0}
    return {name: figure(right.select(*CELL, value=value), how) for name, value in wrong.items()} if right.height else {}
