"""Samples as they are drawn: the first ones at once, however many are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

FIRST, GROWTH = 16, 4


def premises(draw: Callable[[int], pl.DataFrame], n: int, expected: int) -> Iterator[pl.DataFrame]:
    """Items of the first ``n`` premises, or of all that there are.

    Args:
        draw: number of contrast sets -> items of so many of every design, with ``design, set_number, premise_id``; more sets begin with the
            same ones.
        n: premises wanted.
        expected: sets of every design that should give them.

    Yields:
        Items of new premises: the designs' first sets, then their second ones, and so on.
    """
    import polars as pl

    rank = pl.col("set_number").rank("dense").over("design")
    sets, shown, before = min(FIRST, expected), 0, pl.Series("premise_id", [], pl.String).to_frame()
    while True:
        items = draw(sets).with_columns(rank=rank)
        fresh = items.join(before, on="premise_id", how="anti", maintain_order="left").sort("rank", maintain_order=True)
        wanted = fresh.select("premise_id").unique(maintain_order=True).head(n - shown)
        if not wanted.height:
            return
        yield wanted.join(fresh, on="premise_id", maintain_order="left_right").drop("rank")
        shown += wanted.height
        if shown >= n:
            return
        before = items.select("premise_id").unique()
        sets = min(sets * GROWTH, expected) if sets < expected else sets * 2
