"""Stage ``reading``: blind readings, scored, as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build.tables import with_natural
from cxgen.errors import DataError
from cxgen.families import DEFAULT
from cxgen.files import read_text
from cxgen.project import Project
from cxgen.report.reading import ANSWERS, reading
from cxgen.tables import one_line, write_json

_MOST_COLUMNS = 100


def run(project: Project) -> dict[str, Any]:
    """Score the readers' answers in ``pipelines/readings/*.csv``; write and return ``outputs/metrics/reading.json``.

    Raises:
        DataError: a file that is not such a table, or an answer that is not one.
    """
    folder = project.root / layout.READINGS
    if folder.exists() and not folder.is_dir():
        raise DataError("not a folder", file=folder, hint="it holds the readers' answers, one CSV file each")
    tables = [_answers(path) for path in sorted(folder.glob("*.csv"))]
    report = reading(pl.concat(tables) if tables else pl.DataFrame(schema=ANSWERS), with_natural(project, DEFAULT))
    write_json(report, project.root / layout.metric("reading"))
    return report


def _answers(path: Path) -> pl.DataFrame:
    hint = f"expected the columns {', '.join(ANSWERS)}; relation E, N or C, ratings 1 to 5 (or nothing), kind human or model"
    text = read_text(path, hint)
    names = text.partition("\n")[0].strip().split(",")
    if len(names) > _MOST_COLUMNS:
        raise DataError(f"{len(names)} columns", file=path, line=1, hint=hint)
    if len(set(names)) < len(names):
        raise DataError("a column occurs twice", file=path, line=1, hint=hint)
    try:
        table = pl.read_csv(text.encode(), schema_overrides=ANSWERS).select(*ANSWERS)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"not a table of readers' answers: {one_line(error)}", file=path, hint=hint) from error
    if not table.height:
        raise DataError("has no answers", file=path, hint=hint)
    said = pl.col("relation", "prem_nat", "hyp_nat")
    good = pl.all_horizontal(
        pl.any_horizontal(said.is_not_null()),
        pl.col("relation").is_in(["E", "N", "C"]).fill_null(value=True),
        pl.col("prem_nat", "hyp_nat").is_between(1, 5).fill_null(value=True),
        pl.col("kind").is_in(["human", "model"]),
        pl.col("id", "reader").str.len_bytes().is_between(1, 200),
    ).fill_null(value=False)
    wrong = table.with_row_index("line", 2).filter(~good)
    if wrong.height:
        raise DataError(f"not an answer: {str(wrong.row(0)[1:])[:200]}", file=path, line=wrong["line"][0], hint=hint)
    twice = table.select("id", "reader").is_duplicated()
    if twice.any():
        line = (twice.arg_max() or 0) + 2
        raise DataError(f"{table['reader'][line - 2]} answers twice about {table['id'][line - 2]}", file=path, line=line, hint=hint)
    return table
