"""What models say about items, as verdicts on premises and pairs."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from cxgen.asking.votes import majority
from cxgen.build.choose import VERDICTS, unjudged
from cxgen.vocabulary import INAPPROPRIATE, LABELS, UNACCEPTABLE, UNDECIDED

_SILENT = pl.col("vote") == ""


def merge(items: pl.DataFrame, judgments: pl.DataFrame, tasks: Sequence[str]) -> pl.DataFrame:
    """A verdict on every item, columns ``VERDICTS``.

    A premise is what the models say; a pair is inappropriate if they say so, or if their blind label is not the computed one; whatever
    they do not decide is undecided. About what none of ``tasks`` asks, the item's own columns stand.

    Args:
        items: columns ``id, premise_id, acceptability`` (strings) and ``label`` (a position in `cxgen.vocabulary.LABELS`; null or lacking:
            no pair).
        judgments: columns ``item, task, judge, value, reason`` (strings).
        tasks: those that were put to the models.
    """
    votes = majority(judgments)
    label = pl.col("label") if "label" in items.columns else pl.lit(None, pl.Int8).alias("label")
    table = pl.concat([unjudged(items), items.select("premise_id", label)], how="horizontal")
    for task in tasks:
        key = "premise_id" if task == "acceptability" else "id"
        vote = votes.filter(pl.col("task") == task).select(pl.col("item").alias(key), vote="value", why="reason")
        joined = table.join(vote, on=key, how="left", maintain_order="left").with_columns(pl.col("vote").fill_null(""))
        why = pl.format("{}: {}", pl.lit(task), pl.col("why").fill_null("not judged"))
        table = (_premises(joined, why) if task == "acceptability" else _pairs(joined, why, task)).drop("vote", "why")
    return table.select(list(VERDICTS))


def _premises(table: pl.DataFrame, why: pl.Expr) -> pl.DataFrame:
    bad = pl.col("vote") == UNACCEPTABLE
    return table.with_columns(
        premise_verdict=pl.when(_SILENT).then(pl.lit(UNDECIDED)).otherwise("vote"),
        premise_reason=pl.when(_SILENT)
        .then(why)
        .when(bad)
        .then(pl.lit("acceptability: the model finds it unacceptable"))
        .otherwise("premise_reason"),
    )


def _pairs(table: pl.DataFrame, why: pl.Expr, task: str) -> pl.DataFrame:
    if task == "label":
        names = pl.col("label").replace_strict(dict(enumerate(LABELS)), return_dtype=pl.String)
        bad, text = pl.col("vote") != names, pl.format("label: the model reads {}, {} is computed", "vote", names)
    else:
        bad, text = pl.col("vote") == INAPPROPRIATE, pl.lit("appropriateness: the model finds it inappropriate")
    open_ = pl.col("label").is_not_null() & (pl.col("pair_verdict") != INAPPROPRIATE)  # an earlier task may have refused it
    verdict = pl.when(_SILENT).then(pl.lit(UNDECIDED)).when(bad).then(pl.lit(INAPPROPRIATE)).otherwise("pair_verdict")
    reason = pl.when(_SILENT).then(why).when(bad).then(text).otherwise("pair_reason")
    return table.with_columns(
        pair_verdict=pl.when(open_).then(verdict).otherwise("pair_verdict"),
        pair_reason=pl.when(open_).then(reason).otherwise("pair_reason"),
    )
