"""Tables for people and for programs."""

import csv
import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import Any

from typer import echo

from cxgen.files import as_text, is_stream

Format = StrEnum("Format", "table jsonl csv json")
Row = dict[str, Any]
_LONG = re.compile(r"(\b\w{5,}-)(?=\w{4,})")  # where a long name may be broken: comparative-/correlative


@contextmanager
def busy(what: str) -> Iterator[None]:
    """A spinner on stderr while the block runs; silent when that is no terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def note(text: object) -> None:
    """Print a line on stderr, beside the command's own output."""
    echo(text, err=True)


def written(path: Path, text: str) -> None:
    """Print ``text`` about a file that is written, but not into /dev/stdout after it."""
    echo(text, err=is_stream(path))


def print_json(data: Any, *, sort_keys: bool = False) -> None:
    """Print ``data`` as one JSON text."""
    echo(json.dumps(data, ensure_ascii=False, indent=2, sort_keys=sort_keys))


def emit(rows: Sequence[Row] | Iterator[Row], form: Format, columns: Sequence[str] = (), brief: Sequence[str] = ()) -> None:
    """Print ``rows``, floats rounded to six decimals (in a table to four); ``columns`` are the keys where there may be no row; ``brief``:
    see `print_table`."""
    if form is Format.table:
        print_table(list(rows), brief=brief)
    elif form is Format.json:
        print_json([_rounded(row) for row in rows])
    elif form is Format.jsonl:
        for row in rows:
            echo(json.dumps(_rounded(row), ensure_ascii=False))
    else:
        kept = rows if isinstance(rows, Sequence) else list(islice(rows, 1))  # of others, all rows have the keys of the first
        names = list(dict.fromkeys(name for row in kept for name in row)) or columns
        writer = csv.DictWriter(sys.stdout, fieldnames=names, lineterminator="\n")
        writer.writeheader()
        for row in kept if kept is rows else chain(kept, rows):
            writer.writerow({key: as_text(_cell(value)) for key, value in row.items()})


def _rounded(value: Any, digits: int = 6) -> Any:
    """The value as JSON has it, its floats rounded, however deep they are."""
    return json.loads(json.dumps(value, default=str), parse_float=lambda number: round(float(number), digits))


def _cell(value: Any, digits: int = 6) -> Any:
    rounded = _rounded(value, digits)
    return json.dumps(rounded, ensure_ascii=False) if isinstance(value, list | dict) else rounded


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    text = "" if value is None else str(_cell(value, 4))
    return "".join(letter for letter in text if letter.isprintable() or letter.isspace())  # no escape of a text acts on the terminal


def print_table(rows: Sequence[Row], *, stderr: bool = False, brief: Sequence[str] = ()) -> None:
    """An aligned table: as wide as it is where programs read it; on a terminal that cannot hold its words, row below row, or the columns
    ``brief``, their texts cut to one line a row."""
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    console = Console(stderr=stderr)
    if not console.is_terminal:
        console = Console(stderr=stderr, width=100_000)
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [[_text(row.get(name)) for name in names] for row in rows]
    if brief and _width(names, [[text.replace(" ", "_") for text in line] for line in lines]) > console.width:
        table = Table.grid(
            *(Column(no_wrap=True, ratio=1 if name == brief[-1] else None) for name in brief), padding=(0, 2, 0, 0), expand=True
        )
        for row in rows:
            table.add_row(*(Text(_text(row.get(name))) for name in brief))
        console.print(table)
        return
    if _width(names, lines) > console.width:
        lines = [[_LONG.sub(r"\1\n", text) for text in line] for line in lines]
    if _width(names, lines) <= console.width:
        table = Table(*(Column(Text(name), overflow="fold") for name in names), box=None, pad_edge=False, header_style="bold")
        for line in lines:
            table.add_row(*map(Text, line))
        console.print(table)
        return
    for line in lines:
        for name, text in zip(names, line, strict=True):
            head = (name.ljust(max(map(len, names)) + 2), "bold")
            console.print(Text.assemble(head, text.replace("\n", "")), overflow="fold")
        console.print()


def _width(names: Sequence[str], lines: Sequence[Sequence[str]]) -> int:
    """The width that a table needs, two spaces between columns, if no word in it is broken."""
    columns = zip(names, *lines, strict=True)
    return sum(2 + max(len(word) for text in column for word in text.split() or [""]) for column in columns) - 2
