"""Reading and writing the tables of the pipeline."""

import csv
import io
import json
import math
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from cxgen.errors import DataError
from cxgen.files import STDIN, as_text, json_lines, read_text, require_file, write_atomically, write_text
from cxgen.project import require_utf8
from cxgen.schema import Contract

ROW_GROUP = 131_072
_FIRST_LINE, _LINE, _PAUSE = 10.0, 60.0, 0.5  # seconds: between lines of progress in a log; between batches at least
ENDINGS = (".jsonl", ".csv", ".tsv", ".parquet")  # of tables that users bring
Item = TypeVar("Item")
csv.field_size_limit(sys.maxsize)  # models' replies may be long
_PANIC = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


def read_table(path: Path, contract: Contract, hint: str) -> pl.DataFrame:
    """Read a parquet table: the columns of its contract, in the contract's order; ``hint`` says what makes it."""
    if not path.exists():
        raise DataError("no such table", file=path, hint=hint)
    require_file(path, hint)
    require_utf8(path)
    try:
        schema = pl.scan_parquet(path, glob=False).collect_schema()
        fault = contract.misfit(schema)
        if not fault:
            names = [column.name for column in contract.columns if column.name in schema]
            table = pl.read_parquet(path, columns=names, glob=False)
            fault = contract.fault(table)
    except (OSError, ValueError, *_PANIC) as error:
        raise DataError(f"not a readable parquet file: {one_line(error)}", file=path, hint=hint) from error
    if fault:
        raise DataError(fault, file=path, hint=hint)
    return table


def require_ending(path: Path) -> None:
    """See that a file has a name of one that `read_rows` reads and `write_rows` writes."""
    if path.suffix.lower() not in ENDINGS:
        raise DataError(f"unknown kind of file {path.suffix!r}", file=path, hint=f"one of {', '.join(ENDINGS)}")


def read_rows(path: Path, hint: str, columns: Sequence[str] = ()) -> pl.DataFrame:
    """A table that a user brings, see `numbered_rows`."""
    return numbered_rows(path, hint, columns)[0]


def numbered_rows(path: Path, hint: str, columns: Sequence[str] = ()) -> tuple[pl.DataFrame, Sequence[int]]:
    """A table that a user brings, like ``hint`` says, and the line (of parquet, the row) at which each of its rows ends: JSON lines (on
    the standard input, too), CSV or TSV (every column as text; an empty cell is null) or parquet, by its ending. Of JSON lines only
    ``columns`` are kept, if any are named; the others of the first line are there without values."""
    ending = ".jsonl" if path == STDIN else path.suffix.lower()
    if path != STDIN:
        require_ending(path)
    require_file(path, hint)
    try:
        if ending == ".parquet":
            require_utf8(path)
            table = pl.read_parquet(path, glob=False)
            return table, range(1, table.height + 1)
        if ending == ".jsonl":
            lines, rows = list[int](), list[dict[str, Any]]()
            for line, row in json_lines(path, hint, finite=False):
                kept = {name: value for name, value in row.items() if name in columns} if columns else row
                rows.append(kept if rows else dict.fromkeys(row) | kept)
                lines.append(line)
            return pl.DataFrame(rows, infer_schema_length=None, strict=False), lines
        (_, names), *cells = _cells(path, hint) or [(1, [])]
        schema = dict.fromkeys([name or "" for name in names], pl.String)
        return pl.DataFrame([row for _, row in cells], schema=schema, orient="row"), [line for line, _ in cells]
    except (OSError, *_PANIC) as error:
        raise DataError(f"not a readable {ending} file: {one_line(error)}", file=path, hint=hint) from error


def csv_lines(path: Path, hint: str) -> list[tuple[int, list[str]]]:
    """The rows of a CSV or TSV file that are not blank, each with the line where it ends; cells of CSV are divided by what a first line
    ``sep=;`` names, which is no row, else by what is commonest there: comma, semicolon or tab, as a spreadsheet writes where it runs."""
    text = read_text(path, hint)
    head = re.split("[\r\n]", text, maxsplit=1)[0]
    named = re.fullmatch('(?i)"?sep=([,;\t])"?', head)
    divider = named[1] if named else "\t" if path.suffix.lower() == ".tsv" else max(",;\t", key=head.count)
    reader, begun, rows = csv.reader(io.StringIO(text, newline=""), delimiter=divider, strict=True), 1, list[tuple[int, list[str]]]()
    try:
        for row in reader:
            begun = reader.line_num + 1
            rows += [(reader.line_num, row)] if any(map(str.strip, row)) else []
    except csv.Error as error:  # where the row begins: a quote that is not closed runs on to the end
        raise DataError(f"not a readable {path.suffix} file: {error}", file=path, line=begun, hint=hint) from error
    return rows[1:] if named else rows


