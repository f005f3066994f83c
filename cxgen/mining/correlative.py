"""Comparative correlatives by their tags: *the* and a comparative, twice in a sentence (Weissweiler et al. 2022, sec. 3: the corpus)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cxgen.mining.candidates import Candidate

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_TAGS = frozenset({"JJR", "RBR"})
# English comparatives end in -er but for three; so a passage without two of them behind "the" need not be tagged at all.
_HALF = re.compile(r"\bthe\s+(?:[\w'-]*er|more|less|worse)\b", re.IGNORECASE)
# Adjectives in -er without a positive form: they order or place, and compare nothing.
_WORDS = {
    "one of two: the former, the latter": {"former", "latter", "other", "another", "either", "neither"},
    "a place, not a degree: the inner, the upper": {"inner", "outer", "upper", "nether", "hinder", "under", "over"},
    "a word in -er that compares nothing: the proper": {
        "bitter", "clever", "eager", "elder", "proper", "rather", "sheer", "sinister", "sober", "super", "utter",
    },
}  # fmt: skip
_REASONS = {word: reason for reason, words in _WORDS.items() for word in words}
_QUANTITY = frozenset({"more", "less", "fewer"})  # "the more of it you eat" is a half
_LITTLE = 0.5  # share of small letters from which a sentence is no headline


@dataclass(frozen=True)
class Correlative:
    """Finds pairs of halves in a sentence.

    Attributes:
        width: tags behind each comparative by which groups differ.
        most_between: words between the first comparative and the second *the*.
        whole: whether groups differ by all tags between the halves.
        patterns: none: tags decide.
    """

    width: int = 2
    most_between: int = 25
    whole: bool = False
    patterns: tuple[object, ...] = ()

    def may_have(self, text: str) -> bool:
        """Whether a passage need be tagged."""
        return sum(1 for _ in itertools.islice(_HALF.finditer(text), 2)) == 2

    def find(self, doc: Doc) -> Iterator[tuple[list[Token], Candidate | str]]:
        """Every sentence with two halves, with each candidate in it or the reason for which there is none."""
        for sentence in doc.sents:
            tokens = [token for token in sentence if not token.is_space]
            for candidate in self._sentence(tokens):
                yield tokens, candidate

    def _sentence(self, tokens: Sequence[Token]) -> Iterator[Candidate | str]:
        words = itertools.pairwise(tokens)
        places = [place for place, (first, second) in enumerate(words) if first.lower_ == "the" and second.tag_ in _TAGS]
        reasons = {place: false_comparative(tokens, place + 1) for place in places}
        pairs = list(self._pairs([place for place in places if reasons[place] is None]))
        ends = [first for first, _ in pairs[1:]] + [len(tokens)]
        for (first, second), end in zip(pairs, ends, strict=False):
            yield self._candidate(tokens, first, second, end)
        false = next(self._pairs(places), None)
        if false and not pairs:
            yield next(reason for place in false if (reason := reasons[place]))

    def _pairs(self, places: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Neighbours that are near enough, from the left, none in two pairs."""
        left = iter(places)
        first = next(left, None)
        for place in left:
            if first is not None and place - first - 2 <= self.most_between:
                yield first, place
                first = next(left, None)
            else:
                first = place

    def _candidate(self, tokens: Sequence[Token], first: int, second: int, end: int) -> Candidate:
        spans = (
            ("first", tokens[first], _last_word(tokens, first, second)),
            ("first comparative", tokens[first + 1], tokens[first + 1]),
            ("second", tokens[second], _last_word(tokens, second, end)),
            ("second comparative", tokens[second + 1], tokens[second + 1]),
        )
        tags = [token.tag_ for token in tokens]
        between = tags[first + 2 : second]
        if not self.whole and len(between) > self.width + 1:  # the one right before the second half tells most
            between = [*between[: self.width], "...", between[-1]]
        after = tags[second + 2 : second + 2 + self.width]
        return Candidate(" ".join(["the", tags[first + 1], *between, "the", tags[second + 1], *after]), spans)


def _last_word(tokens: Sequence[Token], start: int, end: int) -> Token:
    """The last token of a half that is no punctuation."""
    return next((tokens[place] for place in range(end - 1, start, -1) if not tokens[place].is_punct), tokens[start + 1])


def false_comparative(tokens: Sequence[Token], place: int) -> str | None:
    """Why the comparative at ``place``, behind *the*, is no half of a comparative correlative; None if it may be one.

    What only the sentence as a whole tells (*the older man met the younger woman*) is left to the labels of groups.
    """
    word = tokens[place].lower_
    after = [token.lower_ for token in tokens[place + 1 : place + 3]]
    before = [token.lower_ for token in tokens[max(place - 3, 0) : place - 1]]
    ends = place + 1 == len(tokens) or tokens[place + 1].is_punct or tokens[place + 1].tag_ in {"CC", "IN", "RB", "WRB"}
    checks = {
        "compares by itself: the more than": after[:1] == ["than"],
        "a phrase: the more or less": after in (["or", "less"], ["or", "fewer"]),
        "one of two: the older of the brothers": after[:1] == ["of"] and word not in _QUANTITY,
        "a degree: all the more, none the less, so much the better": before[-1:] in (["all"], ["none"], ["any"], ["no"])
        or before == ["so", "much"],
        "a phrase: for the better, for the worse": before[-1:] == ["for"] and word in {"better", "worse"} and ends,
        "part of a name: the Lower East Side": _in_name(tokens, place),
    }
    return _REASONS.get(word) or next((reason for reason, holds in checks.items() if holds), None)


def _in_name(tokens: Sequence[Token], place: int) -> bool:
    """Whether it and the next word begin with a capital, though the sentence is no headline."""
    if place + 1 >= len(tokens) or not (tokens[place].is_title and tokens[place + 1].is_title):
        return False
    words = [token for token in tokens if token.is_alpha]
    return sum(token.is_lower for token in words) >= _LITTLE * len(words)
