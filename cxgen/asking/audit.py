"""Is the filter right? Clauses of which readers know whether they are good, some of them planted, put to judges."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.errors import DataError, unknown
from cxgen.lexicon.verdicts import against
from cxgen.project import Project, shipped_folder
from cxgen.tables import numbered_rows
from cxgen.vocabulary import ANSWERS, REFUSING

COLUMNS = ("id", "target", "construction", "sentence", "other", "verb")
AUDIT = "audit"  # in place of a construction's name in the items of these clauses
_HINT = f"a CSV file with the columns {', '.join(COLUMNS)}, planted, and of {', '.join(REFUSING)} those meant; see docs/judging.md"


def sheet_file(project: Project) -> Path:
    """The project's file of the clauses, else what is shipped."""
    own = project.root / layout.AUDIT
    return own if os.path.lexists(own) else shipped_folder() / layout.AUDIT


def sheet(project: Project) -> pl.DataFrame:
    """The clauses (``pipelines/audit.csv``), columns `COLUMNS` and ``item``: what readers say of each (of `REFUSING`, what the file
    has; null: nothing), and what was done to it (``planted``; empty: nothing)."""
    path = sheet_file(project)
    table, lines = numbered_rows(path, _HINT)
    if lacking := [name for name in (*COLUMNS, "planted") if name not in table.columns]:
        raise DataError(f"no column {', '.join(lacking)}", file=path, hint=_HINT)
    if not (tasks := tasks_of(table)):
        raise DataError(f"no column of {', '.join(REFUSING)}: nobody says what is good", file=path, hint=_HINT)
    for line, row, twice in zip(lines, table.iter_rows(named=True), table["id"].is_duplicated(), strict=True):
        for name in (name for name in COLUMNS if row[name] is None or (twice and name == "id")):
            raise DataError(f"{name} is {'that of another row' if row[name] else 'empty'}", file=path, line=line, hint=_HINT)
        for task in (task for task in tasks if row[task] not in {None, *ANSWERS[task]}):
            raise DataError(f"{task} is {row[task]!r}", file=path, line=line, hint=f"{' or '.join(ANSWERS[task])}; empty: not said")
        if row["target"] not in project.template_files():
            raise unknown("construction", row["target"], project.template_files(), file=path, line=line)
    chosen = table.select(*COLUMNS, *tasks, pl.col("planted").fill_null(""))
    return chosen.with_columns(item=pl.format(f"{AUDIT}/{{}}/{{}}", "id", "construction"))


def tasks_of(table: pl.DataFrame) -> tuple[str, ...]:
    """The tasks on which a `sheet` says what is right."""
    return tuple(task for task in REFUSING if task in table.columns)


def score(project: Project, votes: pl.DataFrame, judges: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """A row for each task, for all together, and for each kind of planted clauses: how many clauses are ``bad`` by their readers, the
    share of them that the votes of ``judges`` (none named: all) refuse (``recall``), how many are ``good``, the share of them refused
    (``loss``)."""
    table, said = sheet(project), against(votes.filter(pl.col("judge").is_in(judges)) if judges else votes)
    tasks = tasks_of(table)
    refused = {task: pl.col("item").is_in(said.filter("refused", task=task)["item"].to_list()) for task in tasks}
    bad = {task: pl.col(task) == ANSWERS[task][-1] for task in tasks}  # null: not said
    judged = table.filter(pl.col("item").is_in(said.filter(pl.col("task").is_in(tasks))["item"].to_list()))
    either, planted = pl.any_horizontal(*refused.values()), pl.col("planted") != ""
    for task in tasks:
        yield _row(task, judged, bad[task], refused[task])
    yield _row("either", judged, pl.any_horizontal(*bad.values()).fill_null(False), either)
    for kind in judged.filter(planted)["planted"].unique().sort():
        yield _row(f"planted: {kind}", judged.filter(planted=kind), planted, either)


def _row(what: str, table: pl.DataFrame, bad: pl.Expr, refused: pl.Expr) -> dict[str, Any]:
    shares = {"bad": bad.sum(), "recall": refused.filter(bad).mean(), "good": (~bad).sum(), "loss": refused.filter(~bad).mean()}
    row = table.select(**shares).row(0, named=True)
    return {"what": what, **{name: None if value is None else round(value, 4) for name, value in row.items()}}
