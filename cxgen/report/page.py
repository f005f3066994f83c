"""One page about the dataset: what is in it, what was measured, and a browser of contrast sets. It loads nothing from elsewhere."""

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import groupby
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
from cxgen.vocabulary import BANDS, LABELS, SPLITS, VERB_ROLES, Role

_METRICS = ("splits", "baselines", "variety", "reading", "natural", "wug", "judge")
_MOST_PAGE = 5 << 20  # bytes
_LETTERS = [name[0].upper() for name in LABELS]
Row = dict[str, Any]


def write_page(project: Project, path: Path, evaluations: Sequence[Path] = (), per_design: int = 12) -> int:
    """Write the page, with scores that ``cxgen evaluate --json`` printed and contrast sets ``per_design``; its size in bytes."""
    require_place(path)
    items = with_natural(project, "")
    metrics = {name: read_json(file, "run `dvc repro`") for name in _METRICS if (file := project.root / layout.metric(name)).is_file()}
    scores = [row for file in evaluations for row in _scores(file)]
    shown = _some_sets(items.drop_nulls("label"), per_design)
    pieces = {sentence.item: _pieces(sentence) for sentence, _ in annotated(project, shown.filter(pl.col("config") != NATURAL))}
    text = _rendered(items, metrics, list(_matrices(project, items)), list(_grids(shown, pieces)), scores)
    size = len(text.encode())
    if size > _MOST_PAGE:
        raise DataError(f"the page would have {size / 2**20:.1f} MB", file=path, hint=f"show fewer sets: --sets {max(per_design // 2, 1)}")
    write_text(path, text)
    return size


def _rendered(items: pl.DataFrame, metrics: Row, matrices: list[Row], sets: list[Row], scores: list[Row]) -> str:
    with needs("the page needs Jinja2", "report"):
        from jinja2 import Environment, StrictUndefined, TemplateError
        from markupsafe import Markup
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=True)
    environment.filters["percent"] = lambda share: "-" if share is None else f"{100 * share:.1f}%"
    environment.filters["thousands"] = lambda number: f"{number:,}"
    environment.filters["faults"] = lambda measure: "; ".join(broken_gates(measure)) or "broken"
    template = environment.from_string(files("cxgen.report").joinpath("page.html.j2").read_text("utf-8"))
    counted = {"sets": "contrast_set", "premises": "premise_id", "verbs": "verb"}
    numbers = [pl.col(column).n_unique().alias(what) for what, column in counted.items()]
    numbers += [(pl.col("split") == split).sum().alias(split) for split in SPLITS]
    try:
        breadths = {name: entry["breadth"] for name, entry in metrics.get("variety", {}).items() if "breadth" in entry}
        audits = metrics.get("splits", {}).get("violations", {})
        audits = audits | {name: metrics[name]["violations"] for name in ("wug", "natural") if name in metrics}
        return template.render(
            counts=items.group_by("config", maintain_order=True).agg(pl.len().alias("items"), *numbers).to_dicts(),
            charts=list(_charts(items, breadths)),
            colours=("#2b8a6e", "#d99a2b", "#c4564a"),  # told apart by colour-blind readers, on light and dark
            baselines=metrics.get("baselines", {}),
            known=measures(),
            violations=[{"part": part, "what": what, "count": count} for part, own in audits.items() for what, count in own.items()],
            breadths=breadths,
            reaches={name: metrics["variety"][name]["reach"] for name in breadths},
            reading=metrics.get("reading", {"answers": 0}),
            models=metrics.get("judge", {"judges": [], "agreement": {}}),
            matrices=matrices,
            evaluations=scores,
            sets=Markup(json.dumps(sets, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")),
            shown=len(sets),
            all_sets=items.filter(pl.col("config").is_in([one["config"] for one in sets])).select("config", "contrast_set").n_unique(),
            labels=dict(zip(_LETTERS, LABELS, strict=True)),
            splits=SPLITS,
        )
    except (TemplateError, TypeError, ValueError, KeyError, AttributeError) as error:  # the figures come from files
        message = f"the metrics do not hold what the page says: {error}"
        raise DataError(message, file=layout.METRICS, hint="make them anew: `dvc repro`") from error


def _scores(path: Path) -> list[Row]:
    """Rows of an evaluation: ``name, config`` (also by verb role), ``items, chance`` and figures (``value, low, high``, or None)."""
    hint = "expected what `cxgen evaluate ... --json` prints"
    told = read_json(path, hint)
    try:
        return [
            {"name": report["name"], "config": place, "items": part["items"], "chance": whole["chance"], "accuracy": part["accuracy"]}
            | {figure: part.get(figure) for figure in ("consistency", "capture", "excess")}
            for report in (told if told and isinstance(told, list) else [told])
            for config, whole in report["configs"].items()
            for place, part in {
                config: whole,
                **{f"{config}, {role}": own for role, own in whole["by"].get("verb_role", {}).items()},
            }.items()
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
    by = ["config", "target", "design"]
    sets = items.select("config", "design", "contrast_set", target=TARGET).unique().sort(*by, "contrast_set")
    sets = sets.with_columns(order=order_keys((1, "page"), sets["contrast_set"])).sort(*by, "order")
    chosen = sets.filter(pl.int_range(pl.len()).over(by) < per_design)
    return items.join(chosen, on=["config", "contrast_set"], how="semi", maintain_order="left")


def _pieces(sentence: Sentence) -> list[list[str]]:
    """The sentence divided at the borders of its slots: texts, each with its slot or an empty one."""
    parts = groupby(sentence.tokens, key=lambda token: token.slot or "")
    return [["".join(token.form + (" " if token.space_after else "") for token in tokens), slot] for slot, tokens in parts]


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


def _charts(items: pl.DataFrame, breadths: Mapping[str, Mapping[str, Any]]) -> Iterator[Row]:
    """Stacked bars: ``title``, ``names`` of the stacked parts, ``rows`` (name -> a number for each) and the ``most`` of a row."""
    labelled = items.drop_nulls("label").select(row="config", part=pl.col("label").replace_strict(range(3), LABELS, return_dtype=pl.String))
    if labelled.height:
        yield _chart("Labels (items)", labelled, LABELS)
    verbs = items.select("verb", row=TARGET, part="split").unique().sort("row")
    yield _chart("Verbs per construction and split", verbs, SPLITS)
    slots = items.unique("premise_id", keep="first", maintain_order=True).select("verb", "slots", row=TARGET)
    verbal = slots.explode("slots").unnest("slots").filter((pl.col("role") == Role.verb) & (pl.col("lemma") == pl.col("verb")))
    yield _chart("Frequency bands of the verbs (premises)", verbal.select("row", part="band").sort("row"), BANDS)
    roles = items.drop_nulls("verb_role").unique("premise_id").select(row=TARGET, part="verb_role").sort("row")
    if roles.height:
        yield _chart("Premises whose verb holds the construction's meaning, or does not", roles, VERB_ROLES)
    shapes = [{"row": name, "part": "shapes"} for name, entry in breadths.items() for _ in range(entry["shapes"])]
    if shapes:
        yield _chart("Shapes of premises (different ways to build one)", pl.DataFrame(shapes), ["shapes"])


def _chart(title: str, table: pl.DataFrame, names: Sequence[str]) -> Row:
    """A bar for each ``row``, with the number of rows of each ``part``."""
    parts = [(pl.col("part") == name).sum().alias(name) for name in names]
    rows = {row: counts for row, *counts in table.group_by("row", maintain_order=True).agg(parts).iter_rows()}
    return {"title": title, "names": names, "rows": rows, "most": max(map(sum, rows.values()))}
