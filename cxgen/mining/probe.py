"""Labelled comparative correlatives of a corpus as data for a probe, after Weissweiler et al. 2022, sections 3.1.2 and 3.1.3."""

import re

import polars as pl

from cxgen.streams import order_keys
from cxgen.suites.cc_syntax import FEATURES, LOW

PER_VALUE = {"train": 10, "test": 5}  # sentences of each value of a feature and each label
_TRAIN = 2 / 3  # share of a label's sentences whose groups train has
_words = re.compile(r"\w[\w'’-]*").findall


def divided(rows: pl.DataFrame) -> pl.DataFrame:
    """Candidates with ``label``, each sentence once, with ``split`` and the features: a group of tags is in train or in test as a whole,
    each label's in an order that looks random, train's first, one group in test at least."""
    rows = rows.unique("sentence", keep="first", maintain_order=True)
    groups = rows.group_by("label", "group").len()
    groups = groups.with_columns(order=pl.Series(order_keys(("split",), groups["group"]))).sort("label", "order")
    before = (pl.col("len").cum_sum() - pl.col("len")).over("label")
    last = pl.int_range(pl.len()).over("label") == pl.len().over("label") - 1
    train = (before < _TRAIN * pl.col("len").sum().over("label")) & ~last
    splits = groups.select("label", "group", split=pl.when(train).then(pl.lit("train")).otherwise(pl.lit("test")))
    places = [_places(sentence, spans) for sentence, spans in rows.select("sentence", "spans").iter_rows()]
    features = pl.DataFrame(places, schema=dict.fromkeys(FEATURES, pl.Int64), orient="row")
    return pl.concat([rows.join(splits, on=["label", "group"], maintain_order="left"), features], how="horizontal")


def _places(sentence: str, spans: list[dict[str, object]]) -> tuple[int, int, int, int]:
    starts = {span["name"]: len(_words(sentence[: int(str(span["start"]))])) for span in spans}
    first, second = starts["first"], starts["second"]
    return len(_words(sentence)), first, second, second - first


def subsets(rows: pl.DataFrame) -> pl.DataFrame:
    """Subsets in which a feature is held apart, from `divided`: ``sentence, label, split, feature, value, group``. Of every value that all
    labels have in a split each has equally many sentences, at most `PER_VALUE`; train has the lowest quarter of their range, test all."""
    made = []
    labels = rows["label"].n_unique()
    rows = rows.with_columns(order=pl.Series(order_keys(("subset",), rows["sentence"]))).sort("order")
    for feature in FEATURES:
        own = rows.with_columns(feature=pl.lit(feature), value=feature)
        own = own.filter(pl.col("label").n_unique().over("split", "value") == labels)
        own = own.filter(LOW | (pl.col("split") == "test"))
        least = pl.len().over("split", "value", "label").min().over("split", "value")
        most = pl.col("split").replace_strict(PER_VALUE, return_dtype=pl.UInt32)
        own = own.filter(pl.int_range(pl.len()).over("split", "value", "label") < pl.min_horizontal(least, most))
        made.append(own.select("sentence", "label", "split", "feature", "value", "group"))
    return pl.concat(made).sort("feature", "split", "value", "label", maintain_order=True)
