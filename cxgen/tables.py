"""Reading and writing the tables of the pipeline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from cxgen.errors import DataError
from cxgen.project import write_atomically

ROW_GROUP = 131_072
Item = TypeVar("Item")


def read_table(path: Path, need: Iterable[str], made_by: str) -> pl.DataFrame:
    """Read a parquet table.

    Raises:
        DataError: missing, damaged, or without a column in ``need``.
    """
    hint = f"run `cxgen {made_by}` (or `dvc repro`) first"
    if not path.is_file():
        raise DataError("no such table", file=path, hint=hint)
    try:
        table = pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"not a readable parquet file: {error}", file=path, hint=hint) from error
    missing = [column for column in need if column not in table.columns]
    if missing:
        raise DataError(f"lacks the columns {', '.join(missing)}", file=path, hint=hint)
    return table


def write_table(table: pl.DataFrame, path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write ``table`` as parquet, with ``metadata`` in the file: the same rows give the same bytes."""
    options: dict[str, Any] = {"compression": "zstd", "row_group_size": ROW_GROUP, "metadata": metadata}
    write_atomically(path, lambda temporary: table.write_parquet(temporary, **options))


def write_json(data: Any, path: Path) -> None:
    """Write ``data`` as indented JSON with sorted keys."""
    text = json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write_atomically(path, lambda temporary: temporary.write_text(text, "utf-8"))


def track(items: Iterable[Item], what: str, total: int) -> Iterator[Item]:
    """Go through ``items`` with a progress bar on stderr; silent when that is no terminal."""
    import sys

    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track as bar

    yield from bar(items, description=what, total=total, console=Console(stderr=True))
