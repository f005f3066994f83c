"""How a filler can look in a sentence, token by token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cxgen.sets.forms import AGREEMENT, PRONOUNS

_VERB_TAGS = {
    "base": ("lemma", "VB"),
    "third": ("third", "VBZ"),
    "ing": ("ing", "VBG"),
    "past": ("past", "VBD"),
    "participle": ("participle", "VBN"),
}
_AUXILIARIES = {"was": ("be", "VBD"), "is": ("be", "VBZ"), "has": ("have", "VBZ"), "does": ("do", "VBZ")}


@dataclass(frozen=True)
class Piece:
    """A token before it has a head: a relation to another piece of the same filler (``head``, from 0), or none for the filler's head."""

    form: str
    lemma: str
    upos: str
    xpos: str
    relation: str = ""
    head: int = -1


Look = tuple[Piece, ...]


def looks(lexeme: dict[str, Any], form: str, adjectives: frozenset[str] = frozenset()) -> Iterator[Look]:
    """Every way in which ``form`` of ``lexeme`` can be written; a phrase is left to the chunks.

    Args:
        lexeme: a row of the lexicon's table.
        form: as patterns ask for it.
        adjectives: first words of nouns of several words that are adjectives.
    """
    if form in PRONOUNS:
        for word in PRONOUNS[form]:
            yield (Piece(word, word, "PRON", "PRP$" if form == "poss" else "PRP"),)
    elif form in AGREEMENT:
        lemma, tag = _AUXILIARIES.get(form, (form, "DT"))
        for word in AGREEMENT[form]:
            yield (Piece(word, lemma, "AUX", tag),)
    elif lexeme["pos"] == "name":
        yield (Piece(lexeme["lemma"], lexeme["lemma"], "PROPN", "NNP"),)
    elif lexeme["pos"] == "noun":
        yield from _nouns(lexeme, form, adjectives)
    elif lexeme["pos"] == "verb":
        column, tag = _VERB_TAGS[form]
        yield (Piece(lexeme[column], lexeme["lemma"], "VERB", tag),)
    elif lexeme["pos"] == "adjective":
        yield _adjective(lexeme, form)
    elif lexeme["pos"] == "adverb":
        yield (Piece(lexeme["lemma"], lexeme["lemma"], "ADV", "RB"),)


def _nouns(lexeme: dict[str, Any], form: str, adjectives: frozenset[str]) -> Iterator[Look]:
    singular, plural = lexeme["lemma"], lexeme["plural"] or lexeme["lemma"]
    article = Piece(lexeme["article"] or "a", "a", "DET", "DT", "det")
    the = Piece("the", "the", "DET", "DT", "det")
    determiners = {"": (the,), "a": (article,), "bare": (None,), "np": (the, article, None)}[form]
    for determiner in determiners:
        for text, tag in ((singular, "NN"), (plural, "NNS")):
            yield _phrase(determiner, text, singular, tag, adjectives)


def _phrase(determiner: Piece | None, text: str, singular: str, tag: str, adjectives: frozenset[str]) -> Look:
    """Determiner, modifiers and head: the last word, or the first before *of*."""
    words, lemmas = text.split(" "), singular.split(" ")
    proper = singular[:1].isupper() and tag == "NN" and determiner is None
    noun, tag = ("PROPN", "NNP") if proper else ("NOUN", tag)
    start = int(determiner is not None)
    head = (words.index("of") if "of" in words else len(words)) - 1
    pieces = [] if determiner is None else [Piece(**{**determiner.__dict__, "head": start + head})]
    for number, (word, lemma) in enumerate(zip(words, lemmas, strict=True)):
        if number == head:
            pieces.append(Piece(word, lemma, noun, tag))
        elif number < head and word in adjectives:
            pieces.append(Piece(word, lemma, "ADJ", "JJ", "amod", start + head))
        elif number < head:
            pieces.append(Piece(word, lemma, noun, "NNP" if proper else "NN", "compound", start + head))
        elif word == "of":
            pieces.append(Piece(word, lemma, "ADP", "IN", "case", start + len(words) - 1))
        else:
            pieces.append(Piece(word, lemma, "NOUN", "NN" if word == lemma else "NNS", "nmod", start + head))
    return tuple(pieces)


def _adjective(lexeme: dict[str, Any], form: str) -> Look:
    lemma = lexeme["lemma"]
    if not form:
        return (Piece(lemma, lemma, "ADJ", "JJ"),)
    text = lexeme["comparative" if form == "er" else "superlative"]
    *adverb, word = text.split(" ")
    if adverb:
        return (Piece(adverb[0], "much", "ADV", "RBR" if form == "er" else "RBS", "advmod", 1), Piece(word, lemma, "ADJ", "JJ"))
    return (Piece(word, lemma, "ADJ", "JJR" if form == "er" else "JJS"),)
