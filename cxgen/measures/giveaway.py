"""Can the label be had without understanding? Two classifiers that should fail.

``hypothesis_only`` never sees the premise: word 1-2-grams and character 2-5-grams, logistic regression. ``overlap_only`` sees only counts:
shared words, negations, lengths; gradient boosting. Both are cross-validated with whole contrast sets held out (grouped k-fold).
On expert-made CxNLI the first reaches 72% and the second 53% (chance: 33%).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.measures.fits import Fit, Map, Pending, accuracy, grouped, logistic, reduced, right
from cxgen.measures.gates import Gates, measured
from cxgen.schema import TARGET

GATES = {"hypothesis_only": Gates(overall=0.345, construction=0.365), "overlap_only": Gates(overall=0.40)}
_NEGATIONS = ["no", "not", "never", "nothing", "nobody", "none", "neither", "nor", "without", "cannot"]
_TOKEN = r"[a-z]+(?:'[a-z]+)?"
_NEIGHBOURS = pl.element() + " " + pl.element().shift(-1)
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


def baselines(dataset: pl.DataFrame, folds: int = 3, run: Map = map) -> Pending[dict[str, Any]]:
    """Accuracy of both classifiers over all, and trained and tested within every construction of every config (look-alikes and opposites
    with their target).

    Args:
        dataset: columns ``config, premise, hypothesis, label, contrast_set, construction, contrast_of``.
        folds: number of folds.
        run: maps the fits.

    Returns:
        When asked: classifier -> what `measured` gives: accuracies; and ``folds``.
    """
    labels = dataset["label"].to_numpy().astype(np.int64)
    groups = dataset["contrast_set"].rank("dense").to_numpy().astype(np.int64)
    parts = dataset.select("config", target=TARGET).with_row_index("row")
    parts = parts.group_by("config", "target", maintain_order=True).agg("row").sort("config", "target")
    fits = []
    for (features, codes), make in (
        (_counts(dataset["premise"], dataset["hypothesis"]), _boosting),  # the longest first
        (_ngrams(dataset["hypothesis"]), logistic),
    ):
        fits.append(grouped(make, features, codes, labels, groups, folds))
        for rows in map(np.array, parts["row"].to_list()):
            fits.append(grouped(make, *reduced(features, codes[rows]), labels[rows], groups[rows], folds))
    hits = run(right, fits)

    def report() -> dict[str, Any]:
        figures = map(accuracy, hits)
        found: dict[str, Any] = {}
        for name in ("overlap_only", "hypothesis_only"):
            overall = next(figures)
            configs: dict[str, dict[str, float]] = {}
            for config, target in parts.select("config", "target").iter_rows():
                configs.setdefault(config, {})[target] = next(figures)
            found[name] = measured(overall, {}, configs, GATES[name]) | {"folds": folds}
        return found

    return report


def side_only(good: pl.Series, bad: pl.Series, groups: pl.Series, folds: int) -> Fit:
    """A classifier that tells good from bad continuations without their contexts (chance 50%), to be cross-validated by group.

    Args:
        good, bad: texts, row by row.
        groups: what is held out together.
        folds: number of folds; fewer if there are fewer groups.
    """
    texts = pl.concat([good.alias("text"), bad.alias("text")])
    labels = np.repeat(np.array([1, 0], dtype=np.int64), len(good))
    numbers = np.tile(groups.rank("dense").to_numpy().astype(np.int64), 2)
    return grouped(logistic, *_ngrams(texts), labels, numbers, min(folds, groups.n_unique()))


def _ngrams(texts: pl.Series) -> tuple[Any, NDArray[np.int64]]:
    """Counts of n-grams, of words and within words, each kind of length 1; one row per distinct text, and the row of every text."""
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    distinct = texts.unique(maintain_order=True)
    lower = distinct.str.to_lowercase()
    said = lower.str.extract_all(r"\w\w+")
    pairs = said.list.eval(_NEIGHBOURS).list.drop_nulls()
    names, places = _told_apart(lower.str.extract_all(r"\S+"))
    letters = CountVectorizer(analyzer="char_wb", ngram_range=(2, 5)).fit_transform(names)
    matrix = hstack([normalize(_told_apart(said.list.concat(pairs))[1]), normalize(places @ letters)]).tocsr()
    return matrix, _places(texts, distinct)


def _told_apart(lists: pl.Series) -> tuple[list[str], Any]:
    """The different members of ``lists`` of strings, and how often each list has each: a sparse matrix, lists x members."""
    from scipy.sparse import csr_matrix

    flat = lists.explode(empty_as_null=False)
    names = flat.unique(maintain_order=True)
    ends = np.concatenate([[0], np.cumsum(lists.list.len().to_numpy())])
    matrix = csr_matrix((np.ones(len(flat)), _places(flat, names), ends), shape=(len(lists), len(names)))
    matrix.sum_duplicates()
    return names.to_list(), matrix


def _places(values: pl.Series, names: pl.Series) -> NDArray[np.int64]:
    """Which of ``names`` each value is."""
    return values.replace_strict(names, pl.int_range(len(names), eager=True), return_dtype=pl.Int64).to_numpy(writable=True)


def _counts(premises: pl.Series, hypotheses: pl.Series) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The columns of ``OVERLAP_FEATURES``, one row per combination that occurs, and the row of every pair of texts."""
    p, h = (pl.col(side) for side in ("premise", "hypothesis"))
    texts = pl.DataFrame({"premise": premises, "hypothesis": hypotheses}).select(pl.all().str.to_lowercase().str.extract_all(_TOKEN))
    shared, every = p.list.set_intersection(h).list.len(), p.list.set_union(h).list.len()
    bigrams = [side.list.eval(_NEIGHBOURS).list.drop_nulls() for side in (p, h)]
    negation = pl.element().is_in(_NEGATIONS) | pl.element().str.ends_with("n't")
    features = (
        shared,
        shared / h.list.n_unique(),
        shared / p.list.n_unique(),
        shared / every,
        bigrams[0].list.set_intersection(bigrams[1]).list.len(),
        *(side.list.eval(negation).list.sum() for side in (p, h)),
        p.list.len(),
        h.list.len(),
        p.list.len().cast(pl.Int64) - h.list.len().cast(pl.Int64),
    )
    rows = texts.select(each.cast(pl.Float64).alias(name) for name, each in zip(OVERLAP_FEATURES, features, strict=True))
    codes = rows.select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy().astype(np.int64) - 1
    return rows[np.unique(codes, return_index=True)[1]].to_numpy(), codes


def _boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0, max_iter=30, learning_rate=0.2, min_samples_leaf=5)


def hypothesis_scores(train: pl.DataFrame, test: pl.DataFrame) -> NDArray[np.float64]:
    """What ``hypothesis_only`` says of ``test`` when it has learnt ``train``.

    Args:
        train, test: ``hypothesis`` (string) and, in ``train``, ``class`` (i64, from 0, all of which occur).

    Returns:
        Probabilities, one row per text of ``test``, one column per class.
    """
    features, codes = _ngrams(pl.concat([train["hypothesis"], test["hypothesis"]]))
    model = logistic().fit(features[codes[: train.height]], train["class"].to_numpy())
    scores: NDArray[np.float64] = model.predict_proba(features[codes[train.height :]])
    return scores
