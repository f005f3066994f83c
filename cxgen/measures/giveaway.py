"""Can the label be had without understanding? Two classifiers that should fail.

``hypothesis_only`` never sees the premise: word 1-2-grams and character 2-5-grams, logistic regression. ``overlap_only`` sees only counts:
shared words, negations, lengths; gradient boosting. Both are cross-validated with whole contrast sets held out (grouped k-fold).
On expert-made CxNLI the first reaches 72% and the second 53% (chance: 33%).
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.measures.fits import Map, accuracy, grouped, right
from cxgen.measures.gates import Gates, measured
from cxgen.schema import TARGET

GATES = {"hypothesis_only": Gates(overall=0.345, construction=0.365), "overlap_only": Gates(overall=0.40)}
_NEGATIONS = frozenset(["no", "not", "never", "nothing", "nobody", "none", "neither", "nor", "without", "cannot"])
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?")
OVERLAP_FEATURES = (
    "shared words",
    "share of hypothesis",
    "share of premise",
    "Jaccard",
    "shared bigrams",
    "negations in premise",
    "negations in hypothesis",
    "words in premise",
    "words in hypothesis",
    "difference in length",
)


def baselines(dataset: pl.DataFrame, folds: int = 3, run: Map = map) -> dict[str, Any]:
    """Accuracy of both classifiers over all, and trained and tested within every construction of every config (look-alikes and opposites
    with their target).

    Args:
        dataset: columns ``config, premise, hypothesis, label, contrast_set, construction, contrast_of``.
        folds: number of folds.
        run: maps the fits.

    Returns:
        classifier -> what `measured` gives: accuracies; and ``folds``.
    """
    labels = dataset["label"].to_numpy().astype(np.int64)
    groups = dataset["contrast_set"].rank("dense").to_numpy().astype(np.int64)
    parts = dataset.select("config", target=TARGET).with_row_index("row")
    parts = parts.group_by("config", "target", maintain_order=True).agg("row").sort("config", "target")
    fits = []
    for features, make in (
        (_counts(dataset["premise"], dataset["hypothesis"]), _boosting),  # the longest first
        (_ngrams(dataset["hypothesis"]), _logistic),
    ):
        fits.append(grouped(make, features, labels, groups, folds))
        for rows in map(np.array, parts["row"].to_list()):
            fits.append(grouped(make, features[rows], labels[rows], groups[rows], folds))
    figures = map(accuracy, run(right, fits))
    report: dict[str, Any] = {}
    for name in ("overlap_only", "hypothesis_only"):
        overall = next(figures)
        configs: dict[str, dict[str, float]] = {}
        for config, target in parts.select("config", "target").iter_rows():
            configs.setdefault(config, {})[target] = next(figures)
        report[name] = measured(overall, {}, configs, GATES[name]) | {"folds": folds}
    return report


def side_only(good: pl.Series, bad: pl.Series, groups: pl.Series, folds: int) -> float:
    """Accuracy of a classifier that tells good from bad continuations without their contexts (chance 50%), cross-validated by group.

    Args:
        good, bad: texts, row by row.
        groups: what is held out together.
        folds: number of folds; fewer if there are fewer groups.
    """
    texts = pl.concat([good.alias("text"), bad.alias("text")])
    labels = np.repeat(np.array([1, 0], dtype=np.int64), len(good))
    numbers = np.tile(groups.rank("dense").to_numpy().astype(np.int64), 2)
    return accuracy(right(grouped(_logistic, _ngrams(texts), labels, numbers, min(folds, groups.n_unique()))))


def _ngrams(texts: pl.Series) -> Any:
    """Hashed n-gram counts, one row per text; each distinct sentence is vectorised once."""
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import HashingVectorizer

    distinct = texts.unique(maintain_order=True)
    words = HashingVectorizer(ngram_range=(1, 2), n_features=2**17, alternate_sign=False)
    characters = HashingVectorizer(analyzer="char_wb", ngram_range=(2, 5), n_features=2**18, alternate_sign=False)
    matrix = hstack([vectorizer.transform(distinct.to_list()) for vectorizer in (words, characters)]).tocsr()
    matrix = matrix[:, np.unique(matrix.indices)]  # a column without a count has no weight either, but costs time at every step
    number = {text: row for row, text in enumerate(distinct)}
    return matrix[np.array([number[text] for text in texts])]


def _counts(premises: pl.Series, hypotheses: pl.Series) -> NDArray[np.float64]:
    """The columns of ``OVERLAP_FEATURES``."""
    words = {text: _TOKEN.findall(text.lower()) for text in {*premises, *hypotheses}}
    rows = np.empty((len(premises), len(OVERLAP_FEATURES)))
    for number, (premise, hypothesis) in enumerate(zip(premises, hypotheses, strict=True)):
        p, h = words[premise], words[hypothesis]
        ps, hs = set(p), set(h)
        shared = len(ps & hs)
        bigrams = len(set(pairwise(p)) & set(pairwise(h)))
        negations = [sum(word in _NEGATIONS or word.endswith("n't") for word in side) for side in (p, h)]
        rows[number] = (
            shared,
            shared / len(hs),
            shared / len(ps),
            shared / len(ps | hs),
            bigrams,
            *negations,
            len(p),
            len(h),
            len(p) - len(h),
        )
    return rows


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=200)


def _boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0, max_iter=60)


def hypothesis_scores(train: pl.DataFrame, test: pl.DataFrame) -> NDArray[np.float64]:
    """What ``hypothesis_only`` says of ``test`` when it has learnt ``train``.

    Args:
        train, test: ``hypothesis`` (string) and, in ``train``, ``class`` (i64, from 0, all of which occur).

    Returns:
        Probabilities, one row per text of ``test``, one column per class.
    """
    features = _ngrams(pl.concat([train["hypothesis"], test["hypothesis"]]))
    model = _logistic().fit(features[: train.height], train["class"].to_numpy())
    scores: NDArray[np.float64] = model.predict_proba(features[train.height :])
    return scores
