"""Reading and writing the tables of the pipeline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from cxgen.errors import DataError
from cxgen.files import json_lines, require_file, write_atomically
from cxgen.schema import Contract

ROW_GROUP = 131_072
ENDINGS = (".jsonl", ".csv", ".parquet")  # of tables that users bring
Item = TypeVar("Item")


def read_table(path: Path, contract: Contract, hint: str) -> pl.DataFrame:
    """Read a parquet table: the columns of its contract, in the contract's order.

    Args:
        path: the file.
        contract: what it must be like.
        hint: what makes it.

    Raises:
        DataError: missing, damaged, or not as the contract says: with column and row.
    """
    if not path.exists():
        raise DataError("no such table", file=path, hint=hint)
    require_file(path, hint)
    try:
        schema = pl.read_parquet_schema(path)
        fault = contract.misfit(schema)
        if not fault:
            table = pl.read_parquet(path, columns=[column.name for column in contract.columns if column.name in schema])
            fault = contract.fault(table)
    except (OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"not a readable parquet file: {one_line(error)}", file=path, hint=hint) from error
    if fault:
        raise DataError(fault, file=path, hint=hint)
    return table


def read_rows(path: Path, hint: str) -> pl.DataFrame:
    """A table that a user brings: JSON lines, CSV (every column as text) or parquet, by its ending.

    Raises:
        DataError: another kind of file, or none that can be read; ``hint`` says what it should be like.
    """
    if path.suffix not in ENDINGS:
        raise DataError(f"unknown kind of file {path.suffix!r}", file=path, hint=f"one of {', '.join(ENDINGS)}")
    require_file(path, hint)
    try:
        if path.suffix == ".parquet":
            return pl.read_parquet(path)
        if path.suffix == ".csv":
            return pl.read_csv(path, infer_schema=False)
        rows = [row for _, row in json_lines(path, hint, finite=False)]
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"not a readable {path.suffix} file: {one_line(error)}", file=path, hint=hint) from error


def one_line(error: BaseException) -> str:
    """What a library says of an error, on one line of reasonable length."""
    return " ".join(str(error).split())[:200]


def write_table(table: pl.DataFrame, path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write ``table`` as parquet, with ``metadata`` in the file: the same rows give the same bytes."""
    options: dict[str, Any] = {"compression": "zstd", "row_group_size": ROW_GROUP, "metadata": metadata}
    write_parquet(table, path, **options)


def write_parquet(table: pl.DataFrame, path: Path, **options: Any) -> None:
    """Write ``table`` with options of polars' own.

    Raises:
        DataError: it cannot be written: the disk is full, most often, which polars takes for a fault of the format.
    """
    try:
        write_atomically(path, lambda temporary: table.write_parquet(temporary, **options))
    except pl.exceptions.PolarsError as error:
        hint = "is there room on the disk? The file is as it was"
        raise DataError(f"cannot be written: {one_line(error)}", file=path, hint=hint) from error


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
