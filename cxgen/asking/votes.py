"""Several judges, one verdict: the majority, and how far they agree."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from cxgen.errors import needs

_NO_PAIRS = pl.DataFrame(schema={"same": pl.Boolean})


def majority(judgments: pl.DataFrame) -> pl.DataFrame:
    """One verdict per item and task.

    A value wins with more than half of the judges that decided; otherwise the item is undecided.

    Args:
        judgments: columns ``item, task, judge, value, reason``; an empty value is undecided.

    Returns:
        ``item, task`` (strings, in order of first appearance), ``value`` (empty if undecided), ``reason`` (why it is), ``votes`` (u32,
        judges that decided).
    """
    keys = ["item", "task"]
    latest = judgments.unique([*keys, "judge"], keep="last", maintain_order=True)
    order = latest.unique(keys, keep="first", maintain_order=True).select(keys)
    cast = latest.filter(pl.col("value") != "")
    votes = cast.group_by(keys).agg(votes=pl.len())
    counts = cast.group_by([*keys, "value"]).agg(count=pl.len()).join(votes, on=keys).filter(pl.col("count") * 2 > pl.col("votes"))
    why = latest.filter(pl.col("value") == "").unique(keys, keep="first", maintain_order=True).select(*keys, "reason")
    merged = order
    for table in (votes, counts.select(*keys, "value"), why):
        merged = merged.join(table, on=keys, how="left", maintain_order="left")
    votes_cast = pl.col("votes").fill_null(0)
    reason = (
        pl.when(pl.col("value").is_not_null())
        .then(pl.lit(""))
        .when(votes_cast > 0)
        .then(pl.lit("the judges disagree"))
        .otherwise(pl.col("reason").fill_null("not judged"))
    )
    return merged.select(*keys, pl.col("value").fill_null(""), reason=reason, votes=votes_cast)


def agreement(judgments: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """How far the judges agree on each task.

    Args:
        judgments: columns ``item, task, judge, value``.

    Returns:
        task -> ``judges``, ``items`` (that two or more decided), ``agreement`` (share of pairs of judges that say the same), ``alpha``
        (Krippendorff's, nominal; undefined where all say one thing; Krippendorff 2011, Computing Krippendorff's alpha-reliability). The
        last two are None where there is nothing to compare.
    """
    report: dict[str, dict[str, Any]] = {}
    decided = judgments.filter(pl.col("value") != "").unique(["item", "task", "judge"], keep="last", maintain_order=True)
    for (task,), table in decided.group_by("task", maintain_order=True):
        wide = table.pivot("judge", index="item", values="value", maintain_order=True).drop("item")
        judges = wide.columns
        both = [wide.drop_nulls([a, b]).select(same=pl.col(a) == pl.col(b)) for a, b in combinations(judges, 2)]
        same = pl.concat([_NO_PAIRS, *both])["same"]
        shared = wide.filter(pl.sum_horizontal(pl.col(judge).is_not_null().cast(pl.Int8) for judge in judges) > 1).height
        report[str(task)] = {
            "judges": len(judges),
            "items": shared,
            "agreement": round(same.sum() / len(same), 4) if len(same) else None,
            "alpha": _alpha(wide) if len(same) else None,
        }
    return report


def _alpha(wide: pl.DataFrame) -> float | None:
    with needs("agreement needs krippendorff", "llm"):
        import krippendorff

    values = sorted({value for column in wide.iter_columns() for value in column.drop_nulls()})
    if len(values) < 2:
        return None
    number = {value: float(rank) for rank, value in enumerate(values)}
    data = np.array([[np.nan if value is None else number[value] for value in column] for column in wide.iter_columns()])
    return round(float(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")), 4)
