"""The rows of every suite, audited and measured (``cxgen suites``), and reading them back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build.content import WRITTEN, table_hashes
from cxgen.build.params import Params
from cxgen.errors import DataError
from cxgen.files import require_place
from cxgen.measures.gates import broken_gates
from cxgen.project import Project
from cxgen.schema import Contract, conform
from cxgen.suites import SUITES
from cxgen.tables import read_table, track, write_json, write_table
from cxgen.vocabulary import SPLITS

METRIC = "suites"
_HINT = "run `cxgen suites` (or `dvc repro`) first"


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


def read_suite(project: Project, config: str, split: str) -> pl.DataFrame:
    """The rows of a split of a suite; none of a split that it does not have.

    Raises:
        DataError: there is no such table, or it is not as `run` writes it.
    """
    columns = SUITES[config].columns
    if split not in SUITES[config].splits:
        return pl.DataFrame(schema={column.name: column.dtype for column in columns})
    path = project.root / layout.table(config, split, layout.SUITES)
    rows = read_table(path, Contract(columns, key=("id",)), _HINT)
    if (rows["split"] != split).any():
        raise DataError(f"holds rows of another split than {split}", file=path, hint=_HINT)
    return rows


def expected() -> dict[Path, tuple[str, str]]:
    """The files of suites, relative to the project, with config and split."""
    return {layout.table(name, split, layout.SUITES): (name, split) for name in SUITES for split in SPLITS}


def unsound(project: Project, tables: Mapping[tuple[str, str], pl.DataFrame]) -> Iterator[str]:
    """What a new audit finds wrong with tables of suites."""
    for name, suite in SUITES.items():
        parts = [rows for (config, _), rows in tables.items() if config == name]
        if parts:
            yield from (f"{what}: {count}" for what, count in suite.violations(project, pl.concat(parts)).items() if count)
