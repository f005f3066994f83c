"""Grammars without recursion: a sentence is a number, sentences are recognised; and the files that say them (``templates/grammars``)."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, product
from math import prod
from typing import Any

from cxgen.errors import DataError, needs
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.schema import Document, read_yaml
from cxgen.streams import order_key

SMALL, WIDE = "small", "wide"
PRESETS = (SMALL, WIDE)
SIDES = ("train", "test")
_MOST = 2**63  # sentences that a symbol may have: numbers are 64 bits
_FEW = 10_000  # sentences that are kept once they were said
_TOKEN = re.compile(r"[^\s,]+|,")
Words = dict[str, list[str]]


@dataclass(frozen=True)
class Way:
    """One way to say a symbol: the right side of a rule (words as strings), how many words each part has, and how many sentences."""

    rule: tuple[Any, ...]
    lengths: tuple[int, ...]
    count: int


def tokens(text: str) -> list[str]:
    """The words and commas of a text."""
    return _TOKEN.findall(text)


class Language:
    """A context-free language, with NLTK's rules. Sentences are counted by length and read off by number (Hickey and Cohen 1983, "Uniform
    random generation of strings in a context-free language").

    Args:
        rules: in NLTK's notation.
        words: symbol -> phrases; an empty phrase is nothing.
        source: the file, for messages.

    Raises:
        DataError: the rules cannot be read, have a symbol that says nothing, or lead back to themselves; NLTK is not installed.
    """

    def __init__(self, rules: str, words: Mapping[str, Iterable[str]], source: Document) -> None:
        with needs("grammars need NLTK", "report"):
            from nltk.grammar import CFG, Nonterminal, Production
        self._source = source
        try:
            self._productions = list(CFG.fromstring(rules).productions())
        except ValueError as error:
            raise self._wrong(f"rules that cannot be read: {' '.join(str(error).split())[:200]}", "rules: A -> 'word' B | C") from error
        for symbol, phrases in words.items():
            self._productions += [Production(Nonterminal(symbol), tokens(phrase)) for phrase in dict.fromkeys(phrases)]
        self._rules: dict[str, dict[tuple[Any, ...], None]] = {}
        for production in self._productions:
            self._rules.setdefault(str(production.lhs()), {})[tuple(production.rhs())] = None
        self._ways: dict[str, dict[int, list[Way]]] = {}
        self._ends: dict[tuple[str, int], list[int]] = {}
        self._under: list[str] = []
        self._texts: dict[tuple[str, int, int], list[str]] = {}
        self._parsers: dict[str, Any] = {}

    def _wrong(self, what: str, hint: str) -> DataError:
        return DataError(what, file=self._source.path, line=self._source.line(["rules"]), hint=hint)

    def ways(self, symbol: str) -> dict[int, list[Way]]:
        """Length -> the ways to say ``symbol`` with so many words; lengths in order."""
        if symbol in self._ways:
            return self._ways[symbol]
        if symbol in self._under:
            raise self._wrong(f"{symbol} leads back to itself: {' -> '.join([*self._under, symbol])}", "rules without recursion")
        if symbol not in self._rules:
            raise self._wrong(f"nothing says what {symbol} is", f"a rule, or a list under words; there are {', '.join(self._rules)}")
        self._under.append(symbol)
        ways: dict[int, list[Way]] = {}
        for rule in self._rules[symbol]:
            counts = [{int(part != ","): 1} if isinstance(part, str) else self.counts(str(part)) for part in rule]
            for lengths in product(*counts):
                count = prod(sizes[length] for sizes, length in zip(counts, lengths, strict=True))
                ways.setdefault(sum(lengths), []).append(Way(rule, lengths, count))
        self._under.pop()
        if sum(way.count for same in ways.values() for way in same) >= _MOST:
            raise self._wrong(f"{symbol} has {_MOST} sentences or more", "fewer words or rules")
        self._ways[symbol] = dict(sorted(ways.items()))
        self._ends |= {(symbol, length): list(accumulate(way.count for way in same)) for length, same in ways.items()}
        return self._ways[symbol]

    def counts(self, symbol: str) -> dict[int, int]:
        """Length -> how many sentences of so many words ``symbol`` has."""
        return {length: self._ends[symbol, length][-1] for length in self.ways(symbol)}

    def parts(self, way: Way, number: int) -> list[tuple[str, int, int]]:
        """Sentence ``number`` (from 0) of those that are said in a way: symbol, length and number of its parts; a word has -1."""
        parts = []
        for part, length in zip(reversed(way.rule), reversed(way.lengths), strict=True):
            if isinstance(part, str):
                parts.append((part, int(length), -1))
                continue
            symbol = str(part)
            number, own = divmod(number, self._ends[symbol, length][-1])
            parts.append((symbol, length, own))
        return parts[::-1]

    def chosen(self, symbol: str, length: int, number: int) -> tuple[Way, int]:
        """The way in which sentence ``number`` of so many words is said, and which of that way's sentences it is."""
        ends = self._ends[symbol, length]
        place = bisect(ends, number)
        return self._ways[symbol][length][place], number - (ends[place - 1] if place else 0)

    def text(self, symbol: str, length: int, number: int) -> list[str]:
        """The tokens of sentence ``number`` of so many words."""
        key = (symbol, length, number)
        if key in self._texts:
            return self._texts[key]
        text: list[str] = []
        for part, size, own in self.parts(*self.chosen(symbol, length, number)):
            text += [part] if own < 0 else self.text(part, size, own)
        if self._ends[symbol, length][-1] < _FEW:
            self._texts[key] = text
        return text

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every word that its sentences have, in small letters."""
        return frozenset(part.lower() for production in self._productions for part in production.rhs() if isinstance(part, str))

    def recognises(self, symbol: str, text: str) -> bool:
        """Whether ``text``, capitals and full stop aside, is a sentence of ``symbol``."""
        from nltk.grammar import CFG, Nonterminal, Production
        from nltk.parse import ChartParser

        if symbol not in self._parsers:
            lower = [Production(p.lhs(), [part.lower() if isinstance(part, str) else part for part in p.rhs()]) for p in self._productions]
            self._parsers[symbol] = ChartParser(CFG(Nonterminal(symbol), lower))
        words = tokens(text.rstrip(" .!").lower())
        return self.vocabulary.issuperset(words) and next(iter(self._parsers[symbol].parse(words)), None) is not None


@dataclass(frozen=True)
class Grammar:
    """A grammar file: rules, and the words that train and test may use. The lexicon gives the second vocabulary."""

    document: Document
    lexicon: Lexicon

    @classmethod
    def load(cls, project: Project, name: str) -> Grammar:
        """The grammar ``name``.

        Raises:
            UnknownNameError: there is no such file.
            SchemaError: the file breaks its schema.
        """
        return cls(read_yaml(project.grammar_file(name), "grammar"), Lexicon.of(project))

    def symbol(self, role: str) -> str:
        """The symbol of ``instance``, ``reordered``, ``half`` or ``mixed``."""
        return str(self.document.data[role])

    @cached_property
    def closed(self) -> frozenset[str]:
        """The words that both sides may use, in small letters."""
        return frozenset(word.lower() for word in _listed(self.document.data["closed"]))

    def words(self, preset: str, side: str) -> Words:
        """Symbol -> words and phrases that ``side`` may use."""
        given = {symbol: _listed(words) for symbol, words in self.document.data["words"][side].items()}
        if preset == SMALL:
            return given
        drawn = {symbol: sides[side] for symbol, sides in self._drawn.items()}
        return {**given, **drawn, "ADV": sorted({*given["ADV"], *drawn["ADV"]})}

    @cached_property
    def _drawn(self) -> dict[str, Words]:
        """Symbol -> side -> words of the lexicon; a word that the file has keeps its side."""
        raw, fixed = self.document.data["lexicon"], self.document.data["words"]
        known = {
            token: side for side in reversed(SIDES) for words in fixed[side].values() for text in _listed(words) for token in tokens(text)
        }
        drawn: dict[str, Words] = {}
        for symbol, asked in raw["slots"].items():
            rows = [row for row in self.rows(asked["slot"], asked.get("lexfile", "")) if row["lemma"] not in raw.get("leave_out", ())]
            words = {str(row[asked["form"]]) for row in rows} - self.closed
            sides = {word: known.get(word) or SIDES[order_key("side", word)[0] % 2] for word in words}
            drawn[symbol] = {side: sorted(word for word in words if sides[word] == side) for side in SIDES}
        return drawn

    def rows(self, slot: str, lexfile: str = "") -> list[dict[str, object]]:
        """The lexemes that the construction's frames have in ``slot``; only those of a WordNet file, if one is named."""
        frames = self.lexicon.frames(self.document.data["construction"])
        keys = dict.fromkeys(key for frame in frames for key in frame.slots.get(slot, ()) if key in self.lexicon.index)
        rows = [self.lexicon.row(key) for key in keys]
        return [row for row in rows if not lexfile or row["lexfile"] == lexfile]

    def language(self, preset: str, side: str) -> Language:
        """What a preset can say on one side.

        Raises:
            DataError: see `Language`.
        """
        words, more = self.words(preset, side), ""
        if preset == WIDE:
            more = self.document.data["lexicon"]["rules"]
            words.pop("NOUN", None)  # said by a rule there
        return Language(self.document.data["rules"] + "\n" + more, words, self.document)

    @cached_property
    def recogniser(self) -> Language:
        """Everything that is recognised: both sides of both presets, and what stands under ``recognised``."""
        data = self.document.data
        more = data.get("recognised", {"rules": "", "words": {}})
        words: Words = {symbol: _listed(words) for symbol, words in more["words"].items()}
        for preset, side in product(PRESETS if "lexicon" in data else (SMALL,), SIDES):
            for symbol, more_words in self.words(preset, side).items():
                words.setdefault(symbol, []).extend(more_words)
        return Language("\n".join([data["rules"], more["rules"], data.get("lexicon", {}).get("rules", "")]), words, self.document)

    def recognises(self, text: str, *, any_words: bool = False) -> str:
        """What a sentence is: ``instance``, ``reordered``, or empty.

        Args:
            text: the sentence.
            any_words: take words that are not known for what they look like: in -er adverbs, in -s nouns, digits numbers, all others verbs.
        """
        if any_words:
            text = " ".join(self._likened(word) for word in tokens(text.rstrip(" .!")))
        return next((role for role in ("instance", "reordered") if self.recogniser.recognises(self.symbol(role), text)), "")

    def _likened(self, word: str) -> str:
        """A word, or one of its kind where it is not known."""
        if word.lower() in self.recogniser.vocabulary:
            return word
        symbol = "NUM" if word.isdigit() else "ADV" if word.endswith("er") else "NOUN" if word.endswith("s") else "VERB"
        return self.words(SMALL, SIDES[0])[symbol][0]


def _listed(raw: str | list[str]) -> list[str]:
    """A list as the file writes it: in YAML, or with commas between words."""
    return list(raw) if isinstance(raw, list) else [word.strip() for word in raw.split(",") if word.strip()]
