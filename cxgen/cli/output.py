"""Tables for people and for programs."""

import csv
import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from itertools import chain, islice
from typing import Any

import typer

from cxgen.spreadsheet import as_text

Row = dict[str, Any]
_UNBOUNDED = 100_000  # columns
_LONG = re.compile(r"(\b\w{5,}-)(?=\w{4,})")  # where a long name may be broken: comparative-/correlative


class Format(StrEnum):
    """How a table is printed."""

    table = "table"
    jsonl = "jsonl"
    csv = "csv"
    json = "json"


@contextmanager
def busy(what: str) -> Iterator[None]:
    """A spinner on stderr while the block runs; silent when that is no terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def emit(rows: Sequence[Row] | Iterator[Row], form: Format, columns: Sequence[str] = ()) -> None:
    """Print ``rows``, floats rounded to six decimals (in a table to four); ``columns`` are the keys where there may be no row."""
    if form is Format.table:
        _table(list(rows))
    elif form is Format.jsonl:
        for row in rows:
            typer.echo(json.dumps(_rounded(row), ensure_ascii=False))
    elif form is Format.json:
        print_json([_rounded(row) for row in rows])
    else:
        kept = rows if isinstance(rows, Sequence) else list(islice(rows, 1))  # of others, all rows have the keys of the first
        names = list(dict.fromkeys(name for row in kept for name in row)) or columns
        writer = csv.DictWriter(sys.stdout, fieldnames=names, lineterminator="\n")
        writer.writeheader()
        every = kept if kept is rows else chain(kept, rows)
        writer.writerows({key: as_text(_flat(_rounded(value))) for key, value in row.items()} for row in every)


def print_json(data: Any, *, sort_keys: bool = False) -> None:
    """Print ``data`` as one JSON text."""
    typer.echo(json.dumps(data, ensure_ascii=False, indent=2, sort_keys=sort_keys))


def note(text: object) -> None:
    """Print a line on stderr, beside the command's own output."""
    typer.echo(text, err=True)


def _rounded(value: Any, digits: int = 6) -> Any:
    if isinstance(value, float):
        return round(value, digits)
    if isinstance(value, dict):
        return {key: _rounded(inner, digits) for key, inner in value.items()}
    return [_rounded(inner, digits) for inner in value] if isinstance(value, list) else value


def _flat(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _table(rows: Sequence[Row], *, stderr: bool = False) -> None:
    """An aligned table: as wide as it is where programs read it; on a terminal that cannot hold its words, row below row."""
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    console = Console(stderr=stderr)
    if not console.is_terminal:
        console = Console(stderr=stderr, width=_UNBOUNDED)
    names = list(dict.fromkeys(name for row in rows for name in row))
    values = [[row.get(name) for name in names] for row in rows]
    lines = [["" if value is None else str(_flat(_rounded(value, 4))) for value in line] for line in values]
    broken = lines if _fits(names, lines, console.width) else [[_LONG.sub(r"\1\n", text) for text in line] for line in lines]
    if _fits(names, broken, console.width):
        columns = [Column(Text(name), overflow="fold") for name in names]
        table = Table(*columns, box=None, pad_edge=False, header_style="bold")
        for line in broken:
            table.add_row(*map(Text, line))
        console.print(table)
        return
    width = max(map(len, names)) + 2
    for line in lines:
        for name, text in zip(names, line, strict=True):
            console.print(Text.assemble((name.ljust(width), "bold"), text), overflow="fold")
        console.print()


def _fits(names: Sequence[str], lines: Sequence[Sequence[str]], width: int) -> bool:
    """Whether the columns, with two spaces between them, fit without breaking a word."""
    columns = zip(names, *lines, strict=True)
    return sum(2 + max(len(word) for text in column for word in text.split() or [""]) for column in columns) - 2 <= width


def summarise(rows: Sequence[Row]) -> None:
    """Print ``rows`` as a table on stderr, beside the command's own output."""
    _table(rows, stderr=True)
