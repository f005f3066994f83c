"""Stage ``variety``: how varied the sentences are, as JSON."""

from __future__ import annotations

from typing import Any

from cxgen import layout
from cxgen.constructicon import load_construction
from cxgen.families import DEFAULT
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.report.variety import variety
from cxgen.schema import TARGET
from cxgen.stages.dataset import dataset
from cxgen.tables import write_json


def run(project: Project, seed: int) -> dict[str, Any]:
    """Write and return ``outputs/metrics/variety.json``."""
    lexicon = Lexicon.of(project)
    table = dataset(project, DEFAULT)
    targets = table.select(TARGET).to_series().unique().sort()
    report = variety(table, {name: load_construction(project, name, lexicon) for name in targets}, seed)
    write_json(report, project.root / layout.metric("variety"))
    return report
