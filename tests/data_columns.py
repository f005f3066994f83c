"""The table of columns in docs/data.md, made from the schema. ``python -m tests.data_columns`` writes it."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from cxgen.families import CONFIGS, columns_of

PAGE = Path(__file__).resolve().parent.parent / "docs" / "data.md"
START, END = "<!-- columns: made by `make generated` -->\n", "<!-- end of columns -->\n"
_TYPES = {pl.String: "str", pl.Boolean: "bool", pl.Int8: "i8", pl.Int16: "i16"}


def table() -> str:
    """The table: a column a row, with the configs that have it."""
    found = {column.name: column for config in CONFIGS for column in columns_of(config)}
    lines = ["| column | type | config | |", "|---|---|---|---|"]
    for name, column in found.items():
        configs = [config for config in CONFIGS if name in {each.name for each in columns_of(config)}]
        where = "all" if len(configs) == len(CONFIGS) else ", ".join(f"`{config}`" for config in configs)
        lines.append(f"| `{name}` | {_TYPES.get(column.dtype, 'list of struct')} | {where} | {column.meaning} |")
    return "\n".join(lines) + "\n"


def stated() -> str:
    """What the page says now."""
    text = PAGE.read_text("utf-8")
    return text[text.index(START) + len(START) : text.index(END)]


if __name__ == "__main__":
    PAGE.write_text(PAGE.read_text("utf-8").replace(START + stated() + END, START + table() + END), "utf-8")
