"""The list of contrast sets that readers refused: a tracked file, which the stages `split` and `natural` obey."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cxgen.errors import DataError
from cxgen.files import read_text, write_atomically
from cxgen.spreadsheet import as_text

_COLUMNS = ["contrast_set", "reason"]
_HINT = "expected the columns contrast_set and reason; `cxgen review score --drop` writes it"


def read_dropped(path: Path) -> dict[str, str]:
    """Contrast set -> why it is left out; nothing if there is no such file.

    Raises:
        DataError: it is no such table.
    """
    if not path.exists():
        return {}
    reader = csv.reader(io.StringIO(read_text(path, _HINT)), strict=True)
    found: dict[str, str] = {}
    try:
        for row in reader:
            if reader.line_num == 1:
                good = row == _COLUMNS
            else:
                good = len(row) == 2 and all(row) and row[0] not in found
                found[row[0] if row else ""] = row[-1] if row else ""
            if not good:
                raise DataError(f"not a set that is left out: {row}"[:200], file=path, line=reader.line_num, hint=_HINT)
    except csv.Error as error:
        raise DataError(f"not a CSV file: {error}", file=path, line=reader.line_num, hint=_HINT) from error
    if not reader.line_num:
        raise DataError("is empty", file=path, hint=_HINT)
    return found


def write_dropped(dropped: Mapping[str, str], path: Path) -> None:
    """Write the list, in the order of the sets' ids."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows((name, as_text(reason)) for name, reason in sorted(dropped.items()))
    write_atomically(path, lambda temporary: temporary.write_text(text.getvalue(), "utf-8"))


def refused(mend: Iterable[Mapping[str, Any]], least: int) -> dict[str, str]:
    """The sets of items whose label more than half of at least ``least`` readers contradict -> the reason."""
    found: dict[str, str] = {}
    for row in mend:
        answers = sum(row["answers"].values())
        if row["task"] == "labels" and answers >= least and row["against"] * 2 > answers:
            said = ", ".join(f"{answer} {count}" for answer, count in row["answers"].items())
            found.setdefault(row["contrast_set"], f"item {row['item']}: {row['right']} is computed, readers say {said}")
    return found
