"""Tables for people and for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

import typer


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


def emit(rows: Sequence[dict[str, Any]], form: Format) -> None:
    """Print ``rows`` as JSON lines, one JSON array, CSV, or an aligned table."""
    if form is Format.jsonl:
        for row in rows:
            typer.echo(json.dumps(row, ensure_ascii=False))
    elif form is Format.json:
        typer.echo(json.dumps(list(rows), ensure_ascii=False, indent=2))
    elif form is Format.csv:
        import csv

        writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _flat(value) for key, value in row.items()} for row in rows)
    else:
        _table(rows)


def _flat(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def summarise(rows: Sequence[dict[str, Any]]) -> None:
    """Print ``rows`` as a table on stderr, beside the command's own output."""
    _table(rows, stderr=True)


def _table(rows: Sequence[dict[str, Any]], *, stderr: bool = False) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in rows[0] if rows else ():
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(_flat(value))) for value in row.values()))
    Console(stderr=stderr).print(table)


_COLOURS = {"entailment": typer.colors.GREEN, "neutral": typer.colors.YELLOW, "contradiction": typer.colors.RED}


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
