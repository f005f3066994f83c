"""The list of contrast sets that readers refused: a tracked file, which `cxgen build` obeys."""

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
    dropped: dict[str, str] = {}
    try:
        if next(reader, None) != _COLUMNS:
            raise DataError("has other columns, or none", file=path, line=1, hint=_HINT)
        for row in reader:
            if len(row) != 2 or not all(row) or row[0] in dropped:
                raise DataError(f"not a set that is left out: {row}"[:200], file=path, line=reader.line_num, hint=_HINT)
            dropped[row[0]] = row[1]
    except csv.Error as error:
        raise DataError(f"not a CSV file: {error}", file=path, line=reader.line_num, hint=_HINT) from error
    return dropped


def write_dropped(dropped: Mapping[str, str], path: Path) -> None:
    """Write the list, in the order of the sets' ids."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows((name, as_text(reason)) for name, reason in sorted(dropped.items()))
    write_atomically(path, lambda temporary: temporary.write_text(text.getvalue(), "utf-8"))


def refused(mend: Iterable[Mapping[str, Any]], least: int) -> dict[str, str]:
    """The sets of items whose label more than half of at least ``least`` readers contradict -> the reason."""
    sets: dict[str, str] = {}
    for row in mend:
        answers = sum(row["answers"].values())
        if row["task"] == "labels" and answers >= least and row["against"] * 2 > answers:
            counts = ", ".join(f"{answer} {count}" for answer, count in row["answers"].items())
            sets.setdefault(row["contrast_set"], f"item {row['item']}: {row['right']} is computed, readers say {counts}")
    return sets


def drop(mend: Iterable[Mapping[str, Any]], path: Path, least: int) -> dict[str, int]:
    """Add the sets that readers refuse to the list at ``path``, which keeps what it has.

    Args:
        mend: from `cxgen.review.score.score`.
        path: the list.
        least: readers of an item that it takes.

    Returns:
        ``added`` and ``there`` (already): contrast sets, those of writers (config natural) like the others.
    """
    before, now = read_dropped(path), refused(mend, least)
    write_dropped({**now, **before}, path)
    return {"added": len(now.keys() - before.keys()), "there": len(now.keys() & before.keys())}
