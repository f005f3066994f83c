"""Two sets of predictions of the same questions: who is right where the other is wrong."""

from __future__ import annotations

from typing import Any

import polars as pl

from cxgen.errors import needs
from cxgen.evaluate.figures import Resampling, figure
from cxgen.evaluate.scores import whole_sets

_CELL = ["construction", "cluster"]


def compared(first: pl.DataFrame, second: pl.DataFrame, how: Resampling) -> dict[str, Any]:
    """How two answerers of a config's questions differ.

    Args:
        first, second: from `answered`, with the same questions.
        how: the resampling; both are resampled alike, verb by verb.

    Returns:
        ``items``; ``accuracy``, ``consistency`` (figures: the first's less the second's, paired); ``only_first``, ``only_second`` (items
        that one alone gets right); ``p``: McNemar's exact test on these (`mcnemar`). It takes items for independent, which those of a set
        and of a
        verb are not: where it and the interval disagree, believe the interval.

    Raises:
        DataError: SciPy is not installed.
    """
    both = first.select("id", *_CELL, "hit").join(second.select("id", other="hit"), on="id", how="inner", maintain_order="left")
    less = pl.col("hit").cast(pl.Int8) - pl.col("other").cast(pl.Int8)
    sets = [whole_sets(rows.sort("contrast_set", "id")) for rows in (first, second)]
    between = sets[0].with_columns(value=sets[0]["value"].cast(pl.Int8) - sets[1]["value"].cast(pl.Int8))
    only = [both.filter(pl.col("hit") & ~pl.col("other")).height, both.filter(~pl.col("hit") & pl.col("other")).height]
    return {
        "items": both.height,
        "accuracy": figure(both.select(*_CELL, value=less), how),
        "consistency": figure(between, how),
        "only_first": only[0],
        "only_second": only[1],
        "p": mcnemar(*only),
    }


def mcnemar(first: int, second: int) -> float:
    """The two-sided exact p-value of McNemar's test (McNemar 1947): of b + c discordant pairs, b under a fair coin, Binomial(b + c, 1/2):
    twice the smaller tail, at most 1.

    Args:
        first, second: b and c, the pairs of which one answerer alone is right.

    Returns:
        From 0 to 1; 1 where there are no such pairs.

    Raises:
        DataError: SciPy is not installed.
    """
    if not first + second:
        return 1.0
    with needs("comparing predictions needs SciPy", "report"):
        from scipy.special import bdtr  # scipy.stats takes seconds to load
    return min(1.0, 2 * float(bdtr(min(first, second), first + second, 0.5)))
