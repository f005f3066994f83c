"""The key of a review: what stands on which list, and what is known of it. Annotators do not see it."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from cxgen.review.tasks import TASKS
from cxgen.schema import Column, Contract
from cxgen.tables import read_table, write_table

FILE, ANSWERS = Path("key.parquet"), Path("answers")
MOST_LISTS = 12
ITEM, CHECK, REAL = "item", "check", "real"
PAIR, PREMISE, HYPOTHESIS = "pair", "premise", "hypothesis"
KEY = Contract(
    (
        Column("code", pl.String, "what a row is called on its list"),
        Column("list", pl.Int32, "which list has it"),
        Column("task", pl.String, "what is asked", values=tuple(TASKS)),
        Column("kind", pl.String, "an item of the dataset, an attention check or a real sentence", values=(ITEM, CHECK, REAL)),
        Column("item", pl.String, "id of the item", null=True),
        Column("contrast_set", pl.String, "its contrast set", null=True),
        Column("group", pl.String, "its construction or look-alike", null=True),
        Column("side", pl.String, "what of it is shown", null=True, values=(PAIR, PREMISE, HYPOTHESIS)),
        Column("text", pl.String, "the sentence, or the first of two"),
        Column("second", pl.String, "the second", null=True),
        Column("right", pl.String, "the computed label's letter; of checks the answers that are right", null=True),
    ),
    key=("code",),
    least=1,
)


def write_key(key: pl.DataFrame, folder: Path) -> None:
    """Write the key of a review into its folder."""
    write_table(key, folder / FILE)


def read_key(folder: Path) -> pl.DataFrame:
    """The key of the review in ``folder``: the columns of `KEY`, the rows in the order in which they are read.

    Raises:
        DataError: there is none, or it is damaged.
    """
    return read_table(folder / FILE, KEY, f"`cxgen review export {folder}` writes it; it has to be where the lists came from")
