"""One page about the dataset: what is in it, what was measured, and a browser of contrast sets. It loads nothing from elsewhere."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
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
from cxgen.files import read_json, require_place, write_text
from cxgen.lexicon import Lexicon
from cxgen.measures import measures
from cxgen.measures.figures import broken_gates
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.semantics import label_matrix
from cxgen.streams import order_keys
from cxgen.trees import Sentence
from cxgen.vocabulary import BANDS, LABELS, SPLITS, Role

_METRICS = ("splits", "baselines", "variety", "reading", "natural", "wug", "models")
_MOST_PAGE = 5 << 20  # bytes
_LETTERS = [name[0].upper() for name in LABELS]
_COLOURS = ("#2b8a6e", "#d99a2b", "#c4564a", "#5b7fc7")  # told apart by colour-blind readers, on light and dark
Row = dict[str, Any]


def write_page(project: Project, path: Path, evaluations: Sequence[Path] = (), per_design: int = 12) -> int:
    """Write the page; return its size in bytes.

    ``evaluations``: files with what ``cxgen evaluate --json`` printed; ``per_design``: contrast sets of each design in the browser.
    """
    require_place(path)
    items = with_natural(project, "")
    metrics = {name: read_json(file, "run `dvc repro`") for name in _METRICS if (file := project.root / layout.metric(name)).is_file()}
    scores = [row for file in evaluations for row in _scores(file)]
    shown = _some_sets(items.drop_nulls("label"), per_design)
    built = shown.filter(pl.col("config") != NATURAL)
    pieces = {sentence.item: _pieces(sentence) for sentence, _ in annotated(project, built)}
    text = _rendered(items, metrics, list(_matrices(project, items)), list(_grids(shown, pieces)), scores)
    size = len(text.encode())
    if size > _MOST_PAGE:
        raise DataError(f"the page would have {size / 2**20:.1f} MB", file=path, hint=f"show fewer sets: --sets {max(per_design // 2, 1)}")
    write_text(path, text)
    return size


def _rendered(items: pl.DataFrame, metrics: Mapping[str, Any], matrices: list[Row], sets: list[Row], scores: list[Row]) -> str:
    with needs("the page needs Jinja2", "report"):
        from jinja2 import Environment, StrictUndefined, TemplateError
        from markupsafe import Markup
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=True)
    environment.filters["percent"] = lambda share: "-" if share is None else f"{100 * share:.1f}%"
    environment.filters["thousands"] = lambda number: f"{number:,}"
    template = environment.from_string(files("cxgen.report").joinpath("page.html.j2").read_text("utf-8"))
    models = metrics.get("models", {"judges": [], "agreement": {}})
    breadths = {name: entry["breadth"] for name, entry in metrics.get("variety", {}).items() if "breadth" in entry}
    try:
        return template.render(
            counts=_counts(items),
            charts=[(title, Markup(svg)) for title, svg in _charts(items, breadths)],
            measures=list(_measures(metrics)),
            violations=list(_violations(metrics)),
            verbs=[{"name": name, "five": entry["top five verbs"], "fillers": entry["fillers"]} for name, entry in breadths.items()],
            reading=metrics.get("reading", {"answers": 0}),
            agreement=[{"task": task, **row} for task, row in models.get("agreement", {}).items() if row["judges"] > 1],
            judges=models.get("judges", []),
            matrices=matrices,
            evaluations=scores,
            sets=Markup(json.dumps(sets, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")),
            shown=len(sets),
            all_sets=items.select("config", "contrast_set").filter(pl.col("config").is_in([one["config"] for one in sets])).n_unique(),
            labels=dict(zip(_LETTERS, LABELS, strict=True)),
            splits=SPLITS,
        )
    except (TemplateError, TypeError, ValueError, KeyError, AttributeError) as error:  # the figures come from files
        message = f"the metrics do not hold what the page says: {error}"
        raise DataError(message, file=layout.METRICS, hint="make them anew: `dvc repro`") from error


def _counts(items: pl.DataFrame) -> list[Row]:
    table = items.group_by("config", maintain_order=True).agg(
        items=pl.len(),
        sets=pl.col("contrast_set").n_unique(),
        premises=pl.col("premise_id").n_unique(),
        verbs=pl.col("verb").n_unique(),
        **{split: (pl.col("split") == split).sum() for split in SPLITS},
    )
    return table.to_dicts()


def _measures(metrics: Mapping[str, Any]) -> Iterator[Row]:
    known = measures()
    for part, own in metrics.get("baselines", {}).items():
        for name, measure in own.items():
            bound = "at least" if measure["gates"].get("least") else "at most"
            gate = ", ".join(f"{bound} {value} ({what})" for what, value in measure["gates"].items() if what != "least")
            about = known.get(name, {"meaning": "", "published": None})
            figures = {key: measure[key] for key in ("overall", "chance", "passed")}
            yield {"part": part, "name": name, "gate": gate, "faults": list(broken_gates(measure)), **about, **figures}


def _violations(metrics: Mapping[str, Any]) -> Iterator[Row]:
    parts = {**metrics.get("splits", {}).get("violations", {})}
    parts |= {name: metrics[name]["violations"] for name in ("wug", "natural") if name in metrics}
    return ({"part": part, "what": what, "count": count} for part, own in parts.items() for what, count in own.items())


def _scores(path: Path) -> list[Row]:
    """Rows of an evaluation: ``name, config, items, chance`` and figures (``value, low, high``, or None)."""
    hint = "expected what `cxgen evaluate ... --json` prints"
    report = read_json(path, hint)
    try:
        return [
            {"name": report["name"], "config": config, "items": part["items"], "chance": part["chance"], "accuracy": part["accuracy"]}
            | {figure: part.get(figure) for figure in ("consistency", "capture", "excess")}
            for config, part in report["configs"].items()
        ]
    except (AttributeError, KeyError, TypeError) as error:
        raise DataError("no evaluation", file=path, hint=hint) from error


def _matrices(project: Project, items: pl.DataFrame) -> Iterator[Row]:
    lexicon = Lexicon.of(project)
    for name in items.select(TARGET).to_series().unique().sort():
        construction = load_construction(project, name, lexicon)
        for design in construction.designs.values():
            matrix = label_matrix(construction, design)
            rules = list(dict.fromkeys(rule for row in matrix.values() for rule in row))
            kinds = [(kind, [_LETTERS[row[rule]] if rule in row else "-" for rule in rules]) for kind, row in matrix.items()]
            yield {"construction": name, "design": design.name, "rules": rules, "kinds": kinds}


def _some_sets(items: pl.DataFrame, per_design: int) -> pl.DataFrame:
    """The items of ``per_design`` contrast sets of each config, construction and design."""
    sets = items.select("config", "design", "contrast_set", target=TARGET).unique().sort("config", "target", "design", "contrast_set")
    order = pl.Series("order", order_keys((1, "page"), sets["contrast_set"]))
    sets = sets.with_columns(order).sort("config", "target", "design", "order")
    chosen = sets.filter(pl.int_range(pl.len()).over("config", "target", "design") < per_design)
    return items.join(chosen.select("config", "contrast_set"), on=["config", "contrast_set"], how="semi", maintain_order="left")


def _pieces(sentence: Sentence) -> list[list[str]]:
    """The sentence divided at the borders of its slots: texts, each with its slot or an empty one."""
    pieces: list[list[str]] = []
    for token in sentence.tokens:
        slot = token.slot or ""
        if not pieces or pieces[-1][1] != slot:
            pieces.append(["", slot])
        pieces[-1][0] += token.form + (" " if token.space_after else "")
    return pieces


def _grids(items: pl.DataFrame, pieces: Mapping[str, list[list[str]]]) -> Iterator[Row]:
    """Contrast sets for the browser: premises by slots (those without ``pieces`` as plain text), hypotheses, and a letter per cell."""
    for _, rows in items.group_by("config", "contrast_set", maintain_order=True):
        premises = rows.unique("premise_id", keep="first", maintain_order=True).to_dicts()
        hypotheses = rows["hypothesis"].unique(maintain_order=True).to_list()
        labels = {row[:2]: _LETTERS[row[2]] for row in rows.select("premise_id", "hypothesis", "label").iter_rows()}
        first = premises[0]
        yield {
            "id": first["contrast_set"],
            "config": first["config"],
            "construction": first["contrast_of"] or first["construction"],
            "design": first["design"],
            "split": first["split"],
            "premises": [
                {"kind": row["kind"], "of": row["construction"], "pieces": pieces.get(row["premise_id"], [[row["premise"], ""]])}
                for row in premises
            ],
            "hypotheses": hypotheses,
            "cells": [[labels.get((row["premise_id"], text), "") for text in hypotheses] for row in premises],
        }


def _charts(items: pl.DataFrame, breadths: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Title and SVG: labels, verbs, frequency bands, shapes."""
    labelled = items.drop_nulls("label").select(row="config", column=pl.col("label").cast(pl.Int64))
    if labelled.height:
        yield _chart("Labels (items)", labelled.with_columns(pl.col("column").replace_strict(range(3), LABELS)), LABELS)
    verbs = items.select("verb", row=TARGET, column="split").unique().sort("row")
    yield _chart("Verbs per construction and split", verbs, SPLITS)
    slots = items.unique("premise_id", keep="first", maintain_order=True).select("verb", "slots", row=TARGET)
    verbal = slots.explode("slots").unnest("slots").filter((pl.col("role") == Role.verb) & (pl.col("lemma") == pl.col("verb")))
    yield _chart("Frequency bands of the verbs (premises)", verbal.select("row", column="band").sort("row"), BANDS)
    if breadths:
        title = "Shapes of premises (different ways to build one)"
        yield title, _bars(list(breadths), {"shapes": [entry["shapes"] for entry in breadths.values()]}, title)


