"""What a table must be like: its columns, their types, and no row twice."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from cxgen.schema.columns import Column
from cxgen.vocabulary import LABELS


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
        wrong = (name for name, dtype in known.items() if name in schema and schema[name] != dtype)
        return next((f"column {name} is {schema[name]}, expected {known[name]}" for name in wrong), "")

    def fault(self, table: pl.DataFrame) -> str:
        """The first thing wrong with the rows of a table that has these columns; empty if nothing is. Rows are counted from 1."""
        if table.height < self.least:
            return f"has {table.height or 'no'} rows"
        tests = [test for column in self.columns if column.name in table.columns for test in _tests(column)]
        hits = table.select(bad.arg_true().first().alias(str(n)) for n, (_, bad) in enumerate(tests)).row(0) if table.height else ()
        for (what, _), row in zip(tests, hits, strict=False):
            if row is not None:
                return f"{what.format(row=row + 1)}"
        if self.key:
            twice = table.select(self.key).is_duplicated()
            if twice.any():
                return f"row {(twice.arg_max() or 0) + 1}: the same {', '.join(self.key)} as in another row"
        return ""


def _tests(column: Column) -> list[tuple[str, pl.Expr]]:
    """What may be wrong with a column's values, and whether it is, row by row."""
    values, where = pl.col(column.name), f"column {column.name}, row {{row}}: "
    tests = [] if column.null else [(f"{where}no value", values.is_null())]
    if column.values:
        tests.append((f"{where}expected {', '.join(column.values)}", ~values.is_in(column.values).fill_null(value=True)))
    if column.labels:
        last = len(LABELS) - 1
        tests.append((f"{where}expected a number from 0 to {last}", ~values.is_between(0, last).fill_null(value=True)))
    return tests
