"""What a table must be like, and what is wrong with one: types before it is read, values after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxgen.errors import UNSEEN
from cxgen.schema.columns import SLOT, Column
from cxgen.vocabulary import BANDS, LABELS, Role

CONTROL_CHARACTER = f"[\\x00-\\x1f{UNSEEN}]"


@dataclass(frozen=True)
class Contract:
    """What is asked of a table.

    Attributes:
        columns: those that it has.
        key: columns in which no two rows are alike; none: rows may be.
        optional: the names of ``columns`` that may be missing.
        more: whether there may be other columns, which are not read.
        least: rows that there must be.
    """

    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    optional: frozenset[str] = frozenset()
    more: bool = False
    least: int = 0

    def misfit(self, schema: dict[str, Any]) -> str:
        """What is wrong with the names and types of a table's columns; empty if nothing is."""
        known = {column.name: column.dtype for column in self.columns}
        missing = [name for name in known if name not in schema and name not in self.optional]
        if missing:
            return f"lacks the columns {', '.join(missing)}"
        other = [name for name in schema if name not in known]
        if other and not self.more:
            return f"has columns that no such table has: {', '.join(map(repr, other[:5]))}"
        wrong = (
            f"column {name} is {schema[name]}, expected {dtype}"
            for name, dtype in known.items()
            if name in schema and schema[name] != dtype
        )
        return next(wrong, "")

    def fault(self, table: pl.DataFrame, most: int | None = None) -> str:
        """The first thing wrong with the rows of a table that has these columns; empty if nothing is. Rows are counted from 1.

        Args:
            table: the rows.
            most: bytes of text that a column may have in all.
        """
        if table.height < self.least:
            return f"has {table.height or 'no'} rows"
        found = _first(table, [column for column in self.columns if column.name in table.columns], most)
        if found:
            return found
        if self.key and table.select(self.key).is_duplicated().any():
            row = table.select(self.key).is_duplicated().arg_max() or 0
            return f"row {row + 1}: the same {', '.join(self.key)} as in another row"
        return ""


def _first(table: pl.DataFrame, columns: Sequence[Column], most: int | None) -> str:
    """The first thing wrong with the values of ``columns``; empty if nothing is."""
    faulty = _faulty(table, columns, most)
    for column in columns:
        if column.name in faulty:
            what, bad = faulty[column.name]
            return f"column {column.name}, row {(table.select(bad).to_series().arg_max() or 0) + 1}: {what}"
        if column.dtype == pl.List(SLOT):
            found = _slots(table[column.name])
            if found:
                return f"column {column.name}, {found}"
    return ""


def _faulty(table: pl.DataFrame, columns: Sequence[Column], most: int | None = None) -> dict[str, tuple[str, pl.Expr]]:
    """Column -> the first thing wrong with its values, and where it is. All is asked in one pass: a query for each takes longer."""
    tests = [(column, what, bad) for column in columns for what, bad in _faults(column, pl.col(column.name), most)]
    if not tests:
        return {}
    found = table.select(bad.any().alias(str(number)) for number, (_, _, bad) in enumerate(tests)).row(0)
    faulty: dict[str, tuple[str, pl.Expr]] = {}
    for (column, what, bad), is_there in zip(tests, found, strict=True):
        if is_there:
            faulty.setdefault(column.name, (what, bad))
    return faulty


def _faults(column: Column, values: pl.Expr, most: int | None = None) -> Iterator[tuple[str, pl.Expr]]:
    """What may be wrong with a column's values, and whether it is, row by row."""
    if not column.null:
        yield "no value", values.is_null()
    if column.dtype == pl.String:
        lengths = values.str.len_bytes().cast(pl.Int64)
        yield f"a text of more than {column.longest} bytes", (lengths > column.longest).fill_null(value=False)
        if most is not None:
            yield f"more than {most} bytes of text up to here", lengths.fill_null(0).cum_sum() > most
        yield "an invisible or control character", values.str.contains(CONTROL_CHARACTER).fill_null(value=False)
        if column.like:
            yield f"expected a text like {column.like}", ~values.str.contains(f"^(?:{column.like})$").fill_null(value=True)
    if column.values:
        yield f"expected {', '.join(column.values)}", ~values.is_in(column.values).fill_null(value=True)
    low, high = (0, len(LABELS) - 1) if column.labels else column.within
    if column.dtype.is_numeric():
        inside = values.is_between(low, high) if low is not None else values.is_finite()
        yield f"expected a number{'' if low is None else f' from {low} to {high}'}", ~inside.fill_null(value=True)
    if column.dtype == pl.List(pl.String):
        yield "no value in a list", values.list.eval(pl.element().is_null().any()).list.first().fill_null(value=False)


_PART = 50_000  # rows of which the fillers are looked at together
_SLOTS = (
    Column("slot", pl.String, ""),
    Column("role", pl.String, "", values=tuple(Role)),
    Column("lemma", pl.String, ""),
    Column("sense", pl.String, "", null=True),
    Column("zipf", pl.Float64, "", null=True, within=(0, 10)),
    Column("percentile", pl.Float64, "", null=True, within=(0, 100)),
    Column("band", pl.String, "", null=True, values=BANDS),
)


def _slots(values: pl.Series) -> str:
    """The first fault of the fillers of premises, with its row; empty if there is none. A part at a time: taken apart, they are large."""
    for start in range(0, len(values), _PART):
        part = values.slice(start, _PART)
        rows = pl.DataFrame({"row": pl.int_range(start, start + len(part), eager=True), "slots": part}).drop_nulls("slots").explode("slots")
        fillers = rows.unnest("slots")
        for name, (what, bad) in _faulty(fillers, _SLOTS).items():
            return f"row {fillers.filter(bad)['row'][0] + 1}: slots.{name}: {what}"
    return ""
