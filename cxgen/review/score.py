"""What readers' answers say of the data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.files import write_atomically
from cxgen.measures.figures import Resampling, figure
from cxgen.report.reading import ANSWERS as READING
from cxgen.review.agreement import agreement
from cxgen.review.sample import CHECK, HYPOTHESIS, ITEM, PAIR, PREMISE, REAL
from cxgen.review.tasks import LABELS, NATURAL
from cxgen.spreadsheet import as_text

_PASS = 0.75  # share of attention checks that a reader has to get right to count
_NATURAL = 4
_BAD = 2.5  # a sentence whose mean is at most this is to be mended


def score(answers: pl.DataFrame, how: Resampling, everybody: bool = False) -> dict[str, Any]:
    """Agreement and naturalness.

    Args:
        answers: from `cxgen.review.answers.read_answers`.
        how: the resampling, for the intervals.
        everybody: count readers who fail the attention checks, too.

    Returns:
        ``readers``: name -> ``list``, ``answers``, ``checks``, ``checks_right``, ``counts``;
        ``labels``: ``items, answers``, ``agree`` (answers that are the computed label; a figure, see `cxgen.measures.figures`),
        ``majority_agrees`` (of the items, those whose computed label more than half of the readers give), ``readers`` (see `agreement`),
        ``groups`` (name -> ``items, answers, agree``), ``confusion`` (computed letter -> answer -> count);
        ``sentences``: ``answers``, ``readers``, and for ``premise, hypothesis`` and ``real``: ``answers, mean, natural`` (share rated 4 or
        5), and ``distance`` to the real sentences of the same readers (None without any); ``groups``: name -> the same by side;
        ``mend``: the items with a wrong answer or a mean rating of at most 2.5, the worst first: ``item, contrast_set, group, task, side,
        text, second, right, answers`` (counts), ``against`` (answers that are not the label), ``notes``.
    """
    readers = _readers(answers)
    for row in readers.values():
        row["counts"] = row["counts"] or everybody
    counting = [name for name, row in readers.items() if row["counts"]]
    counted = answers.filter(pl.col("reader").is_in(counting) & (pl.col("kind") != CHECK))
    pairs = counted.filter((pl.col("task") == LABELS.name) & (pl.col("kind") == ITEM))
    rated = counted.filter(pl.col("task") == NATURAL.name)
    return {
        "readers": readers,
        "labels": _labels(pairs, how),
        "sentences": _sentences(rated, how),
        "mend": _mend(pairs, rated.filter(pl.col("kind") == ITEM)),
    }


def _readers(answers: pl.DataFrame) -> dict[str, dict[str, Any]]:
    right = pl.when(pl.col("kind") == CHECK).then(pl.col("right").str.contains(pl.col("answer"), literal=True))
    own = pl.col("kind") != CHECK
    sums = {"answers": own.sum(), "checks": pl.col("passed").count(), "checks_right": pl.col("passed").sum()}
    rows = answers.with_columns(passed=right).group_by("reader").agg(pl.col("list").first(), **sums).sort("reader").to_dicts()
    return {row.pop("reader"): row | {"counts": row["checks_right"] >= _PASS * row["checks"]} for row in rows}


def _labels(pairs: pl.DataFrame, how: Resampling) -> dict[str, Any]:
    hits = pairs.with_columns(value=pl.col("answer") == pl.col("right"), construction="group", cluster="contrast_set")
    items = hits.group_by("code", maintain_order=True).agg(pl.col("construction", "cluster").first(), value=pl.col("value").mean() > 0.5)
    groups = hits.sort("group").group_by("group", maintain_order=True)
    confusion = pairs.group_by("right", "answer").len()
    counts = {(right, answer): count for right, answer, count in confusion.iter_rows()}
    return {
        "items": items.height,
        "answers": hits.height,
        "agree": figure(hits, how),
        "majority_agrees": figure(items, how),
        "readers": agreement(pairs, LABELS.keys, how, "nominal"),
        "groups": {
            str(name): {"items": rows["code"].n_unique(), "answers": rows.height, "agree": figure(rows, how)} for (name,), rows in groups
        },
        "confusion": {right: {answer: counts.get((right, answer), 0) for answer in LABELS.keys} for right in LABELS.keys},
    }


def _sentences(rated: pl.DataFrame, how: Resampling) -> dict[str, Any]:
    table = rated.with_columns(rating=pl.col("answer").cast(pl.Int64), side=pl.col("side").fill_null(REAL))
    base = table.filter(pl.col("side") == REAL).group_by("reader").agg(base=pl.col("rating").mean())
    table = table.join(base, on="reader", how="left", maintain_order="left").with_columns(less=pl.col("rating") - pl.col("base"))
    sides = {side: _ratings(table.filter(pl.col("side") == side)) for side in (PREMISE, HYPOTHESIS, REAL)}
    groups = table.drop_nulls("group").sort("group").group_by("group", maintain_order=True)
    ours = rated.filter(pl.col("kind") == ITEM)
    return {
        "answers": rated.height,
        "readers": agreement(ours, NATURAL.keys, how, "ordinal"),
        **sides,
        "groups": {
            str(name): {side: _ratings(rows.filter(pl.col("side") == side)) for side in (PREMISE, HYPOTHESIS)} for (name,), rows in groups
        },
    }


def _ratings(rows: pl.DataFrame) -> dict[str, Any]:
    def mean(values: pl.Series) -> float | None:
        average = values.drop_nulls().cast(pl.Float64).mean()
        return round(average, 4) if isinstance(average, float) else None

    natural = rows["rating"] >= _NATURAL
    return {"answers": rows.height, "mean": mean(rows["rating"]), "natural": mean(natural), "distance": mean(rows["less"])}


def _mend(pairs: pl.DataFrame, rated: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows with counts of answers, the worst first: by share of answers against the label, sentences by mean rating."""
    wrong = pairs.with_columns(against=pl.col("answer") != pl.col("right"), worth=(pl.col("answer") == pl.col("right")).cast(pl.Float64))
    low = rated.with_columns(against=pl.lit(None, pl.Boolean), worth=pl.col("answer").cast(pl.Float64))
    shown = ("item", "contrast_set", "group", "task", "side", "text", "second", "right")
    mend = (
        pl.concat([wrong, low])
        .group_by("code", maintain_order=True)
        .agg(
            *(pl.col(name).first() for name in shown),
            answers=pl.col("answer"),
            against=pl.col("against").sum(),
            worth=pl.col("worth").mean(),
            notes=pl.col("note").filter(pl.col("note") != ""),
        )
        .filter(pl.when(pl.col("task") == LABELS.name).then(pl.col("worth") < 1).otherwise(pl.col("worth") <= _BAD))
        .sort("task", "worth", "code")
    )
    rows = mend.drop("code", "worth").to_dicts()
    for row in rows:
        row["answers"] = {answer: row["answers"].count(answer) for answer in sorted(set(row["answers"]))}
        if row["task"] == NATURAL.name:
            del row["against"], row["right"]
    return rows


def record(answers: pl.DataFrame, report: Mapping[str, Any], path: Path, kind: str) -> int:
    """Write the answers of the readers who count as a reading (`cxgen report reading`), which the card tells; return its rows.

    Args:
        answers: from `cxgen.review.answers.answers_of`.
        report: what `score` made of them.
        path: a CSV file in ``pipelines/readings``.
        kind: of the readers: human or model.
    """
    counting = [name for name, row in report["readers"].items() if row["counts"]]
    ours = answers.filter((pl.col("kind") == ITEM) & pl.col("reader").is_in(counting))
    sides = {"relation": PAIR, "prem_nat": PREMISE, "hyp_nat": HYPOTHESIS}
    cells = [pl.col("answer").filter(pl.col("side") == side).first().alias(name) for name, side in sides.items()]
    rows = ours.group_by(pl.col("item").alias("id"), "reader").agg(cells).with_columns(kind=pl.lit(kind)).sort("id", "reader")
    table = rows.select(*READING).with_columns(pl.col("reader").map_elements(as_text, return_dtype=pl.String))
    write_atomically(path, table.write_csv)
    return table.height
