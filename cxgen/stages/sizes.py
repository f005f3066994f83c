"""What the folder that the Hub will show holds, read from its ``dataset_version.json`` alone."""

from __future__ import annotations

from cxgen.layout import HUB, VERSION_FILE
from cxgen.project import Project
from cxgen.schema import read_json


def packaged(project: Project) -> dict[str, dict[str, int]]:
    """Config -> split -> rows.

    Raises:
        DataError: no packaged dataset, or a damaged record.
    """
    path = project.root / HUB / VERSION_FILE
    found: dict[str, dict[str, int]] = {}
    record = read_json(path, "metrics", "version", "run `make dataset`, or `cxgen package`")
    for name, entry in record["rows"].items():
        config, _, split = name.partition("/")
        found.setdefault(config, {})[split] = entry["rows"]
    return found
