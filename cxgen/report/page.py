"""One page about the dataset: what is in it, what was measured, and a browser of contrast sets. It loads nothing from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build.gold import annotated
from cxgen.build.tables import with_natural
from cxgen.constructicon import load_construction
from cxgen.errors import DataError, needs
from cxgen.families import NATURAL
from cxgen.files import read_json, require_place, write_atomically
from cxgen.lexicon import Lexicon
from cxgen.measures import measures as registered
from cxgen.measures.figures import broken_gates
from cxgen.project import Project
from cxgen.report.browser import Pieces, grids, some_sets
from cxgen.report.charts import bars
from cxgen.schema import TARGET
from cxgen.semantics import label_matrix
from cxgen.trees import Sentence
from cxgen.vocabulary import BANDS, LABELS, SPLITS, Role

METRICS = ("splits", "baselines", "variety", "reading", "natural", "wug", "models")
_MOST_PAGE = 5 << 20  # bytes


def write_page(project: Project, path: Path, evaluations: Sequence[Path] = (), per_design: int = 12) -> int:
    """Write the page; return its size in bytes.

    Args:
        project: whose dataset and metrics.
        path: the HTML file.
        evaluations: files with what ``cxgen evaluate --json`` printed.
        per_design: contrast sets of each design in the browser.

    Raises:
        DataError: there is no dataset, a file is not as it should be, the page would be larger than 5 MB, or Jinja2 or pygal is lacking.
    """
    require_place(path)
    items = with_natural(project, "")
    metrics = {name: read_json(file, "run `dvc repro`") for name in METRICS if (file := project.root / layout.metric(name)).is_file()}
    reports = [_evaluation(file) for file in evaluations]
    shown = some_sets(items.drop_nulls("label"), per_design)
    built = shown.filter(pl.col("config") != NATURAL)
    pieces = {sentence.item: pieces_of(sentence) for sentence, _ in annotated(project, built)}
    text = render_page(items, metrics, _matrices(project, items), grids(shown, pieces), reports)
    size = len(text.encode())
    if size > _MOST_PAGE:
        raise DataError(f"the page would have {size / 2**20:.1f} MB", file=path, hint=f"show fewer sets: --sets {max(per_design // 2, 1)}")
    write_atomically(path, lambda temporary: temporary.write_text(text, "utf-8"))
    return size


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
    models = metrics.get("models", {"judges": [], "agreement": {}})
    breadths = {name: entry["breadth"] for name, entry in metrics.get("variety", {}).items() if "breadth" in entry}
    configs = [one["config"] for one in sets]
    try:
        return template.render(
            counts=counts(items),
            charts=[(title, Markup(svg)) for title, svg in charts(items, breadths)],
            measures=measures(metrics),
            violations=violations(metrics),
            verbs=[{"name": name, "five": entry["top five verbs"], "fillers": entry["fillers"]} for name, entry in breadths.items()],
            reading=metrics.get("reading", {"answers": 0}),
            agreement=[{"task": task, **row} for task, row in models.get("agreement", {}).items() if row["judges"] > 1],
            judges=models.get("judges", []),
            matrices=matrices,
            evaluations=[row for report in evaluations for row in scores(report)],
            sets=Markup(json.dumps(sets, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")),
            shown=len(sets),
            all_sets=items.select("config", "contrast_set").filter(pl.col("config").is_in(configs)).n_unique(),
            labels=dict(zip("ENC", LABELS, strict=True)),
            splits=SPLITS,
        )
    except (TemplateError, TypeError, ValueError, KeyError, AttributeError) as error:  # the figures come from files
        message = f"the metrics do not hold what the page says: {error}"
        raise DataError(message, file=layout.METRICS, hint="make them anew: `dvc repro`") from error


def pieces_of(sentence: Sentence) -> Pieces:
    """The sentence divided at the borders of its slots: texts, each with its slot or an empty one."""
    pieces: Pieces = []
    for token in sentence.tokens:
        slot = token.slot or ""
        if not pieces or pieces[-1][1] != slot:
            pieces.append(["", slot])
        pieces[-1][0] += token.form + (" " if token.space_after else "")
    return pieces


def _matrices(project: Project, items: pl.DataFrame) -> list[dict[str, Any]]:
    lexicon = Lexicon.of(project)
    matrices = []
    for name in items.select(TARGET).to_series().unique().sort():
        construction = load_construction(project, name, lexicon)
        for design in construction.designs.values():
            matrix = label_matrix(construction, design, frozenset())
            rules = list(dict.fromkeys(rule for row in matrix.values() for rule in row))
            kinds = [(kind, [LABELS[row[rule]][0].upper() if rule in row else "-" for rule in rules]) for kind, row in matrix.items()]
            matrices.append({"construction": name, "design": design.name, "rules": rules, "kinds": kinds})
    return matrices


def _evaluation(path: Path) -> dict[str, Any]:
    hint = "expected what `cxgen evaluate ... --json` prints"
    report = read_json(path, hint)
    try:
        if {"name", "configs"} <= report.keys() and all(
            {"items", "chance", "accuracy"} <= part.keys() for part in report["configs"].values()
        ):
            return dict(report)
    except (AttributeError, KeyError, TypeError) as error:
        raise DataError("no evaluation", file=path, hint=hint) from error
    raise DataError("no evaluation", file=path, hint=hint)


def counts(items: pl.DataFrame) -> list[dict[str, Any]]:
    """Per config: ``config, items, sets, premises, verbs`` and the items of each split."""
    numbers = {"sets": "contrast_set", "premises": "premise_id", "verbs": "verb"}
    table = items.group_by("config", maintain_order=True).agg(
        items=pl.len(),
        **{what: pl.col(column).n_unique() for what, column in numbers.items()},
        **{split: (pl.col("split") == split).sum() for split in SPLITS},
    )
    return table.to_dicts()


def charts(items: pl.DataFrame, breadths: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Title and SVG: labels, verbs, frequency bands, shapes."""
    labelled = items.drop_nulls("label").select(row="config", column=pl.col("label").cast(pl.Int64))
    verbs = items.select(row=TARGET, column="split", verb="verb").unique().sort("row")
    slots = items.unique("premise_id", keep="first", maintain_order=True).select("verb", "slots", row=TARGET)
    slots = slots.explode("slots").unnest("slots")
    banded = slots.filter((pl.col("role") == Role.verb) & (pl.col("lemma") == pl.col("verb"))).select("row", column="band").sort("row")
    shown = [_chart("Labels (items)", labelled, range(3), LABELS)] if labelled.height else []
    shown += [
        _chart("Verbs per construction and split", verbs, SPLITS, SPLITS),
        _chart("Frequency bands of the verbs (premises)", banded, BANDS, BANDS),
    ]
    if breadths:
        title = "Shapes of premises (different ways to build one)"
        shown.append((title, bars(list(breadths), {"shapes": [entry["shapes"] for entry in breadths.values()]}, title)))
    return shown


