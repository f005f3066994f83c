"""What a label turns on: another premise of the set with the same words, or the words."""

from collections import Counter
from collections.abc import Mapping

from cxgen.constructicon import Construction
from cxgen.measures.words import open_words
from cxgen.sampling.ways import WORD_FORMS
from cxgen.vocabulary import NEUTRAL

WORDS = "words"


def turns(construction: Construction, matrix: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, str]]:
    """Cell of a label matrix -> a kind with the same open-class words and another label, the opposite one if possible; or ``WORDS``."""
    bags = {kind: _bags(construction, kind) for kind in matrix}

    def turns_on(kind: str, rule: str, label: int) -> str:
        others = [other for other in matrix if bags[other] == bags[kind] and matrix[other].get(rule, label) != label]
        return min(others, key=lambda other: matrix[other][rule] == NEUTRAL, default=WORDS)

    return {kind: {rule: turns_on(kind, rule, label) for rule, label in row.items()} for kind, row in matrix.items()}


def _bags(construction: Construction, kind: str) -> list[Counter[str]]:
    """The open-class words and slots of a kind's premises, template by template."""
    bags = []
    for template in construction.templates_for(kind):
        parts = construction.premise_parts(kind, template.name)
        text = " ".join(part.text for part in parts if not part.slot).replace("'s", " ")
        slots = [part.slot for part in parts if part.slot and not (part.form in WORD_FORMS and WORD_FORMS[part.form].closed)]
        bags.append(Counter([*open_words(text), *(f"{{{slot}}}" for slot in slots)]))
    return bags
