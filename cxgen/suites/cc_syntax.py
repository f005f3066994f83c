"""Suite ``cc_syntax``: comparative correlatives and the same words in another order, after Weissweiler et al. 2022, Algorithms 1 and 2.

Train and test share no word but closed-class ones. Four subsets hold a feature of form apart: train has the lowest quarter of its range.
"""

from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from cxgen.errors import DataError, needs
from cxgen.families.scoring import Item, Labels
from cxgen.measures.figures import Figures, Gates, measured
from cxgen.project import Project
from cxgen.sampling import digest
from cxgen.schema import Column
from cxgen.streams import uniform
from cxgen.suites import Suite, register
from cxgen.suites.grammar import GRAMMAR, PRESETS, SIDES, SMALL, Grammar, Way

NAME = "cc_syntax"
FEATURES = {
    "length": "words of the sentence",
    "start": "words before the construction",
    "second_start": "words before its second half",
    "distance": "words between the halves",
}
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
_ROUNDS = 20  # draws that may be needed until there are enough different numbers
_CHANCE, _GATE = 0.5, 0.52  # of classifiers of bags of words
_ENOUGH = 4000  # sentences of each preset and split that classifiers see
_WORDS = pl.col("sentence").str.to_lowercase().str.extract_all(r"[^\s,.]+")


class _Pairs:
    """The pairs that one side of a preset can give: each is drawn once, uniformly."""

    def __init__(self, grammar: Grammar, preset: str, side: str, seed: int) -> None:
        self._grammar, self._preset, self._side, self._seed = grammar, preset, side, seed
        self._language, self._half = grammar.language(preset, side), grammar.data["half"]
        self._ways, mixed = (list(chain(*self._language.ways(grammar.data[role]).values())) for role in ("instance", "mixed"))
        self._starts = np.cumsum([0, *(way.size for way in self._ways)])
        self.features = pl.DataFrame([_features(way, self._half) for way in self._ways])
        self._orders = list(dict.fromkeys(way.rule for way in mixed))
        self._drawn: set[int] = set()

    def draw(self, count: int, subset: str = "general", value: int | None = None) -> Iterator[dict[str, Any]]:
        """Rows of ``count`` pairs that were not drawn before, the instance first: of those in which the feature ``subset`` has a value."""
        able = value is None or (self.features[subset] == value).to_numpy()
        ends = np.cumsum(np.where(able, np.diff(self._starts), 0))
        stream = (self._seed, NAME, self._preset, self._side, subset, "" if value is None else value)
        fresh: dict[int, None] = {}
        start = 0
        while len(fresh) < count and start < _ROUNDS * count:
            places = (uniform((*stream, "sentence"), start, count) * ends[-1]).astype(np.int64)
            ways = np.searchsorted(ends, places, side="right")
            numbers = (self._starts[ways + 1] - ends[ways] + places).tolist()
            fresh |= dict.fromkeys(number for number in numbers if number not in self._drawn)
            start += count
        if len(fresh) < count:
            what = f"{len(fresh)} of {count} sentences ({self._preset}, {self._side}, {subset} {'' if value is None else value})"
            raise DataError(what, file=self._grammar.document.path, hint="more words, or fewer pairs in params.yaml (suites)")
        drawn = list(fresh)[:count]
        self._drawn.update(drawn)
        orders = (uniform((*stream, "order"), 0, count) * len(self._orders) ** 2).astype(np.int64).tolist()
        for place, (number, order) in enumerate(zip(drawn, orders, strict=True)):
            for row in self._pair(number, order):
                yield {**row, "subset": subset, "value": value, "place": place}

    def _pair(self, number: int, order: int) -> Iterator[dict[str, Any]]:
        way = int(np.searchsorted(self._starts, number, side="right")) - 1
        orders = [self._orders[which] for which in divmod(order, len(self._orders))]
        sentences: tuple[list[str], list[str]] = [], []
        verbs: list[str] = []
        language = self._language
        for symbol, length, own in language.parts([self._ways[way]], number - int(self._starts[way])):
            words = language.text(symbol, length, own)
            sentences[0].extend(words)
            if symbol == self._half:
                pieces = {name: language.text(name, *rest) for name, *rest in language.parts(language.ways(symbol)[length], own)}
                words = [word for name in orders[len(verbs)] for word in pieces[str(name)]]
                verbs.append(" ".join(pieces["VERB"]))
            sentences[1].extend(words)
        texts = [" ".join(words).replace(" ,", ",") for words in sentences]
        plain, mixed = (f"{text[0].upper()}{text[1:]}." for text in texts)
        pair = digest(f"pair\x1f{self._preset}\x1f{plain}")
        shared = {"contrast_set": pair, "derivation": number, "order": order, "verb": verbs[0], "preset": self._preset, "split": self._side}
        shared |= self.features.row(way, named=True)
        for label, text in ((1, plain), (0, mixed)):
            yield {**shared, "sentence": text, "label": label, "id": digest(f"{pair}\x1f{text}")}


