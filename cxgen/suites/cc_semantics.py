"""Suite ``cc_semantics``: what follows from comparative correlatives, as texts with a gap, after Weissweiler et al. 2022, Table 1.

What follows is two signs multiplied: *the A-er, the B-er* says that two properties rise together (+1), or that one falls as the other
rises (-1); *x is A-er than y* says that x has more of a property than y (+1) or less (-1). The product says who has more of the second.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations, product
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import DataError, needs
from cxgen.families.scoring import Choices, Item, filled, paired
from cxgen.measures.figures import Figures, Gates, measured
from cxgen.project import Project
from cxgen.schema import Column, read_yaml
from cxgen.streams import address, order_key, order_keys, uniform
from cxgen.suites import Suite, register
from cxgen.suites.grammar import SIDES

NAME, FILE = "cc_semantics", "comparative-correlative-scenarios"
GAP, BASE, CALIBRATION = "[MASK]", "S1", "calibration"
COLUMNS = (
    Column("id", pl.String, "content-addressed item id"),
    Column("contrast_set", pl.String, "the base item and all that are made from it"),
    Column("base_id", pl.String, "the id of that base item (of S1 its own)"),
    Column("construction", pl.String, "the construction whose meaning decides"),
    Column("scenario", pl.String, "S1 to S7"),
    Column("example", pl.Int8, "which example of its calibration, from 0; of the other scenarios there is one"),
    Column("role", pl.String, "what the scenario is for", values=("base", "recency", "vocabulary", "names", CALIBRATION)),
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
_SIZES = {"draws": 1, "wordings": 1}
_WORDS = ("first", "second")
_ANSWERS = {1: 0, -1: 1, 0: None}
_PAIR = pl.concat_str("given", pl.lit(" "), "then")
Correlation = tuple[str, str, int]  # two properties; 1: they rise together, -1: one falls as the other rises
Comparison = tuple[str, str, str, int]  # who has more (1) or less (-1) than whom, of what: who, whom, what, sign
Poles = Mapping[str, tuple[str, int, str]]  # a+ and its like -> property, having more of it (1) or less (-1), the comparative


def follows(correlations: Iterable[Correlation], known: Comparison | None, who: str, whom: str, what: str) -> int:
    """Whether ``who`` has more of ``what`` than ``whom``: 1 more, -1 less, 0 where nothing decides; ValueError for a contradiction."""
    if known is None or {known[0], known[1]} != {who, whom}:
        return 0
    signs = {sign for given, then, sign in correlations if (given, then) == (known[2], what)}
    if len(signs) > 1:
        raise ValueError(f"{known[2]} and {what} rise together, and do not")
    return signs.pop() * known[3] * (1 if known[0] == who else -1) if signs else 0


def _sets(data: Mapping[str, Any], side: str, seed: int, draws: int, wordings: int) -> Iterator[dict[str, Any]]:
    """The rows of one side: for each two properties and each choice of poles, ``draws`` base items with all that is made from them."""
    properties, people = data["opposites"][side], data["names"].split(", ")
    for (a, b), signs in product(permutations(properties, 2), product((1, -1), repeat=2)):
        stream: tuple[str | int, ...] = (seed, NAME, a, b, *signs)
        names = [name for _, name in sorted(zip(order_keys(stream, people), people, strict=True))]
        others = [(name, sign) for name in properties if name not in (a, b) for sign in (1, -1)]
        others.sort(key=lambda other: order_key(*stream, *other))
        for number in range(draws):
            place = int(uniform((*stream, "wording"), number, 1)[0] * wordings)
            rest = names[2 * number + 2 :] + names[: 2 * number]  # z, w: names that are not this base item's
            made = {}
            for example in range(data["examples"]):
                who = dict(zip("xyzw", (*names[2 * number :][:2], *rest[2 * example :][:2]), strict=False))
                high = {"a": (a, signs[0]), "b": (b, signs[1]), "c": others[(number + example) % len(others)]}
                poles = {
                    f"{letter}{mark}": (own, sign, properties[own][sign < 0])
                    for letter, (own, plus) in high.items()
                    for mark, sign in (("+", plus), ("-", -plus))
                }
                for name, scenario in data["scenarios"].items():
                    if not example or scenario["role"] == CALIBRATION:
                        made[name, example] = _item(scenario, data["wordings"][place], poles, who)
            ids = {key: address(NAME, made[BASE, 0]["text"], *key) for key in made}
            shared = {"contrast_set": ids[BASE, 0], "base_id": ids[BASE, 0], "construction": data["construction"], "split": side}
            shared |= {"wording": place, "given": a, "then": b, **dict(zip(_WORDS, properties[b], strict=True))}
            for (name, example), row in made.items():
                yield row | shared | {"id": ids[name, example], "scenario": name, "example": example}


def split_words(project: Project, folder: Path) -> list[str]:
    """The words of the gaps and the names that the tokenizer in ``folder`` makes several tokens of; published: none (section 4.2)."""
    with needs("a model's tokenizer is read by transformers", "hf"):
        from transformers import AutoTokenizer
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise DataError("no tokenizer", file=folder, hint="the folder of a model with tokenizer.json, or the like") from error
    data = read_yaml(project.grammar_file(FILE), "scenarios").data
    words = [word for side in data["opposites"].values() for pair in side.values() for word in pair]
    return [word for word in [*words, *data["names"].split(", ")] if len(tokenizer(f" {word}", add_special_tokens=False)["input_ids"]) > 1]


def _item(scenario: Mapping[str, Any], wording: Mapping[str, str], poles: Poles, names: Mapping[str, str]) -> dict[str, Any]:
    correlations: list[Correlation] = []
    sentences: list[str] = []
    known: Comparison | None = None
    for (given, up, one), (then, high, other) in ((poles[what] for what in rule.split()) for rule in scenario["rules"]):
        correlations.append((given, then, up * high))
        sentences.append(filled(wording["rule"], {"a": one, "b": other}))
    if "comparison" in scenario:
        x, what, y = scenario["comparison"].split()
        given, sign, comparative = poles[what]
        known = names[x], names[y], given, sign
        sentences.append(filled(wording["comparison"], {"x": names[x], "y": names[y], "a": comparative}))
    who, whom = (names[letter] for letter in scenario["conclusion"].split()[::2])
    context = " ".join(sentences)
    before, after = filled(wording["conclusion"], {"x": who, "y": whom}).split("{gap}")
    return {
        "role": scenario["role"],
        "text": f"{context} {before}{GAP}{after}",
        "mask_start": len(context) + 1 + len(before),
        "mask_word": len(f"{context} {before}".split()),
        **{"context": context, "before": before, "after": after},
        "answer": _ANSWERS[follows(correlations, known, who, whom, poles["b+"][0])],
    }


def _rows(project: Project, seed: int, sizes: Mapping[str, int]) -> pl.DataFrame:
    """All rows. ``sizes``: ``draws``, base items for each two properties and their poles, with other names; ``wordings``, how many of the
    file's, from the first, are drawn from."""
    document = read_yaml(project.grammar_file(FILE), "scenarios")
    data, draws, wordings = document.data, sizes["draws"], sizes["wordings"]
    least = min(2 * len(own) - 4 for own in data["opposites"].values())  # that a third property may be, with its pole
    for what, there, wanted in (
        ("names", len(data["names"].split(", ")), 2 * max(draws, data["examples"] + 1)),
        ("wordings", len(data["wordings"]), wordings),
        ("opposites", least, data["examples"]),
    ):
        if there < wanted:
            hint = f"{wanted} are needed for draws: {draws}, wordings: {wordings} and {data['examples']} examples"
            raise DataError(f"{there} {what}", file=document.path, line=document.line([what]), hint=hint)
    try:
        made = [row for side in SIDES for row in _sets(data, side, seed, draws, wordings)]
    except ValueError as error:
        line = document.line(["scenarios"])
        raise DataError(f"scenarios: {error}", file=document.path, line=line, hint="rules of one direction") from error
    return pl.DataFrame(made, schema={column.name: column.dtype for column in COLUMNS})


