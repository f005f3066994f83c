"""A writer's sentence: its tokens, the places of marked words in it, and whether it shows a pattern of slots and words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cxgen.constructicon import Part
from cxgen.constructicon.natural import ANYTHING

GAP = 8  # units between two parts of a pattern
_TOKEN = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*['’]?(?=\W|$)|[^\s\w]", re.UNICODE)
_ENDS = frozenset(".;!?")
_PIECE = re.compile(r"\.\.\.|[^.]+|\.")
POSSESSIVE = frozenset({"my", "your", "his", "her", "its", "our", "their"})
DETERMINERS = POSSESSIVE | {"a", "an", "the", "this", "that", "these", "those", "some", "whose"}
_AGREEING = {  # words that agree with a slot count as one
    "<they>": "he she it they him her them his hers its their theirs",
    "<themselves>": "himself herself itself themselves themself",
    "<was>": "was were is are",
    "<have>": "has have",
    "<do>": "does do",
    "a": "an",
}
_SAME = {word: one for one, words in _AGREEING.items() for word in words.split()}


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
    result = tokens(sentence)
    folded = [Unit(token).word for token in result]
    owner: dict[int, tuple[str, int]] = {}
    taken: set[int] = set()
    for slot, mark in sorted(marks.items(), key=lambda pair: -len(tokens(pair[1]))):
        wanted = [Unit(token).word for token in tokens(mark)]
        for start in range(len(result) - len(wanted) + 1):
            span = range(start, start + len(wanted))
            if wanted and folded[start : start + len(wanted)] == wanted and not taken.intersection(span):
                taken.update(span)
                owner[start] = slot, len(wanted)
    listed, place = [], 0
    while place < len(result):
        slot, length = owner.get(place, ("", 1))
        listed.append(Unit(" ".join(result[place : place + length]), slot))
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


@dataclass(frozen=True)
class Step:
    """One part of a pattern.

    Attributes:
        slot: the slot that stands here.
        ways: or the words, one way or another; an empty way stands for nothing.
        possessive: or a possessive pronoun.
        far: whether anything may stand before it.
    """

    slot: str = ""
    ways: tuple[tuple[str, ...], ...] = ()
    possessive: bool = False
    far: bool = False


def steps(parts: Sequence[Part], slots: Mapping[str, object], words: Mapping[str, Sequence[str]]) -> list[Step]:
    """A pattern as steps: ``slots`` are the square's, ``words`` those that the writer chose."""
    result: list[Step] = []
    far = True  # before the first part anything may stand
    for part in parts:
        if part.slot and part.form == "poss":
            result.append(Step(possessive=True, far=far))
        elif part.slot in words:
            result.append(Step(ways=tuple(tuple(token.lower() for token in tokens(way)) for way in words[part.slot]), far=far))
        elif part.slot:
            result.append(Step(slot=part.slot, far=far))
        else:
            for piece in _PIECE.findall(part.text):
                if piece == ANYTHING:
                    far = True
                    continue
                for token in tokens(piece):
                    result.append(Step(ways=((token.lower(),),), far=far))
                    far = False
            continue
        far = False
    return result


def matched(sentence: Sequence[Unit], wanted: Sequence[Step]) -> set[int] | None:
    """The places of a pattern's words, where ``sentence`` shows it; None where it does not.

    Between two parts stand at most ``GAP`` units, none of them another slot or the end of a sentence; where a step is far, anything.
    """
    return _from(sentence, wanted, 0)


def _from(sentence: Sequence[Unit], wanted: Sequence[Step], start: int) -> set[int] | None:
    if not wanted:
        return set()
    step, rest = wanted[0], wanted[1:]
    for place in range(start, len(sentence) + 1):
        gap = sentence[start:place]
        if not step.far and (len(gap) > GAP or any(unit.slot or unit.word in _ENDS for unit in gap)):
            return None
        for length in _lengths(sentence, place, step):
            result = _from(sentence, rest, place + length)
            if result is not None:
                return result | (set(range(place, place + length)) if step.ways else set())
    return None


def _lengths(sentence: Sequence[Unit], place: int, step: Step) -> list[int]:
    """How many units ``step`` takes up at ``place``, longest first; none where it does not stand there."""
    if step.slot or step.possessive:
        here = sentence[place] if place < len(sentence) else Unit("")
        return [1] if (here.slot == step.slot if step.slot else here.word in POSSESSIVE and not here.slot) else []
    lengths = {len(way) for way in step.ways if [unit.word for unit in sentence[place : place + len(way)] if not unit.slot] == list(way)}
    return sorted(lengths, reverse=True)
