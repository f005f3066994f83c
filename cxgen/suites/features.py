"""Features of form: what of a sentence's shape subsets hold apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cxgen.suites.language import Way

FEATURES = {
    "length": "words of the sentence",
    "start": "words before the construction",
    "second_start": "words before its second half",
    "distance": "words between the halves",
}
SUBSETS = ("general", *FEATURES)


@dataclass(frozen=True)
class Measured:
    """A feature with a value."""

    feature: str
    value: int


def features_of(way: Way, half: str) -> dict[str, int]:
    """The features of the sentences that are said in a way with two parts ``half``."""
    first, second = (place for place, part in enumerate(way.parts) if part == half)
    start, later = sum(way.lengths[:first]), sum(way.lengths[:second])
    return {"length": sum(way.lengths), "start": start, "second_start": later, "distance": later - start - way.lengths[first]}


def low_end(values: Sequence[int]) -> set[int]:
    """The values in the lowest quarter of their range."""
    least, most = min(values), max(values)
    return {value for value in values if value <= least + (most - least) / 4}
