"""Does a sentence have the shape that its kind asks for? Patterns of slots and words, in order, with short gaps between them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cxgen.constructicon import Part
from cxgen.constructicon.natural import ANYTHING
from cxgen.natural.tokens import POSSESSIVE, Unit, tokens

GAP = 8  # units between two parts of a pattern
_ENDS = frozenset(".;!?")
_PIECE = re.compile(r"\.\.\.|[^.]+|\.")


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
    found: list[Step] = []
    far = True  # before the first part anything may stand
    for part in parts:
        if part.slot and part.form == "poss":
            found.append(Step(possessive=True, far=far))
        elif part.slot in words:
            found.append(Step(ways=tuple(tuple(token.lower() for token in tokens(way)) for way in words[part.slot]), far=far))
        elif part.slot:
            found.append(Step(slot=part.slot, far=far))
        else:
            for piece in _PIECE.findall(part.text):
                if piece == ANYTHING:
                    far = True
                    continue
                for token in tokens(piece):
                    found.append(Step(ways=((token.lower(),),), far=far))
                    far = False
            continue
        far = False
    return found


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
            found = _from(sentence, rest, place + length)
            if found is not None:
                return found | (set(range(place, place + length)) if step.ways else set())
    return None


def _lengths(sentence: Sequence[Unit], place: int, step: Step) -> list[int]:
    """How many units ``step`` takes up at ``place``, longest first; none where it does not stand there."""
    if step.slot or step.possessive:
        here = sentence[place] if place < len(sentence) else Unit("")
        return [1] if (here.slot == step.slot if step.slot else here.word in POSSESSIVE and not here.slot) else []
    lengths = {len(way) for way in step.ways if [unit.word for unit in sentence[place : place + len(way)] if not unit.slot] == list(way)}
    return sorted(lengths, reverse=True)
