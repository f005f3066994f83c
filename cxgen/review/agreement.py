"""How far readers agree: shares, Krippendorff's alpha, Cohen's and Fleiss' kappa, with intervals that resample contrast sets.

A set's items share their words, so its units are drawn together (the cluster bootstrap, as in `cxgen.measures.figures`); intervals are
percentile ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.errors import needs
from cxgen.measures.figures import Resampling
from cxgen.streams import uniform

Floats = NDArray[np.float64]
Level = Literal["nominal", "ordinal"]
Statistic = Callable[[Floats], float | None]


def matrix(answers: pl.DataFrame, keys: Sequence[str]) -> tuple[Floats, list[str]]:
    """Answers as numbers.

    Args:
        answers: ``reader, code, answer, contrast_set``.
        keys: the possible answers.

    Returns:
        readers x units, the position of the answer in ``keys``, NaN where there is none; and the cluster of every unit. Units with one
        answer are left out: they say nothing of agreement.
    """
    shared = answers.filter(pl.len().over("code") > 1)
    units = shared.select("code", "contrast_set").unique("code", maintain_order=True)
    readers = shared["reader"].unique().sort().to_list()
    data = np.full((len(readers), units.height), np.nan)
    rows, columns = ({name: place for place, name in enumerate(names)} for names in (readers, units["code"].to_list()))
    for reader, code, answer in shared.select("reader", "code", "answer").iter_rows():
        data[rows[reader], columns[code]] = keys.index(answer)
    return data, units["contrast_set"].to_list()


def estimate(statistic: Statistic, data: Floats, clusters: Sequence[str], how: Resampling) -> dict[str, float | None]:
    """A statistic of ``data`` (see `matrix`) with its interval: ``value``, ``low, high``, None where they are not defined."""
    value = statistic(data) if data.size else None
    names = sorted(set(clusters))
    low = high = None
    if value is not None and how.resamples and len(names) > 1:
        units = [np.flatnonzero(np.array(clusters) == name) for name in names]
        drawn = (uniform((how.seed, "agreement"), 0, how.resamples * len(names)) * len(names)).astype(np.int64).reshape(how.resamples, -1)
        samples = (statistic(data[:, np.concatenate([units[place] for place in row])]) for row in drawn)
        values = [sample for sample in samples if sample is not None]
        if values:
            low, high = (round(float(end), 4) for end in np.quantile(values, [(1 - how.level) / 2, (1 + how.level) / 2]))
    return {"value": None if value is None else round(value, 4), "low": low, "high": high}


def full(data: Floats) -> float | None:
    """The share of units about which all readers say the same."""
    return float(np.mean(np.nanmax(data, axis=0) == np.nanmin(data, axis=0))) if data.size else None


def majority(data: Floats) -> float | None:
    """The share of units about which more than half of the readers say the same."""
    if not data.size:
        return None
    counts = _counts(data)
    return float(np.mean(counts.max(axis=1) * 2 > counts.sum(axis=1)))


def alpha(level: Level) -> Statistic:
    """Krippendorff's alpha (Krippendorff 2011, Computing Krippendorff's alpha-reliability); ``level``: nominal or ordinal. Not
    defined where only one answer occurs.

    Raises:
        DataError: the package krippendorff is not installed.
    """
    with needs("agreement needs the package krippendorff", "review"):
        import krippendorff

    def coefficient(data: Floats) -> float | None:
        values = np.unique(data[~np.isnan(data)])
        if len(values) < 2:
            return None
        return float(krippendorff.alpha(reliability_data=data, level_of_measurement=level))

    return coefficient


def fleiss(data: Floats) -> float | None:
    """Fleiss' kappa (Fleiss 1971, "Measuring nominal scale agreement among many raters"), over the units with the commonest number of
    answers, since it is defined for one number only: kappa = (P - Pe) / (1 - Pe), P = mean_i sum_j n_ij (n_ij - 1) / (n (n - 1)),
    Pe = sum_j p_j^2. Not defined where only one answer occurs."""
    counts = _counts(data)
    numbers = counts.sum(axis=1)
    if not len(numbers):
        return None
    n = int(np.bincount(numbers).argmax())
    chosen = counts[numbers == n].astype(np.float64)
    expected = float(((chosen.sum(axis=0) / chosen.sum()) ** 2).sum())
    if n < 2 or expected == 1:
        return None
    observed = float(((chosen * (chosen - 1)).sum(axis=1) / (n * (n - 1))).mean())
    return (observed - expected) / (1 - expected)


def cohen(data: Floats) -> float | None:
    """Cohen's kappa (Cohen 1960, "A coefficient of agreement for nominal scales"): the mean over the pairs of readers for whom it is
    defined, each weighted by the units that both answered."""
    kappas, weights = [], []
    for first, second in combinations(data, 2):
        both = ~np.isnan(first) & ~np.isnan(second)
        one, other = first[both], second[both]
        if len(one):
            expected = sum(float(np.mean(one == value) * np.mean(other == value)) for value in np.unique(one))
            if expected < 1:
                kappas.append((float(np.mean(one == other)) - expected) / (1 - expected))
                weights.append(len(one))
    return float(np.average(kappas, weights=weights)) if kappas else None


def _counts(data: Floats) -> NDArray[np.int64]:
    """Units x answers: how many readers gave it."""
    values = np.unique(data[~np.isnan(data)])
    return np.stack([(data == value).sum(axis=0) for value in values], axis=1) if len(values) else np.zeros((0, 1), dtype=np.int64)


def agreement(answers: pl.DataFrame, keys: Sequence[str], how: Resampling, level: Level) -> dict[str, Any]:
    """``units`` (rows with two answers or more), and `estimate` of ``full, majority, alpha`` (at ``level``), ``cohen, fleiss``."""
    data, clusters = matrix(answers, keys)
    statistics: dict[str, Statistic] = {"full": full, "majority": majority, "alpha": alpha(level), "cohen": cohen, "fleiss": fleiss}
    return {"units": data.shape[1], **{name: estimate(each, data, clusters, how) for name, each in statistics.items()}}
