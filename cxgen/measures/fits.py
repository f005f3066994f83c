"""Fitting classifiers: the jobs of the measures that take the time. Whoever maps them decides where they run."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Map = Callable[..., Iterable[Any]]  # the built-in `map`, or that of an executor, which begins at once
Predict = Callable[[Any], Floats]  # features -> probabilities
Make = Callable[[Any], tuple[Any, Ints]]  # texts or rows -> features, and of every item which row of them it has
Learner = Callable[[Any, Floats], Predict]  # features, how often each has each label -> a trained classifier
Folds = list[tuple[NDArray[Any], NDArray[Any]]]  # items to train on, items to test on
_TIE = 1e-6  # probabilities that are as near as this are equal
_OPTIMUM = 1e-8  # the largest slope there, per item


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
            scores = learn(features[known], counts[known])(features)
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
    return learn(features[known], np.eye(labels.n_unique())[labels.to_numpy()])(features[asked])


def taught(model: Any, features: Any, counts: Floats) -> Predict:
    """A scikit-learn classifier that has learnt."""
    rows, labels = counts.nonzero()
    predict: Predict = model.fit(features[rows], labels, sample_weight=counts[rows, labels]).predict_proba
    return predict


def logistic(features: Any, counts: Floats) -> Predict:
    """A logistic regression (multinomial, penalty w*w/2, free intercepts) at its optimum: the same on every machine.

    Newton's method, steps by conjugate gradients, in the k - 1 directions in which k coefficients sum to 0; one vector at a time is faster.
    """
    from scipy.linalg import helmert
    from scipy.sparse import hstack
    from scipy.sparse.linalg import LinearOperator, cg
    from scipy.special import log_softmax, softmax

    counts, weights = counts.T, counts.sum(axis=1)
    rows = hstack([features, np.ones((features.shape[0], 1))]).tocsr()
    columns = rows.T.tocsr()
    basis = helmert(len(counts)) if len(counts) > 2 else np.array([[0.0, 1.0]])
    penalty = np.append(np.ones(rows.shape[1] - 1), 0.0)
    solution = np.zeros((len(basis), rows.shape[1]))
    scores, loss = np.zeros(counts.shape), np.inf
    for _ in range(100):
        shares = weights * softmax(scores, axis=0)
        gradient = np.array([columns @ off for off in basis @ (shares - counts)]) + penalty * solution
        slope = np.abs(gradient).max() / weights.sum()
        if slope < _OPTIMUM:
            break
        curved = [[(a * b) @ shares - (a @ shares) * (b @ shares) / weights for a in basis] for b in basis]

        def curvature(step: Floats, curved: list[list[Floats]] = curved) -> Floats:
            sides = [rows @ direction for direction in np.split(step, len(basis))]
            bent = [columns @ sum(a * side for a, side in zip(own, sides, strict=True)) for own in curved]
            return np.concatenate(bent) + np.tile(penalty, len(basis)) * step

        near = max(min(0.1, np.sqrt(slope)), 0.3 * _OPTIMUM / slope)
        operator = LinearOperator((solution.size, solution.size), matvec=curvature, dtype=np.float64)
        step = cg(operator, -gradient.ravel(), rtol=near, maxiter=500)[0].reshape(solution.shape)
        before = loss
        for shorter in 0.5 ** np.arange(30):
            ahead = solution + shorter * step
            scores = basis.T @ np.array([rows @ direction for direction in ahead])
            loss = (penalty * ahead * ahead).sum() / 2 - (counts * log_softmax(scores, axis=0)).sum()
            if loss <= before * (1 + 1e-12):
                break
        solution = ahead
    weights = basis.T @ solution
    return lambda features: np.asarray(softmax(features @ weights[:, :-1].T + weights[:, -1], axis=1))
