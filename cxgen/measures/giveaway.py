"""Can the label be had without understanding? Classifiers that should fail, cross-validated with whole contrast sets held out.

``hypothesis_only``: word 1-2-grams and character 2-5-grams, logistic regression. ``overlap_only``: gradient boosting on counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.measures.fits import Fit, Map, Pending, accuracy, grouped, logistic, reduced, right
from cxgen.measures.gates import Figures, Gates, by_target
from cxgen.measures.registry import measure
from cxgen.schema import TARGET

Ints = NDArray[np.int64]
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


@measure("nli", Gates(overall=0.40), published=0.53)
def overlap_only(rows: pl.DataFrame, folds: int, run: Map) -> Pending[Figures]:
    """a classifier that sees only shared words, negations and lengths."""
    return _validated(_boosting, *_counts(rows["premise"], rows["hypothesis"]), rows, folds, run)


@measure("nli", Gates(overall=0.345, construction=0.365), published=0.72)
def hypothesis_only(rows: pl.DataFrame, folds: int, run: Map) -> Pending[Figures]:
    """a classifier that never sees the premise."""
    return _validated(logistic, *_ngrams(rows["hypothesis"]), rows, folds, run)


def _validated(make: Callable[[], Any], features: Any, codes: Ints, rows: pl.DataFrame, folds: int, run: Map) -> Pending[Figures]:
    """Accuracy over all, and trained and tested within every construction of every config, whole contrast sets held out."""
    labels = rows["label"].to_numpy().astype(np.int64)
    groups = rows["contrast_set"].rank("dense").to_numpy().astype(np.int64)
    parts = rows.select("config", target=TARGET).with_row_index("row").group_by("config", "target").agg("row").sort("config", "target")
    fits = [grouped(make, features, codes, labels, groups, folds)]
    fits += [
        grouped(make, *reduced(features, codes[part]), labels[part], groups[part], folds) for part in map(np.array, parts["row"].to_list())
    ]
    return _figures(run(right, fits), parts, {"folds": folds})


def _figures(hits: Iterable[list[NDArray[np.float64]]], parts: pl.DataFrame, more: dict[str, Any]) -> Pending[Figures]:
    """The accuracies of all items and of each part (``config, target``), when asked."""

    def figures() -> Figures:
        overall, *own = map(accuracy, hits)
        return Figures(overall, by_target(parts.select("config", "target", pl.Series("figure", own))), more=more)

    return figures


@measure("minimal_pairs", Gates(overall=0.52, construction=0.52), chance=0.5)
def diagnostic_only(rows: pl.DataFrame, folds: int, run: Map) -> Pending[Figures]:
    """a classifier that sees a continuation without its context."""
    parts = rows.select("config", target=TARGET).unique().sort("config", "target")
    tables = [rows, *(rows.filter((pl.col("config") == config) & (target == TARGET)) for config, target in parts.iter_rows())]
    return _figures(run(right, [_sides(table, folds) for table in tables]), parts, {})


def _sides(rows: pl.DataFrame, folds: int) -> Fit:
    """A classifier that tells good from bad continuations, whole contrast sets held out; fewer folds if there are fewer sets."""
    texts = pl.concat([rows["diagnostic_good"].alias("text"), rows["diagnostic_bad"].alias("text")])
    labels = np.repeat(np.array([1, 0], dtype=np.int64), rows.height)
    sets = rows["contrast_set"]
    return grouped(
        logistic, *_ngrams(texts), labels, np.tile(sets.rank("dense").to_numpy().astype(np.int64), 2), min(folds, sets.n_unique())
    )


@measure("minimal_pairs", Gates(overall=0, construction=0), chance=0.0)
def unequal_words(rows: pl.DataFrame, folds: int, run: Map) -> Figures:
    """words that are not equally often in good and bad continuations."""
    parts = rows.group_by("config", TARGET.alias("target"), maintain_order=True)
    table = [(*key, count_unequal_words(part)) for key, part in parts]
    return Figures(count_unequal_words(rows), by_target(pl.DataFrame(table, schema=["config", "target", "count"], orient="row")))


def count_unequal_words(rows: pl.DataFrame) -> int:
    """How many words are not as often in ``diagnostic_good`` as in ``diagnostic_bad``."""
    words = [
        rows.select(word=pl.col(side).str.to_lowercase().str.extract_all(r"[\w']+").explode(), sign=pl.lit(sign))
        for side, sign in (("diagnostic_good", 1), ("diagnostic_bad", -1))
    ]
    return pl.concat(words).group_by("word").agg(pl.col("sign").sum()).filter(pl.col("sign") != 0).height


def _ngrams(texts: pl.Series) -> tuple[Any, NDArray[np.int64]]:
    """Counts of n-grams, of words and within words, each kind of length 1; one row per distinct text, and the row of every text."""
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    distinct = texts.unique(maintain_order=True)
    lower = distinct.str.to_lowercase()
    words = lower.str.extract_all(r"\w\w+")
    pairs = words.list.eval(_NEIGHBOURS).list.drop_nulls()
    names, places = _told_apart(lower.str.extract_all(r"\S+"))
    letters = CountVectorizer(analyzer="char_wb", ngram_range=(2, 5)).fit_transform(names)
    matrix = hstack([normalize(_told_apart(words.list.concat(pairs))[1]), normalize(places @ letters)]).tocsr()
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
