"""Frozen judgments: the file that DVC tracks and that a clone without a key replays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import polars as pl

from cxgen.llm.runner import Judgment
from cxgen.tables import read_table, write_table

FILE = Path("pipelines/judgments.parquet")
COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "item": pl.String,
    "task": pl.String,
    "value": pl.String,
    "reason": pl.String,
    "judge": pl.String,
    "model": pl.String,
    "fingerprint": pl.String,
    "request_id": pl.String,
    "prompt": pl.String,
    "temperature": pl.Float64,
    "max_tokens": pl.Int64,
    "call": pl.String,
    "asked": pl.Int64,
    "tokens_in": pl.Int64,
    "tokens_out": pl.Int64,
    "logprob": pl.Float64,
    "attempt": pl.Int64,
}
_KEYS = ["item", "task", "judge", "prompt"]


def as_table(judgments: Iterable[Judgment]) -> pl.DataFrame:
    """Judgments as rows with the columns ``COLUMNS``."""
    return pl.DataFrame([asdict(judgment) for judgment in judgments], schema=COLUMNS, orient="row")


def read_frozen(path: Path) -> pl.DataFrame:
    """The frozen judgments, columns ``COLUMNS``.

    Raises:
        DataError: no such file, or not one of ours.
    """
    table = read_table(path, COLUMNS, "judge --backend openai --export")
    return table.select(pl.col(name).cast(kind) for name, kind in COLUMNS.items())


def freeze(judgments: pl.DataFrame, path: Path) -> int:
    """Merge ``judgments`` into the file; return its number of rows.

    A decided one replaces what the file held for the same item, task, judge and prompt, an undecided one only another undecided one.
    The same judgments give the same bytes, in whatever order they came.
    """
    old = read_frozen(path) if path.is_file() else pl.DataFrame(schema=COLUMNS)
    table = pl.concat([old.with_columns(rank=0), judgments.select(list(COLUMNS)).with_columns(rank=1)])
    decided = (pl.col("value") != "").cast(pl.Int8)
    table = table.sort([decided, "rank"], maintain_order=True).unique(_KEYS, keep="last", maintain_order=True)
    table = table.drop("rank").sort([*_KEYS, "call"])
    write_table(table, path)
    return table.height
