"""A context-free language without recursion: how many sentences of each length a symbol has, and which one number n is.

Rules are NLTK's, read and recognised by it. Sentences are counted by length, exactly, and read off by number (Hickey and Cohen 1983,
"Uniform random generation of strings in a context-free language"), many numbers at a time: number n is the same sentence whoever asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxgen.errors import DataError, needs
from cxgen.schema import Document

Numbers = NDArray[np.int64]
Texts = NDArray[np.object_]
MOST = 2**63  # sentences that a symbol may have: numbers are 64 bits
_TOKEN = re.compile(r"[^\s,]+|,")
_NEED = "grammars need NLTK"


@dataclass(frozen=True)
class Way:
    """One way to say a symbol: a rule, and how long each part is.

    Attributes:
        parts: symbols; ``words``: what stands there instead, where it is a word (else empty), part by part.
        lengths: words in each part.
        count: sentences that are said so.
    """

    parts: tuple[str, ...]
    words: tuple[str, ...]
    lengths: tuple[int, ...]
    count: int


@dataclass(frozen=True)
class Part:
    """A part of sentences that one rule says.

    Attributes:
        symbol: the part; ``word``: what stands there instead, where it is a word (else empty).
        lengths, numbers: sentence by sentence, how many words it has, and which of the symbol's sentences of that length it is.
    """

    symbol: str
    word: str
    lengths: Numbers
    numbers: Numbers


def tokens(text: str) -> list[str]:
    """The words and commas of a text."""
    return _TOKEN.findall(text)


class Language:
    """The sentences of a grammar.

    Args:
        rules: in NLTK's notation.
        words: symbol -> phrases; an empty phrase is nothing.
        source: the file, for messages.

    Raises:
        DataError: the rules cannot be read, have a symbol that says nothing, or lead back to themselves; NLTK is not installed.
    """

    def __init__(self, rules: str, words: Mapping[str, Iterable[str]], source: Document) -> None:
        with needs(_NEED, "report"):
            from nltk.grammar import CFG, Nonterminal, Production
        self._source = source
        try:
            found = list(CFG.fromstring(rules).productions())
        except ValueError as error:
            raise self._wrong(f"rules that cannot be read: {' '.join(str(error).split())[:200]}", "rules: A -> 'word' B | C") from error
        for symbol, phrases in words.items():
            found += [Production(Nonterminal(symbol), tokens(phrase)) for phrase in dict.fromkeys(phrases)]
        self._rules: dict[str, list[tuple[Any, ...]]] = {}
        for each in found:
            self._rules.setdefault(str(each.lhs()), []).append(tuple(each.rhs()))
        self._productions = found
        self._ways: dict[str, dict[int, list[Way]]] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._under: list[str] = []

    def _wrong(self, what: str, hint: str) -> DataError:
        return DataError(what, file=self._source.path, line=self._source.line(["rules"]), hint=hint)

    def ways(self, symbol: str) -> dict[int, list[Way]]:
        """Length -> the ways to say ``symbol`` with so many words; lengths in order."""
        if symbol not in self._ways:
            if symbol in self._under:
                raise self._wrong(f"{symbol} leads back to itself: {' -> '.join([*self._under, symbol])}", "rules without recursion")
            if symbol not in self._rules:
                raise self._wrong(f"nothing says what {symbol} is", f"a rule, or a list under words; there are {', '.join(self._rules)}")
            self._under.append(symbol)
            found: dict[int, list[Way]] = {}
            for rule in dict.fromkeys(self._rules[symbol]):
                for way in self._said(rule):
                    found.setdefault(sum(way.lengths), []).append(way)
            self._under.pop()
            if sum(way.count for each in found.values() for way in each) >= MOST:
                raise self._wrong(f"{symbol} has {MOST} sentences or more", "fewer words or rules")
            self._ways[symbol] = dict(sorted(found.items()))
        return self._ways[symbol]

    def _said(self, rule: Sequence[Any]) -> Iterable[Way]:
        """The ways in which the right side of a rule can be said."""
        words = tuple(part if isinstance(part, str) else "" for part in rule)
        counts = [{int(word != ","): 1} if word else self.counts(str(part)) for part, word in zip(rule, words, strict=True)]
        for lengths in product(*counts):
            each = (counts[place][length] for place, length in enumerate(lengths))
            yield Way(tuple(map(str, rule)), words, lengths, prod(each))

    def counts(self, symbol: str) -> dict[int, int]:
        """Length -> how many sentences of so many words ``symbol`` has."""
        if symbol not in self._counts:
            self._counts[symbol] = {length: sum(way.count for way in ways) for length, ways in self.ways(symbol).items()}
        return self._counts[symbol]

    def unfolded(self, ways: Sequence[Way], numbers: Numbers) -> Iterator[tuple[NDArray[np.bool_], list[Part]]]:
        """Sentences ``numbers`` (from 0) of all that ``ways`` say, in their order, taken apart.

        Yields:
            For each rule: which of the sentences it says, and their parts.
        """
        counts = np.array([way.count for way in ways], dtype=np.int64)
        ends = np.cumsum(counts)
        chosen = np.searchsorted(ends, numbers, side="right")
        inside = numbers - (ends - counts)[chosen]
        rules = [(way.parts, way.words) for way in ways]
        known = {rule: number for number, rule in enumerate(dict.fromkeys(rules))}
        which = np.array([known[rule] for rule in rules])[chosen]
        lengths = [way.lengths for way in ways]
        for (parts, words), number in known.items():
            mine = which == number
            left, found = inside[mine], []
            for place in reversed(range(len(parts))):
                long = np.array([each[place] if place < len(each) else 0 for each in lengths], dtype=np.int64)[chosen[mine]]
                if words[place]:
                    found.append(Part(parts[place], words[place], long, left))
                    continue
                sizes = self.counts(parts[place])
                size = np.array([sizes.get(length, 0) for length in range(max(sizes) + 1)], dtype=np.int64)[long]
                found.append(Part(parts[place], "", long, left % size))
                left = left // size
            yield mine, found[::-1]

    def texts(self, symbol: str, length: int, numbers: Numbers) -> Texts:
        """The sentences ``numbers`` of those of so many words that ``symbol`` has: their tokens, spaces between them."""
        said: Texts = np.empty(len(numbers), dtype=object)
        for mine, parts in self.unfolded(self.ways(symbol)[length], numbers):
            said[mine] = joined([self.said(part) for part in parts], int(mine.sum()))
        return said

    def said(self, part: Part) -> Texts:
        """What a part says, sentence by sentence."""
        if part.word:
            return np.full(len(part.numbers), part.word, dtype=object)
        found: Texts = np.empty(len(part.numbers), dtype=object)
        for length in np.unique(part.lengths):
            mine = part.lengths == length
            found[mine] = self.texts(part.symbol, int(length), part.numbers[mine])
        return found

    @cached_property
    def _parsers(self) -> dict[str, Any]:
        return {}

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every word that its sentences have, in small letters."""
        return frozenset(part.lower() for each in self._productions for part in each.rhs() if isinstance(part, str))

    def recognises(self, symbol: str, text: str) -> bool:
        """Whether ``text``, capitals and full stop aside, is a sentence of ``symbol``."""
        from nltk.grammar import CFG, Nonterminal, Production
        from nltk.parse import ChartParser

        if symbol not in self._parsers:
            lower = [
                Production(each.lhs(), [part.lower() if isinstance(part, str) else part for part in each.rhs()])
                for each in self._productions
            ]
            self._parsers[symbol] = ChartParser(CFG(Nonterminal(symbol), lower))
        asked = tokens(text.rstrip(" .!").lower())
        parser = self._parsers[symbol]
        if not self.vocabulary.issuperset(asked):
            return False
        return next(iter(parser.parse(asked)), None) is not None


def joined(parts: Sequence[Texts], count: int) -> Texts:
    """Texts side by side, spaces between those that say something."""
    said: Texts = np.full(count, "", dtype=object)
    if parts:
        said[:] = [" ".join(filter(None, each)) for each in zip(*parts, strict=True)]
    return said
