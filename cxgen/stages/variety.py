"""Stage ``variety``: how varied the sentences are, as JSON."""

from __future__ import annotations

from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build.tables import dataset, natural
from cxgen.constructicon import load_construction
from cxgen.families import DEFAULT
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.report.variety import beside, variety
from cxgen.schema import TARGET
from cxgen.tables import write_json


def run(project: Project, seed: int) -> dict[str, Any]:
    """Write and return ``outputs/metrics/variety.json``: what `variety` gives.

    Where writers wrote sets, too, what `beside` gives stands under ``writers``.
    """
    lexicon = Lexicon.of(project)
    table = dataset(project, DEFAULT)
    targets = table.select(TARGET).to_series().unique().sort()
    report = variety(table, {name: load_construction(project, name, lexicon) for name in targets}, seed)
    for name, entry in beside(natural(project), table.filter(pl.col("config") == DEFAULT), seed).items():
        if name in report:
            report[name]["writers"] = entry
    write_json(report, project.root / layout.metric("variety"))
    return report