def _chart(title: str, rows: pl.DataFrame, columns: Sequence[Any], names: Sequence[str]) -> tuple[str, str]:
    table = {(row, column): count for row, column, count in rows.group_by("row", "column", maintain_order=True).len().iter_rows()}
    names_of_rows = list(dict.fromkeys(row for row, _ in table))
    series = {name: [table.get((row, column), 0) for row in names_of_rows] for column, name in zip(columns, names, strict=True)}
    return title, bars(names_of_rows, series, title)


def measures(metrics: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every measure with a gate: ``part, name, meaning, overall, chance, gate, passed, faults, published``."""
    rows, known = [], registered()
    for part, own in metrics.get("baselines", {}).items():
        for name, measure in own.items():
            bound = "at least" if measure["gates"].get("least") else "at most"
            row = {
                "part": part,
                "name": name,
                "meaning": known[name]["meaning"] if name in known else "",
                **{key: measure[key] for key in ("overall", "chance", "passed")},
                "gate": ", ".join(f"{bound} {value} ({what})" for what, value in measure["gates"].items() if what != "least"),
                "faults": list(broken_gates(measure)),
                "published": known[name]["published"] if name in known else None,
            }
            rows.append(row)
    return rows


def violations(metrics: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the audits counted: ``part, what, count``; all counts should be 0."""
    parts = {**metrics.get("splits", {}).get("violations", {})}
    parts |= {name: metrics[name]["violations"] for name in ("wug", "natural") if name in metrics}
    return [{"part": part, "what": what, "count": count} for part, own in parts.items() for what, count in own.items()]


def scores(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of an evaluation: ``name, config, items, chance`` and figures (``value, low, high``, or None)."""
    figures = ("accuracy", "consistency", "capture", "excess")
    return [
        {"name": report["name"], "config": config, "items": part["items"], "chance": part["chance"]}
        | {figure: part.get(figure) for figure in figures}
        for config, part in report["configs"].items()
    ]
