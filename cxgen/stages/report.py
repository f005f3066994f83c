"""Stage ``report``: measures of the finished dataset, as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from cxgen.constructicon import load_construction
from cxgen.errors import DataError
from cxgen.generate import SPLITS
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.report.baselines import baselines
from cxgen.report.variety import variety
from cxgen.stages.audit import TARGET
from cxgen.stages.split import CONFIGS, table_file
from cxgen.stages.tables import read_table, write_json

METRICS = Path("outputs/metrics")


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
    try:
        import sklearn  # noqa: F401
    except ImportError as error:
        raise DataError("the baselines need scikit-learn", mend="pip install 'cxgen[report]'") from error
    report = baselines(dataset(project), folds)
    write_json(report, project.root / METRICS / "baselines.json")
    return report


def run_variety(project: Project, seed: int) -> dict[str, Any]:
    """Write and return ``outputs/metrics/variety.json``."""
    lexicon = Lexicon.load(project.snapshot)
    table = dataset(project)
    targets = table.select(TARGET).to_series().unique().sort()
    report = variety(table, {name: load_construction(project, name, lexicon) for name in targets}, lexicon, seed)
    write_json(report, project.root / METRICS / "variety.json")
    return report
