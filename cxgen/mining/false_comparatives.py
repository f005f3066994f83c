"""What taggers call a comparative behind *the* and what is no half of a comparative correlative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Token

# Adjectives in -er without a positive form: they order or place, and compare nothing.
_WORDS = {
    "one of two: the former, the latter": {"former", "latter", "other", "another", "either", "neither"},
    "a place, not a degree: the inner, the upper": {"inner", "outer", "upper", "nether", "hinder", "under", "over"},
    "a word in -er that compares nothing: the proper": {
        "bitter", "clever", "eager", "elder", "proper", "rather", "sheer", "sinister", "sober", "super", "utter",
    },
}  # fmt: skip
_REASONS = {word: reason for reason, words in _WORDS.items() for word in words}
_THAN = "compares by itself: the more than"
_PAIRED = "a phrase: the more or less"
_DEGREE = "a degree: all the more, none the less, so much the better"
_IDIOM = "a phrase: for the better, for the worse"
_OF_TWO = "one of two: the older of the brothers"
_NAME = "part of a name: the Lower East Side"
_QUANTITY = frozenset({"more", "less", "fewer"})  # "the more of it you eat" is a half
_LITTLE = 0.5


def reason(tokens: Sequence[Token], place: int) -> str | None:
    """Why the comparative at ``place``, behind *the*, is no half of a comparative correlative; None if it may be one.

    What only the sentence as a whole tells (*the older man met the younger woman*) is left to the labels of groups.
    """
    word = tokens[place].lower_
    if word in _REASONS:
        return _REASONS[word]
    return _behind(tokens, place, word) or _before(tokens, place, word) or (_NAME if _in_name(tokens, place) else None)


def _behind(tokens: Sequence[Token], place: int, word: str) -> str | None:
    after = [token.lower_ for token in tokens[place + 1 : place + 3]]
    if after[:1] == ["than"]:
        return _THAN
    if after in (["or", "less"], ["or", "fewer"]):
        return _PAIRED
    return _OF_TWO if after[:1] == ["of"] and word not in _QUANTITY else None


def _before(tokens: Sequence[Token], place: int, word: str) -> str | None:
    before = [token.lower_ for token in tokens[max(place - 3, 0) : place - 1]]
    if before[-1:] in (["all"], ["none"], ["any"], ["no"]) or before == ["so", "much"]:
        return _DEGREE
    ends = place + 1 == len(tokens) or tokens[place + 1].is_punct or tokens[place + 1].tag_ in {"CC", "IN", "RB", "WRB"}
    return _IDIOM if before[-1:] == ["for"] and word in {"better", "worse"} and ends else None


def _in_name(tokens: Sequence[Token], place: int) -> bool:
    """Whether it and the next word begin with a capital, though the sentence is no headline."""
    if place + 1 >= len(tokens) or not (tokens[place].is_title and tokens[place + 1].is_title):
        return False
    words = [token for token in tokens if token.is_alpha]
    return sum(token.is_lower for token in words) >= _LITTLE * len(words)
