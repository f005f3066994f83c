"""Suite ``cc_semantics``: what follows from comparative correlatives, as texts with a gap, after Weissweiler et al. 2022, Table 1.

Each base item (S1) comes with tests of three biases (S2: the other order, S3: the opposite correlation, S4: the other order of the names),
and with three calibrations (S5: no correlatives, S6: no comparison, S7: a comparison that has nothing to do with them), in which nothing
follows: what a model says there is what it expects anyway.

What follows is two signs multiplied: *the A-er, the B-er* says that two properties rise together (+1), or that one falls as the other
rises (-1); *x is A-er than y* says that x has more of a property than y (+1) or less (-1). The product says who has more of the second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from itertools import permutations, product
from typing import Any

import polars as pl

from cxgen.errors import DataError
from cxgen.families.scoring import Choices, Item, filled, paired
from cxgen.lexicon import Lexicon
from cxgen.measures.gates import Figures, Gates, measured
from cxgen.project import Project
from cxgen.sampling import digest
from cxgen.schema import Column, Document, read_yaml
from cxgen.streams import order_key, order_keys, uniform
from cxgen.suites import Suite, register
from cxgen.suites.grammar import SIDES

NAME, FILE = "cc_semantics", "comparative-correlative-scenarios"
GAP, BASE = "[MASK]", "S1"
_SIGNS = {"+": 1, "-": -1}
_WORDS = ("first", "second")
_PAIR = pl.concat_str("given", pl.lit(" "), "then")
COLUMNS = (
    Column("id", pl.String, "content-addressed item id"),
    Column("contrast_set", pl.String, "the base item and all that are made from it"),
    Column("base_id", pl.String, "the id of that base item (of S1 its own)"),
    Column("construction", pl.String, "the construction whose meaning decides"),
    Column("scenario", pl.String, "S1 to S7"),
    Column("role", pl.String, "what the scenario is for", values=("base", "recency", "vocabulary", "names", "calibration")),
    Column("text", pl.String, f"the whole text, {GAP} in the gap"),
    Column("mask_start", pl.Int32, f"where {GAP} begins in `text`, in characters from 0"),
    Column("mask_word", pl.Int32, "which word of `text` the gap is, from 0"),
    Column("context", pl.String, "the sentences before the last one"),
    Column("before", pl.String, "the last sentence up to the gap, for models that continue texts"),
    Column("after", pl.String, "the last sentence after the gap"),
    Column("first", pl.String, "a word for the gap"),
    Column("second", pl.String, "its opposite"),
    Column("answer", pl.Int8, "which follows: 0 the first, 1 the second; null where neither does", null=True),
    Column("given", pl.String, "the property that the correlatives begin with"),
    Column("then", pl.String, "the property that goes with it, which the gap is about"),
    Column("wording", pl.Int16, "which wording of the sentences, from 0"),
    Column("split", pl.String, "train or test; they have no adjective in common", values=SIDES),
)
Correlation = tuple[str, str, int]  # two properties; 1: they rise together, -1: one falls as the other rises
Comparison = tuple[str, str, str, int]  # who has more (1) or less (-1) than whom, of what: who, whom, what, sign


def follows(correlations: Iterable[Correlation], known: Comparison | None, who: str, whom: str, what: str) -> int:
    """Whether ``who`` has more of ``what`` than ``whom``: 1 more, -1 less, 0 where nothing decides.

    Raises:
        ValueError: the correlations contradict each other.
    """
    if known is None or {known[0], known[1]} != {who, whom}:
        return 0
    signs = {sign for given, then, sign in correlations if (given, then) == (known[2], what)}
    if len(signs) > 1:
        raise ValueError(f"{known[2]} and {what} rise together, and do not")
    turned = 1 if known[0] == who else -1
    return signs.pop() * known[3] * turned if signs else 0


@dataclass(frozen=True)
class Base:
    """What a base item is about: letter -> property and pole (1 or -1), letter -> name, and the number of the wording."""

    properties: Mapping[str, tuple[Mapping[str, Any], int]]
    names: Mapping[str, str]
    wording: int

    def signed(self, what: str) -> tuple[str, int, str]:
        """The property of ``a+`` and its like, its sign, and the comparative: the first of the property's two is having more of it."""
        property_, pole = self.properties[what[0]]
        sign = pole * _SIGNS[what[1]]
        return property_["name"], sign, property_["comparatives"][0 if sign == 1 else 1]


