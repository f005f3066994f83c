"""Fitting classifiers: the jobs of the measures that take the time. Whoever maps them decides where they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

In = TypeVar("In")
Out = TypeVar("Out")


class Map(Protocol):
    """The built-in ``map``, or the ``map`` of an executor: results in the order of the jobs."""

    def __call__(self, function: Callable[[In], Out], jobs: Iterable[In], /) -> Iterable[Out]:
        """As the built-in one."""


@dataclass(frozen=True)
class Fit:
    """A classifier to train and to test.

    Attributes:
        make: gives an untrained scikit-learn classifier; a function that can be pickled.
        features: a matrix, items x features.
        labels: one per item.
        folds: (items to train on, items to test on), as numbers or as a mask.
    """

    make: Callable[[], Any]
    features: Any
    labels: NDArray[np.int64]
    folds: list[tuple[NDArray[Any], NDArray[Any]]]


def right(fit: Fit) -> list[NDArray[np.bool_]]:
    """For every fold, which of its test items the classifier gets.

    It has one thread: with more, small fits mostly wait for each other, on a busy machine several times as long as they compute.
    """
    from threadpoolctl import threadpool_limits

    models = [fit.make() for _ in fit.folds]  # before the limit, which holds for libraries that are loaded
    with threadpool_limits(1):
        found = []
        for model, (train, test) in zip(models, fit.folds, strict=True):
            model.fit(fit.features[train], fit.labels[train])
            found.append(model.predict(fit.features[test]) == fit.labels[test])
    return found


def grouped(make: Callable[[], Any], features: Any, labels: NDArray[np.int64], groups: NDArray[np.int64], folds: int) -> Fit:
    """A cross-validation with whole groups held out.

    Args:
        make, features, labels: see `Fit`.
        groups: a number per item; items of one are held out together.
        folds: how many.
    """
    from sklearn.model_selection import GroupKFold

    return Fit(make, features, labels, list(GroupKFold(folds).split(labels, labels, groups)))


def accuracy(folds: list[NDArray[np.bool_]]) -> float:
    """The share of items that are right, over all folds, of what `right` gives."""
    return round(sum(int(each.sum()) for each in folds) / sum(map(len, folds)), 4)
