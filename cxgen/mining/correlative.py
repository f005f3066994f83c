"""Comparative correlatives by their tags: *the* and a comparative, twice in a sentence (Weissweiler et al. 2022, sec. 3: the corpus)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cxgen.mining.false_comparatives import reason
from cxgen.mining.found import Dropped, Found

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_TAGS = frozenset({"JJR", "RBR"})
# English comparatives end in -er but for three; so a passage without two of them behind "the" need not be tagged at all.
_HALF = re.compile(r"\bthe\s+(?:[\w'-]*er|more|less|worse)\b", re.IGNORECASE)
_GAP = "..."


class Correlative:
    """Finds pairs of halves in a sentence.

    Attributes:
        rules: what decides beside the options: nothing.
    """

    rules: tuple[object, ...] = ()

    def __init__(self, width: int = 2, most_between: int = 25, *, whole: bool = False) -> None:
        """Set what is found and how finely it is grouped.

        Args:
            width: tags behind each comparative that a group tells apart.
            most_between: words between the first comparative and the second *the*.
            whole: whether a group tells all tags between the halves apart.
        """
        self.width, self.most_between, self.whole = width, most_between, whole

    def may_have(self, text: str) -> bool:
        """Whether a passage need be tagged."""
        found = _HALF.finditer(text)
        return next(found, None) is not None and next(found, None) is not None

    def find(self, doc: Doc) -> Iterator[tuple[list[Token], Found | Dropped]]:
        """Every sentence with two halves, with each candidate in it or the reason for which there is none."""
        for sentence in doc.sents:
            tokens = [token for token in sentence if not token.is_space]
            for said in self._sentence(tokens):
                yield tokens, said

    def _sentence(self, tokens: Sequence[Token]) -> Iterator[Found | Dropped]:
        words = itertools.pairwise(tokens)
        places = [place for place, (first, second) in enumerate(words) if first.lower_ == "the" and second.tag_ in _TAGS]
        reasons = {place: reason(tokens, place + 1) for place in places}
        pairs = list(self._pairs([place for place in places if reasons[place] is None]))
        ends = [first for first, _ in pairs[1:]] + [len(tokens)]
        for (first, second), end in zip(pairs, ends, strict=False):
            yield self._found(tokens, first, second, end)
        false = next(self._pairs(places), None)
        if false and not pairs:
            yield Dropped(next(told for place in false if (told := reasons[place])))

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

    def _found(self, tokens: Sequence[Token], first: int, second: int, end: int) -> Found:
        ends = [_last_word(tokens, first, second), _last_word(tokens, second, end)]
        spans = (
            ("first", tokens[first], tokens[ends[0]]),
            ("first comparative", tokens[first + 1], tokens[first + 1]),
            ("second", tokens[second], tokens[ends[1]]),
            ("second comparative", tokens[second + 1], tokens[second + 1]),
        )
        tags = [token.tag_ for token in tokens]
        between = tags[first + 2 : second]
        if not self.whole and len(between) > self.width + 1:  # the one right before the second half tells most
            between = [*between[: self.width], _GAP, between[-1]]
        after = tags[second + 2 : second + 2 + self.width]
        return Found(" ".join(["the", tags[first + 1], *between, "the", tags[second + 1], *after]), spans)


def _last_word(tokens: Sequence[Token], start: int, end: int) -> int:
    """The last token of a half that is no punctuation."""
    return next((place for place in range(end - 1, start, -1) if not tokens[place].is_punct), start + 1)
