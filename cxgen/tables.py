"""Reading and writing the tables of the pipeline."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from cxgen.errors import DataError
from cxgen.files import json_lines, require_file, write_atomically, write_text
from cxgen.schema import Contract

ROW_GROUP = 131_072
ENDINGS = (".jsonl", ".csv", ".parquet")  # of tables that users bring
Item = TypeVar("Item")
_PANIC = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


def read_table(path: Path, contract: Contract, hint: str) -> pl.DataFrame:
    """Read a parquet table: the columns of its contract, in the contract's order; ``hint`` says what makes it."""
    if not path.exists():
        raise DataError("no such table", file=path, hint=hint)
    require_file(path, hint)
    try:
        schema = pl.read_parquet_schema(path)
        fault = contract.misfit(schema)
        if not fault:
            table = pl.read_parquet(path, columns=[column.name for column in contract.columns if column.name in schema])
            fault = contract.fault(table)
    except (OSError, ValueError, *_PANIC) as error:
        raise DataError(f"not a readable parquet file: {one_line(error)}", file=path, hint=hint) from error
    if fault:
        raise DataError(fault, file=path, hint=hint)
    return table


def read_rows(path: Path, hint: str) -> pl.DataFrame:
    """A table that a user brings, like ``hint`` says: JSON lines, CSV (every column as text) or parquet, by its ending."""
    if path.suffix not in ENDINGS:
        raise DataError(f"unknown kind of file {path.suffix!r}", file=path, hint=f"one of {', '.join(ENDINGS)}")
    require_file(path, hint)
    try:
        if path.suffix == ".parquet":
            return pl.read_parquet(path)
        if path.suffix == ".csv":
            return pl.read_csv(path, infer_schema=False)
        return pl.DataFrame([row for _, row in json_lines(path, hint, finite=False)], infer_schema_length=None, strict=False)
    except (OSError, *_PANIC) as error:
        raise DataError(f"not a readable {path.suffix} file: {one_line(error)}", file=path, hint=hint) from error


def one_line(error: BaseException) -> str:
    """What a library says of an error, on one line of reasonable length."""
    return " ".join(str(error).split())[:200]


def write_table(table: pl.DataFrame, path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write ``table`` as parquet, with ``metadata`` in the file: the same rows give the same bytes."""
    write_parquet(table, path, compression="zstd", row_group_size=ROW_GROUP, metadata=metadata)


def write_parquet(table: pl.DataFrame, path: Path, **options: Any) -> None:
    """Write ``table`` with options of polars' own."""
    try:
        write_atomically(path, lambda temporary: table.write_parquet(temporary, **options))
    except pl.exceptions.PolarsError as error:  # the disk is full, most often, which polars takes for a fault of the format
        hint = "is there room on the disk? The file is as it was"
        raise DataError(f"cannot be written: {one_line(error)}", file=path, hint=hint) from error


def write_json(data: Any, path: Path) -> None:
    """Write ``data`` as indented JSON with sorted keys."""
    write_text(path, json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def track(items: Iterable[Item], what: str, total: int) -> Iterator[Item]:
    """Go through ``items`` with a progress bar on stderr; silent when that is no terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track as bar

    yield from bar(items, description=what, total=total, console=Console(stderr=True))
