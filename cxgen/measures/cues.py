"""What training teaches a linear model that sees which word of the premise meets which word of the hypothesis, and no order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.measures.fits import Fit, Map, Pending, logistic, right
from cxgen.measures.gates import Figures, Gates, shares
from cxgen.measures.registry import measure
from cxgen.measures.words import TOKEN, lemma
from cxgen.schema import TARGET

_RECURRENT = 10
_COLUMNS = 2**19
_PRIME = 1_000_003
_EPOCHS = 20
_MASKED = 0
_SIDES = ("premise", "hypothesis")
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Features = tuple[Any, Ints]  # a row for every combination of words that occurs, and the row of every item


@measure("nli", Gates(config=0.60))
def word_pairs(rows: pl.DataFrame, folds: int, run: Map) -> Pending[Figures]:
    """a linear model on pairs of a premise's and a hypothesis's word, trained on train, tested on test."""
    train, test = ((rows["split"] == name).to_numpy() for name in ("train", "test"))
    configs = [(rows["config"] == config).to_numpy() for config in rows["config"].unique()]
    hits = _right(_averaged, _pairs(_words(rows)), rows, [(train & own, test & own) for own in configs], run)
    return lambda: shares(rows.with_columns(right=hits()).filter(test), pl.col("right"))


@measure("nli", Gates(overall=0.45))
def cues_only(rows: pl.DataFrame, folds: int, run: Map) -> Pending[Figures]:
    """the same on the words of the templates alone."""
    train, test = ((rows["split"] == name).to_numpy() for name in ("train", "test"))
    hits = _right(logistic, _merged(*_pairs(_template_words(rows))), rows, [(train, test)], run)
    return lambda: shares(rows.with_columns(right=hits()).filter(test), pl.col("right"))


@measure("nli", Gates(construction=0.40))
def cues_transfer(rows: pl.DataFrame, folds: int, run: Map) -> Pending[Figures] | None:
    """the same, trained on all other constructions: cues that give labels away everywhere."""
    targets = rows.select(TARGET).to_series()
    own = [(targets == name).to_numpy() for name in targets.unique().sort()]
    if len(own) < 2:
        return None
    hits = _right(logistic, _merged(*_pairs(_template_words(rows))), rows, [(~mask, mask) for mask in own], run)
    return lambda: shares(rows.with_columns(right=hits(), config=pl.lit("all")), pl.col("right"))


def _words(rows: pl.DataFrame) -> pl.DataFrame:
    """The different words of premises and hypotheses, as sorted numbers, the first of them ``_MASKED``: ``premise, hypothesis``."""
    tokens = [_tokens(rows[side]) for side in _SIDES]
    names = pl.concat([words.explode() for words in tokens]).unique(maintain_order=True)
    return _numbered(tokens, names)


def _template_words(rows: pl.DataFrame) -> pl.DataFrame:
    """The same of template words alone; ``_MASKED`` stands for all else.

    Words count as templates' if they occur with at least ``_RECURRENT`` combinations of verb and frame, are part of no filler's lemma, and
    are no form of a filler of their own premise.
    """
    fillers = _fillers(rows)
    tokens = [_tokens(rows[side]) for side in _SIDES]
    places = rows.select(pl.struct("verb", "frame").alias("place"), token=pl.concat_list(*tokens))
    counts = places.explode("token").group_by("token").agg(pl.col("place").n_unique())
    recurrent = counts.filter(pl.col("place") >= _RECURRENT)["token"]
    names = recurrent.filter(~recurrent.is_in(fillers.explode().unique().to_list())).sort()
    own = _rows(fillers, "known").with_columns(pl.col("known").replace(_known(fillers.explode().unique()))).unique()
    return _numbered(tokens, names, own)


def _numbered(tokens: list[pl.Series], names: pl.Series, masked: pl.DataFrame | None = None) -> pl.DataFrame:
    """Which of ``names`` occur in the texts whose ``tokens`` are given, as sorted lists of numbers from 1, with ``_MASKED`` before them.

    Args:
        tokens: of premises and of hypotheses, a list of words per item.
        names: words that count.
        masked: ``row, known``: words that do not count in an item, as what they are known by.
    """
    numbers = pl.DataFrame({"token": names, "number": pl.int_range(1, len(names) + 1, eager=True)})
    if masked is not None:
        numbers = numbers.with_columns(known=pl.col("token").replace(_known(names)))
    numbered = {}
    for side, words in zip(_SIDES, tokens, strict=True):
        present = _rows(words, "token").join(numbers, on="token")
        if masked is not None:
            present = present.join(masked, on=["row", "known"], how="anti")
        every = pl.select(row=pl.int_range(len(words), dtype=pl.UInt32), number=pl.lit(_MASKED, pl.Int64))
        present = pl.concat([present.select(every.columns), every]).unique()
        numbered[side] = present.sort("row", "number").group_by("row", maintain_order=True).agg("number")["number"]
    return pl.DataFrame(numbered)


def _tokens(texts: pl.Series) -> pl.Series:
    return texts.str.to_lowercase().str.extract_all(TOKEN.pattern)


def _rows(lists: pl.Series, name: str) -> pl.DataFrame:
    """``row`` (u32) and the members of ``lists`` one by one."""
    return lists.alias(name).to_frame().with_row_index("row").explode(name).drop_nulls()


def _fillers(rows: pl.DataFrame) -> pl.Series:
    """Every item's fillers' lemmas, word by word."""
    lemmas = pl.col("slots").list.eval(pl.element().struct.field("lemma")).list.join(" ", ignore_nulls=True)
    return _tokens(rows.select(lemmas).to_series())


def _known(words: pl.Series) -> dict[str, str]:
    """What words of any form are known by."""
    return {word: lemma(word) or word for word in words.drop_nulls()}


def _pairs(words: pl.DataFrame) -> Features:
    """One column per hashed pair of a premise's and a hypothesis's word."""
    from scipy.sparse import csr_matrix

    premise, hypothesis = map(pl.col, _SIDES)
    texts = [side.cast(pl.List(pl.String)).list.join(" ") for side in (premise, hypothesis)]
    words = words.with_columns(code=pl.concat_str(*texts, separator="|"))
    distinct = words.unique("code", maintain_order=True).with_row_index("place")
    sizes = distinct.select(premise.list.len() * hypothesis.list.len()).to_series().to_numpy()
    pairs = distinct.select(_SIDES).explode(_SIDES[0]).explode(_SIDES[1])
    flat = pairs.select((premise * _PRIME + hypothesis * 8191) % _COLUMNS).to_series().to_numpy()
    used = np.zeros(_COLUMNS, dtype=bool)
    used[flat] = True
    columns = np.cumsum(used)[flat] - 1
    ends = np.concatenate([[0], np.cumsum(sizes)])
    matrix = csr_matrix((np.ones(len(flat)), columns, ends), shape=(distinct.height, int(used.sum())))
    codes = words.join(distinct.select("code", "place"), on="code", how="left", maintain_order="left")["place"]
    return matrix, codes.to_numpy().astype(np.int64)


def _merged(matrix: Any, codes: Ints) -> Features:
    """Columns that are alike as one, which weighs as much for a logistic regression: times the square root of how many they are."""
    from scipy.sparse import diags

    keys = matrix.T.astype(np.int64) @ np.random.default_rng(0).integers(2**62, size=matrix.shape[0])
    _, places, counts = np.unique(keys, return_index=True, return_counts=True)
    return (matrix[:, places] @ diags(np.sqrt(counts))).tocsr(), codes


def _averaged() -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="log_loss", alpha=1e-6, max_iter=_EPOCHS, tol=None, average=True, random_state=0)


def _right(make: Callable[[], Any], seen: Features, rows: pl.DataFrame, folds: list[tuple[Mask, Mask]], run: Map) -> Pending[pl.Series]:
    """How far a classifier gets each item (see `right`), trained and tested as each of ``folds`` says; 0 for those that none tests."""
    labels = rows["label"].to_numpy().astype(np.int64)
    hits = run(right, [Fit(make, *seen, labels, [fold]) for fold in folds])

    def marked() -> pl.Series:
        marks = np.zeros(len(labels))
        for (_, test), (hit,) in zip(folds, hits, strict=True):
            marks[test] = hit
        return pl.Series(marks)

    return marked


def pair_scores(train: pl.DataFrame, test: pl.DataFrame) -> NDArray[np.float64]:
    """What the model of ``word_pairs`` says of ``test`` when it has learnt ``train``.

    Args:
        train, test: ``premise, hypothesis`` (strings) and, in ``train``, ``class`` (i64, from 0, all of which occur).

    Returns:
        Probabilities, one row per text of ``test``, one column per class.
    """
    both = pl.concat([train.select("premise", "hypothesis"), test.select("premise", "hypothesis")])
    matrix, codes = _pairs(_words(both))
    model = _averaged().fit(matrix[codes[: train.height]], train["class"].to_numpy())
    scores: NDArray[np.float64] = model.predict_proba(matrix[codes[train.height :]])
    return scores
