"""Reading and writing the tables of the pipeline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from cxgen.errors import DataError
from cxgen.project import write_atomically
from cxgen.schema import Contract
from cxgen.schema.door import MB, require_file

ROW_GROUP = 131_072
MOST_BYTES, MOST_ROWS = 4096 * MB, 100_000_000  # of a table
Item = TypeVar("Item")


def read_table(path: Path, contract: Contract, hint: str) -> pl.DataFrame:
    """Read a parquet table: the columns of its contract, in the contract's order.

    Args:
        path: the file.
        contract: what it must be like.
        hint: what makes it.

    Raises:
        DataError: missing, damaged, larger than tables are, or not as the contract says: with column and row.
    """
    if not path.exists():
        raise DataError("no such table", file=path, hint=hint)
    try:
        size = require_file(path, MOST_BYTES, hint)
        schema = pl.read_parquet_schema(path)
        fault = contract.misfit(schema) or _overfull(path, size)
        if not fault:
            table = pl.read_parquet(path, columns=[column.name for column in contract.columns if column.name in schema])
            fault = contract.fault(table)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"not a readable parquet file: {one_line(error)}", file=path, hint=hint) from error
    if fault:
        raise DataError(fault, file=path, hint=hint)
    return table


def _overfull(path: Path, size: int) -> str:
    """Whether a file says that it holds more rows than so many bytes can: a few bytes may say that a value comes a billion times."""
    rows: int = pl.scan_parquet(path).select(pl.len()).collect().item()
    return f"{rows} rows in {size} bytes" if rows > MOST_ROWS or rows > max(size, MB) else ""


def one_line(error: BaseException) -> str:
    """What a library says of an error, on one line of reasonable length."""
    return " ".join(str(error).split())[:200]


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
