"""What models say about the candidates, joined with what the rules have decided."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from cxgen.asking.votes import majority
from cxgen.vocabulary import APPROPRIATE, INAPPROPRIATE, LABELS, UNACCEPTABLE, UNDECIDED

_PAIR = pl.col("pair_verdict") == APPROPRIATE
_PREMISE = pl.col("premise_verdict") != UNACCEPTABLE
_SILENT = pl.col("said") == ""


def judgeable(items: pl.DataFrame, verdicts: pl.DataFrame) -> pl.DataFrame:
    """The ``items`` that the rules' ``verdicts`` leave open, in their order. The others are decided already and cost nothing."""
    return items.join(verdicts.filter(_PREMISE & _PAIR).select("id"), on="id", how="semi", maintain_order="left")


def merge(verdicts: pl.DataFrame, items: pl.DataFrame, judgments: pl.DataFrame, tasks: Sequence[str]) -> pl.DataFrame:
    """The rule judge's ``verdicts`` and the models'.

    What the rules decided stays as it is. Otherwise a premise is what the models say; a pair is inappropriate if they say so, or if their
    blind label is not the computed one; whatever they do not decide is undecided.

    Args:
        verdicts: columns of `cxgen.build.choose.VERDICTS`.
        items: columns ``id, premise_id`` (strings) and ``label`` (a position in `cxgen.vocabulary.LABELS`; null or lacking: no pair,
            so that there is no more to decide than the rules do).
        judgments: columns ``item, task, judge, value, reason`` (strings).
        tasks: those that were put to the models.
    """
    votes = majority(judgments)
    label = pl.col("label") if "label" in items.columns else pl.lit(None, pl.Int8).alias("label")
    table = verdicts.join(items.select("id", "premise_id", label), on="id", how="left", maintain_order="left")
    table = table.with_columns(open=_PREMISE & _PAIR).with_columns(open_premise=pl.col("open").any().over("premise_id"))
    for task in tasks:
        key = "premise_id" if task == "acceptability" else "id"
        said = votes.filter(pl.col("task") == task).select(pl.col("item").alias(key), said="value", why="reason")
        joined = table.join(said, on=key, how="left", maintain_order="left").with_columns(pl.col("said").fill_null(""))
        why = pl.format("{}: {}", pl.lit(task), pl.col("why").fill_null("not judged"))
        table = (_premises(joined, why) if task == "acceptability" else _pairs(joined, why, task)).drop("said", "why")
    return table.select(verdicts.columns)


def _premises(table: pl.DataFrame, why: pl.Expr) -> pl.DataFrame:
    bad = pl.col("said") == UNACCEPTABLE
    verdict = pl.when(_SILENT).then(pl.lit(UNDECIDED)).otherwise("said")
    reason = pl.when(_SILENT).then(why).when(bad).then(pl.lit("acceptability: the model finds it unacceptable")).otherwise("premise_reason")
    return table.with_columns(_where("open_premise", premise_verdict=verdict, premise_reason=reason))


def _pairs(table: pl.DataFrame, why: pl.Expr, task: str) -> pl.DataFrame:
    if task == "label":
        names = pl.col("label").replace_strict(dict(enumerate(LABELS)), return_dtype=pl.String)
        bad, text = pl.col("said") != names, pl.format("label: the model reads {}, {} is computed", "said", names)
    else:
        bad, text = pl.col("said") == INAPPROPRIATE, pl.lit("appropriateness: the model finds it inappropriate")
    verdict = pl.when(_SILENT).then(pl.lit(UNDECIDED)).when(bad).then(pl.lit(INAPPROPRIATE)).otherwise("pair_verdict")
    reason = pl.when(_SILENT).then(why).when(bad).then(text).otherwise("pair_reason")
    # An earlier task may have refused the pair.
    table = table.with_columns(pl.col("open") & pl.col("label").is_not_null() & (pl.col("pair_verdict") != INAPPROPRIATE))
    return table.with_columns(_where("open", pair_verdict=verdict, pair_reason=reason))


def _where(condition: str, **columns: pl.Expr) -> list[pl.Expr]:
    return [pl.when(condition).then(new).otherwise(name).alias(name) for name, new in columns.items()]
