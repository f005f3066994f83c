"""What words and their places alone give of `cc_semantics`: no classifier, just counting."""

from __future__ import annotations

from typing import Any

import polars as pl

from cxgen.measures.gates import Gates, measured

_EVEN = Gates(construction=0.5)
_BOTH = ("first", "second")


def measures(rows: pl.DataFrame, config: str) -> dict[str, dict[str, Any]]:
    """Accuracies by scenario of saying always the commoner word (gate: 0.5), and the word whose last occurrence is nearest to the gap.

    Args:
        rows: items; those in which nothing follows count nowhere.
        config: their config.
    """
    rows = rows.filter(pl.col("answer").is_not_null())
    nearest = [int(context.rfind(second) > context.rfind(first)) for context, first, second in rows.select("context", *_BOTH).iter_rows()]
    rows = rows.with_columns(hit=pl.Series(nearest, dtype=pl.Int8) == pl.col("answer"))
    word = rows.group_by("scenario", "then").agg(most=pl.max_horizontal(pl.col("answer").mean(), 1 - pl.col("answer").mean()))
    commonest = {
        str(name): round(float(most), 4) for name, most in word.group_by("scenario").agg(pl.col("most").mean()).sort("scenario").iter_rows()
    }
    last = {
        str(name): round(float(share), 4)
        for name, share in rows.group_by("scenario").agg(pl.col("hit").mean()).sort("scenario").iter_rows()
    }
    return {
        "commoner_word": _measured(commonest, config, _EVEN),
        "nearest_word": _measured(last, config, Gates()),
    }


def _measured(each: dict[str, float], config: str, gates: Gates) -> dict[str, Any]:
    return measured(round(sum(each.values()) / max(len(each), 1), 4), {}, {config: each}, gates, 0.5)