class Scenarios:
    """The file of scenarios, and the first names that there are."""

    def __init__(self, project: Project) -> None:
        self._document: Document = read_yaml(project.grammar_file(FILE), "scenarios")
        self._data = self._document.data
        lexicon = Lexicon.of(project)
        self._people = [lexicon.lemmas[row] for name in self._data["names"] for row in lexicon.resolve(name).ids]

    @property
    def names(self) -> list[str]:
        """The scenarios."""
        return list(self._data["scenarios"])

    def items(self, side: str, seed: int, draws: int) -> Iterator[dict[str, Any]]:
        """The rows of one side: for each two properties and each choice of poles, ``draws`` base items with all that is made from them.

        Raises:
            DataError: there are not so many names, or what the file says contradicts itself.
        """
        if 2 * draws > len(self._people):
            what, hint = f"{len(self._people)} names", f"{2 * draws} are needed for draws: {draws}"
            raise DataError(what, file=self._document.path, line=self._document.line(["names"]), hint=hint)
        properties = self._data["opposites"][side]
        for (a, b), signs in product(permutations(properties, 2), product((1, -1), repeat=2)):
            others = [third for third in properties if third not in (a, b)]
            stream: tuple[str | int, ...] = (seed, NAME, a["name"], b["name"], *signs)
            people = [name for _, name in sorted(zip(order_keys(stream, self._people), self._people, strict=True))]
            for number in range(draws):
                other, pole, wording = uniform((*stream, "rest"), 3 * number, 3)
                third = (others[int(other * len(others))], 1 if pole < 0.5 else -1)
                names = dict(zip("xy", people[2 * number :], strict=False))
                base = Base({"a": (a, signs[0]), "b": (b, signs[1]), "c": third}, names, int(wording * len(self._data["wordings"])))
                made = [self._item(base, name) for name in self._data["scenarios"]]
                text = next(row["text"] for row in made if row["scenario"] == BASE)
                ids = {row["scenario"]: digest(f"{NAME}\x1f{text}\x1f{row['scenario']}") for row in made}
                shared = {"contrast_set": ids[BASE], "base_id": ids[BASE], "construction": self._data["construction"], "split": side}
                yield from ({**row, "id": ids[row["scenario"]], **shared} for row in made)

    def _item(self, base: Base, name: str) -> dict[str, Any]:
        scenario, wording = self._data["scenarios"][name], self._data["wordings"][base.wording]
        correlations: list[Correlation] = []
        sentences = []
        for (given, up, one), (then, high, other) in (map(base.signed, rule.split()) for rule in scenario["rules"]):
            correlations.append((given, then, up * high))
            sentences.append(filled(wording["rule"], {"a": one, "b": other}))
        known: Comparison | None = None
        if "comparison" in scenario:
            who, what, whom = scenario["comparison"].split()
            property_, sign, comparative = base.signed(what)
            known = (base.names[who], base.names[whom], property_, sign)
            sentences.append(filled(wording["comparison"], {"x": base.names[who], "y": base.names[whom], "a": comparative}))
        who, whom = (base.names[letter] for letter in scenario["conclusion"].split()[::2])
        asked, _ = base.properties["b"]
        try:
            answer = follows(correlations, known, who, whom, asked["name"])
        except ValueError as error:
            line = self._document.line(["scenarios"])
            raise DataError(f"scenarios: {error}", file=self._document.path, line=line, hint="rules of one direction") from error
        context = " ".join(sentences)
        before, after = filled(wording["conclusion"], {"x": who, "y": whom}).split("{gap}")
        return {
            "scenario": name,
            "role": scenario["role"],
            "text": f"{context} {before}{GAP}{after}",
            "mask_start": len(context) + 1 + len(before),
            "mask_word": len(f"{context} {before}".split()),
            "context": context,
            "before": before,
            "after": after,
            **dict(zip(_WORDS, asked["comparatives"], strict=True)),
            "answer": {1: 0, -1: 1, 0: None}[answer],
            "given": base.properties["a"][0]["name"],
            "then": asked["name"],
            "wording": base.wording,
        }

    def wrong(self, rows: pl.DataFrame) -> int:
        """How many answers are not those that the sentences of the items, read once more, give."""
        signs = {
            comparative: (property_["name"], sign)
            for side in self._data["opposites"].values()
            for property_ in side
            for comparative, sign in zip(property_["comparatives"], (1, -1), strict=True)
        }
        wanted = [_reread(row, signs) for row in rows.select("context", "before", "after", "first").iter_rows()]
        return int((pl.Series(wanted, dtype=pl.Int8).ne_missing(rows["answer"])).sum())