def _sample(project: Project, seed: int, n: int) -> pl.DataFrame:
    made = _rows(project, seed, _SIZES).filter(pl.col("split") == SIDES[1])
    sets = sorted(made["contrast_set"].unique(), key=lambda name: order_key(seed, "sample", name))[:n]
    return pl.concat([made.filter(pl.col("contrast_set") == name) for name in sets])


def _violations(project: Project, rows: pl.DataFrame) -> dict[str, int]:
    data = read_yaml(project.grammar_file(FILE), "scenarios").data
    opposites = [own for side in data["opposites"].values() for own in side.items()]
    signs = {word: (name, sign) for name, words in opposites for word, sign in zip(words, (1, -1), strict=True)}
    whole_set = sum(data["examples"] if scenario["role"] == CALIBRATION else 1 for scenario in data["scenarios"].values())
    wanted = [_answer(signs, *row) for row in rows.select("context", "before", "after", "first").iter_rows()]
    even = rows.drop_nulls("answer").group_by("split", "scenario", "given", "then").agg(share=pl.col("answer").mean())
    bases = rows.filter(pl.col("scenario") == BASE)
    linked = rows.join(bases.select("contrast_set", base="id", one="first", other="second"), on="contrast_set", how="left")
    words = [set(part["first"]) | set(part["second"]) for _, part in rows.group_by("split")]
    whole = pl.concat_str("context", pl.lit(" "), "before", pl.lit(GAP), "after")
    others = (pl.col("one") != pl.col("first")) | (pl.col("other") != pl.col("second"))
    return {
        "repeated ids": rows.height - rows["id"].n_unique(),
        "repeated base texts": bases.height - bases["text"].n_unique(),
        "items without their base item": linked.filter(pl.col("base").ne_missing(pl.col("base_id"))).height,
        "items with other words than their base item": linked.filter(others).height,
        "gaps that are elsewhere": rows.filter(pl.col("text").str.slice("mask_start", len(GAP)) != GAP).height,
        "texts that are not their parts": rows.filter(whole != pl.col("text")).height,
        "sets without every scenario": rows.group_by("contrast_set").len().filter(pl.col("len") != whole_set).height,
        "words of the gap not equally often right": even.filter(pl.col("share") != 0.5).height,
        "words in train and test": len(set.intersection(*words)) if len(words) > 1 else 0,
        "answers that the facts do not give": int(pl.Series(wanted, dtype=pl.Int8).ne_missing(rows["answer"]).sum()),
    }