def _features(way: Way, half: str) -> dict[str, int]:
    first, second = (place for place, part in enumerate(way.rule) if str(part) == half)
    start, later = sum(way.lengths[:first]), sum(way.lengths[:second])
    return {"length": sum(way.lengths), "start": start, "second_start": later, "distance": later - start - way.lengths[first]}


def _rows(project: Project, seed: int, sizes: Mapping[str, int]) -> pl.DataFrame:
    """All rows. ``sizes``: ``general``, pairs per preset and split; ``per_value``, pairs per value of each feature."""
    grammar, drawn = Grammar(project), list[dict[str, Any]]()
    for preset in PRESETS:
        sides = {side: _Pairs(grammar, preset, side, seed) for side in SIDES}
        features = pl.concat(pairs.features for pairs in sides.values())
        for side, pairs in sides.items():
            drawn += pairs.draw(sizes["general"])
            for feature in FEATURES if preset == SMALL else ():
                quarter = features.select((3 * pl.col(feature).min() + pl.col(feature).max()) / 4).item()
                for value in pairs.features[feature].unique().sort():
                    if (value <= quarter) == (side == SIDES[0]):
                        drawn += pairs.draw(sizes["per_value"], feature, value)
    return _table(drawn, grammar)


def _sample(project: Project, seed: int, n: int) -> pl.DataFrame:
    grammar = Grammar(project)
    drawn = [row for preset in reversed(PRESETS) for row in _Pairs(grammar, preset, SIDES[1], seed).draw(-(-n // 2))]
    return _table(sorted(drawn, key=lambda row: row["place"])[: 2 * n], grammar)


def _table(drawn: Iterable[Mapping[str, Any]], grammar: Grammar) -> pl.DataFrame:
    bands = {row["lemma"]: row["band"] for row in reversed(grammar.rows("verb"))}
    schema = {column.name: column.dtype for column in COLUMNS}
    return pl.DataFrame(({**row, "construction": GRAMMAR, "band": bands.get(row["verb"])} for row in drawn), schema=schema)


def _violations(project: Project, rows: pl.DataFrame) -> dict[str, int]:
    splits, labels, value = pl.col("split").n_unique(), pl.col("label"), pl.col("value").cast(pl.Int64)
    bags = pl.concat(part.select(bag=_WORDS.list.sort().list.join(" ").hash()) for part in rows.iter_slices(_ENOUGH))
    counts = {"bags": pl.col("bag").n_unique(), "labels": labels.n_unique(), "n": pl.len(), "splits": splits}
    pairs = rows.select("contrast_set", "label", "split", bags["bag"]).group_by("contrast_set").agg(**counts)
    parts = [part.select("preset", "split", word=_WORDS).explode("word").unique() for part in rows.iter_slices(_ENOUGH)]
    words = pl.concat(parts).group_by("preset", "word").agg(splits=splits)
    both = words.filter((pl.col("splits") > 1) & ~pl.col("word").is_in(Grammar(project).closed))
    apart = rows.drop_nulls("value").with_columns(low=(value <= value.min() + (value.max() - value.min()) / 4).over("subset"))
    held = pl.coalesce(pl.when(pl.col("subset") == name).then(pl.col(name)) for name in FEATURES)
    values = apart.group_by("subset", "value", "split", "low").agg(share=labels.mean())
    return {
        "repeated ids": rows.height - rows["id"].n_unique(),
        "repeated sentences": rows.height - rows.select("preset", "sentence").unique().height,
        "pairs that are none": pairs.filter((pl.col("n") != 2) | (pl.col("labels") != 2)).height,
        "pairs with different words": pairs.filter(pl.col("bags") != 1).height,
        "pairs in two splits": pairs.filter(pl.col("splits") != 1).height,
        "words in train and test": both.height,
        "sentences without the value of their subset": apart.filter(held != pl.col("value")).height,
        "values with unequal classes": values.filter(pl.col("share") != 0.5).height,
        "values in the wrong split": values.filter(pl.col("low") != (pl.col("split") == SIDES[0])).height,
    }


def _counts(rows: pl.DataFrame) -> dict[str, Any]:
    """Preset -> subset -> split -> ``pairs`` and the values' ``least, most, values``."""
    report: dict[str, Any] = {}
    for (preset, subset, split), own in rows.group_by("preset", "subset", "split", maintain_order=True):
        values = own["value"].drop_nulls()
        span = {"least": values.min(), "most": values.max(), "values": values.n_unique()} if len(values) else {}
        report.setdefault(str(preset), {}).setdefault(str(subset), {})[str(split)] = {"pairs": own.height // 2, **span}
    return report


def _measures(rows: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Accuracies on test of linear models of the words, and of the pairs of neighbours, of the first 4,000 sentences in train."""
    with needs("the measures need scikit-learn", "report"):
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
    report = {}
    for name, size, gates in (("bag_of_words", 1, Gates(overall=_GATE, construction=_GATE)), ("bigrams", 2, Gates())):
        shares: dict[str, float] = {}
        for (preset,), own in rows.filter(pl.col("subset") == "general").group_by("preset", maintain_order=True):
            sides = (own.filter(pl.col("split") == side).head(_ENOUGH) for side in SIDES)
            train, test = ((side["sentence"].to_list(), side["label"].to_numpy()) for side in sides)
            learner = LogisticRegression(solver="newton-cg", tol=1e-8, max_iter=500)
            model = make_pipeline(CountVectorizer(ngram_range=(1, size), token_pattern=r"[^\s,.]+"), learner).fit(*train)
            shares[str(preset)] = round(float(model.score(*test)), 4)
        report[name] = measured(Figures(sum(shares.values()) / max(len(shares), 1), {NAME: shares}), gates, _CHANCE)
    return report


def _shown(rows: pl.DataFrame) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    for _, pair in rows.group_by("contrast_set", maintain_order=True):
        heading = "[{preset}: {length} words, sentence {derivation}]".format(**pair.row(0, named=True))
        yield heading, [("instance" if label else "reordered", text) for label, text in pair.select("label", "sentence").iter_rows()]


class _Instances(Labels):
    """Sentences of which a classifier says whether they are instances. They are put to no model: its layers are what is probed."""

    answers: tuple[str, ...] = ("reordered", "instance")
    task = ""
    needs: tuple[str, ...] = ("sentence", "label")

    def shown(self, item: Item) -> dict[str, str]:
        return {"sentence": item["sentence"]}

    def texts(self, rows: pl.DataFrame) -> pl.DataFrame:
        return super().texts(rows.with_columns(premise=pl.lit(""), hypothesis="sentence"))


_VALUE = pl.concat_str("subset", pl.col("value").cast(pl.String).str.zfill(2), separator=" ")  # null in `general`
register(
    Suite(
        name=NAME,
        construction=GRAMMAR,
        holds="comparative correlatives and the same words in another order, from a grammar; four subsets hold a feature of form apart",
        sizes={"general": 5000, "per_value": 1000},
        columns=COLUMNS,
        splits=SIDES,
        card=(resources.files(__package__) / f"{NAME}.md.j2").read_text("utf-8"),
        scoring=_Instances(),
        cluster=pl.col("verb"),
        dimensions={"preset": pl.col("preset"), "subset": pl.col("subset"), "value": _VALUE, "band": pl.col("band")},
        rows=_rows,
        sample=_sample,
        violations=_violations,
        counts=_counts,
        measures=_measures,
        shown=_shown,
    )
)
