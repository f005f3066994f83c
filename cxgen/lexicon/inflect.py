"""Inflected forms: lemminflect, corrected by rule and by overrides."""

from __future__ import annotations

from collections.abc import Mapping

from cxgen.lexicon.reference import Reference
from cxgen.lexicon.spelling import is_synthetic

_TAGS = {
    "noun": {"plural": "NNS"},
    "verb": {"third": "VBZ", "ing": "VBG", "past": "VBD", "participle": "VBN"},
    "adjective": {"comparative": "JJR", "superlative": "JJS"},
}


def _inflect(word: str, tag: str, reference: Reference) -> str | None:
    variants = reference.inflected(word, tag)
    if tag == "NNS":  # a zero plural (brush, sponge) is listed for many count nouns: the marked one is meant
        variants = tuple(variant for variant in variants if variant != word) or variants
    # Of several variants (hung / hanged) the dictionary's first: by frequency, homographs win (heaved / hove, crowed / crew).
    return variants[0] if variants else None


def forms(lemma: str, pos: str, overrides: Mapping[str, str], reference: Reference) -> dict[str, str]:
    """All inflected forms of ``lemma``: form name -> string.

    Args:
        lemma: may hold spaces; the last word of a noun and the first word of a verb inflect.
        pos: noun, verb or adjective; other parts of speech have no forms.
        overrides: form name -> string; they win.
        reference: whom to ask.
    """
    result: dict[str, str] = {}
    for form, tag in _TAGS.get(pos, {}).items():
        if form in overrides:
            result[form] = overrides[form]
        elif pos == "adjective" and not is_synthetic(lemma):
            result[form] = f"{'more' if form == 'comparative' else 'most'} {lemma}"
        elif pos == "verb":
            head, _, rest = lemma.partition(" ")
            result[form] = f"{_inflect(head, tag, reference) or head} {rest}".rstrip()
        else:
            rest, _, head = lemma.rpartition(" ")
            result[form] = f"{rest} {_inflect(head, tag, reference) or head}".lstrip()
    return result
