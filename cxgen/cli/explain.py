"""The command ``explain``: the label matrix for people, or as a table for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import typer

from cxgen.cli.options import Form, Name, Wug
from cxgen.cli.output import Format, emit, label
from cxgen.facade import Constructicon

if TYPE_CHECKING:
    import polars as pl

    from cxgen.constructicon import Construction

Cells = dict[str, dict[str, dict[str, str]]]  # kind -> rule -> row of the table


def explain(construction: Name, wug: Wug = None, form: Form = Format.table) -> None:
    """Print the premise x hypothesis label matrix, computed from facts and claims; with --wug, what pseudowords leave of it.

    Below it, what each label turns on: another kind that is said with the same open-class words and has another label there, or "words".
    Of a design that cannot be balanced it says which kind lacks which label, and which hypothesis cannot be used.

    Examples:  cxgen explain resultative
               cxgen explain resultative --wug content
    """
    entry = Constructicon()[construction]
    table = entry.explain(wug.value if wug else "")
    if form is not Format.table:
        emit(table.iter_rows(named=True), form, table.columns)
        return
    loaded = entry.construction
    typer.echo(f"{loaded.title}: {loaded.form}\n{loaded.meaning}\n")
    if wug:
        from cxgen.sampling import broken_slots

        broken = broken_slots(loaded, wug.value)
        names = [name for name in loaded.slots if name in broken]
        typer.echo(f"pseudowords in {', '.join(names) or 'no slot'}; (x): a label that rested on a replaced word's meaning\n")
    whole = entry.explain() if wug else table
    for design in loaded.designs:
        cells, before = _cells(table, design), _cells(whole, design)
        squares = _print_head(loaded, design, cells, balance=not wug)
        _print_matrix(loaded, design, cells, before)
        if not wug:
            _print_faults(loaded, design, cells, squares)
        typer.echo("")


def _cells(table: pl.DataFrame, design: str) -> Cells:
    cells: Cells = {}
    for row in table.filter(design=design).iter_rows(named=True):
        cells.setdefault(row["kind"], {})[row["rule"]] = row
    return cells


def _print_head(loaded: Construction, design: str, cells: Cells, *, balance: bool) -> int | None:
    """The design and its hypotheses; how many balanced selections of cells it has, None if it needs none."""
    from cxgen.families import CONFIGS, DEFAULT, family_of
    from cxgen.semantics import solve

    configs = loaded.designs[design].configs
    needed = balance and any(family_of(config).name == DEFAULT for config in configs if config in CONFIGS)
    squares = len(solve(_labels(cells))) if needed else None
    many = "" if squares is None else f" ({squares} balanced selection{'' if squares == 1 else 's'} of cells)"
    typer.echo(typer.style(f"design {design}", bold=True) + f" for {', '.join(configs)}{many}")
    for number, rule in enumerate(loaded.designs[design].rules, 1):
        item = loaded.rules[rule]
        typer.echo(f"  h{number} {item.says}   e.g. {item.wordings[0]}")
    return squares


def _labels(cells: Cells) -> dict[str, dict[str, int]]:
    from cxgen.vocabulary import LABELS

    return {kind: {rule: LABELS.index(cell["label"]) for rule, cell in row.items()} for kind, row in cells.items()}


def _print_matrix(loaded: Construction, design: str, cells: Cells, before: Cells) -> None:
    """The labels, and below them what each turns on."""
    rules: Sequence[str] = loaded.designs[design].rules
    width = max((len(kind) for kind in cells), default=0) + 2
    typer.echo(" " * (width + 2) + " ".join(f"h{number}".ljust(4) for number in range(1, len(rules) + 1)))
    for kind, row in cells.items():
        labels = " ".join(_initial(row[rule]["label"], before[kind][rule]["label"]) if rule in row else "-".ljust(4) for rule in rules)
        typer.echo(f"  {kind.ljust(width)}{labels} {loaded.kinds[kind].gloss}")
    widest = max((len(cell["turns_on"]) for row in cells.values() for cell in row.values()), default=1)
    typer.echo("  turns on")
    for kind, row in cells.items():
        others = " ".join((row[rule]["turns_on"] if rule in row else "-").ljust(widest) for rule in rules)
        typer.echo(f"  {kind.ljust(width)}{others.rstrip()}")


def _initial(now: str, before: str) -> str:
    """A label's initial, coloured, with the one that it had before in brackets where that was another."""
    initial = now[0].upper() if now == before else f"{now[0].upper()}({before[0].upper()})"
    return label(now).replace(now, initial.ljust(4))


def _print_faults(loaded: Construction, design: str, cells: Cells, squares: int | None) -> None:
    """Why the design gives no sets, if it gives none."""
    from cxgen.semantics import RULE, unbalanced

    if squares == 0:
        for reason in unbalanced(_labels(cells)):
            typer.echo(f"  ! {reason}")
        typer.echo(f"  {RULE}")
    for config, reason in _without_sets(loaded, design, squares):
        typer.echo(f"  ! {config}: {reason}")


def _without_sets(loaded: Construction, design: str, squares: int | None) -> Iterator[tuple[str, str]]:
    """The configs of a design that give no sets, and why; those that need a balanced selection were told of before."""
    from cxgen.families import CONFIGS, DEFAULT, family_of

    for config in loaded.designs[design].configs:
        if config not in CONFIGS:
            yield config, f"unknown config; there are {', '.join(CONFIGS)}"
        elif squares is None or family_of(config).name != DEFAULT:
            reason = family_of(config).unsound(loaded, loaded.designs[design], config)
            if reason:
                yield config, reason
