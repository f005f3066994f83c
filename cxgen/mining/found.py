"""What a finder says of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.tokens import Token


@dataclass(frozen=True)
class Found:
    """A candidate in a sentence.

    Attributes:
        group: the sequence of tags by which it is labelled together with others.
        spans: name, first and last token of its parts.
    """

    group: str
    spans: tuple[tuple[str, Token, Token], ...]


@dataclass(frozen=True)
class Dropped:
    """What looked like a candidate and is none, and why."""

    reason: str


def row(found: Found, tokens: Sequence[Token], text: str) -> dict[str, Any]:
    """A candidate as it is written.

    Args:
        found: what was found.
        tokens: the sentence's.
        text: of the passage that the sentence is in; its line ends read as blanks.

    Returns:
        ``sentence, group, tags`` (Penn Treebank tags, separated by blanks) and ``spans``: name, start and end (characters of the
        sentence) and text.
    """
    begin, end = tokens[0].idx, tokens[-1].idx + len(tokens[-1])
    spans = []
    for name, first, last in found.spans:
        start, stop = first.idx - begin, last.idx + len(last) - begin
        spans.append({"name": name, "start": start, "end": stop, "text": text[begin + start : begin + stop]})
    return {"sentence": text[begin:end], "group": found.group, "tags": " ".join(token.tag_ for token in tokens), "spans": spans}
