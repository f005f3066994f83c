"""Is the filter right? Clauses of which readers know whether they are good, some of them planted, put to judges."""

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.errors import DataError
from cxgen.lexicon.verdicts import against
from cxgen.project import Project, shipped_folder
from cxgen.tables import read_rows
from cxgen.vocabulary import APPROPRIATE, INAPPROPRIATE, UNACCEPTABLE

_BAD = {"acceptability": UNACCEPTABLE, "event": INAPPROPRIATE}
COLUMNS = ("id", "target", "construction", "sentence", "other", "verb", *_BAD, "planted")
AUDIT = "audit"  # in place of a construction's name in the items of these clauses
_HINT = f"a CSV file with the columns {', '.join(COLUMNS)}; see docs/judging.md"


def sheet(project: Project) -> pl.DataFrame:
    """The clauses (``pipelines/audit.csv``), columns `COLUMNS` and ``item``: what readers say of each (``acceptability``, ``event``), and
    what was done to it (``planted``; empty: nothing)."""
    own = project.root / layout.AUDIT
    path = own if own.exists() else shipped_folder() / layout.AUDIT
    table = read_rows(path, _HINT)
    if lacking := [name for name in COLUMNS if name not in table.columns]:
        raise DataError(f"no column {', '.join(lacking)}", file=path, hint=_HINT)
    if (odd := table.filter(~pl.col("event").is_in([APPROPRIATE, INAPPROPRIATE]))).height:
        raise DataError(f"row {odd['id'][0]!r}: event is {odd['event'][0]!r}", file=path, hint=f"{APPROPRIATE} or {INAPPROPRIATE}")
    return table.select(COLUMNS).with_columns(pl.col("planted").fill_null(""), item=pl.format(f"{AUDIT}/{{}}/{{}}", "id", "construction"))


def score(project: Project, votes: pl.DataFrame, judges: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """A row for each task, for both together, and for each kind of planted clauses: how many clauses are ``bad`` by their readers, the
    share of them that the votes of ``judges`` (none named: all) refuse (``recall``), how many are ``good``, the share of them refused
    (``loss``)."""
    table, said = sheet(project), against(votes.filter(pl.col("judge").is_in(judges)) if judges else votes)
    refused = {task: set(said.filter(pl.col("refused"), task=task)["item"]) for task in _BAD}
    bad = {task: pl.col(task) == value for task, value in _BAD.items()}
    judged = table.filter(pl.col("item").is_in(said.filter(pl.col("task").is_in(list(_BAD)))["item"].unique().to_list()))
    either = set().union(*refused.values())
    for task in _BAD:
        yield _row(task, judged, bad[task], refused[task])
    yield _row("either", judged, pl.any_horizontal(*bad.values()), either)
    for kind in judged.filter(pl.col("planted") != "")["planted"].unique().sort():
        yield _row(f"planted: {kind}", judged.filter(planted=kind), pl.lit(True), either)


def _row(what: str, table: pl.DataFrame, bad: pl.Expr, refused: set[str]) -> dict[str, Any]:
    marked = table.select(bad=bad, refused=pl.col("item").is_in(list(refused)))
    sides = {side: marked.filter(pl.col("bad") == wanted)["refused"] for side, wanted in (("bad", True), ("good", False))}
    recall, loss = (round(float(own.mean() or 0), 4) if len(own) else None for own in sides.values())  # type: ignore[arg-type]
    return {"what": what, "bad": len(sides["bad"]), "recall": recall, "good": len(sides["good"]), "loss": loss}
