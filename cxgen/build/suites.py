"""The rows of every suite, audited and measured (``cxgen suites``)."""

from __future__ import annotations

from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build.content import WRITTEN, table_hashes
from cxgen.build.params import Params
from cxgen.errors import DataError
from cxgen.files import require_place
from cxgen.measures.figures import broken_gates
from cxgen.project import Project
from cxgen.schema import conform
from cxgen.suites import SUITES
from cxgen.tables import track, write_json, write_table

METRIC = "suites"


def run(project: Project, params: Params) -> dict[str, Any]:
    """Write ``outputs/suites/`` and the metric ``suites``; return the metric.

    Returns:
        ``suites``: name -> ``counts``, ``violations`` (rule -> how often it is broken, all 0) and ``measures``, as its suite gives them;
        ``written``: hashes of the tables.

    Raises:
        DataError: a suite cannot say as much as is asked for, or its rows are not sound.
    """
    require_place(project.root / layout.metric(METRIC))
    report: dict[str, Any] = {"suites": {}}
    tables: dict[tuple[str, str], pl.DataFrame] = {}
    for name, suite in track(SUITES.items(), METRIC, len(SUITES)):
        rows = conform(suite.rows(project, params.request.seed, {**suite.sizes, **params.suites.get(name, {})}), suite.columns)
        metric = {"counts": suite.counts(rows), "violations": suite.violations(project, rows), "measures": suite.measures(rows)}
        problems = [f"{what}: {count}" for what, count in metric["violations"].items() if count]
        problems += [f"{what} {fault}" for what, measure in metric["measures"].items() for fault in broken_gates(measure)]
        if problems:
            hint = "the files in templates/grammars say what it is made of"
            raise DataError(f"{name} is not sound: {'; '.join(problems)}", file=project.root / layout.SUITES, hint=hint)
        report["suites"][name] = metric
        tables |= {(name, split): rows.filter(pl.col("split") == split) for split in suite.splits}
    for (name, split), rows in tables.items():
        write_table(rows, project.root / layout.table(name, split, layout.SUITES))
    write_json({**report, WRITTEN: table_hashes(tables)}, project.root / layout.metric(METRIC))
    return report
