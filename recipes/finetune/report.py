"""Reports as rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cxgen.evaluate.report import slices

_SHOWN = ("data", "part", "items", "accuracy", "accuracy interval", "consistency", "capture")


def rows(reports: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every part as a whole and by construction.

    Returns:
        ``data`` (a config, or a file's name), ``part`` ("all", or "construction NAME"), ``items``, ``accuracy`` with its interval,
        ``consistency`` (share of sets that are all right; of files: of premises) and, of look-alikes, ``capture``.
    """
    found = []
    for data, report in reports.items():
        for row in slices({"configs": {data: report}}, ["construction"] if report["by"] else []):
            found.append({name: {**row, "data": data}.get(name) for name in _SHOWN})
    if not any(row["capture"] is not None for row in found):
        for row in found:
            del row["capture"]
    return found