def _chart(title: str, rows: pl.DataFrame, columns: Sequence[str]) -> tuple[str, str]:
    counts = {(row, column): count for row, column, count in rows.group_by("row", "column", maintain_order=True).len().iter_rows()}
    names = list(dict.fromkeys(row for row, _ in counts))
    return title, _bars(names, {column: [counts.get((row, column), 0) for row in names] for column in columns}, title)


def _bars(rows: Sequence[str], series: Mapping[str, Sequence[float]], title: str) -> str:
    """Stacked bars, one for each of ``rows`` from above, as SVG that takes its colours from the page; no script."""
    with needs("charts need the package pygal", "report"):
        import pygal
        from pygal.style import Style

    ink = dict.fromkeys(("foreground", "foreground_strong"), "var(--ink)")
    clear = dict.fromkeys(("background", "plot_background"), "transparent")
    sizes = dict.fromkeys(("label_font_size", "major_label_font_size", "legend_font_size"), 13)
    font = {"foreground_subtle": "var(--line)", "font_family": "system-ui, sans-serif", "opacity": ".9"}
    chart = pygal.HorizontalStackedBar(
        js=[],
        style=Style(colors=_COLOURS, **ink, **clear, **sizes, **font),
        disable_xml_declaration=True,
        width=520,
        height=60 + 20 * len(rows),  # axis and legend, and a bar for each
        show_legend=len(series) > 1,
        legend_at_bottom=True,
        legend_at_bottom_columns=len(series),
        show_y_guides=True,
        truncate_label=-1,
        truncate_legend=-1,
        margin=8,
        spacing=8,
        min_scale=2,
        max_scale=6,  # ticks: more would run into each other
        value_formatter=lambda number: f"{number:,.10g}",
    )
    chart.x_labels = list(reversed(rows))  # it counts from below
    for name, values in series.items():
        chart.add(name, list(reversed(values)))
    svg = re.sub(r"<!--.*?-->", "", chart.render(is_unicode=True), flags=re.DOTALL)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)
