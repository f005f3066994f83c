"""Stage ``report``: measures of the finished dataset, as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import DataError
from cxgen.generate import SPLITS
from cxgen.project import Project
from cxgen.report.baselines import baselines
from cxgen.report.variety import variety
from cxgen.stages.split import DATASET
from cxgen.stages.tables import read_table, write_json

METRICS = Path("outputs/metrics")


def dataset(project: Project) -> pl.DataFrame:
    """All splits of the ``nli`` config."""
    need = ("premise", "hypothesis", "label", "contrast_set")
    return pl.concat(read_table(project.root / DATASET / f"{split}-00000-of-00001.parquet", need, "split") for split in SPLITS)


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


def run_variety(project: Project) -> dict[str, Any]:
    """Write and return ``outputs/metrics/variety.json``."""
    report = variety(dataset(project))
    write_json(report, project.root / METRICS / "variety.json")
    return report
