"""What a label turns on: another premise of the set with the same words, or the words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from cxgen.constructicon import Construction, Part
from cxgen.measures.words import open_words
from cxgen.sampling.ways import WORD_FORMS
from cxgen.vocabulary import NEUTRAL

WORDS = "words"

Matrix = Mapping[str, Mapping[str, int]]


def turns(construction: Construction, matrix: Matrix) -> dict[str, dict[str, str]]:
    """Per cell of a design's label matrix, another kind that is said with the same open-class words and has another label for the same
    hypothesis, the opposite one if there is such a kind; ``WORDS`` if there is none.

    Args:
        construction: whose kinds they are.
        matrix: kind -> rule -> label.

    Returns:
        Kind -> rule -> name of a kind, or ``WORDS``.
    """
    bags = {kind: _bags(construction, kind) for kind in matrix}
    found: dict[str, dict[str, str]] = {}
    for kind, row in matrix.items():
        alike = [other for other in matrix if bags[other] == bags[kind]]
        found[kind] = {}
        for rule, label in row.items():
            others = [other for other in alike if matrix[other].get(rule, label) != label]
            found[kind][rule] = min(others, key=lambda other: matrix[other][rule] == NEUTRAL, default=WORDS)
    return found


def _bags(construction: Construction, kind: str) -> list[Counter[str]]:
    """The open-class words and slots of a kind's premises, template by template."""
    return [_bag(construction.premise_parts(kind, template.name)) for template in construction.templates_for(kind)]


def _bag(parts: tuple[Part, ...]) -> Counter[str]:
    text = " ".join(part.text for part in parts if not part.slot).replace("'s", " ")
    return Counter([*open_words(text), *(f"{{{part.slot}}}" for part in parts if part.slot and not _closed(part))])


def _closed(part: Part) -> bool:
    return part.form in WORD_FORMS and WORD_FORMS[part.form].closed
