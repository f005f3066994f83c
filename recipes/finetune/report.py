"""Reports as rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from cxgen.evaluation.report import Evaluated, mistakes
from cxgen.evaluation.rows import slices
from cxgen.measures.figures import Resampling
from cxgen.streams import order_keys

_OPTIONAL = ("capture", "baseline", "gain", "gain interval", "p")
_SHOWN = ("data", "part", "items", "accuracy", "accuracy interval", "consistency", *_OPTIONAL)
_WRONG = 5  # items shown of a construction


def rows(reports: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every part as a whole and by construction.

    Returns:
        ``data`` (a config, or a file's name), ``part`` ("all", or "construction NAME"), ``items``, ``accuracy`` with its interval,
        ``consistency`` (share of sets that are all right; of files: of premises) and, of look-alikes, ``capture``; of a part as a whole
        ``baseline`` (its accuracy), ``gain`` over it with an interval and ``p``, if there is one, see `cxgen.evaluation.scores.compared`.
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
        `cxgen.evaluation.scores.scores`; ``baseline``: its name and `compared`, if there is one; ``errors``, see `errors`.
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
        Construction -> ``wrong`` (share of its items), ``items``: some, of different premises: ``premise, hypothesis, right, said``.
    """
    wrong = mistakes(part, {"": given})
    wrong = wrong.with_columns(order=pl.Series(order_keys(("wrong",), wrong["id"]))).sort("order")
    found = {}
    for name, count in part.questions.group_by("construction").len().sort("construction").iter_rows():
        own = wrong.filter(construction=name)
        shown = own.unique("premise", keep="first", maintain_order=True).select("premise", "hypothesis", right="label", said="answer")
        found[name] = {"wrong": round(own.height / count, 4), "items": shown.head(_WRONG).to_dicts()}
    return found
