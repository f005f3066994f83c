"""The commands `natural` and `suites`, parts of `cxgen build` on their own."""

from __future__ import annotations

from typing import Any

from cxgen.cli.options import Form, ParamsFile, open_project
from cxgen.cli.output import Format, busy, emit


def natural(params: ParamsFile = None, form: Form = Format.table) -> None:
    """Make items of the sets that writers wrote (pipelines/natural.parquet), split by verb like nli: outputs/natural.

    Example: cxgen natural
    """
    from cxgen.natural import build as stage

    project, settings = open_project(params)
    found = stage.run(project, settings)
    rows = [
        {"construction": name, **{f"{split} {what}": count for what, counts in entry.items() for split, count in counts.items()}}
        for name, entry in found["constructions"].items()
    ]
    emit(rows, form, ["construction"])


def suites(params: ParamsFile = None, form: Form = Format.table) -> None:
    """Make the suites (cc_syntax, cc_semantics), audit and measure them: outputs/suites.

    Example: cxgen suites
    """
    from cxgen.build import suites as stage

    project, settings = open_project(params)
    with busy("making and auditing the suites"):
        found = stage.run(project, settings)
    rows: list[dict[str, Any]] = []
    for name, entry in found["suites"].items():
        rows += [{"suite": name, "what": what, "figure": number} for what, number in _flat(entry["counts"])]
        rows += [
            {"suite": name, "what": f"{measure} {part}", "figure": figure}
            for measure, each in entry["measures"].items()
            for parts in each["configs"].values()
            for part, figure in parts.items()
        ]
    emit(rows, form, ["suite", "what", "figure"])


def _flat(counts: dict[str, Any], before: str = "") -> list[tuple[str, int]]:
    """Counts within counts, as (path, count)."""
    found: list[tuple[str, int]] = []
    for name, value in counts.items():
        path = f"{before} {name}".strip()
        found += _flat(value, path) if isinstance(value, dict) else [(path, value)]
    return found
