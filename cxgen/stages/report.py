"""Stage ``report``: measures of the finished dataset, as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.constructicon import load_construction
from cxgen.errors import DataError, needs
from cxgen.families import CONFIGS, columns_of, family_of
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.report.reading import ANSWERS, reading
from cxgen.report.variety import variety
from cxgen.schema import TARGET, polars_schema
from cxgen.stages.audit import by_family
from cxgen.stages.split import table_file
from cxgen.tables import read_table, write_json
from cxgen.vocabulary import SPLITS


def dataset(project: Project, family: str = "") -> pl.DataFrame:
    """All splits of every config of ``family`` (default: of all) that the dataset has, with the column ``config``.

    Raises:
        DataError: there is none.
    """
    tables = [
        read_table(table_file(project, config, split), polars_schema(columns_of(config)), "split").with_columns(config=pl.lit(config))
        for config in CONFIGS
        for split in SPLITS
        if table_file(project, config, split).is_file() and family in {"", family_of(config).name}
    ]
    if not tables:
        raise DataError("there is no dataset", file=project.root / layout.DATASET, hint="run `dvc repro` first")
    return pl.concat(tables, how="diagonal")


def run_baselines(project: Project, folds: int) -> dict[str, Any]:
    """Write and return ``outputs/metrics/baselines.json``: family -> measure -> figures.

    Raises:
        DataError: scikit-learn is not installed.
    """
    with needs("the baselines need scikit-learn", "report"):
        import sklearn  # noqa: F401
    report: dict[str, Any] = {family.name: family.measures(rows, folds) for family, rows in by_family(dataset(project))}
    write_json(report, project.root / layout.metric("baselines"))
    return report


def run_variety(project: Project, seed: int) -> dict[str, Any]:
    """Write and return ``outputs/metrics/variety.json``."""
    lexicon = Lexicon.of(project)
    table = dataset(project, "nli")
    targets = table.select(TARGET).to_series().unique().sort()
    report = variety(table, {name: load_construction(project, name, lexicon) for name in targets}, seed)
    write_json(report, project.root / layout.metric("variety"))
    return report


def run_reading(project: Project) -> dict[str, Any]:
    """Score the readers' answers in ``pipelines/readings/*.csv``; write and return ``outputs/metrics/reading.json``.

    Raises:
        DataError: a file that is not such a table, or an answer that is not one.
    """
    tables = [_answers(path) for path in sorted((project.root / layout.READINGS).glob("*.csv"))]
    report = reading(pl.concat(tables) if tables else pl.DataFrame(schema=ANSWERS), dataset(project, "nli"))
    write_json(report, project.root / layout.metric("reading"))
    return report


def _answers(path: Path) -> pl.DataFrame:
    hint = f"expected the columns {', '.join(ANSWERS)}; relation E, N or C, ratings 1 to 5, kind human or model"
    try:
        table = pl.read_csv(path, schema_overrides=ANSWERS).select(*ANSWERS)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"not a table of readers' answers: {str(error).splitlines()[0]}", file=path, hint=hint) from error
    rated = pl.col("prem_nat", "hyp_nat").is_between(1, 5)
    good = pl.all_horizontal(pl.col("relation").is_in(["E", "N", "C"]), rated, pl.col("kind").is_in(["human", "model"])).fill_null(False)
    wrong = table.with_row_index("line", 2).filter(~good)
    if wrong.height:
        raise DataError(f"not an answer: {wrong.row(0)[1:]}", file=path, line=wrong["line"][0], hint=hint)
    return table
