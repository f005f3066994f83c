"""Stage ``baselines``: can the answers be had without understanding? As JSON, family by family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build.audit import by_family
from cxgen.build.params import Request
from cxgen.build.pool import executor
from cxgen.build.samplers import generate_items
from cxgen.build.tables import dataset, natural
from cxgen.constructicon import Construction
from cxgen.errors import needs
from cxgen.families import NATURAL, family_of
from cxgen.measures import take
from cxgen.measures.figures import broken_gates
from cxgen.measures.fits import Map
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.tables import write_json
from cxgen.vocabulary import SPLITS

ENOUGH = 30  # sets that writers wrote of a construction; of fewer, a classifier's figure says nothing


def run(project: Project, folds: int, workers: int = 1) -> dict[str, Any]:
    """Write and return ``outputs/metrics/baselines.json``: family (and ``natural``, where writers wrote enough) -> measure -> figures.

    Raises:
        DataError: scikit-learn is not installed.
    """
    written = _enough(natural(project))
    with executor(workers) as pool:
        report = _measured(dataset(project), folds, pool.map)
        if written.height:
            report[NATURAL] = take(family_of(NATURAL).name, written, folds, pool.map)
    write_json(report, project.root / layout.metric("baselines"))
    return report


def preview(construction: Construction, request: Request, folds: int) -> dict[str, Any]:
    """The same for freshly drawn items of one construction; nothing is written.

    Raises:
        DataError: scikit-learn is not installed.
        EmptySlotError, SchemaError: the construction gives no items.
    """
    return _measured(generate_items(construction, request), folds)


def broken(report: Mapping[str, Any]) -> Iterator[str]:
    """The gates that do not hold, each with the figure that is farthest off."""
    for family, measures in report.items():
        for name, measure in measures.items():
            yield from (f"{family}: {name} {fault}" for fault in broken_gates(measure))


def _measured(items: pl.DataFrame, folds: int, run: Map = map) -> dict[str, Any]:
    with needs("the baselines need scikit-learn", "report"):
        import sklearn  # noqa: F401
    return {family.name: take(family.name, rows, folds, run) for family, rows in by_family(items)}


def _enough(rows: pl.DataFrame) -> pl.DataFrame:
    """The items that writers wrote of constructions with enough sets, and some in each split."""
    sets, splits = pl.col("contrast_set").n_unique().over(TARGET), pl.col("split").n_unique().over(TARGET)
    return rows.filter((sets >= ENOUGH) & (splits == len(SPLITS)))
