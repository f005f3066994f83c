"""Tables for people and for programs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from itertools import chain
from textwrap import indent
from typing import TYPE_CHECKING, Any

import typer

from cxgen.spreadsheet import as_text

if TYPE_CHECKING:
    from rich.console import Console

_UNBOUNDED = 100_000  # columns
_LONG = re.compile(r"(\b\w{5,}-)(?=\w{4,})")  # where a long name may be broken: comparative-/correlative
_COLOURS = {"entailment": typer.colors.GREEN, "neutral": typer.colors.YELLOW, "contradiction": typer.colors.RED}


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


def emit(rows: Iterable[dict[str, Any]], form: Format, columns: Sequence[str] = ()) -> None:
    """Print ``rows`` as JSON lines, one JSON array, CSV, or an aligned table; all but the table as they come.

    Args:
        rows: all with the same keys, or a list. Floats are rounded to six decimals.
        form: how.
        columns: the keys, where there may be no row to read them from.
    """
    if form is Format.jsonl:
        for row in rows:
            typer.echo(json.dumps(_rounded(row), ensure_ascii=False))
    elif form is Format.json:
        before = "[\n"
        for row in rows:
            typer.echo(before + indent(json.dumps(_rounded(row), ensure_ascii=False, indent=2), "  "), nl=False)
            before = ",\n"
        typer.echo("[]" if before == "[\n" else "\n]")
    elif form is Format.csv:
        _csv(rows, columns)
    else:
        _table(list(rows))


def summarise(rows: Sequence[dict[str, Any]]) -> None:
    """Print ``rows`` as a table on stderr, beside the command's own output."""
    _table(rows, stderr=True)


def _rounded(value: Any, digits: int = 6) -> Any:
    """The value with its floats rounded, however deep they are."""
    if isinstance(value, float):
        return round(value, digits)
    if isinstance(value, dict):
        return {key: _rounded(inner, digits) for key, inner in value.items()}
    return [_rounded(inner, digits) for inner in value] if isinstance(value, list) else value


def _csv(rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> None:
    import csv

    if isinstance(rows, Sequence):  # of a list, rows may lack what others have
        names = list(dict.fromkeys(name for row in rows for name in row)) or list(columns)
    else:
        waiting = iter(rows)
        first = list(next(([row] for row in waiting), []))
        names, rows = list(first[0] if first else columns), chain(first, waiting)
    writer = csv.DictWriter(sys.stdout, fieldnames=names, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: as_text(_flat(_rounded(value))) for key, value in row.items()})


def _flat(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _table(rows: Sequence[dict[str, Any]], *, stderr: bool = False) -> None:
    """An aligned table: as wide as it is where programs read it, and never squeezed below its longest words on a terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(stderr=stderr)
    if not console.is_terminal:
        console = Console(stderr=stderr, width=_UNBOUNDED)
    names = list(dict.fromkeys(name for row in rows for name in row))
    values = [[row.get(name) for name in names] for row in rows]
    lines = [["" if value is None else str(_flat(_rounded(value, 4))) for value in line] for line in values]
    if _least(names, lines) > console.width:
        lines = [[_LONG.sub(r"\1\n", text) for text in line] for line in lines]
    if _least(names, lines) > console.width:
        _records(names, lines, console)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(Text(name), overflow="fold")
    for line in lines:
        table.add_row(*map(Text, line))
    console.print(table)


def _least(names: Sequence[str], lines: Sequence[Sequence[str]]) -> int:
    """The width that a table needs, two spaces between columns, if no word in it is broken."""
    columns = zip(names, *lines, strict=True)
    return sum(2 + max(len(word) for text in column for word in text.split() or [""]) for column in columns) - 2


def _records(names: Sequence[str], lines: Sequence[Sequence[str]], console: Console) -> None:
    """Rows below one another, a line for each value: for tables that the terminal does not hold."""
    from rich.text import Text

    width = max(map(len, names)) + 2
    for line in lines:
        for name, text in zip(names, line, strict=True):
            console.print(Text.assemble((name.ljust(width), "bold"), text.replace("\n", "")), overflow="fold")
        console.print()


def label(name: str, width: int = 0) -> str:
    """A label, coloured where the terminal can."""
    return typer.style(name.ljust(width), fg=_COLOURS.get(name))


def premises(groups: Iterable[tuple[dict[str, Any], list[tuple[str, str]]]]) -> None:
    """Premises, each with its hypotheses below it and their labels before them."""
    for number, (premise, hypotheses) in enumerate(groups, 1):
        kind = typer.style(f"[{premise['construction']}: {premise['kind']}]", dim=True)
        typer.echo(f"{number:3d}. {typer.style(premise['premise'], bold=True)} {kind}")
        for name, text in hypotheses:
            typer.echo(f"     {label(name, 13)} {text}")
