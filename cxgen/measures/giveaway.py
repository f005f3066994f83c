"""Can the label be had without understanding? Classifiers that should fail, cross-validated with whole contrast sets held out."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from cxgen.measures import Items, measure
from cxgen.measures.figures import Figures, Gates, configs
from cxgen.measures.fits import Floats, Ints, Learner, Make, coded, regression, right, scores
from cxgen.schema import TARGET

NEGATIONS = ["no", "not", "never", "nothing", "nobody", "none", "neither", "nor", "without", "cannot"]


_SHARE = (
    "say all that hypotheses ask about alike: one form of its verbs, the same words before its nouns, in every premise kind of a design "
    "(two words side by side count as one more, as in *When Bo left*: *the open gate* and *the gate* share others with *The gate was open*)"
)


@measure("nli", Gates(overall=0.40), published=0.53, mend=_SHARE)
def overlap_only(items: Items) -> Callable[[], Figures]:
    """a classifier that sees only shared words, negations and lengths."""
    return _validated(items, _boosting, _overlap, items.rows.select("premise", "hypothesis"), items.rows["label"], folds=items.folds)


@measure("nli", Gates(overall=0.345, construction=0.365), published=0.72, ungated="cxnli")
def hypothesis_only(items: Items) -> Callable[[], Figures]:
    """a classifier that never sees the premise."""
    return _validated(items, regression, _ngrams, items.rows["hypothesis"], items.rows["label"], folds=items.folds)


@measure("minimal_pairs", Gates(overall=0.52, construction=0.52), chance=0.5)
def diagnostic_only(items: Items) -> Callable[[], Figures]:
    """a classifier that sees a continuation without its context."""
    sides = pl.concat([items.rows["diagnostic_good"].alias("text"), items.rows["diagnostic_bad"].alias("text")])
    return _validated(items, regression, _ngrams, sides, np.repeat([1, 0], items.rows.height))


@measure("minimal_pairs", Gates(overall=0, construction=0), chance=0.0)
def unequal_words(items: Items) -> Figures:
    """words that are not equally often in good and bad continuations."""
    counts = [(*key, count_unequal_words(part)) for key, part in items.rows.group_by("config", TARGET.alias("target"))]
    return Figures(count_unequal_words(items.rows), configs(pl.DataFrame(counts, schema=["config", "target", "count"], orient="row")))


def count_unequal_words(rows: pl.DataFrame) -> int:
    """How many words are not as often in ``diagnostic_good`` as in ``diagnostic_bad``."""
    good, bad = (Counter(re.findall(r"[\w']+", " ".join(rows[side]).lower())) for side in ("diagnostic_good", "diagnostic_bad"))
    return sum(good[word] != bad[word] for word in good | bad)


def _validated(items: Items, learn: Learner, make: Make, seen: Any, labels: Any, **more: Any) -> Callable[[], Figures]:
    """Accuracy over all, and within every construction of every config; ``seen, labels``: of all rows, once or several times over."""
    from sklearn.model_selection import GroupKFold

    sets = items.rows["contrast_set"].rank("dense").to_numpy().astype(np.int64)
    times = np.arange(0, len(labels), items.rows.height)[:, None]
    targets = items.rows.select("config", target=TARGET)
    parts = targets.with_row_index("row").group_by("config", "target").agg("row").sort("config", "target")
    jobs = []
    for part in (np.arange(items.rows.height), *map(np.array, parts["row"].to_list())):
        chosen, groups = (times + part).ravel(), np.tile(sets[part], len(times))
        folds = GroupKFold(min(items.folds, len(np.unique(groups)))).split(groups, groups=groups)
        jobs.append((learn, make, seen[chosen], np.asarray(labels, dtype=np.int64)[chosen], list(folds)))
    hits = items.run(right, jobs)

    def figures() -> Figures:
        overall, *own = (float(np.concatenate(folds).mean()) for folds in hits)
        return Figures(overall, configs(parts.select("config", "target", pl.Series("figure", own))), more=more)

    return figures


def _ngrams(texts: pl.Series) -> tuple[Any, Ints]:
    """Counts of n-grams, of words and within words, each kind of length 1; one row per distinct text, and the row of every text."""
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    distinct, codes = coded(texts)
    words = CountVectorizer(ngram_range=(1, 2)).fit_transform(distinct)
    counter = CountVectorizer(token_pattern=r"\S+")
    tokens = counter.fit_transform(distinct)
    letters = CountVectorizer(analyzer="char_wb", ngram_range=(2, 5)).fit_transform(counter.get_feature_names_out())
    return hstack([normalize(words.astype(np.float64)), normalize((tokens @ letters).astype(np.float64))]).tocsr(), codes


def _overlap(rows: pl.DataFrame) -> tuple[Floats, Ints]:
    """What a premise and a hypothesis share, negations and lengths: one row per combination that occurs, and the row of every item."""
    texts = rows.select(pl.col("premise", "hypothesis").str.to_lowercase().str.extract_all(r"[a-z]+(?:'[a-z]+)?"))
    p, h = pl.col("premise"), pl.col("hypothesis")
    shared = p.list.set_intersection(h).list.len()
    pairs = [side.list.eval(pl.element() + " " + pl.element().shift(-1)).list.drop_nulls() for side in (p, h)]
    negation = pl.element().is_in(NEGATIONS) | pl.element().str.ends_with("n't")
    features = (
        shared,
        shared / h.list.n_unique(),
        shared / p.list.n_unique(),
        shared / p.list.set_union(h).list.len(),
        pairs[0].list.set_intersection(pairs[1]).list.len(),
        *(side.list.eval(negation).list.sum() for side in (p, h)),
        p.list.len(),
        h.list.len(),
        p.list.len().cast(pl.Int64) - h.list.len().cast(pl.Int64),
    )
    table = texts.select(feature.cast(pl.Float64).alias(str(number)) for number, feature in enumerate(features)).to_numpy()
    distinct, codes = np.unique(table, axis=0, return_inverse=True)
    return distinct, codes.ravel()


def _boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0, max_iter=30, learning_rate=0.2, min_samples_leaf=5)


def hypothesis_scores(train: pl.DataFrame, test: pl.DataFrame) -> Floats:
    """Probabilities (text x class) of ``hypothesis_only`` for the ``hypothesis`` of ``test`` when it has learnt ``class`` of ``train``."""
    return scores(regression, *_ngrams(pl.concat([train["hypothesis"], test["hypothesis"]])), train["class"])
