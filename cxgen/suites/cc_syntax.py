"""Suite ``cc_syntax``: comparative correlatives and the same words in other orders, after Weissweiler et al. 2022, Algorithms 1 and 2.

Four subsets hold a feature of form apart: train has the lowest quarter of its range, test all of it (their section 3.1.3).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from typing import Any

import numpy as np
import polars as pl

from cxgen.errors import DataError, needs
from cxgen.families.scoring import Item, Labels
from cxgen.measures.figures import Figures, Gates, measured
from cxgen.measures.fits import regression
from cxgen.project import Project
from cxgen.schema import Column
from cxgen.streams import address, uniform
from cxgen.suites import Suite, register
from cxgen.suites.grammar import GRAMMAR, INSTANCE, NON_INSTANCE, PRESETS, ROLES, SCRAMBLED, SIDES, WIDE, Grammar, Way

NAME = "cc_syntax"
FEATURES = {
    "length": "words of the sentence",
    "start": "words before the construction",
    "second_start": "words before its second half",
    "distance": "words from the beginning of the first half to that of the second",
}
COLUMNS = (
    Column("id", pl.String, "content-addressed item id"),
    Column("contrast_set", pl.String, "the three sentences with the same words"),
    Column("construction", pl.String, "whose grammar it is"),
    Column("sentence", pl.String, "the sentence"),
    Column(
        "label", pl.Int8, "the same words as 1: an instance of the construction; 0: a grammatical sentence that is none; 2: a scrambled one"
    ),
    Column("preset", pl.String, "the published grammar; or our own words, `small`: few, `wide`: from the lexicon", values=PRESETS),
    Column("subset", pl.String, "`general`, or the feature of form that is held apart", values=("general", *FEATURES)),
    Column("value", pl.Int16, "the value of that feature; null in `general`", null=True),
    *(Column(name, pl.Int16, meaning) for name, meaning in FEATURES.items()),
    Column("derivation", pl.Int64, "which sentence of the grammar the instance is, from 0, for this preset and split"),
    Column("order", pl.Int16, "two digits that choose the orders of the scrambled one's halves"),
    Column("verb", pl.String, "the verb of the first half"),
    Column("band", pl.String, "its frequency band in the lexicon; null where it is none of its words", null=True),
    Column("split", pl.String, "train or test", values=SIDES),
)
_HALVES, _DIGITS = 2, 10
_ROUNDS = 20  # draws that may be needed until there are enough different numbers
_CHANCE, _GATE = round(1 / len(ROLES), 4), 0.35  # of classifiers of bags of words
_ENOUGH = 3000  # sentences of each preset and split that classifiers see: whole sets
_TOKEN = r"[^\s,;.]+"
_WORDS = pl.col("sentence").str.to_lowercase().str.extract_all(_TOKEN)
LOW = pl.col("value") <= (3 * pl.col("value").min() + pl.col("value").max()) / 4  # the lowest quarter of a range


class _Sets:
    """The sets that one side of a preset can give: each is drawn once, uniformly."""

    def __init__(self, grammar: Grammar, side: str, seed: int) -> None:
        self._grammar, self._side, self._seed = grammar, side, seed
        self._language, self._halves = grammar.language(side), grammar.data["halves"]
        self._ways = list(chain(*self._language.ways(grammar.data["sentences"][INSTANCE]).values()))
        self._starts = np.cumsum([0, *(way.size for way in self._ways)])
        symbol = self._halves[INSTANCE]
        if any(way.rule.count(symbol) != _HALVES for way in self._ways):
            raise self._language.wrong(
                f"an instance without two halves {symbol}", f"every rule of {grammar.data['sentences'][INSTANCE]} has it twice"
            )
        self._orders = {INSTANCE: {rule: [[*range(len(rule))]] for rule in self._rules(symbol)}, NON_INSTANCE: {}, SCRAMBLED: {}}
        for rule, role in product(self._rules(symbol), (NON_INSTANCE, SCRAMBLED)):
            orders = [_order(rule, other) for other in self._rules(self._halves[role]) if sorted(other) == sorted(rule)]
            self._orders[role][rule] = orders
            if not orders:
                raise self._language.wrong(f"no {role} order of {' '.join(rule)}", f"a rule of {self._halves[role]} with the same parts")
        self.features = pl.DataFrame([_features(way, symbol) for way in self._ways])
        self._drawn: set[int] = set()

    def _rules(self, symbol: str) -> list[tuple[str, ...]]:
        return list(dict.fromkeys(way.rule for way in chain(*self._language.ways(symbol).values())))

    def draw(self, count: int, subset: str = "general", value: int | None = None) -> Iterator[dict[str, Any]]:
        """Rows of ``count`` sets that were not drawn before, the instance first; with a ``value`` of those in which the feature ``subset``
        has it, fewer if there are no more."""
        able = value is None or (self.features[subset] == value).to_numpy()
        ends = np.cumsum(np.where(able, np.diff(self._starts), 0))
        stream = (self._seed, NAME, self._grammar.preset, self._side, subset, "" if value is None else value)
        fresh: dict[int, None] = {}
        start = 0
        while len(fresh) < count and start < _ROUNDS * count:
            bits = (uniform((*stream, part), start, count) for part in ("sentence", "rest"))  # one alone has not as many as a number
            places = np.array([(int(one * 2**53) * 2**11 + int(two * 2**11)) * int(ends[-1]) >> 64 for one, two in zip(*bits, strict=True)])
            ways = np.searchsorted(ends, places, side="right")
            numbers = (self._starts[ways + 1] - ends[ways] + places).tolist()
            fresh |= dict.fromkeys(number for number in numbers if number not in self._drawn)
            start += count
        if len(fresh) < count and value is None:
            what = f"{len(fresh)} of {count} sentences ({self._grammar.preset}, {self._side})"
            raise DataError(what, file=self._grammar.document.path, hint="more words, or fewer sets in params.yaml (suites)")
        drawn = list(fresh)[:count]
        self._drawn.update(drawn)
        orders = (uniform((*stream, "order"), 0, len(drawn)) * _DIGITS**2).astype(np.int64).tolist()
        for place, (number, order) in enumerate(zip(drawn, orders, strict=True)):
            for row in self._set(number, order):
                yield {**row, "subset": subset, "value": value, "place": place}

    def _set(self, number: int, order: int) -> Iterator[dict[str, Any]]:
        way = int(np.searchsorted(self._starts, number, side="right")) - 1
        sentences: dict[str, list[str]] = {role: [] for role in self._orders}
        verbs: list[str] = []
        language, turns = self._language, iter(divmod(order, _DIGITS))
        for symbol, length, own in language.parts([self._ways[way]], number - int(self._starts[way])):
            if symbol == self._halves[INSTANCE]:
                parts, turn = language.parts(language.ways(symbol)[length], own), next(turns)
                rule, said = tuple(part[0] for part in parts), [language.text(*part) for part in parts]
                verbs += [" ".join(words) for name, words in zip(rule, said, strict=True) if name == "VERB"]
                for role, orders in self._orders.items():
                    for place in orders[rule][turn % len(orders[rule])]:
                        sentences[role] += said[place]
            else:
                for sentence in sentences.values():
                    sentence.extend(language.text(symbol, length, own))
        texts = {role: self._grammar.written(words) for role, words in sentences.items()}
        name = address("set", self._grammar.preset, texts[INSTANCE])
        shared = {"contrast_set": name, "derivation": number, "order": order, "verb": verbs[0] if verbs else ""}
        shared |= {"preset": self._grammar.preset, "split": self._side, **self.features.row(way, named=True)}
        for role, text in texts.items():
            yield {**shared, "sentence": text, "label": ROLES.index(role), "id": address(name, text)}


def _order(rule: Sequence[str], other: Iterable[str]) -> list[int]:
    """Where in ``rule`` the parts of ``other``, the same in another order, stand."""
    left = list(enumerate(rule))
    return [left.pop(next(at for at, (_, name) in enumerate(left) if name == wanted))[0] for wanted in other]


def _features(way: Way, half: str) -> dict[str, int]:
    first, second = (place for place, part in enumerate(way.rule) if part == half)
    start, later = sum(way.lengths[:first]), sum(way.lengths[:second])
    return {"length": sum(way.lengths), "start": start, "second_start": later, "distance": later - start}


def _rows(project: Project, seed: int, sizes: Mapping[str, int]) -> pl.DataFrame:
    """All rows. ``sizes``: ``general``, sets per preset and split; ``per_value``, sets per value of each feature and split."""
    drawn = list[dict[str, Any]]()
    for grammar in Grammar.every(project):
        sides = {side: _Sets(grammar, side, seed) for side in SIDES}
        features = pl.concat(sets.features for sets in sides.values())
        for side, sets in sides.items():
            drawn += sets.draw(sizes["general"])
            for feature in FEATURES if grammar.preset != WIDE else ():
                low = features.select(value=feature).filter(LOW)["value"].max()
                values = sets.features[feature].unique().sort()
                for value in values.filter(values <= low) if side == SIDES[0] else values:
                    drawn += sets.draw(sizes["per_value"], feature, value)
    return _table(drawn, grammar)


def _sample(project: Project, seed: int, n: int) -> pl.DataFrame:
    grammars = Grammar.every(project)[::-1]
    drawn = [row for grammar in grammars for row in _Sets(grammar, SIDES[1], seed).draw(-(-n // len(grammars)))]
    return _table(sorted(drawn, key=lambda row: row["place"])[: len(ROLES) * n], grammars[0])


def _table(drawn: Iterable[Mapping[str, Any]], grammar: Grammar) -> pl.DataFrame:
    bands = {row["lemma"]: row["band"] for row in reversed(grammar.rows("verb"))}
    schema = {column.name: column.dtype for column in COLUMNS}
    return pl.DataFrame(({**row, "construction": GRAMMAR, "band": bands.get(row["verb"])} for row in drawn), schema=schema)


def _violations(project: Project, rows: pl.DataFrame) -> dict[str, int]:
    splits, labels = pl.col("split").n_unique(), pl.col("label")
    bags = pl.concat(part.select(bag=_WORDS.list.sort().list.join(" ").hash()) for part in rows.iter_slices(_ENOUGH))
    counts = {"bags": pl.col("bag").n_unique(), "labels": labels.n_unique(), "n": pl.len(), "splits": splits}
    sets = rows.select("contrast_set", "label", "split", bags["bag"]).group_by("contrast_set").agg(**counts)
    parts = [part.select("preset", "split", word=_WORDS).explode("word").unique() for part in rows.iter_slices(_ENOUGH)]
    words = pl.concat(parts).group_by("preset", "word").agg(splits=splits).filter(pl.col("splits") > 1)
    closed = [(grammar.preset, word) for grammar in Grammar.every(project) for word in set(grammar.closed)]
    both = words.join(pl.DataFrame(closed, schema=["preset", "word"], orient="row"), on=["preset", "word"], how="anti")
    apart = rows.drop_nulls("value").with_columns(low=LOW.over("preset", "subset"))
    held = pl.coalesce(pl.when(pl.col("subset") == name).then(pl.col(name)) for name in FEATURES)
    values = apart.group_by("preset", "subset", "value", "split").agg(
        *((labels == label).sum().alias(role) for label, role in enumerate(ROLES))
    )
    return {
        "repeated ids": rows.height - rows["id"].n_unique(),
        "repeated sentences": rows.height - rows.select("preset", "sentence").unique().height,
        "sets that are none": sets.filter((pl.col("n") != len(ROLES)) | (pl.col("labels") != len(ROLES))).height,
        "sets with different words": sets.filter(pl.col("bags") != 1).height,
        "sets in two splits": sets.filter(pl.col("splits") != 1).height,
        "words in train and test": both.height,
        "sentences without the value of their subset": apart.filter(held != pl.col("value")).height,
        "values with unequal classes": values.filter(pl.any_horizontal(pl.col(role) != pl.col(INSTANCE) for role in ROLES)).height,
        "values in the wrong split": apart.filter(~pl.col("low") & (pl.col("split") == SIDES[0])).height,
    }


def _counts(rows: pl.DataFrame) -> dict[str, Any]:
    """Preset -> subset -> split -> ``sets`` and the values' ``least, most, values``."""
    report: dict[str, Any] = {}
    for (preset, subset, split), own in rows.group_by("preset", "subset", "split", maintain_order=True):
        values = own["value"].drop_nulls()
        span = {"least": values.min(), "most": values.max(), "values": values.n_unique()} if len(values) else {}
        report.setdefault(str(preset), {}).setdefault(str(subset), {})[str(split)] = {"sets": own.height // len(ROLES), **span}
    return report


def _measures(rows: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Accuracies on test of linear models of the words, and of the pairs of neighbours, of the first 3,000 sentences in train."""
    with needs("the measures need scikit-learn", "report"):
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.pipeline import make_pipeline
    report = {}
    for name, size, gates in (("bag_of_words", 1, Gates(overall=_GATE, construction=_GATE)), ("bigrams", 2, Gates())):
        shares: dict[str, float] = {}
        for (preset,), own in rows.filter(pl.col("subset") == "general").group_by("preset", maintain_order=True):
            sides = (own.filter(pl.col("split") == side).head(_ENOUGH) for side in SIDES)
            train, test = ((side["sentence"].to_list(), side["label"].to_numpy()) for side in sides)
            model = make_pipeline(CountVectorizer(ngram_range=(1, size), token_pattern=_TOKEN), regression()).fit(*train)
            shares[str(preset)] = float(model.score(*test))
        report[name] = measured(Figures(sum(shares.values()) / max(len(shares), 1), {NAME: shares}), gates, _CHANCE)
    return report


def _shown(rows: pl.DataFrame) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    for _, own in rows.group_by("contrast_set", maintain_order=True):
        heading = "[{preset}: {length} words, sentence {derivation}]".format(**own.row(0, named=True))
        yield heading, [(ROLES[label], text) for label, text in own.select("label", "sentence").iter_rows()]


class _Instances(Labels):
    """Sentences of which a classifier says what they are. They are put to no model: its layers are what is probed."""

    answers: tuple[str, ...] = ROLES
    task = ""
    needs: tuple[str, ...] = ("sentence", "label")

    def shown(self, item: Item) -> dict[str, str]:
        return {"sentence": item["sentence"]}

    def texts(self, rows: pl.DataFrame) -> pl.DataFrame:
        return super().texts(rows.with_columns(premise=pl.lit(""), hypothesis="sentence"))


_VALUE = pl.concat_str("subset", pl.col("value").cast(pl.String).str.zfill(2), separator=" ")  # null in `general`
_ROLE = pl.col("label").replace_strict(dict(enumerate(ROLES)), return_dtype=pl.String)
register(
    Suite(
        name=NAME,
        construction=GRAMMAR,
        holds="comparative correlatives and the same words in other orders, from grammars; four subsets hold a feature of form apart",
        sizes={"general": 3000, "per_value": 250},
        columns=COLUMNS,
        splits=SIDES,
        scoring=_Instances(),
        cluster=pl.col("verb"),
        dimensions={**{name: pl.col(name) for name in ("preset", "subset", "band")}, "value": _VALUE, "class": _ROLE},
        rows=_rows,
        sample=_sample,
        violations=_violations,
        counts=_counts,
        measures=_measures,
        shown=_shown,
    )
)
