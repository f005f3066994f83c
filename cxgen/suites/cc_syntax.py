"""Suite ``cc_syntax``: comparative correlatives and the same words in another order, after Weissweiler et al. 2022, Algorithms 1 and 2.

Sentences come from a grammar file, read off by number. A pair has the same words, so that only their order tells; train and test share no
word but closed-class ones. Four subsets hold a feature of form apart: train has the lowest quarter of its range, test the rest.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import resources
from itertools import accumulate
from typing import Any

import numpy as np
import polars as pl

from cxgen.errors import DataError, needs
from cxgen.families.scoring import Item, Labels
from cxgen.measures.gates import Figures, Gates, measured
from cxgen.project import Project
from cxgen.sampling import digest
from cxgen.schema import Column
from cxgen.streams import uniform
from cxgen.suites import Suite, register
from cxgen.suites.grammar import PRESETS, SIDES, SMALL, Grammar, Way

NAME, GRAMMAR = "cc_syntax", "comparative-correlative"
FEATURES = {
    "length": "words of the sentence",
    "start": "words before the construction",
    "second_start": "words before its second half",
    "distance": "words between the halves",
}
_ROUNDS = 20  # draws that may be needed until there are enough different numbers
_CHANCE, _GATE = 0.5, 0.52  # of classifiers of bags of words
_ENOUGH = 4000  # sentences of each preset and split that classifiers see
COLUMNS = (
    Column("id", pl.String, "content-addressed item id"),
    Column("contrast_set", pl.String, "the two sentences with the same words"),
    Column("construction", pl.String, "whose grammar it is"),
    Column("sentence", pl.String, "the sentence"),
    Column("label", pl.Int8, "1: an instance of the construction; 0: the same words in another order"),
    Column("preset", pl.String, "`small`: a small vocabulary, as in the published design; `wide`: one from the lexicon", values=PRESETS),
    Column("subset", pl.String, "`general`, or the feature of form that is held apart", values=("general", *FEATURES)),
    Column("value", pl.Int16, "the value of that feature; null in `general`", null=True),
    *(Column(name, pl.Int16, meaning) for name, meaning in FEATURES.items()),
    Column("derivation", pl.Int64, "which sentence of the grammar the instance is, from 0, for this preset and split"),
    Column("order", pl.Int16, "which of the other orders the reordered one has, from 0"),
    Column("verb", pl.String, "the verb of the first half"),
    Column("band", pl.String, "its frequency band in the lexicon; null where it is none of its words", null=True),
    Column("split", pl.String, "train or test", values=SIDES),
)


class Pairs:
    """The pairs that one side of a preset can give; each is drawn once, uniformly.

    Args:
        grammar: the grammar file.
        preset, side: which words.
        seed: another seed, other pairs.
    """

    def __init__(self, grammar: Grammar, preset: str, side: str, seed: int) -> None:
        self._grammar, self._preset, self._side, self._seed = grammar, preset, side, seed
        self._language = grammar.language(preset, side)
        self._half = grammar.symbol("half")
        self._ways = [way for ways in self._language.ways(grammar.symbol("instance")).values() for way in ways]
        self._ends = list(accumulate(way.count for way in self._ways))
        self._features = [_features(way, self._half) for way in self._ways]
        mixed = [way.rule for ways in self._language.ways(grammar.symbol("mixed")).values() for way in ways]
        self._orders = list(dict.fromkeys(mixed))
        self._drawn: dict[int, None] = {}

    def values(self, feature: str) -> list[int]:
        """The values that a feature can have."""
        return sorted({features[feature] for features in self._features})

    def draw(self, count: int, subset: str = "general", value: int | None = None) -> Iterator[dict[str, Any]]:
        """Rows of ``count`` pairs that were not drawn before, the instance first: of those in which the feature ``subset`` has a value.

        Raises:
            DataError: there are not so many.
        """
        able = np.array([value is None or features[subset] == value for features in self._features])
        last = np.array(self._ends, dtype=np.int64)
        ends = np.cumsum(np.where(able, np.diff(last, prepend=0), 0))
        stream = (self._seed, NAME, self._preset, self._side, subset, "" if value is None else value)
        fresh: dict[int, None] = {}
        for start in range(0, _ROUNDS * count, count):
            places = (uniform((*stream, "sentence"), start, count) * ends[-1]).astype(np.int64)
            way = np.searchsorted(ends, places, side="right")
            numbers = (last[way] - ends[way] + places).tolist()
            fresh |= dict.fromkeys(number for number in numbers if number not in self._drawn)
            if len(fresh) >= count:
                break
        else:
            asked = "in all" if value is None else f"{subset} {value}"
            what = f"{len(fresh)} of {count} sentences ({self._preset}, {self._side}, {asked})"
            raise DataError(what, file=self._grammar.document.path, hint="more words, or fewer pairs in params.yaml (suites)")
        numbers = list(fresh)[:count]
        self._drawn |= dict.fromkeys(numbers)
        orders = (uniform((*stream, "order"), 0, count) * len(self._orders) ** 2).astype(np.int64).tolist()
        for place, (number, order) in enumerate(zip(numbers, orders, strict=True)):
            for row in self.rows(number, order):
                yield {**row, "subset": subset, "value": value, "place": place}

    def rows(self, number: int, order: int) -> list[dict[str, Any]]:
        """The pair of a sentence of the grammar and its words in another order: rows without subset and band."""
        way = bisect(self._ends, number)
        plain: list[str] = []
        mixed: list[str] = []
        verbs: list[str] = []
        turns = divmod(order, len(self._orders))
        for symbol, length, own in self._language.parts(self._ways[way], number - (self._ends[way - 1] if way else 0)):
            tokens = [symbol] if own < 0 else self._language.text(symbol, length, own)
            plain += tokens
            if symbol == self._half:
                words = self._words(length, own)
                tokens = [token for part in self._orders[turns[len(verbs)]] for token in words.get(str(part), [part])]
                verbs.append(" ".join(words["VERB"]))
            mixed += tokens
        texts = _sentence(plain), _sentence(mixed)
        pair = digest(f"pair\x1f{self._preset}\x1f{texts[0]}")
        shared = {"contrast_set": pair, "derivation": number, "order": order, "verb": verbs[0], **self._features[way]}
        shared |= {"preset": self._preset, "split": self._side}
        return [{**shared, "sentence": text, "label": 1 - place, "id": digest(f"{pair}\x1f{text}")} for place, text in enumerate(texts)]

    def _words(self, length: int, number: int) -> dict[str, list[str]]:
        """What a half is made of: symbol -> tokens."""
        parts = self._language.parts(*self._language.chosen(self._half, length, number))
        return {symbol: self._language.text(symbol, size, own) for symbol, size, own in parts if own >= 0}


def _features(way: Way, half: str) -> dict[str, int]:
    """The features of the sentences that are said in a way with two halves."""
    first, second = (place for place, part in enumerate(way.rule) if str(part) == half)
    start, later = sum(way.lengths[:first]), sum(way.lengths[:second])
    return {"length": sum(way.lengths), "start": start, "second_start": later, "distance": later - start - way.lengths[first]}


def _sentence(tokens: Sequence[str]) -> str:
    text = " ".join(tokens).replace(" ,", ",")
    return f"{text[0].upper()}{text[1:]}."


def _low(values: Collection[int]) -> set[int]:
    """The values in the lowest quarter of their range."""
    least, most = min(values), max(values)
    return {value for value in values if value <= least + (most - least) / 4}


def rows(project: Project, seed: int, sizes: Mapping[str, int]) -> pl.DataFrame:
    """All rows. ``sizes``: ``general``, pairs per preset and split; ``per_value``, pairs per value of each feature.

    Raises:
        DataError: the grammar has too few sentences of a kind.
    """
    grammar = Grammar.load(project, GRAMMAR)
    drawn: list[dict[str, Any]] = []
    for preset in PRESETS:
        sides = {side: Pairs(grammar, preset, side, seed) for side in SIDES}
        tables = {side: list(pairs.draw(sizes["general"])) for side, pairs in sides.items()}
        for feature in FEATURES if preset == SMALL else ():
            low = _low({value for pairs in sides.values() for value in pairs.values(feature)})
            for side, pairs in sides.items():
                for value in pairs.values(feature):
                    if (value in low) == (side == SIDES[0]):
                        tables[side] += pairs.draw(sizes["per_value"], feature, value)
        drawn += [row for side in SIDES for row in tables[side]]
    return _table(drawn, grammar)


def sample(project: Project, seed: int, n: int) -> pl.DataFrame:
    """Rows of ``n`` pairs of the test side, of both presets in turn."""
    grammar = Grammar.load(project, GRAMMAR)
    drawn = [list(Pairs(grammar, preset, SIDES[1], seed).draw(-(-n // 2))) for preset in reversed(PRESETS)]
    return _table(sorted((row for pairs in drawn for row in pairs), key=lambda row: row["place"])[: 2 * n], grammar)


def _table(drawn: Sequence[Mapping[str, Any]], grammar: Grammar) -> pl.DataFrame:
    bands = {row["lemma"]: row["band"] for row in reversed(grammar.rows("verb"))}
    schema = {column.name: column.dtype for column in COLUMNS}
    return pl.DataFrame([{**row, "construction": GRAMMAR, "band": bands.get(row["verb"])} for row in drawn], schema=schema)


def violations(project: Project, rows: pl.DataFrame) -> dict[str, int]:
    """How often each rule is broken, counted in the finished sentences."""
    closed = Grammar.load(project, GRAMMAR).closed
    pairs = rows.group_by("contrast_set").agg(
        bags=_words().list.sort().n_unique(), labels=pl.col("label").n_unique(), count=pl.len(), splits=pl.col("split").n_unique()
    )
    apart = rows.filter(pl.col("value").is_not_null())
    held = pl.coalesce(pl.when(pl.col("subset") == name).then(pl.col(name)) for name in FEATURES)
    classes = apart.group_by("subset", "value", "split").agg(ones=pl.col("label").sum(), all=pl.len())
    return {
        "repeated ids": rows.height - rows["id"].n_unique(),
        "repeated sentences": rows.height - rows.select("preset", "sentence").unique().height,
        "pairs that are none": pairs.filter((pl.col("count") != 2) | (pl.col("labels") != 2)).height,
        "pairs with different words": pairs.filter(pl.col("bags") != 1).height,
        "pairs in two splits": pairs.filter(pl.col("splits") != 1).height,
        "words in train and test": sum(len(_shared_words(own) - closed) for _, own in rows.group_by("preset")),
        "sentences without the value of their subset": apart.filter(held != pl.col("value")).height,
        "values with unequal classes": classes.filter(2 * pl.col("ones").cast(pl.Int64) != pl.col("all")).height,
        "values in the wrong split": sum(_misplaced(own) for _, own in apart.group_by("subset")),
    }


def _words() -> pl.Expr:
    return pl.col("sentence").str.to_lowercase().str.extract_all(r"[^\s,.]+")


def _misplaced(rows: pl.DataFrame) -> int:
    """Values of a subset that train should not have, or that test should not have."""
    low = _low(rows["value"].unique().to_list())
    return rows.select("value", "split").unique().filter(pl.col("value").is_in(list(low)) != (pl.col("split") == SIDES[0])).height


def _shared_words(rows: pl.DataFrame) -> set[str]:
    """The words that occur in both splits, in small letters."""
    sides = [set(own.select(_words().explode().unique())["sentence"]) for _, own in rows.group_by("split")]
    return set.intersection(*sides) if len(sides) > 1 else set()


def counts(rows: pl.DataFrame) -> dict[str, Any]:
    """Preset -> subset -> split -> ``pairs`` and the values' ``least, most, values``."""
    report: dict[str, Any] = {}
    for (preset, subset, split), own in rows.group_by("preset", "subset", "split", maintain_order=True):
        values = own["value"].drop_nulls()
        span = {"least": values.min(), "most": values.max(), "values": values.n_unique()} if len(values) else {}
        report.setdefault(str(preset), {}).setdefault(str(subset), {})[str(split)] = {"pairs": own.height // 2, **span}
    return report


def measures(rows: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Accuracies on test of linear models of the words, and of the pairs of neighbours, of the first 4,000 sentences in train.

    Raises:
        DataError: scikit-learn is not installed.
    """
    with needs("the measures need scikit-learn", "report"):
        from sklearn.feature_extraction.text import CountVectorizer

        from cxgen.measures.fits import logistic
    rows = rows.filter(pl.col("subset") == "general")
    report = {}
    for name, size, gates in (("bag_of_words", 1, Gates(overall=_GATE, construction=_GATE)), ("bigrams", 2, Gates())):
        shares: dict[str, float] = {}
        for (preset,), own in rows.group_by("preset", maintain_order=True):
            train, test = (own.filter(pl.col("split") == side).head(_ENOUGH) for side in SIDES)
            counter = CountVectorizer(ngram_range=(1, size), token_pattern=r"[^\s,.]+")
            model = logistic().fit(counter.fit_transform(train["sentence"].to_list()), train["label"].to_numpy())
            shares[str(preset)] = round(float(model.score(counter.transform(test["sentence"].to_list()), test["label"].to_numpy())), 4)
        report[name] = measured(Figures(sum(shares.values()) / max(len(shares), 1), {NAME: shares}), gates, _CHANCE)
    return report


def shown(rows: pl.DataFrame) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Pairs to look at: a heading, and (mark, sentence) below it."""
    for _, pair in rows.group_by("contrast_set", maintain_order=True):
        first = pair.row(0, named=True)
        heading = f"[{first['preset']}: {first['length']} words, sentence {first['derivation']}]"
        yield heading, [("instance" if label else "reordered", text) for label, text in pair.select("label", "sentence").iter_rows()]


class Instances(Labels):
    """Sentences of which a classifier says whether they are instances. They are put to no model: its layers are what is probed."""

    answers: tuple[str, ...] = ("reordered", "instance")
    task = ""
    needs: tuple[str, ...] = ("sentence", "label")

    def shown(self, item: Item) -> dict[str, str]:
        """The sentence."""
        return {"sentence": item["sentence"]}

    def texts(self, rows: pl.DataFrame) -> pl.DataFrame:
        """One text per sentence."""
        return rows.select(premise=pl.lit(""), hypothesis="sentence").with_columns(rows["label"].cast(pl.Int64).alias("class"))


_VALUE = pl.concat_str("subset", pl.col("value").cast(pl.String).str.zfill(2), separator=" ")
register(
    Suite(
        name=NAME,
        construction=GRAMMAR,
        holds="comparative correlatives and the same words in another order, from a grammar; four subsets hold a feature of form apart",
        sizes={"general": 5000, "per_value": 1000},
        columns=COLUMNS,
        splits=SIDES,
        card=(resources.files(__package__) / f"{NAME}.md.j2").read_text("utf-8"),
        scoring=Instances(),
        cluster=pl.col("verb"),
        dimensions={
            "preset": pl.col("preset"),
            "subset": pl.col("subset"),
            "value": pl.when(pl.col("value").is_not_null()).then(_VALUE),
            "band": pl.col("band"),
        },
        rows=rows,
        sample=sample,
        violations=violations,
        counts=counts,
        measures=measures,
        shown=shown,
    )
)
