"""Stage ``baselines``: can the answers be had without understanding? As JSON, family by family."""

from __future__ import annotations

from typing import Any

from cxgen import layout
from cxgen.errors import needs
from cxgen.project import Project
from cxgen.stages.audit import by_family
from cxgen.stages.dataset import dataset
from cxgen.tables import write_json


def run(project: Project, folds: int) -> dict[str, Any]:
    """Write and return ``outputs/metrics/baselines.json``: family -> measure -> figures.

    Raises:
        DataError: scikit-learn is not installed.
    """
    with needs("the baselines need scikit-learn", "report"):
        import sklearn  # noqa: F401
    report: dict[str, Any] = {family.name: family.measures(rows, folds) for family, rows in by_family(dataset(project))}
    write_json(report, project.root / layout.metric("baselines"))
    return report
