"""What a table must be like, and what is wrong with one: types before it is read, values after."""

from __future__ import annotations

from collections.abc import Iterator
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
        for column in self.columns:
            if column.name in table.columns:
                for what, bad in _faults(column, table[column.name], most):
                    if bad.any():
                        row = bad.arg_max() or 0
                        return f"column {column.name}, row {row + 1}: {what}"
        if self.key and table.select(self.key).is_duplicated().any():
            row = table.select(self.key).is_duplicated().arg_max() or 0
            return f"row {row + 1}: the same {', '.join(self.key)} as in another row"
        return ""


def _faults(column: Column, values: pl.Series, most: int | None = None) -> Iterator[tuple[str, pl.Series]]:
    """What may be wrong with a column, and whether it is, row by row; the next is asked for only if it is not."""
    if not column.null:
        yield "no value", values.is_null()
    if values.dtype == pl.String:
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
    if values.dtype.is_numeric():
        inside = values.is_between(low, high) if low is not None else values.is_finite()
        yield f"expected a number{'' if low is None else f' from {low} to {high}'}", ~inside.fill_null(value=True)
    if column.dtype == pl.List(SLOT):
        yield from _slots(values)
    elif isinstance(values.dtype, pl.List) and values.dtype.inner == pl.String:
        yield "no value in a list", values.list.eval(pl.element().is_null().any()).list.first().fill_null(value=False)


_SLOTS = (
    Column("slot", pl.String, ""),
    Column("role", pl.String, "", values=tuple(Role)),
    Column("lemma", pl.String, ""),
    Column("sense", pl.String, "", null=True),
    Column("zipf", pl.Float64, "", null=True, within=(0, 10)),
    Column("percentile", pl.Float64, "", null=True, within=(0, 100)),
    Column("band", pl.String, "", null=True, values=BANDS),
)


def _slots(values: pl.Series) -> Iterator[tuple[str, pl.Series]]:
    """Faults of the fillers of premises."""
    rows = pl.DataFrame({"row": pl.int_range(len(values), eager=True), "slots": values}).drop_nulls("slots").explode("slots")
    everyone = pl.int_range(len(values), eager=True)
    fillers = rows.unnest("slots")
    for part in _SLOTS:
        for what, bad in _faults(part, fillers[part.name]):
            if bad.any():
                yield f"slots.{part.name}: {what}", everyone.is_in(fillers.filter(bad)["row"].implode())
