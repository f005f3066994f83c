"""Stage ``judge``: a verdict on every candidate."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from cxgen import layout
from cxgen.annotate import Chunks
from cxgen.constructicon import Construction, load_construction
from cxgen.judge import judge_items
from cxgen.judge.form import form_failures, with_form
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.tables import read_table, write_json, write_table

_NEED = ("id", "premise_id", "construction", "contrast_of", "kind", "template", "frame", "premise", "config", "slots")
Merge = Callable[[pl.DataFrame], pl.DataFrame]


def run(project: Project, more: Callable[[pl.DataFrame, list[Construction]], Merge] | None = None) -> dict[str, dict[str, int]]:
    """Judge the candidates by rule, and by models if asked to; write verdicts and their counts; return the counts per construction.

    Args:
        project: whose candidates.
        more: given the items and their constructions, what else there is to say: a function from the rules' verdicts to the final ones.
    """
    items = candidates(project)
    lexicon = Lexicon.of(project)
    constructions = constructions_of(items, project, lexicon)
    change = more(items, constructions) if more else None
    verdicts = judge_items(items, constructions)
    chunks = Chunks.load(project.lexicons / "chunks.yaml")
    verdicts = with_form(verdicts, items, form_failures(items, constructions, lexicon, chunks))
    if change:
        verdicts = change(verdicts)
    write_table(verdicts, project.root / layout.VERDICTS)
    counts = summary(items, verdicts)
    write_json(counts, project.root / layout.metric("judge"))
    return counts


def candidates(project: Project) -> pl.DataFrame:
    """The candidate items.

    Raises:
        DataError: there are none yet.
    """
    return read_table(project.root / layout.CANDIDATES, _NEED, "generate")


def constructions_of(items: pl.DataFrame, project: Project, lexicon: Lexicon) -> list[Construction]:
    """The constructions that ``items`` are about."""
    targets = items.select(TARGET).to_series().unique().sort()
    return [load_construction(project, name, lexicon) for name in targets]


def summary(items: pl.DataFrame, verdicts: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Construction -> verdict -> number of premises (pairs for the pair verdicts)."""
    table = items.select("id", "premise_id", "construction").join(verdicts, on="id", maintain_order="left")
    premises = table.unique("premise_id", maintain_order=True).select("construction", verdict="premise_verdict")
    pairs = table.select("construction", verdict="pair_verdict")
    counts: dict[str, dict[str, int]] = {}
    for name, verdict, number in (
        pl.concat([premises, pairs]).group_by("construction", "verdict").len().sort("construction", "verdict").iter_rows()
    ):
        counts.setdefault(name, {})[verdict] = number
    return counts