def _answer(signs: Mapping[str, tuple[str, int]], context: str, before: str, after: str, first: str) -> int | None:
    """The answer by the comparatives and the names that a text's sentences have, whatever they were made from."""
    correlations: list[Correlation] = []
    known: Comparison | None = None
    for sentence in context.split(". "):
        words = sentence.rstrip(".").replace(",", "").split()
        (given, up), *more = (signs[word] for word in words if word in signs)
        if "than" in words:
            place = words.index("than")
            known = words[place - 3], words[place + 1], given, up
        else:
            correlations.append((given, more[0][0], up * more[0][1]))
    return _ANSWERS[follows(correlations, known, before.split()[-2], after.rsplit(maxsplit=1)[-1].rstrip("."), signs[first][0])]


def _counts(rows: pl.DataFrame) -> dict[str, Any]:
    groups = rows.group_by("split", maintain_order=True).agg("scenario")
    return {split: dict(sorted(Counter(own).items())) for split, own in groups.iter_rows()}


def _measures(rows: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Accuracies by scenario of always the commoner word (gate: 0.5), and of the word whose last occurrence is nearest to the gap."""
    rows = rows.drop_nulls("answer")
    nearest = [int(context.rfind(second) > context.rfind(first)) for context, first, second in rows.select("context", *_WORDS).iter_rows()]
    most = pl.max_horizontal(pl.col("answer").mean(), 1 - pl.col("answer").mean())
    tables = {
        "commoner_word": rows.group_by("scenario", "then").agg(share=most),
        "nearest_word": rows.with_columns(share=pl.Series(nearest, dtype=pl.Int8) == pl.col("answer")),
    }
    report = {}
    for name, table in tables.items():
        shares: dict[str, float] = dict(table.group_by("scenario").agg(pl.col("share").mean()).sort("scenario").iter_rows())
        gates = Gates(construction=0.5) if name == "commoner_word" else Gates()
        report[name] = measured(Figures(sum(shares.values()) / max(len(shares), 1), {NAME: shares}), gates, 0.5)
    return report


def _shown(rows: pl.DataFrame) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    for _, group in rows.group_by("contrast_set", maintain_order=True):
        made = group.to_dicts()
        words = ["open" if row["answer"] is None else row[_WORDS[row["answer"]]] for row in made]
        lines = [(row["scenario"], f"{row['text']} ({word})") for row, word in zip(made, words, strict=True) if not row["example"]]
        yield "[{given} and {then}: {first} or {second}]".format(**made[0]), lines


class _Candidates(Choices):
    """Texts with a gap and two words for it. Items whose premises leave it open have no right answer; they show what is expected anyway."""

    answers: tuple[str, ...] = _WORDS
    needs: tuple[str, ...] = ("context", "before", "after", "first", "second", "answer")

    def right(self) -> pl.Expr:
        return pl.col("answer")

    def shown(self, item: Item) -> dict[str, str]:
        first, second = (f"{item['before']}{item[name]}{item['after']}" for name in self.answers)
        return paired(item["context"], first, second)

    def verdict(self, item: Item) -> str:
        """The right one of the two; the first where there is none."""
        return self.answers[item["answer"] or 0]

    def meant(self, item: Item, verdict: str) -> int:
        return self.answers.index(verdict)

    def continuations(self, item: Item, text: str, words: Mapping[str, str]) -> tuple[str, list[str]]:
        """The context, and the last sentence with either word; up to the word they are the same, so that it alone decides."""
        shown = self.shown(item)
        return filled(text, {"context": item["context"]}), [f" {shown[name]}" for name in self.answers]

    def texts(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Every context with the last sentence and its first word, then with its second; class 1: it follows. See `Scoring`."""
        follows = [pl.col("answer").eq_missing(place).cast(pl.Int64).alias("class") for place in range(len(self.answers))]
        texts = [pl.concat_str("before", name, "after").alias("hypothesis") for name in self.answers]
        return pl.concat(rows.select(pl.col("context").alias("premise"), *pair) for pair in zip(texts, follows, strict=True))


register(
    Suite(
        name=NAME,
        construction="comparative-correlative",
        holds="texts with a gap whose word follows from comparative correlatives; each base item with three tests of bias and three "
        "calibrations",
        sizes=_SIZES,
        columns=COLUMNS,
        splits=SIDES,
        scoring=_Candidates(),
        cluster=_PAIR,
        dimensions={"scenario": pl.col("scenario"), "value": _PAIR},
        rows=_rows,
        sample=_sample,
        violations=_violations,
        counts=_counts,
        measures=_measures,
        shown=_shown,
    )
)
