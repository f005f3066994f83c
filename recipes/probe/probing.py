"""Linear probes: what a logistic regression over one layer's vectors tells apart: with all of train, a part, or a feature held apart.

The probe is scikit-learn's, over standardised vectors (Alain and Bengio 2017, "Understanding intermediate layers using linear classifier
probes"). Beside the layers stand counts of words, which know nothing of order: where these do well, the words give the answer away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from cxgen.errors import DataError
from cxgen.streams import order_keys
from recipes.probe.settings import Controlled, Curve, Probe

WORDS = "words"  # called like a layer


@dataclass(frozen=True)
class Task:
    """What a probe learns from, and what it is tried on.

    Attributes:
        what: all, curve, or controlled.
        train, test: rows of the table of sentences.
        feature: the one that is held apart, or "".
        size, repeat: of the learning curve, or 0.
    """

    what: str
    train: pl.DataFrame
    test: pl.DataFrame
    feature: str = ""
    size: int = 0
    repeat: int = 0

    @property
    def key(self) -> str:
        """Its name among a run's results."""
        return f"{self.what}/{self.feature}/{self.size}/{self.repeat}"


def tasks(rows: pl.DataFrame, curve: Curve, controlled: Controlled, seed: int) -> list[Task]:
    """What is to be probed.

    Args:
        rows: from `read_sentences`, with ``state`` (position of the sentence's vector).
        curve, controlled: settings.
        seed: another seed, other draws of the learning curve.

    Raises:
        DataError: there is nothing to learn from or to try.
    """
    general = rows.filter(pl.col("feature").is_null())
    found = []
    if general.height:
        train, test = (general.filter(pl.col("split") == split) for split in ("train", "test"))
        whole = Task("all", train, test)
        _require(whole)
        found.append(whole)
        sizes = [size for size in curve.sizes if size < train.height]
        found += [
            Task("curve", drawn(train, size, seed, repeat), test, size=size, repeat=repeat)
            for size in sizes
            for repeat in range(curve.repeats)
        ]
    for feature in rows["feature"].drop_nulls().unique().sort():
        task = held_apart(rows.filter(pl.col("feature") == feature), feature, controlled.share)
        _require(task)
        found.append(task)
    return found


