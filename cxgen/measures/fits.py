"""Fitting classifiers: the jobs of the measures that take the time. Whoever maps them decides where they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

In = TypeVar("In")
Out = TypeVar("Out")
DIGITS = 3  # of every figure: what is left of the order in which a processor adds up stands behind them
_TIE = 1e-6  # probabilities that are as near as this are equal

# The figures of a measure whose fits have been handed in: asking for them waits.
Pending = Callable[[], Out]


class Map(Protocol):
    """The built-in ``map``, or the ``map`` of an executor, which begins at once: results in the order of the jobs."""

    def __call__(self, function: Callable[[In], Out], jobs: Iterable[In], /) -> Iterable[Out]:
        """As the built-in one."""


@dataclass(frozen=True)
class Fit:
    """A classifier to train and to test.

    Attributes:
        make: gives an untrained scikit-learn classifier that knows weights; a function that can be pickled.
        features: a matrix, what can be told apart x features.
        codes: the row of ``features`` of every item. Items of one row and label become one that weighs as much: of 84,000 a classifier may
            see 3,000.
        labels: one per item.
        folds: (items to train on, items to test on), as numbers or as a mask.
    """

    make: Callable[[], Any]
    features: Any
    codes: NDArray[np.int64]
    labels: NDArray[np.int64]
    folds: list[tuple[NDArray[Any], NDArray[Any]]]


def right(fit: Fit) -> list[NDArray[np.float64]]:
    """For every fold, how far the classifier gets each of its test items: 1 or 0; 1/k where k labels tie and its own is among them.

    Ties are near ones, too: which of two labels comes first by the last digits depends on the processor. A fit has one thread: with more,
    small ones mostly wait for each other.
    """
    from threadpoolctl import threadpool_limits

    classes = int(fit.labels.max(initial=0)) + 1
    models = [fit.make() for _ in fit.folds]  # before the limit, which holds for libraries that are loaded
    hits = []
    with threadpool_limits(1):
        for model, (train, test) in zip(models, fit.folds, strict=True):
            kinds, weights = np.unique(fit.codes[train] * classes + fit.labels[train], return_counts=True)
            model.fit(fit.features[kinds // classes], kinds % classes, sample_weight=weights.astype(np.float64))
            seen, places = np.unique(fit.codes[test], return_inverse=True)
            scores = model.predict_proba(fit.features[seen])
            best = scores >= scores.max(axis=1, keepdims=True) - _TIE
            shares = np.zeros((len(seen), classes))
            shares[:, model.classes_] = best / best.sum(axis=1, keepdims=True)
            hits.append(shares[places, fit.labels[test]])
    return hits


def logistic() -> Any:
    """An untrained logistic regression that is fitted until it is the same on every machine."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(solver="newton-cg", tol=1e-8, max_iter=500)


def grouped(
    make: Callable[[], Any], features: Any, codes: NDArray[np.int64], labels: NDArray[np.int64], groups: NDArray[np.int64], folds: int
) -> Fit:
    """A cross-validation with whole groups held out.

    Args:
        make, features, codes, labels: see `Fit`.
        groups: a number per item; items of one are held out together.
        folds: how many.
    """
    from sklearn.model_selection import GroupKFold

    return Fit(make, features, codes, labels, list(GroupKFold(folds).split(labels, labels, groups)))


def reduced(features: Any, codes: NDArray[np.int64]) -> tuple[Any, NDArray[np.int64]]:
    """What a `Fit` of some items needs of ``features``: the rows that ``codes`` names, and their places among them."""
    used, places = np.unique(codes, return_inverse=True)
    return features[used], places


def accuracy(folds: list[NDArray[np.float64]]) -> float:
    """The share of items that are right, over all folds, of what `right` gives."""
    return sum(float(hits.sum()) for hits in folds) / sum(map(len, folds))
