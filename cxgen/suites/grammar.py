"""Grammars without recursion (``templates/grammars``): a sentence is a number, sentences are recognised."""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache, reduce
from itertools import product
from math import prod
from typing import Any, NamedTuple

from cxgen.errors import DataError, needs
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.schema import Document, read_yaml
from cxgen.streams import order_key

GRAMMAR = "comparative-correlative"
SMALL, WIDE, PUBLISHED = PRESETS = ("small", "wide", "published")
SIDES = ("train", "test")
ROLES = NON_INSTANCE, INSTANCE, SCRAMBLED = ("non-instance", "instance", "scrambled")  # by label
_FILES = {SMALL: GRAMMAR, WIDE: GRAMMAR, PUBLISHED: f"{GRAMMAR}-{PUBLISHED}"}
_MOST = 2**63  # sentences that a symbol may have: numbers are 64 bits
_MARKS = (",", ";")  # no words: lengths leave them out
_tokens = re.compile(r"[^\s,;]+|[,;]").findall


class Way(NamedTuple):
    """One way to say a symbol: the right side of its rule, of each part how many words and (0: it is a word) sentences it has, and how many
    sentences there are."""

    rule: tuple[str, ...]
    lengths: tuple[int, ...]
    counts: tuple[int, ...]
    size: int


