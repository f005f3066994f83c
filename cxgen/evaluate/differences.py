"""Differences between two sets of answers: two answerers of the same questions, and pseudowords against the real words."""

from __future__ import annotations

from typing import Any

import polars as pl

from cxgen.errors import needs
from cxgen.evaluate.questions import WUG
from cxgen.evaluate.scores import CELL
from cxgen.evaluate.scores.items import whole_sets
from cxgen.measures.figures import Resampling, figure


def compared(first: pl.DataFrame, second: pl.DataFrame, how: Resampling) -> dict[str, Any]:
    """How two answerers of a config's questions differ.

    Args:
        first, second: from `answered`, with the same questions.
        how: the resampling; both are resampled alike, verb by verb.

    Returns:
        ``items``; ``accuracy``, ``consistency`` (figures: the first's less the second's, paired); ``only_first``, ``only_second`` (items
        that one alone gets right); ``p``: McNemar's exact test on these (`mcnemar`). It takes items for independent, which those of a set
        and of a verb are not: where it and the interval disagree, believe the interval.

    Raises:
        DataError: SciPy is not installed.
    """
    both = first.select("id", *CELL, "hit").join(second.select("id", other="hit"), on="id", how="inner", maintain_order="left")
    one, other = (whole_sets(rows.sort("contrast_set", "id")) for rows in (first, second))
    between = one.with_columns(value=one["value"].cast(pl.Int8) - other["value"].cast(pl.Int8))
    only = [both.filter(pl.col("hit") & ~pl.col("other")).height, both.filter(~pl.col("hit") & pl.col("other")).height]
    return {
        "items": both.height,
        "accuracy": figure(both.select(*CELL, value=pl.col("hit").cast(pl.Int8) - pl.col("other").cast(pl.Int8)), how),
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


def wug_differences(rows: pl.DataFrame, how: Resampling) -> dict[str, Any]:
    """What pseudowords cost: the accuracy on items with pseudowords less that on the same items with the real words.

    Args:
        rows: from `answered`, of several configs.
        how: the resampling.

    Returns:
        Config with pseudowords -> mode (and ``all``) -> ``items``, ``wug``, ``real`` (figures) and ``difference`` (figure, paired item by
        item); only for configs whose real counterpart is among ``rows``, whole.
    """
    report: dict[str, Any] = {}
    for config in sorted(name for name in set(rows["config"]) if name.endswith(WUG)):
        real = rows.filter(pl.col("config") == config.removesuffix(WUG)).select(source_id="id", real="hit")
        broken = rows.filter(pl.col("config") == config)
        pairs = broken.join(real, on="source_id", how="inner", maintain_order="left")
        if not pairs.height or pairs.height < broken.height:
            continue
        modes = {"all": pairs, **{mode: pairs.filter(pl.col("mode") == mode) for mode in pairs["mode"].unique().sort()}}
        report[config] = {
            mode: {
                "items": part.height,
                "wug": figure(part.select(*CELL, value="hit"), how),
                "real": figure(part.select(*CELL, value="real"), how),
                "difference": figure(part.select(*CELL, value=pl.col("hit").cast(pl.Int8) - pl.col("real").cast(pl.Int8)), how),
            }
            for mode, part in modes.items()
        }
    return report
