"""What training teaches a linear model that sees which word of the premise meets which word of the hypothesis, and no order.

``word_pairs``: all words, trained on ``train``, tested on ``test``, config by config. ``cues_only``: template words alone, fillers masked.
``cues_transfer``: the same, trained on all other constructions and tested on this one: what is left then is no knowledge of templates, but
cues that give labels away everywhere (*almost*, *never*).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.measures.fits import Fit, Map, right
from cxgen.measures.gates import Gates, shares
from cxgen.measures.words import TOKEN, lemma
from cxgen.schema import TARGET

_RECURRENT = 10
_COLUMNS = 2**19
_PRIME = 1_000_003
_EPOCHS = 20
_MASKED = 0
WORD_PAIRS = Gates(config=0.60)
CUES_ONLY = Gates(overall=0.45)
CUES_TRANSFER = Gates(construction=0.40)

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


def word_pairs(rows: pl.DataFrame, run: Map = map) -> dict[str, Any]:
    """Accuracy on the test split of a model of hashed pairs of words, as `measured` has it.

    Args:
        rows: ``config, construction, contrast_of, premise, hypothesis, label, split``.
        run: maps the fits.
    """
    texts = [_codes(rows[side].str.to_lowercase().str.extract_all(TOKEN.pattern), {}) for side in ("premise", "hypothesis")]
    features, labels = _pairs(*texts), rows["label"].to_numpy().astype(np.int64)
    train, test = ((rows["split"] == name).to_numpy() for name in ("train", "test"))
    configs = [(rows["config"] == config).to_numpy() for config in rows["config"].unique()]
    found = _right(features, labels, [(train & mine, test & mine) for mine in configs], run)
    return shares(rows.with_columns(right=found).filter(test), pl.col("right"), WORD_PAIRS)


def cues(rows: pl.DataFrame, run: Map = map) -> dict[str, dict[str, Any]]:
    """``cues_only`` and, where there are several constructions, ``cues_transfer``, as `measured` has them.

    Words count as templates' if they occur with at least ``_RECURRENT`` combinations of verb and frame, are part of no filler's lemma, and
    are no form of a filler of their own premise.

    Args:
        rows: as for `word_pairs`, with ``verb, frame, slots``.
        run: maps the fits.
    """
    features, labels = _pairs(*_template_words(rows)), rows["label"].to_numpy().astype(np.int64)
    train, test = ((rows["split"] == name).to_numpy() for name in ("train", "test"))
    tested = rows.with_columns(right=_right(features, labels, [(train, test)], run)).filter(test)
    found = {"cues_only": shares(tested, pl.col("right"), CUES_ONLY)}
    targets = rows.select(TARGET).to_series()
    names = targets.unique().sort()
    if len(names) > 1:
        own = [(targets == name).to_numpy() for name in names]
        tested = rows.with_columns(right=_right(features, labels, [(~mine, mine) for mine in own], run), config=pl.lit("all"))
        found["cues_transfer"] = shares(tested, pl.col("right"), CUES_TRANSFER)
    return found


def _template_words(rows: pl.DataFrame) -> tuple[list[Ints], list[Ints]]:
    """The template words of premises and hypotheses, as numbers, ``_MASKED`` for what else there is."""
    own = [frozenset(map(_known, words)) for words in _fillers(rows).to_list()]
    fillers = set(_fillers(rows).explode().unique().drop_nulls())
    texts = [rows[side].str.to_lowercase().str.extract_all(TOKEN.pattern) for side in ("premise", "hypothesis")]
    places = rows.select(pl.struct("verb", "frame").alias("place"), token=pl.concat_list(*texts))
    counts = places.explode("token").group_by("token").agg(pl.col("place").n_unique())
    known = sorted(set(counts.filter(pl.col("place") >= _RECURRENT)["token"]) - fillers)
    numbers = {word: number for number, word in enumerate(known, 1)}
    masked = [
        pl.Series([[word for word in words if _known(word) not in mine] for words, mine in zip(text.to_list(), own, strict=True)])
        for text in texts
    ]
    premises, hypotheses = (_codes(text, numbers, grow=False) for text in masked)
    return premises, hypotheses


def _fillers(rows: pl.DataFrame) -> pl.Series:
    """Every item's fillers' lemmas, word by word."""
    lemmas = pl.col("slots").list.eval(pl.element().struct.field("lemma")).list.join(" ", ignore_nulls=True)
    return rows.select(lemmas.str.to_lowercase().str.extract_all(TOKEN.pattern)).to_series()


def _known(word: str) -> str:
    return lemma(word) or word


def _codes(tokens: pl.Series, numbers: dict[str, int], *, grow: bool = True) -> list[Ints]:
    """Sorted numbers of the different words of every text; those that ``numbers`` lacks join it, or are ``_MASKED``."""
    known: dict[tuple[str, ...], Ints] = {}
    found = []
    for words in map(tuple, tokens.to_list()):
        if words not in known:
            taken = {numbers.setdefault(word, len(numbers) + 1) if grow else numbers.get(word, _MASKED) for word in words}
            known[words] = np.array(sorted(taken | {_MASKED}), dtype=np.int64)
        found.append(known[words])
    return found


def _pairs(premises: list[Ints], hypotheses: list[Ints]) -> Any:
    """One row per item, one column per hashed pair of a premise's and a hypothesis's word."""
    from scipy.sparse import csr_matrix

    indices = [
        ((left[:, None] * _PRIME + right[None, :] * 8191) % _COLUMNS).ravel() for left, right in zip(premises, hypotheses, strict=True)
    ]
    ends = np.concatenate([[0], np.cumsum([len(each) for each in indices])])
    flat = np.concatenate(indices)
    matrix = csr_matrix((np.ones(len(flat)), flat, ends), shape=(len(indices), _COLUMNS))
    return matrix[:, np.unique(flat)]


def _linear() -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="log_loss", alpha=1e-6, max_iter=_EPOCHS, tol=None, average=True, random_state=0)


def _right(features: Any, labels: Ints, folds: list[tuple[Mask, Mask]], run: Map) -> pl.Series:
    """Which items a logistic regression gets, trained and tested as each of ``folds`` says; False for those that none tests."""
    found = np.zeros(len(labels), dtype=bool)
    fits = [Fit(_linear, features, labels, [fold]) for fold in folds]
    for (_, test), (hit,) in zip(folds, run(right, fits), strict=True):
        found[test] = hit
    return pl.Series(found)


def pair_scores(train: pl.DataFrame, test: pl.DataFrame) -> NDArray[np.float64]:
    """What the model of ``word_pairs`` says of ``test`` when it has learnt ``train``.

    Args:
        train, test: ``premise, hypothesis`` (strings) and, in ``train``, ``class`` (i64, from 0, all of which occur).

    Returns:
        Probabilities, one row per text of ``test``, one column per class.
    """
    both = pl.concat([train.select("premise", "hypothesis"), test.select("premise", "hypothesis")])
    features = _pairs(*(_codes(both[side].str.to_lowercase().str.extract_all(TOKEN.pattern), {}) for side in both.columns))
    scores: NDArray[np.float64] = _linear().fit(features[: train.height], train["class"].to_numpy()).predict_proba(features[train.height :])
    return scores
