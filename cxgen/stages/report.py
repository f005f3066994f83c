"""Stage ``report``: measures of the finished dataset, as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from cxgen.constructicon import load_construction
from cxgen.errors import DataError, needs
from cxgen.generate import SPLITS, TARGET
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.report.baselines import baselines, cues_only
from cxgen.report.reading import ANSWERS, reading
from cxgen.report.variety import variety
from cxgen.stages.split import CONFIGS, table_file
from cxgen.stages.tables import read_table, write_json

METRICS = Path("outputs/metrics")
READINGS = Path("pipelines/readings")


def dataset(project: Project) -> pl.DataFrame:
    """All splits of both configs, with the column ``config``."""
    need = ("premise", "hypothesis", "label", "contrast_set")
    tables = [
        read_table(table_file(project, config, split), need, "split").with_columns(config=pl.lit(config))
        for config in CONFIGS
        for split in SPLITS
        if config == "nli" or table_file(project, config, split).is_file()
    ]
    return pl.concat(tables, how="diagonal")


def run_baselines(project: Project, folds: int) -> dict[str, Any]:
    """Write and return ``outputs/metrics/baselines.json``.

    Raises:
        DataError: scikit-learn is not installed.
    """
    with needs("the baselines need scikit-learn", "report"):
        import sklearn  # noqa: F401
    table = dataset(project)
    report = baselines(table, folds) | {"cues_only": cues_only(table)}
    write_json(report, project.root / METRICS / "baselines.json")
    return report


def run_variety(project: Project, seed: int) -> dict[str, Any]:
    """Write and return ``outputs/metrics/variety.json``."""
    lexicon = Lexicon.of(project)
    table = dataset(project)
    targets = table.select(TARGET).to_series().unique().sort()
    report = variety(table, {name: load_construction(project, name, lexicon) for name in targets}, lexicon, seed)
    write_json(report, project.root / METRICS / "variety.json")
    return report


def run_reading(project: Project) -> dict[str, Any]:
    """Score the readers' answers in ``pipelines/readings/*.csv``; write and return ``outputs/metrics/reading.json``.

    Raises:
        DataError: a file that is not such a table, or an answer that is not one.
    """
    tables = [_answers(path) for path in sorted((project.root / READINGS).glob("*.csv"))]
    report = reading(pl.concat(tables) if tables else pl.DataFrame(schema=ANSWERS), dataset(project))
    write_json(report, project.root / METRICS / "reading.json")
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
