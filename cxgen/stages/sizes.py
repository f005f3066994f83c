"""What the folder that the Hub will show holds, read from its ``dataset_version.json`` alone."""

from __future__ import annotations

import json

from cxgen.errors import DataError
from cxgen.layout import HUB, VERSION_FILE
from cxgen.project import Project


def packaged(project: Project) -> dict[str, dict[str, int]]:
    """Config -> split -> rows.

    Raises:
        DataError: no packaged dataset, or a damaged record.
    """
    path = project.root / HUB / VERSION_FILE
    found: dict[str, dict[str, int]] = {}
    try:
        for name, entry in json.loads(path.read_text("utf-8"))["rows"].items():
            config, _, split = name.partition("/")
            found.setdefault(config, {})[split] = int(entry["rows"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError("no packaged dataset, or a damaged record", file=path, hint="run `make dataset`, or `cxgen package`") from error
    return found
