"""The file of scenarios, and its items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

import polars as pl

from cxgen.errors import DataError
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.schema import Document, read_yaml
from cxgen.sets import digests
from cxgen.streams import order_keys, uniform
from cxgen.suites.correlation import Comparison, correlation, follows

GAP = "[MASK]"
BASE = "S1"
_SIGNS = {"+": 1, "-": -1}


@dataclass(frozen=True)
class Property:
    """A property of people: its name, and the comparatives of its two poles, the first of which is having more of it."""

    name: str
    comparatives: tuple[str, str]

    def more(self, sign: int) -> str:
        """The comparative for more of it (1) or less (-1)."""
        return self.comparatives[0 if sign == 1 else 1]


@dataclass(frozen=True)
class Draw:
    """What a base item is about.

    Attributes:
        a, b, c: properties; ``a_sign, b_sign, c_sign``: the pole that counts as `+`.
        x, y: names.
        wording: number of the wording.
    """

    a: Property
    b: Property
    c: Property
    a_sign: int
    b_sign: int
    c_sign: int
    x: str
    y: str
    wording: int

    def property(self, letter: str) -> tuple[Property, int]:
        """The property that a letter stands for, and its pole."""
        return {"a": (self.a, self.a_sign), "b": (self.b, self.b_sign), "c": (self.c, self.c_sign)}[letter]

    def name(self, letter: str) -> str:
        """The name that a letter stands for."""
        return {"x": self.x, "y": self.y}[letter]


class Scenarios:
    """A file of scenarios.

    Args:
        document: the file.
        names: the first names that there are.
    """

    def __init__(self, document: Document, names: list[str]) -> None:
        self._document, self._data, self._people = document, document.data, names

    @classmethod
    def load(cls, project: Project, name: str) -> Scenarios:
        """The file ``name`` among the grammars.

        Raises:
            UnknownNameError: no such file, or no such class of names.
            SchemaError: the file breaks its schema.
        """
        document = read_yaml(project.grammar_file(name), "scenarios")
        lexicon = Lexicon.of(project)
        rows = [row for each in document.data["names"] for row in lexicon.resolve(each).ids]
        return cls(document, [lexicon.lemmas[row] for row in rows])

    @property
    def names(self) -> list[str]:
        """The scenarios."""
        return list(self._data["scenarios"])

    def _properties(self, side: str) -> list[Property]:
        return [Property(each["name"], tuple(each["comparatives"])) for each in self._data["opposites"][side]]

    def items(self, side: str, seed: int, draws: int) -> Iterator[dict[str, Any]]:
        """The items of one side as rows of the suite: for each two properties and each choice of poles, ``draws`` base items.

        Raises:
            DataError: there are not so many names.
        """
        if 2 * draws > len(self._people):
            line = self._document.line(["names"])
            raise DataError(
                f"{len(self._people)} names", file=self._document.path, line=line, hint=f"{2 * draws} are needed for draws: {draws}"
            )
        properties = self._properties(side)
        for a, b in permutations(properties, 2):
            others = [each for each in properties if each not in (a, b)]
            for signs in product((1, -1), repeat=2):
                where: tuple[str | int, ...] = (seed, "cc_semantics", a.name, b.name, *signs)
                people = [name for _, name in sorted(zip(order_keys(where, self._people), self._people, strict=True))]
                for number in range(draws):
                    other, pole, wording = uniform((*where, "rest"), 3 * number, 3)
                    draw = Draw(
                        a=a,
                        b=b,
                        c=others[int(other * len(others))],
                        a_sign=signs[0],
                        b_sign=signs[1],
                        c_sign=1 if pole < 0.5 else -1,
                        x=people[2 * number],
                        y=people[2 * number + 1],
                        wording=int(wording * len(self._data["wordings"])),
                    )
                    yield from self._set(draw, side)

    def _set(self, draw: Draw, side: str) -> Iterator[dict[str, Any]]:
        made = [self._item(draw, name) for name in self._data["scenarios"]]
        text = next(row["text"] for row in made if row["scenario"] == BASE)
        ids = digests(f"cc_semantics\x1f{text}\x1f{row['scenario']}" for row in made)
        base = next(key for row, key in zip(made, ids, strict=True) if row["scenario"] == BASE)
        shared = {"contrast_set": base, "base_id": base, "construction": self._data["construction"], "split": side}
        yield from ({**row, "id": key, **shared} for row, key in zip(made, ids, strict=True))

    def _item(self, draw: Draw, name: str) -> dict[str, Any]:
        scenario, wording = self._data["scenarios"][name], self._data["wordings"][draw.wording]
        said = [_filled(wording["rule"], {"a": _more(draw, rule[:2]), "b": _more(draw, rule[3:])}) for rule in scenario["rules"]]
        if known := scenario.get("comparison"):
            who, what, whom = known.split()
            said.append(_filled(wording["comparison"], {"x": draw.name(who), "y": draw.name(whom), "a": _more(draw, what)}))
        who, _, whom = scenario["conclusion"].split()
        last = _filled(wording["conclusion"], {"x": draw.name(who), "y": draw.name(whom)})
        before, after = last.split("{gap}")
        context = " ".join(said)
        sign = self._follows(draw, scenario)
        start = len(context) + 1 + len(before)
        return {
            "scenario": name,
            "role": scenario["role"],
            "text": f"{context} {before}{GAP}{after}",
            "mask_start": start,
            "mask_word": len(f"{context} {before}".split()),
            "context": context,
            "before": before,
            "after": after,
            "first": draw.b.comparatives[0],
            "second": draw.b.comparatives[1],
            "answer": {1: 0, -1: 1, 0: None}[sign],
            "given": draw.a.name,
            "then": draw.b.name,
            "wording": draw.wording,
        }

    def _follows(self, draw: Draw, scenario: Mapping[str, Any]) -> int:
        """What the facts that the sentences state say of the gap: 1 the first word, -1 the second, 0 neither."""
        facts = [
            correlation(draw.a.name, draw.a_sign * _SIGNS[rule[1]], draw.b.name, draw.b_sign * _SIGNS[rule[4]])
            for rule in scenario["rules"]
        ]
        known = None
        if "comparison" in scenario:
            who, what, whom = scenario["comparison"].split()
            property_, sign = draw.property(what[0])
            known = Comparison(draw.name(who), draw.name(whom), property_.name, sign * _SIGNS[what[1]])
        who, _, whom = scenario["conclusion"].split()
        try:
            return follows(facts, known, draw.name(who), draw.name(whom), draw.b.name)
        except ValueError as error:
            line = self._document.line(["scenarios"])
            raise DataError(f"scenarios: {error}", file=self._document.path, line=line, hint="rules of one direction") from error

    def wrong(self, rows: pl.DataFrame) -> int:
        """How many answers are not those that the sentences of the items, read once more, give."""
        signs = {
            comparative: (each["name"], sign)
            for side in self._data["opposites"].values()
            for each in side
            for comparative, sign in zip(each["comparatives"], (1, -1), strict=True)
        }
        wanted = [_reread(row, signs) for row in rows.select("context", "before", "after", "first").iter_rows()]
        return int((pl.Series(wanted, dtype=pl.Int8).ne_missing(rows["answer"])).sum())


def _more(draw: Draw, what: str) -> str:
    """The comparative for `a+` and its like."""
    property_, sign = draw.property(what[0])
    return property_.more(sign * _SIGNS[what[1]])


def _filled(text: str, words: Mapping[str, str]) -> str:
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", word)
    return text


def _reread(row: tuple[str, str, str, str], signs: Mapping[str, tuple[str, int]]) -> int | None:
    """The answer by the comparatives and the names that a text's sentences have, whatever they were made from."""
    context, before, after, first = row
    what, correlations, known = signs[first][0], [], None
    for sentence in context.split(". "):
        words = sentence.rstrip(".").replace(",", "").split()
        found = [signs[word] for word in words if word in signs]
        if "than" not in words:
            (given, up), (then, high) = found
            correlations.append(correlation(given, up, then, high))
        else:
            place = words.index("than")
            known = Comparison(words[place - 3], words[place + 1], *found[0])
    who, whom = before.split()[-2], after.split()[-1].rstrip(".")
    return {1: 0, -1: 1, 0: None}[follows(correlations, known, who, whom, what)]