def drawn(train: pl.DataFrame, size: int, seed: int, repeat: int) -> pl.DataFrame:
    """So many sentences, both labels alike: whole pairs where all have a counterpart."""
    unit = "pair" if train["pair"].null_count() == 0 else "sentence"
    names = train[unit].unique().sort()
    order = pl.DataFrame({unit: names, "order": order_keys((seed, repeat, "curve"), names)})
    rows = train.join(order, on=unit, how="left", maintain_order="left").sort("order", maintain_order=True)
    number = pl.int_range(pl.len()).over("label")
    return rows.filter(number < size // 2).drop("order")


def fewer(rows: pl.DataFrame, most: int | None, seed: int) -> pl.DataFrame:
    """At most so many sentences of each split of each subset, of a feature's values alike; see `drawn`. None: all."""
    if most is None:
        return rows
    kept = []
    for _, part in rows.group_by("split", "feature", maintain_order=True):
        values = part.partition_by("value", maintain_order=True)
        kept += [drawn(each, most // len(values), seed, 0) for each in values]
    return pl.concat(kept)


def held_apart(rows: pl.DataFrame, feature: str, share: float) -> Task:
    """A feature held apart. Where train and test have values in common, train keeps those at the low end of the range, test has all of them
    (Weissweiler et al. 2022, section 3.1.3). Values that are no numbers stand in the alphabet's order.
    """
    train, test = (rows.filter(pl.col("split") == split) for split in ("train", "test"))
    if set(train["value"]) & set(test["value"]):
        order = values(rows["value"].drop_nulls().unique())
        places = pl.Series(order).cast(pl.Float64, strict=False)
        places = places if not places.null_count() else pl.Series(range(len(order)))
        low = [value for value, place in zip(order, places, strict=True) if place <= places[0] + share * (places[-1] - places[0])]
        train = train.filter(pl.col("value").is_in(low))
    return Task("controlled", train, test, feature=feature)


def values(found: pl.Series) -> list[str]:
    """Values of a feature in order."""
    numbers = found.cast(pl.Float64, strict=False)
    return list(found.sort() if numbers.null_count() else found.gather(numbers.arg_sort()))


def _require(task: Task) -> None:
    for name, rows in (("train", task.train), ("test", task.test)):
        if rows["label"].n_unique() < 2:
            what = f"the {name} part of {task.feature or 'the sentences'} has {rows.height} sentences and not both labels"
            raise DataError(what, hint="splits train and test need instances and others; of a feature, train those with low values")


def features_of(vectors: np.ndarray[Any, Any] | None, sentences: Sequence[str], task: Task) -> tuple[Any, Any]:
    """What a probe sees of train and test: a layer's vectors, or (None) counts of words known from train."""
    positions = [rows["state"].to_numpy() for rows in (task.train, task.test)]
    if vectors is not None:
        return vectors[positions[0]], vectors[positions[1]]
    from sklearn.feature_extraction.text import CountVectorizer

    texts = [[sentences[number] for number in where] for where in positions]
    counter = CountVectorizer(token_pattern=r"\w+|[^\w\s]")
    return counter.fit_transform(texts[0]), counter.transform(texts[1])


def probed(layer: str, seen: tuple[Any, Any], task: Task, how: Probe) -> list[dict[str, Any]]:
    """Train one probe and try it.

    Returns:
        Rows ``what, layer, feature, value`` (of the feature, null for all), ``size`` (sentences learned from), ``repeat, items, accuracy``
        and ``pairs``: share of pairs in which all are right, null where none are whole in test.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # Counts stay sparse: they are not centred.
    model = make_pipeline(StandardScaler(with_mean=layer != WORDS), LogisticRegression(C=how.c, max_iter=how.iterations))
    right = model.fit(seen[0], task.train["label"].to_numpy()).predict(seen[1]) == task.test["label"].to_numpy()
    test = task.test.with_columns(right=pl.Series(right))
    given = {"what": task.what, "layer": layer, "feature": task.feature, "size": task.train.height, "repeat": task.repeat}
    parts: dict[str | None, pl.DataFrame] = {None: test}
    if task.feature:
        parts |= {value: test.filter(pl.col("value") == value) for value in values(test["value"].unique())}
    return [{**given, "value": value, **_scored(part)} for value, part in parts.items()]


def _scored(test: pl.DataFrame) -> dict[str, Any]:
    whole = test.drop_nulls("pair").group_by("pair").agg(pl.col("right").all(), both=pl.col("label").n_unique() > 1).filter("both")
    pairs = float(whole["right"].cast(pl.Float64).to_numpy().mean()) if whole.height else None
    return {"items": test.height, "accuracy": float(test["right"].cast(pl.Float64).to_numpy().mean()), "pairs": pairs}


def summary(found: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """A line per layer: ``layer, accuracy, pairs``; for each size of the learning curve ``n=SIZE`` (mean of the draws) and ``+-`` (their
    standard deviation); for each feature that is held apart its name, with the accuracy on all its values."""
    for layer in dict.fromkeys(row["layer"] for row in found):
        mine = [row for row in found if row["layer"] == layer and row["value"] is None]
        line: dict[str, Any] = {"layer": layer}
        for row in mine:
            if row["what"] == "all":
                line |= {"accuracy": row["accuracy"], "pairs": row["pairs"]}
            elif row["what"] == "controlled":
                line[row["feature"]] = row["accuracy"]
        for size in sorted({row["size"] for row in mine if row["what"] == "curve"}):
            each = [row["accuracy"] for row in mine if row["what"] == "curve" and row["size"] == size]
            line |= {f"n={size}": float(np.mean(each)), f"+-{size}": float(np.std(each))}
        yield {name: value for name, value in line.items() if value is not None}
