"""Reports as rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from cxgen.evaluate.report import Evaluated, slices
from cxgen.evaluate.scores import answered
from cxgen.measures.figures import Resampling
from cxgen.streams import order_keys
from cxgen.vocabulary import LABELS

_OPTIONAL = ("capture", "baseline", "gain", "gain interval", "p")
_SHOWN = ("data", "part", "items", "accuracy", "accuracy interval", "consistency", *_OPTIONAL)
_WRONG = 5  # items shown of a construction


def rows(reports: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every part as a whole and by construction.

    Returns:
        ``data`` (a config, or a file's name), ``part`` ("all", or "construction NAME"), ``items``, ``accuracy`` with its interval,
        ``consistency`` (share of sets that are all right; of files: of premises) and, of look-alikes, ``capture``; of a part as a whole
        ``baseline`` (its accuracy), ``gain`` over it with an interval and ``p``, if there is one, see `cxgen.evaluate.scores.compared`.
    """
    found = []
    for data, report in reports.items():
        for row in slices({"configs": {data: report}}, ["construction"] if report["by"] else []):
            held = _held(report) if row["part"] == "all" and "baseline" in report else {}
            found.append({name: {**row, **held, "data": data}.get(name) for name in _SHOWN})
    empty = [name for name in _OPTIONAL if all(row[name] is None for row in found)]
    return [{name: value for name, value in row.items() if name not in empty} for row in found]


def _held(report: Mapping[str, Any]) -> dict[str, Any]:
    """The cells of a comparison."""
    gain, p = report["baseline"]["accuracy"], report["baseline"]["p"]
    span = None if gain["low"] is None else f"{gain['low']:.3f} to {gain['high']:.3f}"
    return {
        "baseline": round(report["accuracy"]["value"] - gain["value"], 4),
        "gain": gain["value"],
        "gain interval": span,
        "p": f"{p:.2g}",
    }


def reported(name: str, part: Evaluated, given: pl.DataFrame, how: Resampling, against: tuple[str, pl.DataFrame] | None) -> dict[str, Any]:
    """What the answers of a run are worth.

    Args:
        name: the run's.
        part: of one config.
        given: its answers, see `Evaluated.answers`.
        how: intervals are made.
        against: another run's name and answers.

    Returns:
        `cxgen.evaluate.scores.scores`; ``baseline``: its name and `compared`, if there is one; ``errors``, see `errors`.
    """
    whole, (config,) = part.report(name, given, how, against), part.items
    held = {"baseline": {"name": against[0], **whole["against"]["configs"][config]}} if against else {}
    return {**whole["configs"][config], **held, "errors": errors(part, given)}


def errors(part: Evaluated, given: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """What is answered wrong (cf. ConTest-NLI, Table 8).

    Args:
        part: of one config.
        given: its answers, see `Evaluated.answers`.

    Returns:
        Construction -> ``wrong`` (share of its items), ``items``: some of them, of different sets: ``premise, hypothesis, right, said``.
    """
    (items,) = part.items.values()
    texts, names = items.select("id", "premise", "hypothesis"), dict(enumerate(LABELS))
    rows = answered(part.questions, given).join(texts, on="id", how="left", suffix=" text")
    rows = rows.with_columns(order=pl.Series(order_keys(("wrong",), rows["id"]))).sort("construction", "order")
    label = {new: pl.col(old).replace_strict(names, return_dtype=pl.String) for new, old in (("right", "right"), ("said", "answer"))}
    found = {}
    for (name,), own in rows.group_by("construction", maintain_order=True):
        wrong = own.filter(~pl.col("hit"))
        some = wrong.unique("contrast_set", keep="first", maintain_order=True).head(_WRONG)
        shown = some.select(pl.col("premise text").alias("premise"), "hypothesis", **label)
        found[str(name)] = {"wrong": round(wrong.height / own.height, 4), "items": shown.to_dicts()}
    return found
