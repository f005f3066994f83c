"""The page about the finished dataset (``cxgen report html``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build.tables import with_natural
from cxgen.constructicon import Construction, load_construction
from cxgen.errors import DataError
from cxgen.families import NATURAL
from cxgen.files import parse_json, read_text, require_place, write_atomically
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.report.browser import Pieces, grids, some_sets
from cxgen.report.page import render_page
from cxgen.schema import TARGET
from cxgen.semantics import Inconsistency, label_matrix
from cxgen.stages.export import annotated
from cxgen.trees import Sentence
from cxgen.vocabulary import LABELS

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
        DataError: there is no dataset, a file is not as it should be, or the page would be larger than 5 MB.
    """
    require_place(path)
    items = with_natural(project, "")
    metrics = {name: _json(file) for name in METRICS if (file := project.root / layout.metric(name)).is_file()}
    reports = [_evaluation(file) for file in evaluations]
    labelled = items.drop_nulls("label")
    shown = some_sets(labelled, per_design)
    built = shown.filter(pl.col("config") != NATURAL)
    pieces = {sentence.item: pieces_of(sentence) for sentence, _ in annotated(project, built)}
    text = render_page(items, metrics, _matrices(project, items), grids(shown, pieces), reports)
    size = len(text.encode())
    if size > _MOST_PAGE:
        raise DataError(f"the page would have {size / 2**20:.1f} MB", file=path, hint=f"show fewer sets: --sets {max(per_design // 2, 1)}")
    write_atomically(path, lambda temporary: temporary.write_text(text, "utf-8"))
    return size


def pieces_of(sentence: Sentence) -> Pieces:
    """The sentence divided at the borders of its slots: texts, each with its slot or an empty one."""
    found: Pieces = []
    for token in sentence.tokens:
        slot = token.slot or ""
        if not found or found[-1][1] != slot:
            found.append(["", slot])
        found[-1][0] += token.form + (" " if token.space_after else "")
    return found


def _matrices(project: Project, items: pl.DataFrame) -> list[dict[str, Any]]:
    lexicon = Lexicon.of(project)
    found = []
    for name in items.select(TARGET).to_series().unique().sort():
        construction = load_construction(project, name, lexicon)
        found += [_matrix(construction, design) for design in construction.designs]
    return found


def _matrix(construction: Construction, design: str) -> dict[str, Any]:
    try:
        matrix = label_matrix(construction, construction.designs[design], frozenset())
    except Inconsistency as error:
        raise DataError(f"a kind makes {error} both true and false", file=construction.document.path) from error
    rules = list(dict.fromkeys(rule for row in matrix.values() for rule in row))
    kinds = [(kind, [LABELS[row[rule]][0].upper() if rule in row else "-" for rule in rules]) for kind, row in matrix.items()]
    return {"construction": construction.name, "design": design, "rules": rules, "kinds": kinds}


def _json(path: Path) -> Any:
    return parse_json(read_text(path), path, "run `dvc repro`")


def _evaluation(path: Path) -> dict[str, Any]:
    hint = "expected what `cxgen evaluate ... --json` prints"
    try:
        report = parse_json(read_text(path, hint), path, hint)
        if {"name", "configs"} <= report.keys() and all(
            {"items", "chance", "accuracy"} <= each.keys() for each in report["configs"].values()
        ):
            return dict(report)
    except (AttributeError, TypeError) as error:
        raise DataError("no evaluation", file=path, hint=hint) from error
    raise DataError("no evaluation", file=path, hint=hint)
