"""Fitting classifiers: the jobs of the measures that take the time. Whoever maps them decides where they run."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Map = Callable[..., Iterable[Any]]  # the built-in `map`, or that of an executor, which begins at once
Make = Callable[[Any], tuple[Any, Ints]]  # texts or rows -> features, and of every item which row of them it has
Learner = Callable[[], Any]  # a scikit-learn classifier that has learnt nothing yet
Folds = list[tuple[NDArray[Any], NDArray[Any]]]  # items to train on, items to test on
_TIE = 1e-6  # probabilities that are as near as this are equal


def right(job: tuple[Learner, Make, Any, Ints, Folds]) -> list[Floats]:
    """How far a classifier gets each test item of each fold: 1 or 0; 1/k where k labels tie and its own is among them.

    A job: the classifier, what makes its features, of what, the items' labels, the folds. Near ties are ties: last digits depend on the
    processor. A fit has one thread: with more, small ones mostly wait for each other.
    """
    import sklearn.ensemble  # noqa: F401  before the limit, which holds for libraries that are loaded
    from threadpoolctl import threadpool_limits

    learn, make, seen, labels, folds = job
    features, codes = make(seen)
    rows, classes = features.shape[0], int(labels.max(initial=0)) + 1
    hits = []
    with threadpool_limits(1):
        for train, test in folds:
            counts = np.bincount(codes[train] * classes + labels[train], minlength=rows * classes).reshape(rows, classes).astype(float)
            known = counts.any(axis=1)
            scores = probabilities(learn(), features[known], counts[known], features)
            best = scores >= scores.max(axis=1, keepdims=True) - _TIE
            hits.append((best / best.sum(axis=1, keepdims=True))[codes[test], labels[test]])
    return hits


def coded(texts: pl.Series) -> tuple[pl.Series, Ints]:
    """The distinct texts, and which of them each text is."""
    distinct = texts.unique(maintain_order=True)
    return distinct, texts.replace_strict(distinct, pl.int_range(len(distinct), eager=True), return_dtype=pl.Int64).to_numpy()


def scores(learn: Learner, features: Any, codes: Ints, labels: pl.Series) -> Floats:
    """Probabilities for the items that come after those with ``labels`` (i64, from 0, all of which occur), when it has learnt these."""
    known, asked = np.split(codes, [len(labels)])
    return probabilities(learn(), features[known], np.eye(labels.n_unique())[labels.to_numpy()], features[asked])


def probabilities(model: Any, features: Any, counts: Floats, asked: Any) -> Floats:
    """What a classifier says of the features ``asked`` when it has learnt how often each of ``features`` has each label; what it has not
    seen it never says."""
    rows, labels = counts.nonzero()
    seen = np.unique(labels)
    found = np.zeros((asked.shape[0], counts.shape[1]))
    if len(seen) > 1:
        found[:, seen] = model.fit(features[rows], labels, sample_weight=counts[rows, labels]).predict_proba(asked)
    else:
        found[:, seen] = 1.0
    return found


def regression() -> Any:
    """A logistic regression (multinomial, penalty w*w/2, free intercepts) that is taught up to its optimum: the same on every machine."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(solver="newton-cg", tol=1e-8, max_iter=500)
