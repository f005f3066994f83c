"""A mean with its interval, when the values are not independent.

The mean is taken within each construction, then over constructions, so that each counts alike. Verbs are drawn per construction and many
items share one, so the interval comes from resampling *verbs* with replacement within each construction, all items of a verb together
(the cluster bootstrap: Davison and Hinkley 1997, section 3.8; Field and Welsh 2007, "Bootstrapping clustered data"), and is the
percentile interval (Efron and Tibshirani 1993, chapter 13). Random numbers are counter-based, so that a figure does not depend on what
else is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.streams import uniform


@dataclass(frozen=True)
class Resampling:
    """How intervals are made.

    Attributes:
        resamples: how many; 0: no intervals.
        seed: another seed, other resamples.
        level: share of the resamples within an interval.
    """

    resamples: int = 1000
    seed: int = 1
    level: float = 0.95


def figure(values: pl.DataFrame, how: Resampling) -> dict[str, Any] | None:
    """The mean of values over constructions, with its interval.

    Args:
        values: one row per item (or per contrast set): ``construction, cluster`` (strings) and ``value`` (numbers or truth values).
        how: the resampling.

    Returns:
        ``value``: m = 1/K sum_k (sum_i v_ki / n_k) over the K constructions; ``low, high``: the ends of the interval, None where no
        construction has two verbs. None if there are no values.
    """
    if not values.height:
        return None
    sums = values.group_by("construction", "cluster").agg(pl.col("value").cast(pl.Float64).sum().alias("sum"), pl.len().alias("n"))
    parts = sums.sort("construction", "cluster").partition_by("construction", maintain_order=True)
    mean = float(np.mean([float(part["sum"].sum()) / int(part["n"].sum()) for part in parts]))
    low = high = None
    if how.resamples and any(part.height > 1 for part in parts):
        means = np.mean([_resampled(part, how) for part in parts], axis=0)
        low, high = (round(float(end), 4) for end in np.quantile(means, [(1 - how.level) / 2, (1 + how.level) / 2]))
    return {"value": round(mean, 4), "low": low, "high": high}


def _resampled(part: pl.DataFrame, how: Resampling) -> NDArray[np.float64]:
    """The mean of a construction in every resample of its verbs."""
    sums, counts = (part[name].to_numpy().astype(np.float64) for name in ("sum", "n"))
    verbs = part.height
    drawn = uniform((how.seed, "bootstrap", part["construction"][0]), 0, how.resamples * verbs)
    chosen = (drawn * verbs).astype(np.int64).reshape(how.resamples, verbs)
    means: NDArray[np.float64] = sums[chosen].sum(axis=1) / counts[chosen].sum(axis=1)
    return means
