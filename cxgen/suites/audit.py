"""What must be true of the rows of `cc_syntax`, counted in the finished sentences; and what shallow classifiers get."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import polars as pl

from cxgen.errors import needs
from cxgen.measures.gates import Gates, measured
from cxgen.suites.features import FEATURES, low_end

_CHANCE = 0.5
_GATE = 0.52  # of classifiers of bags of words
_ENOUGH = 4000  # sentences of each preset and split


def violations(rows: pl.DataFrame, closed: Collection[str]) -> dict[str, int]:
    """How often each rule is broken.

    Args:
        rows: of both splits.
        closed: words that both may have, in small letters.
    """
    words = rows.select("contrast_set", "label", "split", "preset", "id", words=_words())
    pairs = words.group_by("contrast_set").agg(
        bags=pl.col("words").list.sort().n_unique(), labels=pl.col("label").n_unique(), count=pl.len(), splits=pl.col("split").n_unique()
    )
    apart = rows.filter(pl.col("value").is_not_null())
    values = apart.select("subset", *FEATURES, "value")
    held = pl.coalesce(pl.when(pl.col("subset") == name).then(pl.col(name)) for name in FEATURES)
    classes = apart.group_by("subset", "value", "split").agg(ones=pl.col("label").sum(), all=pl.len())
    return {
        "repeated ids": rows.height - rows["id"].n_unique(),
        "repeated sentences": rows.height - rows.select("preset", "sentence").unique().height,
        "pairs that are none": pairs.filter((pl.col("count") != 2) | (pl.col("labels") != 2)).height,
        "pairs with different words": pairs.filter(pl.col("bags") != 1).height,
        "pairs in two splits": pairs.filter(pl.col("splits") != 1).height,
        "words in train and test": sum(len(shared_words(mine) - set(closed)) for _, mine in rows.group_by("preset")),
        "sentences without the value of their subset": values.filter(held != pl.col("value")).height,
        "values with unequal classes": classes.filter(2 * pl.col("ones").cast(pl.Int64) != pl.col("all")).height,
        "values in the wrong split": sum(_misplaced(mine) for _, mine in apart.group_by("subset")),
    }


def _words() -> pl.Expr:
    return pl.col("sentence").str.to_lowercase().str.extract_all(r"[^\s,.]+")


def _misplaced(rows: pl.DataFrame) -> int:
    """Values of a subset that train should not have, or that test should not have."""
    low = low_end(rows["value"].unique().to_list())
    values = rows.select("value", "split").unique()
    return values.filter(pl.col("value").is_in(list(low)) != (pl.col("split") == "train")).height


def shared_words(rows: pl.DataFrame) -> set[str]:
    """The words that occur in both splits, in small letters."""
    found = [set(mine.select(_words().explode().unique())["sentence"]) for _, mine in rows.group_by("split")]
    return set.intersection(*found) if len(found) > 1 else set()


def measures(rows: pl.DataFrame, config: str) -> dict[str, dict[str, Any]]:
    """Accuracies on test of linear models of the words, and of the pairs of neighbours, of sentences in train.

    Args:
        rows: of both splits; of the subset ``general`` the first 4,000 of each preset and split are used.
        config: their config.

    Raises:
        DataError: scikit-learn is not installed.
    """
    with needs("the measures need scikit-learn", "report"):
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.linear_model import LogisticRegression
    rows = rows.filter(pl.col("subset") == "general")
    found = {}
    for name, size, gates in (("bag_of_words", 1, Gates(overall=_GATE, construction=_GATE)), ("bigrams", 2, Gates())):
        each: dict[str, float] = {}
        for (preset,), mine in rows.group_by("preset", maintain_order=True):
            train, test = (mine.filter(pl.col("split") == side).head(_ENOUGH) for side in ("train", "test"))
            counts = CountVectorizer(ngram_range=(1, size), token_pattern=r"[^\s,.]+")
            model = LogisticRegression(max_iter=200).fit(counts.fit_transform(train["sentence"].to_list()), train["label"].to_numpy())
            each[str(preset)] = round(float(model.score(counts.transform(test["sentence"].to_list()), test["label"].to_numpy())), 4)
        overall = round(sum(each.values()) / max(len(each), 1), 4)
        found[name] = measured(overall, {}, {config: each}, gates, _CHANCE)
    return found