def _cells(path: Path, hint: str) -> list[tuple[int, list[str | None]]]:
    """Rows of `csv_lines`, of which the first is the names of columns, each once, and the others have as many cells."""
    rows: list[tuple[int, list[str | None]]] = [(line, [cell or None for cell in row]) for line, row in csv_lines(path, hint)]
    names: list[str | None] = [(name or "").strip() for name in rows[0][1]] if rows else []
    rows[:1] = [(line, names) for line, _ in rows[:1]]
    if twice := [repr(name) for name, count in Counter(names).items() if count > 1]:
        raise DataError(f"columns come more than once: {', '.join(twice)}", file=path, line=rows[0][0], hint=hint)
    for line, row in rows:
        if len(row) != len(names):
            raise DataError(f"{len(row)} cells, and the header has {len(names)}", file=path, line=line, hint=hint)
    return rows


def as_texts(rows: pl.DataFrame, names: Sequence[str], path: Path, hint: str) -> pl.DataFrame:
    """A table that a user brings with these columns as texts; DataError of one that has lists, objects or bytes."""
    for name in names:
        if rows.schema[name].is_nested() or rows.schema[name] in {pl.Binary, pl.Object}:
            raise DataError(f"the column {name} holds no texts", file=path, hint=hint)
    return rows.with_columns(pl.col(names).cast(pl.String))


def one_line(error: BaseException) -> str:
    """What a library says of an error, on one line of reasonable length."""
    return " ".join(str(error).split())[:200]


def write_table(table: pl.DataFrame, path: Path, *, private: bool = False) -> None:
    """Write ``table`` as parquet: the same rows give the same bytes; ``private``: see `write_atomically`."""
    write_parquet(table, path, private=private, compression="zstd", row_group_size=ROW_GROUP)


def write_parquet(table: pl.DataFrame, path: Path, *, private: bool = False, **options: Any) -> None:
    """Write ``table`` with options of polars' own."""
    require_utf8(path)
    try:
        write_atomically(path, lambda temporary: table.write_parquet(temporary, **options), private=private)
    except pl.exceptions.PolarsError as error:  # the disk is full, most often, which polars takes for a fault of the format
        hint = "is there room on the disk? The file is as it was"
        raise DataError(f"cannot be written: {one_line(error)}", file=path, hint=hint) from error


def write_rows(rows: pl.DataFrame, path: Path) -> None:
    """Write a table for a user: JSON lines, CSV or TSV (lists as JSON; nothing that a spreadsheet would run) or parquet, by its ending."""
    require_utf8(path)
    if (ending := path.suffix.lower()) in {".csv", ".tsv"}:
        lists = [name for name, dtype in rows.schema.items() if dtype.is_nested()]
        texts = [pl.Series(name, [json.dumps(value, ensure_ascii=False) for value in rows[name].to_list()], pl.String) for name in lists]
        rows = rows.with_columns(texts).with_columns(pl.col(pl.String).map_elements(as_text, return_dtype=pl.String))
    write: dict[str, Callable[[Path], object]] = {
        ".jsonl": rows.write_ndjson,
        ".csv": rows.write_csv,
        ".tsv": lambda temporary: rows.write_csv(temporary, separator="\t"),
    }
    write_parquet(rows, path) if ending == ".parquet" else write_atomically(path, write[ending])


def write_json(data: Any, path: Path) -> None:
    """Write ``data`` as indented JSON with sorted keys."""
    write_text(path, json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def track(items: Iterable[Item], what: str, total: int, before: int = 0) -> Iterator[Item]:
    """Go through ``items``, of ``total`` those that are left, and show on stderr how far it is, see `progress`."""
    with progress(what, total, before) as tell:
        for done, item in enumerate(items, before + 1):
            yield item
            tell(done)


@contextmanager
def progress(what: str, total: int, before: int = 0) -> Iterator[Callable[[int], object]]:
    """What is told how many of ``total`` are done, of which an earlier run had ``before``: a bar on stderr; where that is no terminal, a
    line after ten seconds, and then one a minute."""
    if before:
        print(f"{what}: {'going on' if before < total else 'kept'}: {before:,} of {total:,} are answered", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True)) as bars:
            bar = bars.add_task(what, total=total, completed=before)
            yield lambda done: bars.update(bar, completed=done)
        return
    due, began, batches = time.monotonic() + _FIRST_LINE, math.inf, False
    first = last = (before, math.inf)

    def tell(done: int) -> None:
        nonlocal due, began, first, last, batches
        now = time.monotonic()
        began = min(began, now)
        if now < began + 1:  # what came before is loading; a first batch comes at once
            first = (done, now)
        paused = now > last[1] + _PAUSE
        batches = batches or paused
        (known, when), last = last if paused else (done, now), (done, now)
        if (
            (paused or not batches) and first[0] < known <= done < total and now >= due
        ):  # the first of a batch has cost the time of all of it
            minutes = (when - first[1]) * (total - done) / (known - first[0]) / 60
            left = f"about {minutes:.0f} minutes" if minutes >= 1.5 else "a minute or less"
            print(f"{what}: {done:,} of {total:,}, {left} left", file=sys.stderr, flush=True)
            due = now + _LINE

    yield tell
