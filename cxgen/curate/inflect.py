"""Inflected forms: lemminflect, corrected by rule and by the override table."""

from __future__ import annotations

import re

FORMS = ("plural", "third", "ing", "past", "participle", "comparative", "superlative")
_TAGS = {
    "noun": {"plural": "NNS"},
    "verb": {"third": "VBZ", "ing": "VBG", "past": "VBD", "participle": "VBN"},
    "adjective": {"comparative": "JJR", "superlative": "JJS"},
}
_SILENT_H = ("hour", "honest", "honor", "heir", "herb")
_YOO = re.compile(r"^(?:uni(?!n|m)|us(?:e|u|a)|eu|ewe|ukulele|one\b|once\b|u\b|utensil|utility|uranium|urin)", re.IGNORECASE)


def article(text: str) -> str:
    """``a`` or ``an`` before ``text``, judged from its spelling."""
    if text.lower().startswith(_SILENT_H):
        return "an"
    return "an" if text[:1].lower() in "aeiou" and not _YOO.match(text) else "a"


def _inflect(word: str, tag: str) -> str | None:
    from lemminflect import getInflection

    variants = getInflection(word, tag, inflect_oov=True)
    if tag == "NNS":  # a zero plural (brush, sponge) is listed for many count nouns: the marked one is meant
        variants = tuple(variant for variant in variants if variant != word) or variants
    # Of several variants (hung / hanged) the dictionary's first: by frequency, homographs win (heaved / hove, crowed / crew).
    return variants[0] if variants else None


def is_synthetic(adjective: str) -> bool:
    """Whether an English adjective compares with *-er* rather than *more*, by its number of syllables and its ending."""
    if " " in adjective or "-" in adjective:
        return False
    syllables = len(re.findall(r"[aeiouy]+", re.sub(r"(?<=[^l])e$", "", adjective)))
    if adjective.endswith(("ed", "ing", "ous", "ful", "less")) and syllables + adjective.endswith("ed") > 1:
        return False
    return syllables <= 1 or (syllables == 2 and adjective.endswith(("y", "le", "ow")))


def forms(lemma: str, pos: str, overrides: dict[str, str]) -> dict[str, str]:
    """All inflected forms of ``lemma``: form name -> string.

    Args:
        lemma: may hold spaces; the last word of a noun and the first word of a verb inflect.
        pos: noun, verb or adjective; other parts of speech have no forms.
        overrides: form name -> string, from the override table; they win.
    """
    result: dict[str, str] = {}
    for form, tag in _TAGS.get(pos, {}).items():
        if form in overrides:
            result[form] = overrides[form]
        elif pos == "adjective" and not is_synthetic(lemma):
            result[form] = f"{'more' if form == 'comparative' else 'most'} {lemma}"
        elif pos == "verb":
            head, _, rest = lemma.partition(" ")
            result[form] = f"{_inflect(head, tag) or head} {rest}".rstrip()
        else:
            rest, _, head = lemma.rpartition(" ")
            result[form] = f"{rest} {_inflect(head, tag) or head}".lstrip()
    return result
