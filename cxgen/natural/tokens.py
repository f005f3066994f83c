"""Sentences as tokens, and the places of marked words in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TOKEN = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*['’]?(?=\W|$)|[^\s\w]", re.UNICODE)
DETERMINERS = frozenset(
    ["a", "an", "the", "this", "that", "these", "those", "some", "my", "your", "his", "her", "its", "our", "their", "whose"]
)
POSSESSIVE = frozenset(["my", "your", "his", "her", "its", "our", "their"])
_SAME = {
    **dict.fromkeys(["he", "she", "it", "they", "him", "her", "them", "his", "hers", "its", "their", "theirs"], "<they>"),
    **dict.fromkeys(["himself", "herself", "itself", "themselves", "themself"], "<themselves>"),
    **dict.fromkeys(["was", "were", "is", "are"], "<was>"),
    **dict.fromkeys(["has", "have"], "<have>"),
    **dict.fromkeys(["does", "do"], "<do>"),
    "an": "a",
}


@dataclass(frozen=True)
class Unit:
    """A token, or the words of a slot.

    Attributes:
        text: as it stands.
        slot: the slot; empty for a token of none.
    """

    text: str
    slot: str = ""

    @property
    def word(self) -> str:
        """In lower case, with a straight apostrophe."""
        return self.text.lower().replace("’", "'")


def tokens(text: str) -> list[str]:
    """The words and punctuation marks of ``text``, in order; *don't* and *well-worn* are one word each."""
    return _TOKEN.findall(text)


def without_determiner(mark: str) -> str:
    """A marked text without the article or possessive that it begins with."""
    words = mark.split()
    while len(words) > 1 and words[0].lower() in DETERMINERS:
        words = words[1:]
    return " ".join(words)


def units(sentence: str, marks: Mapping[str, str]) -> list[Unit]:
    """The tokens of ``sentence``, those that ``marks`` (slot -> text) name together as one unit of their slot; longer marks first."""
    found = tokens(sentence)
    folded = [Unit(token).word for token in found]
    owner: dict[int, tuple[str, int]] = {}
    taken: set[int] = set()
    for slot, mark in sorted(marks.items(), key=lambda each: -len(tokens(each[1]))):
        wanted = [Unit(token).word for token in tokens(mark)]
        for start in range(len(found) - len(wanted) + 1):
            span = range(start, start + len(wanted))
            if wanted and folded[start : start + len(wanted)] == wanted and not taken.intersection(span):
                taken.update(span)
                owner[start] = slot, len(wanted)
    listed, place = [], 0
    while place < len(found):
        slot, length = owner.get(place, ("", 1))
        listed.append(Unit(" ".join(found[place : place + length]), slot))
        place += length
    return listed


def skeleton(sentence: list[Unit], spoken_for: set[int]) -> list[str]:
    """What of a sentence must be the same in all kinds: its words but those ``spoken_for``.

    Slots are gaps without their articles, words that agree with a slot (*he, she; was, were*) are one.
    """
    left = []
    for place, unit in enumerate(sentence):
        before_slot = unit.word in DETERMINERS and place + 1 < len(sentence) and sentence[place + 1].slot
        if place in spoken_for or before_slot:
            continue
        left.append("_" if unit.slot else _SAME.get(unit.word, unit.word))
    return left
