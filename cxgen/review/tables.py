"""The report of a review as tables for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cxgen.review.sample import HYPOTHESIS, PREMISE, REAL

Rows = list[dict[str, Any]]
_MOST_MEND = 20
_STATISTICS = {
    "full": "all say the same",
    "majority": "a majority says the same",
    "alpha": "Krippendorff's alpha",
    "cohen": "Cohen's kappa",
    "fleiss": "Fleiss' kappa",
}


def tables(report: Mapping[str, Any]) -> dict[str, Rows]:
    """Heading -> rows: readers, figures, groups, what to mend. Cells with intervals are texts."""
    mend = report["mend"]
    more = f"to mend (the worst {_MOST_MEND} of {len(mend)}; all with --json)" if len(mend) > _MOST_MEND else "to mend"
    return {
        "readers": [{"reader": name, **row} for name, row in report["readers"].items()],
        "figures": _figures(report),
        "groups": _groups(report),
        more: [_mend(row) for row in mend[:_MOST_MEND]],
    }


def _figures(report: Mapping[str, Any]) -> Rows:
    labels, sentences = report["labels"], report["sentences"]
    rows: Rows = []

    def row(task: str, what: str, of: int, figure: str) -> None:
        if of:
            rows.append({"task": task, "what": what, "of": of, "figure": figure})

    row("labels", "answers that are the computed label", labels["answers"], _span(labels["agree"]))
    row("labels", "items whose majority is it", labels["items"], _span(labels["majority_agrees"]))
    for task, part in (("labels", labels), ("sentences", sentences)):
        for name, meaning in _STATISTICS.items():
            row(task, meaning, part["readers"]["units"], _span(part["readers"][name]))
    for side, what in {PREMISE: "premises", HYPOTHESIS: "hypotheses", REAL: "real sentences"}.items():
        ratings = sentences[side]
        if ratings["answers"]:
            away = "" if side == REAL or ratings["distance"] is None else f", {ratings['distance']:+.2f} from real ones"
            row("sentences", what, ratings["answers"], f"mean {ratings['mean']:.2f}, {ratings['natural']:.1%} rated 4 or 5{away}")
    return rows


def _span(figure: Mapping[str, Any] | None) -> str:
    if figure is None or figure["value"] is None:
        return "-"
    return f"{figure['value']:.3f}" + ("" if figure["low"] is None else f" ({figure['low']:.3f} to {figure['high']:.3f})")


def _groups(report: Mapping[str, Any]) -> Rows:
    labels, sentences = report["labels"]["groups"], report["sentences"]["groups"]
    rows = []
    for name in sorted(labels.keys() | sentences.keys()):
        read, rated = labels.get(name), sentences.get(name, {})
        row: dict[str, Any] = {"group": name, "answers": read and read["answers"], "agree": _span(read and read["agree"])}
        for side, what in ((PREMISE, "premises"), (HYPOTHESIS, "hypotheses")):
            row |= {what: rated.get(side, {}).get("mean"), f"{what} from real": rated.get(side, {}).get("distance")}
        rows.append(row)
    return rows


def _mend(row: Mapping[str, Any]) -> dict[str, Any]:
    answers = " ".join(f"{answer}:{count}" for answer, count in row["answers"].items())
    texts = [row["text"], *([row["second"]] if row["second"] else [])]
    return {
        "item": row["item"],
        "group": row["group"],
        "computed": row.get("right"),
        "answers": answers,
        "text": " / ".join(texts),
        "notes": "; ".join(row["notes"]),
    }