def _reread(row: tuple[str, str, str, str], signs: Mapping[str, tuple[str, int]]) -> int | None:
    """The answer by the comparatives and the names that a text's sentences have, whatever they were made from."""
    context, before, after, first = row
    correlations: list[Correlation] = []
    known: Comparison | None = None
    for sentence in context.split(". "):
        words = sentence.rstrip(".").replace(",", "").split()
        poles = [signs[word] for word in words if word in signs]
        if "than" not in words:
            (given, up), (then, high) = poles
            correlations.append((given, then, up * high))
        else:
            place = words.index("than")
            known = (words[place - 3], words[place + 1], *poles[0])
    who, whom = before.split()[-2], after.split()[-1].rstrip(".")
    return {1: 0, -1: 1, 0: None}[follows(correlations, known, who, whom, signs[first][0])]


def rows(project: Project, seed: int, sizes: Mapping[str, int]) -> pl.DataFrame:
    """All rows. ``sizes``: ``draws``, base items for each two properties and their poles, with other names and wordings.

    Raises:
        DataError: what the file says contradicts itself.
    """
    scenarios = Scenarios(project)
    made = [row for side in SIDES for row in scenarios.items(side, seed, sizes["draws"])]
    return pl.DataFrame(made, schema={column.name: column.dtype for column in COLUMNS})


def sample(project: Project, seed: int, n: int) -> pl.DataFrame:
    """Base items of the test side with all that is made from them."""
    made = rows(project, seed, SIZES).filter(pl.col("split") == SIDES[1])
    sets = sorted(made["contrast_set"].unique(), key=lambda name: order_key(seed, "sample", name))[:n]
    return pl.concat([made.filter(pl.col("contrast_set") == name) for name in sets])


def violations(project: Project, rows: pl.DataFrame) -> dict[str, int]:
    """How often each rule is broken, counted in the finished texts."""
    scenarios = Scenarios(project)
    answered = rows.filter(pl.col("answer").is_not_null())
    even = answered.group_by("split", "scenario", "given", "then").agg(share=pl.col("answer").mean())
    bases = rows.filter(pl.col("scenario") == BASE)
    linked = rows.join(bases.select("contrast_set", base="id", one="first", other="second"), on="contrast_set", how="left")
    words = [set(part["first"]) | set(part["second"]) for _, part in rows.group_by("split")]
    gaps = rows.select(pl.col("text").str.slice(pl.col("mask_start"), len(GAP)))["text"]
    whole = pl.concat_str("context", pl.lit(" "), "before", pl.lit(GAP), "after")
    others = (pl.col("one") != pl.col("first")) | (pl.col("other") != pl.col("second"))
    return {
        "repeated ids": rows.height - rows["id"].n_unique(),
        "repeated base texts": bases.height - bases["text"].n_unique(),
        "items without their base item": linked.filter(pl.col("base").is_null() | (pl.col("base") != pl.col("base_id"))).height,
        "items with other words than their base item": linked.filter(others).height,
        "gaps that are elsewhere": int((gaps != GAP).sum()),
        "texts that are not their parts": rows.filter(whole != pl.col("text")).height,
        "sets without every scenario": rows.group_by("contrast_set").len().filter(pl.col("len") != len(scenarios.names)).height,
        "words of the gap not equally often right": even.filter(pl.col("share") != 0.5).height,
        "words in train and test": len(set.intersection(*words)) if len(words) > 1 else 0,
        "answers that the facts do not give": scenarios.wrong(rows),
    }