class Language:
    """A context-free language in NLTK's notation, its sentences counted by length and read off by number (Hickey and Cohen 1983, "Uniform
    random generation of strings in a context-free language"); ``words`` are more phrases of symbols, ``source`` is the rules' file."""

    def __init__(self, rules: str, words: Mapping[str, Iterable[str]], source: Document) -> None:
        with needs("grammars need NLTK", "report"):
            from nltk.grammar import CFG, Nonterminal, Production
        self._source = source
        try:
            self._productions = list(CFG.fromstring(rules).productions())
        except ValueError as error:
            raise self.wrong(f"rules that cannot be read: {' '.join(str(error).split())[:200]}", "rules: A -> 'word' B | C") from error
        self._productions += [Production(Nonterminal(symbol), _tokens(text)) for symbol, texts in words.items() for text in texts]
        self._ways: dict[str, dict[int, list[Way]]] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self.text = lru_cache(50_000)(self._text)

    def wrong(self, what: str, hint: str) -> DataError:
        """What is wrong with the rules."""
        return DataError(what, file=self._source.path, line=self._source.line(["rules"]), hint=hint)

    def ways(self, symbol: str, above: tuple[str, ...] = ()) -> dict[int, list[Way]]:
        """Length -> the ways to say ``symbol`` with so many words (marks are none); ``above``: the symbols that lead to it."""
        if symbol in self._ways:
            return self._ways[symbol]
        if symbol in above:
            raise self.wrong(f"{symbol} leads back to itself: {' -> '.join([*above, symbol])}", "rules without recursion")
        rules = dict.fromkeys(tuple(production.rhs()) for production in self._productions if str(production.lhs()) == symbol)
        if not rules:
            raise self.wrong(f"nothing says what {symbol} is", "a rule, or a list under words")
        ways: dict[int, list[Way]] = {}
        for rule in rules:
            counts = [{int(part not in _MARKS): 0} if isinstance(part, str) else self.counts(str(part), (*above, symbol)) for part in rule]
            for lengths in product(*counts):
                sizes = tuple(own[length] for own, length in zip(counts, lengths, strict=True))
                ways.setdefault(sum(lengths), []).append(Way(tuple(map(str, rule)), lengths, sizes, prod(size or 1 for size in sizes)))
        self._ways[symbol] = dict(sorted(ways.items()))
        self._counts[symbol] = {length: sum(way.size for way in same) for length, same in self._ways[symbol].items()}
        if sum(self._counts[symbol].values()) >= _MOST:
            hint = "fewer words or rules; a grammar without `lexicon` has no preset wide"
            raise self.wrong(f"{symbol} has {_MOST} sentences or more", hint)
        return self._ways[symbol]

    def counts(self, symbol: str, above: tuple[str, ...] = ()) -> dict[int, int]:
        """Length -> how many sentences of so many words ``symbol`` has."""
        self.ways(symbol, above)
        return self._counts[symbol]

    def parts(self, ways: Iterable[Way], number: int) -> list[tuple[str, int, int]]:
        """Sentence ``number`` (from 0) of those that are said in ``ways``: symbol, length and number of its parts; a word has -1."""
        parts = []
        for way in ways:
            if number < way.size:
                for part, length, count in zip(way.rule[::-1], way.lengths[::-1], way.counts[::-1], strict=True):
                    number, own = divmod(number, count) if count else (number, -1)
                    parts.append((part, length, own))
                break
            number -= way.size
        return parts[::-1]

    def _text(self, symbol: str, length: int, number: int) -> list[str]:
        if number < 0:
            return [symbol]
        return [token for part in self.parts(self._ways[symbol][length], number) for token in self.text(*part)]

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every word that its sentences have, in small letters."""
        return frozenset(part.lower() for production in self._productions for part in production.rhs() if isinstance(part, str))

    @cached_property
    def _beginning(self) -> dict[tuple[str, str], list[tuple[Any, ...]]]:
        """Symbol and first word (empty: a symbol, or nothing) -> right sides, in small letters."""
        found: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
        for production in self._productions:
            rule = tuple(part.lower() if isinstance(part, str) else part for part in production.rhs())
            first = rule[0] if rule and isinstance(rule[0], str) else ""
            found.setdefault((str(production.lhs()), first), []).append(rule)
        return found

    def recognised(self, text: str, symbols: Iterable[str]) -> str:
        """The first of ``symbols`` of which ``text``, capitals and full stop aside, is a sentence; empty if there is none."""
        words = [*_tokens(text.rstrip(" .!").lower()), ""]
        known: dict[tuple[str, int], set[int]] = {}

        def ends(symbol: str, start: int) -> set[int]:
            """Where what ``symbol`` says may end."""
            if (symbol, start) not in known:
                known[symbol, start] = set()  # what leads back to itself says nothing
                rules = (rule for first in {words[start], ""} for rule in self._beginning.get((symbol, first), ()))
                known[symbol, start] = {end for rule in rules for end in reduce(after, rule, {start})}
            return known[symbol, start]

        def after(places: set[int], part: Any) -> set[int]:
            if isinstance(part, str):
                return {place + 1 for place in places if words[place] == part}
            return {end for place in places for end in ends(str(part), place)}

        return next((symbol for symbol in symbols if len(words) - 1 in ends(symbol, 0)), "")


class Grammar:
    """A preset's grammar file in the project: rules, and the words that train and test may use; of ``wide`` the lexicon's, too."""

    def __init__(self, project: Project, preset: str = SMALL) -> None:
        self.document = read_yaml(project.grammar_file(_FILES[preset]), "grammar")
        self.data, self.preset, self._lexicon = self.document.data, preset, Lexicon.of(project)

    @staticmethod
    def every(project: Project) -> "list[Grammar]":
        """Those of all presets that the project has: ``wide`` only where the file says what it takes from the lexicon."""
        found = [Grammar(project, preset) for preset in PRESETS]
        return [grammar for grammar in found if grammar.preset != WIDE or "lexicon" in grammar.data]

    @cached_property
    def closed(self) -> list[str]:
        """The words that both sides may use, in small letters."""
        shared = [token for words in self.data["words"].get("both", {}).values() for text in _listed(words) for token in _tokens(text)]
        return [word.lower() for word in (*_listed(self.data["closed"]), *shared)]

    def rows(self, slot: str, lexfile: str = "") -> list[dict[str, object]]:
        """The lexemes that the construction's frames have in ``slot``; only those of a WordNet file, if one is named."""
        frames, index = self._lexicon.frames(self.data["construction"]), self._lexicon.index
        keys = dict.fromkeys(key for frame in frames for key in frame.slots.get(slot, ()) if key in index)
        return [row for row in map(self._lexicon.row, keys) if not lexfile or row["lexfile"] == lexfile]

    def _words(self, side: str, *, wide: bool = False) -> dict[str, list[str]]:
        """Symbol -> words and phrases that ``side`` may use; ``wide``: the lexicon's, adverbs beside the file's own."""
        given: dict[str, list[str]] = {}
        for listed in (self.data["words"].get("both", {}), self.data["words"][side]):
            for symbol, words in listed.items():
                given[symbol] = [*given.get(symbol, ()), *_listed(words)]
        for symbol, sides in self._sides.items() if wide else ():
            drawn = {word for word, own in sides.items() if own == side}
            given[symbol] = sorted(drawn.union(given.get(symbol, ()) if symbol == "ADV" else ()))
        return given

    @cached_property
    def _sides(self) -> dict[str, dict[str, str]]:
        """Symbol -> word of the lexicon -> side; a word that the file has keeps its side."""
        raw, fixed = self.data["lexicon"], self.data["words"]
        listed = [(side, text) for side in reversed(SIDES) for words in fixed[side].values() for text in _listed(words)]
        known = {token: side for side, text in listed for token in _tokens(text)}
        sides = {}
        for symbol, asked in raw["slots"].items():
            rows = self.rows(asked["slot"], asked.get("lexfile", ""))
            every = {str(row[asked["form"]]) for row in rows if row["lemma"] not in raw.get("leave_out", ())}.difference(self.closed)
            words = sorted(word for word in every if " " not in word)  # no *more often*, of which each side has a half
            sides[symbol] = {word: known.get(word) or SIDES[order_key("side", word)[0] % 2] for word in words}
        return sides

    def language(self, side: str) -> Language:
        """What the preset can say on one side."""
        wide = self.preset == WIDE
        words, rules = self._words(side, wide=wide), self.data["rules"]
        if wide:
            rules += "\n" + self.data["lexicon"]["rules"]
            words.pop("NOUN", None)  # said by a rule there
        return Language(rules, words, self.document)

    @cached_property
    def _recogniser(self) -> Language:
        """Everything that is recognised: both sides, with the lexicon's words, and what stands under ``recognised``."""
        more, lexicon = self.data.get("recognised", {"rules": "", "words": {}}), self.data.get("lexicon", {})
        words = {symbol: _listed(listed) for symbol, listed in more["words"].items()}
        for side, wide in product(SIDES, (False, True) if lexicon else (False,)):
            for symbol, listed in self._words(side, wide=wide).items():
                words[symbol] = list(dict.fromkeys([*words.get(symbol, ()), *listed]))
        return Language("\n".join([self.data["rules"], more["rules"], lexicon.get("rules", "")]), words, self.document)

    def recognises(self, text: str, *, any_words: bool = False) -> str:
        """What a sentence is: one of `ROLES`, or empty; with ``any_words`` unknown ones count as what they look like."""
        if any_words:
            text = " ".join(map(self._likened, _tokens(text.rstrip(" .!"))))
        roles = {self.data["sentences"][role]: role for role in (INSTANCE, NON_INSTANCE, SCRAMBLED)}
        return roles.get(self._recogniser.recognised(text, roles), "")

    def unknown(self, text: str) -> list[str]:
        """The words of a sentence that the grammar does not have."""
        return [word for word in _tokens(text.rstrip(" .!")) if word.lower() not in self._recogniser.vocabulary]

    def _likened(self, word: str) -> str:
        """A word, or one of its kind where it is not known: in -er an adverb, in -s a noun, digits a number, any other a verb."""
        if word.lower() in self._recogniser.vocabulary:
            return word
        symbol = "NUM" if word.isdigit() else "ADV" if word.endswith("er") else "NOUN" if word.endswith("s") else "VERB"
        return self._words(SIDES[0]).get(symbol, [word])[0]

    def written(self, words: Iterable[str]) -> str:
        """A sentence of words and marks: with a capital and a full stop, blanks before marks only where the file is ``tokenised``."""
        text = " ".join((*words, "."))
        text = text if self.data.get("tokenised") else re.sub(r" ([,;.])", r"\1", text)
        return f"{text[0].upper()}{text[1:]}"


def _listed(raw: str | list[str]) -> list[str]:
    return list(raw) if isinstance(raw, list) else [word.strip() for word in raw.split(",") if word.strip()]
