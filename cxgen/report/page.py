"""One page about the dataset: what is in it, what was measured, and a browser of contrast sets. It loads nothing from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import polars as pl

from cxgen.errors import DataError, needs
from cxgen.layout import METRICS
from cxgen.measures.gates import broken_gates
from cxgen.report.charts import bars
from cxgen.schema import TARGET
from cxgen.vocabulary import BANDS, LABELS, SPLITS, Role

# What the same measure gives on the expert-made CxNLI (see `cxgen.measures.giveaway`).
PUBLISHED = {"hypothesis_only": 0.72, "overlap_only": 0.53}
MEANINGS = {
    "hypothesis_only": "a classifier that sees the hypothesis alone",
    "overlap_only": "one that sees only how far the words overlap",
    "words_only": "what the open-class words of a premise give away within its set",
    "turn_rate": "share of labels that turn with the construction or the roles, same words (a minimum)",
    "word_pairs": "what pairs of words, one of the premise and one of the hypothesis, give away",
    "cues_only": "a linear model over pairs of words",
    "cues_transfer": "the same, trained on the other constructions",
    "misparse": "share of look-alikes' items that a misreading would answer otherwise (a minimum)",
    "diagnostic_only": "a classifier that sees the continuations alone",
    "unequal_words": "continuations with words that differ",
}


def render_page(
    items: pl.DataFrame,
    metrics: Mapping[str, Any],
    matrices: Sequence[Mapping[str, Any]],
    sets: Sequence[Mapping[str, Any]],
    evaluations: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The page as HTML.

    Args:
        items: all of the dataset, with ``config``; of configs without labels ``label`` is null.
        metrics: name -> content of ``outputs/metrics/NAME.json``, as far as there are.
        matrices: per design ``construction, design, rules, kinds`` (name, letters).
        sets: from `cxgen.report.browser.grids`.
        evaluations: reports of ``cxgen evaluate --json``.

    Raises:
        DataError: Jinja2 or pygal is not installed, or a metric is not as it should be.
    """
    with needs("the page needs Jinja2", "report"):
        from jinja2 import Environment, StrictUndefined, TemplateError
        from markupsafe import Markup
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=True)
    environment.filters["percent"] = lambda share: "-" if share is None else f"{100 * share:.1f}%"
    environment.filters["thousands"] = lambda number: f"{number:,}"
    template = environment.from_string(files("cxgen.report").joinpath("page.html.j2").read_text("utf-8"))
    try:
        return template.render(
            counts=counts(items),
            charts=[(title, Markup(svg)) for title, svg in charts(items, metrics)],
            measures=measures(metrics),
            violations=violations(metrics),
            verbs=_verbs(metrics),
            reading=metrics.get("reading", {"answers": 0}),
            agreement=agreement(metrics),
            judges=metrics.get("models", {}).get("judges", []),
            matrices=matrices,
            evaluations=[row for report in evaluations for row in scores(report)],
            sets=Markup(json.dumps(sets, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")),
            shown=len(sets),
            all_sets=items.select("config", "contrast_set").filter(pl.col("config").is_in([each["config"] for each in sets])).n_unique(),
            labels=dict(zip("ENC", LABELS, strict=True)),
            splits=SPLITS,
        )
    except (TemplateError, TypeError, ValueError, KeyError, AttributeError) as error:  # the figures come from files
        raise DataError(f"the metrics do not hold what the page says: {error}", file=METRICS, hint="make them anew: `dvc repro`") from error


def counts(items: pl.DataFrame) -> list[dict[str, Any]]:
    """Per config: ``config, items, sets, premises, verbs`` and the items of each split."""
    found = items.group_by("config", maintain_order=True).agg(
        items=pl.len(),
        sets=pl.col("contrast_set").n_unique(),
        premises=pl.col("premise_id").n_unique(),
        verbs=pl.col("verb").n_unique(),
        **{split: (pl.col("split") == split).sum() for split in SPLITS},
    )
    return found.to_dicts()


def charts(items: pl.DataFrame, metrics: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Title and SVG: labels, verbs, frequency bands, shapes."""
    labelled = items.drop_nulls("label")
    found = []
    if labelled.height:
        found.append(
            _chart("Labels (items)", _table(labelled.select(row="config", column=pl.col("label").cast(pl.Int64))), range(3), LABELS)
        )
    verbs = items.select(row=TARGET, column="split", verb="verb").unique().sort("row")
    found.append(_chart("Verbs per construction and split", _table(verbs), SPLITS, SPLITS))
    slots = (
        items.unique("premise_id", keep="first", maintain_order=True).select("verb", "slots", row=TARGET).explode("slots").unnest("slots")
    )
    banded = slots.filter((pl.col("role") == Role.verb) & (pl.col("lemma") == pl.col("verb"))).select("row", column="band").sort("row")
    found.append(_chart("Frequency bands of the verbs (premises)", _table(banded), BANDS, BANDS))
    shapes = {name: entry["breadth"]["shapes"] for name, entry in metrics.get("variety", {}).items() if "breadth" in entry}
    if shapes:
        title = "Shapes of premises (different ways to build one)"
        found.append((title, bars(list(shapes), {"shapes": list(shapes.values())}, title)))
    return found


def _table(rows: pl.DataFrame) -> dict[tuple[str, Any], int]:
    return {(row, column): count for row, column, count in rows.group_by("row", "column", maintain_order=True).len().iter_rows()}


def _chart(title: str, table: Mapping[tuple[str, Any], int], columns: Sequence[Any], names: Sequence[str]) -> tuple[str, str]:
    rows = list(dict.fromkeys(row for row, _ in table))
    series = {name: [table.get((row, column), 0) for row in rows] for column, name in zip(columns, names, strict=True)}
    return title, bars(rows, series, title)


def measures(metrics: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every measure with a gate: ``part, name, meaning, overall, chance, gate, passed, faults, published``."""
    found = []
    for part, each in metrics.get("baselines", {}).items():
        for name, measure in each.items():
            gates = measure["gates"]
            bound = "at least" if gates.get("least") else "at most"
            gate = ", ".join(f"{bound} {value} ({what})" for what, value in gates.items() if what != "least")
            found.append(
                {
                    "part": part,
                    "name": name,
                    "meaning": MEANINGS.get(name, ""),
                    "overall": measure["overall"],
                    "chance": measure["chance"],
                    "gate": gate,
                    "passed": measure["passed"],
                    "faults": list(broken_gates(measure)),
                    "published": PUBLISHED.get(name) if part != "minimal_pairs" else None,
                }
            )
    return found


def violations(metrics: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the audits counted: ``part, what, count``; all counts should be 0."""
    parts = {**metrics.get("splits", {}).get("violations", {})}
    parts |= {name: metrics[name]["violations"] for name in ("wug", "natural") if name in metrics}
    return [{"part": part, "what": what, "count": count} for part, each in parts.items() for what, count in each.items()]


def agreement(metrics: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Per task that two judges or more were asked about: ``task, judges, items, agreement, alpha``; the last two may be None."""
    return [{"task": task, **found} for task, found in metrics.get("models", {}).get("agreement", {}).items() if found["judges"] > 1]


def _verbs(metrics: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Per construction: ``name``, its fillers' commonest (``slot, lemma, share``), the share of the five commonest verbs."""
    return [
        {"name": name, "five": entry["breadth"]["top five verbs"], "fillers": entry["breadth"]["fillers"]}
        for name, entry in metrics.get("variety", {}).items()
        if "breadth" in entry
    ]


def scores(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of an evaluation: ``name, config, items, chance`` and figures (``value, low, high``, or None)."""
    figures = ("accuracy", "consistency", "capture", "excess")
    return [
        {"name": report["name"], "config": config, "items": each["items"], "chance": each["chance"]}
        | {figure: each.get(figure) for figure in figures}
        for config, each in report["configs"].items()
    ]
