"""Pairs of an instance and the same words in another order, drawn from a grammar without replacement and uniformly."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import polars as pl

from cxgen.errors import DataError
from cxgen.sets import digests
from cxgen.streams import uniform
from cxgen.suites.features import Measured, features_of
from cxgen.suites.grammar import Grammar
from cxgen.suites.language import Language, Numbers, Part, Texts, Way, joined

_ROUNDS = 20  # draws that may be needed until there are enough different numbers
_COMMA = re.compile(r" ,")


class Pairs:
    """The pairs that one side of a preset can give; each is given once.

    Args:
        grammar: the grammar file.
        preset, side: which words.
        seed: another seed, other pairs.
    """

    def __init__(self, grammar: Grammar, preset: str, side: str, seed: int) -> None:
        self._grammar, self._preset, self._side, self._seed = grammar, preset, side, seed
        self._language: Language = grammar.language(preset, side)
        self._half, mixed = grammar.symbol("half"), grammar.symbol("mixed")
        self._ways: list[Way] = [way for ways in self._language.ways(grammar.symbol("instance")).values() for way in ways]
        self._ends = np.cumsum([way.count for way in self._ways], dtype=np.int64)
        self._features = [features_of(way, self._half) for way in self._ways]
        orders = dict.fromkeys((way.parts, way.words) for ways in self._language.ways(mixed).values() for way in ways)
        self._orders = list(orders)
        self._draws: list[pl.DataFrame] = []
        self._drawn: Numbers = np.empty(0, dtype=np.int64)

    def values(self, feature: str) -> list[int]:
        """The values that a feature can have."""
        return sorted({each[feature] for each in self._features})

    def draw(self, subset: str, held: Measured | None, count: int) -> None:
        """Draw ``count`` pairs that were not drawn before, of those in which the feature has the value.

        Raises:
            DataError: there are not so many.
        """
        able = np.array([held is None or each[held.feature] == held.value for each in self._features])
        counts = np.where(able, np.diff(self._ends, prepend=0), 0)
        ends = np.cumsum(counts)
        where = (self._seed, "cc_syntax", self._preset, self._side, subset, held.value if held else "")
        fresh: Numbers = np.empty(0, dtype=np.int64)
        for number in range(_ROUNDS):
            places = (uniform((*where, "sentence"), number * count, count) * ends[-1]).astype(np.int64)
            way = np.searchsorted(ends, places, side="right")
            found = self._ends[way] - counts[way] + places - (ends[way] - counts[way])
            both = np.concatenate([fresh, found[~np.isin(found, self._drawn)]])
            fresh = both[np.sort(np.unique(both, return_index=True)[1])]  # the first of each, in the order of the draws
            if len(fresh) >= count:
                break
        else:
            what = f"{held.feature} {held.value}" if held else "in all"
            raise DataError(
                f"{len(fresh)} of {count} sentences ({self._preset}, {self._side}, {what})",
                file=self._grammar.document.path,
                hint="more words, or fewer pairs in params.yaml (suites)",
            )
        fresh = fresh[:count]
        self._drawn = np.concatenate([self._drawn, fresh])
        orders = (uniform((*where, "order"), 0, count) * len(self._orders) ** 2).astype(np.int64)
        self._draws.append(
            pl.DataFrame({"derivation": fresh, "order": orders}).with_columns(
                number=pl.int_range(count), subset=pl.lit(subset), value=pl.lit(held.value if held else None, dtype=pl.Int16)
            )
        )

    def table(self) -> pl.DataFrame:
        """What was drawn, two rows a pair, the instance first: all columns of the suite but those of the lexicon, and ``number``, the
        pair's place in its draw.
        """
        drawn = pl.concat(self._draws)
        numbers = drawn["derivation"].to_numpy()
        instance, reordered, verbs = self.said(numbers, drawn["order"].to_numpy())
        ways = np.searchsorted(self._ends, numbers, side="right")
        drawn = drawn.with_columns(
            pl.Series("contrast_set", digests(f"pair\x1f{self._preset}\x1f{text}" for text in instance)),
            pl.Series("verb", verbs, dtype=pl.String),
            *(pl.Series(name, np.array([each[name] for each in self._features])[ways]) for name in self._features[0]),
            preset=pl.lit(self._preset),
            split=pl.lit(self._side),
        )
        sides = [drawn.with_columns(pl.Series("sentence", said), label=pl.lit(label)) for label, said in ((1, instance), (0, reordered))]
        rows = pl.concat(sides).with_columns(place=pl.int_range(drawn.height).append(pl.int_range(drawn.height)))
        rows = rows.sort("place", "label", descending=[False, True]).drop("place")
        return rows.with_columns(id=digests(rows.select(pl.concat_str("contrast_set", "sentence", separator="\x1f")).to_series()))

    def said(self, numbers: Sequence[int] | Numbers, orders: Sequence[int] | Numbers) -> tuple[list[str], list[str], list[str]]:
        """The instances and their counterparts, and the verbs of the first halves."""
        numbers, orders = np.asarray(numbers, dtype=np.int64), np.asarray(orders, dtype=np.int64)
        found: list[Texts] = [np.empty(len(numbers), dtype=object) for _ in range(3)]
        for mine, parts in self._language.unfolded(self._ways, numbers):
            for all_of_them, texts in zip(found, self._both(parts, orders[mine]), strict=True):
                all_of_them[mine] = texts
        instance, reordered, verbs = found
        return [_sentence(text) for text in instance], [_sentence(text) for text in reordered], list(verbs)

    def _both(self, parts: Sequence[Part], orders: Numbers) -> tuple[Texts, Texts, Texts]:
        """What parts say; the same with the halves in other orders; the verbs of the first halves."""
        plain: list[Texts] = []
        mixed: list[Texts] = []
        verbs: list[Texts] = []
        turns = [orders // len(self._orders), orders % len(self._orders)]
        for part in parts:
            plain.append(self._language.said(part))
            mixed.append(plain[-1])
            if part.symbol == self._half:
                words = self._words(part)
                mixed[-1] = self._mixed(words, turns[len(verbs)])
                verbs.append(words["VERB"])
        return joined(plain, len(orders)), joined(mixed, len(orders)), verbs[0]

    def _words(self, half: Part) -> dict[str, Texts]:
        """What halves are made of, by symbol."""
        words: dict[str, Texts] = {}
        for length in np.unique(half.lengths):
            mine = np.flatnonzero(half.lengths == length)
            for chosen, parts in self._language.unfolded(self._language.ways(self._half)[int(length)], half.numbers[mine]):
                for part in parts:
                    if not part.word:
                        words.setdefault(part.symbol, np.empty(len(half.numbers), dtype=object))[mine[chosen]] = self._language.said(part)
        return words

    def _mixed(self, words: dict[str, Texts], turns: Numbers) -> Texts:
        """The words of halves in the orders ``turns``."""
        said: Texts = np.empty(len(turns), dtype=object)
        for number, (parts, fixed) in enumerate(self._orders):
            mine = turns == number
            count = int(mine.sum())
            each = [np.full(count, word, dtype=object) if word else words[part][mine] for part, word in zip(parts, fixed, strict=True)]
            said[mine] = joined(each, count)
        return said


def _sentence(text: str) -> str:
    """Tokens as a sentence."""
    text = _COMMA.sub(",", text)
    return f"{text[0].upper()}{text[1:]}."
