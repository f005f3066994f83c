"""Annotated premises as spaCy documents."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from cxgen.errors import needs
from cxgen.trees.sentence import Sentence

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

SPANS = "slots"


@cache
def vocabulary() -> Vocab:
    """An English vocabulary without a trained pipeline.

    Raises:
        DataError: spaCy is not installed.
    """
    with needs("annotated documents and the form check need spaCy", "annotate"):
        import spacy
    return spacy.blank("en").vocab


def to_doc(sentence: Sentence) -> Doc:
    """``sentence`` with tags, lemmas, heads and relations; the fillers are spans, labelled by slot, in ``doc.spans["slots"]``.

    Raises:
        DataError: spaCy is not installed.
    """
    vocab = vocabulary()
    from spacy.tokens import Doc, Span

    tokens = sentence.tokens
    doc = Doc(
        vocab,
        words=[token.form for token in tokens],
        spaces=[token.space_after for token in tokens],
        lemmas=[token.lemma for token in tokens],
        pos=[token.upos for token in tokens],
        tags=[token.xpos for token in tokens],
        heads=[token.head - 1 if token.head else number for number, token in enumerate(tokens)],
        deps=["ROOT" if token.relation == "root" else token.relation for token in tokens],
    )
    doc.user_data["premise_id"] = sentence.item
    doc.user_data["construction"] = sentence.construction
    spans = []
    start = 0
    for end in range(1, len(tokens) + 1):
        if end == len(tokens) or tokens[end].slot != tokens[start].slot or tokens[end - 1].anchor:
            if tokens[start].slot:
                spans.append(Span(doc, start, end, label=tokens[start].slot))
            start = end
    doc.spans[SPANS] = spans
    return doc