def counts(rows: pl.DataFrame) -> dict[str, Any]:
    """Split -> scenario -> items."""
    report: dict[str, Any] = {}
    for split, scenario, count in rows.group_by("split", "scenario", maintain_order=True).len().iter_rows():
        report.setdefault(split, {})[scenario] = count
    return report


def measures(rows: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Accuracies by scenario of always the commoner word (gate: 0.5), and of the word whose last occurrence is nearest to the gap."""
    rows = rows.filter(pl.col("answer").is_not_null())
    nearest = [int(context.rfind(second) > context.rfind(first)) for context, first, second in rows.select("context", *_WORDS).iter_rows()]
    hits = rows.with_columns(share=pl.Series(nearest, dtype=pl.Int8) == pl.col("answer"))
    most = pl.max_horizontal(pl.col("answer").mean(), 1 - pl.col("answer").mean())
    return {
        "commoner_word": _measured(rows.group_by("scenario", "then").agg(share=most), Gates(construction=0.5)),
        "nearest_word": _measured(hits, Gates()),
    }


def _measured(shares: pl.DataFrame, gates: Gates) -> dict[str, Any]:
    means = shares.group_by("scenario").agg(pl.col("share").mean()).sort("scenario").iter_rows()
    by_scenario = {str(name): float(share) for name, share in means}
    return measured(Figures(sum(by_scenario.values()) / max(len(by_scenario), 1), {NAME: by_scenario}), gates, 0.5)


def shown(rows: pl.DataFrame) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Base items with what is made from them, to look at: a heading, and (scenario, text and answer) below it."""
    for _, group in rows.group_by("contrast_set", maintain_order=True):
        first = group.row(0, named=True)
        heading = f"[{first['given']} and {first['then']}: {first['first']} or {first['second']}]"
        answers = ["open" if row["answer"] is None else row[_WORDS[row["answer"]]] for row in group.iter_rows(named=True)]
        yield heading, [(name, f"{text} ({word})") for name, text, word in zip(group["scenario"], group["text"], answers, strict=True)]


class Candidates(Choices):
    """Texts with a gap and two words for it. Items whose premises leave it open have no right answer; they show what is expected anyway."""

    answers: tuple[str, ...] = _WORDS
    needs: tuple[str, ...] = ("context", "before", "after", "first", "second", "answer")

    def right(self) -> pl.Expr:
        """The position of the word that follows from the facts; null where none does."""
        return pl.col("answer")

    def shown(self, item: Item) -> dict[str, str]:
        """The context, and the last sentence with either word."""
        first, second = (f"{item['before']}{item[name]}{item['after']}" for name in self.answers)
        return paired(item["context"], first, second)

    def verdict(self, item: Item) -> str:
        """The right one of the two; the first where there is none."""
        return self.answers[item["answer"] or 0]

    def meant(self, item: Item, verdict: str) -> int:
        """The position of the word."""
        return self.answers.index(verdict)

    def continuations(self, item: Item, text: str, words: Mapping[str, str]) -> tuple[str, list[str]]:
        """The context, and the last sentence with either word; up to the word they are the same, so that it alone decides."""
        shown = self.shown(item)
        return filled(text, {"context": item["context"]}), [f" {shown[name]}" for name in self.answers]

    def texts(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Every context with the last sentence and its first word, then with its second; class 1: it follows. See `Scoring`."""
        right = pl.col("answer")
        sides = [
            rows.select(
                premise="context",
                hypothesis=pl.concat_str("before", name, "after"),
                **{"class": (right == place).fill_null(value=False).cast(pl.Int64)},
            )
            for place, name in enumerate(self.answers)
        ]
        return pl.concat(sides)


SIZES = {"draws": 2}
register(
    Suite(
        name=NAME,
        construction="comparative-correlative",
        holds="texts with a gap whose word follows from comparative correlatives; each base item with three tests of bias and three "
        "calibrations",
        sizes=SIZES,
        columns=COLUMNS,
        splits=SIDES,
        card=(resources.files(__package__) / f"{NAME}.md.j2").read_text("utf-8"),
        scoring=Candidates(),
        cluster=_PAIR,
        dimensions={"scenario": pl.col("scenario"), "value": _PAIR},
        rows=rows,
        sample=sample,
        violations=violations,
        counts=counts,
        measures=measures,
        shown=shown,
    )
)
