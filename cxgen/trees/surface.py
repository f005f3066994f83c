"""How a filler can look in a sentence, token by token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from cxgen.sampling.ways import WORD_FORMS, Way


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


def looks(lexeme: dict[str, Any], form: str, adjectives: frozenset[str] = frozenset()) -> Iterator[tuple[str, Look]]:
    """Every way in which ``form`` of ``lexeme`` can be written, with its tokens; a phrase is left to the chunks.

    Args:
        lexeme: a row of the lexicon's table.
        form: a key of ``WORD_FORMS``.
        adjectives: first words of nouns of several words that are adjectives.
    """
    for way in WORD_FORMS[form].ways[lexeme["pos"]]:
        look = _look(way, lexeme, adjectives)
        yield " ".join(piece.form for piece in look).replace(" '", "'"), look


def head(look: Look) -> int:
    """The position of the piece that the others depend on."""
    return next(number for number, piece in enumerate(look) if piece.head < 0)


def _look(way: Way, lexeme: dict[str, Any], adjectives: frozenset[str]) -> Look:
    if way.word:
        return (Piece(way.word, way.lemma, way.upos, way.xpos),)
    text, lemma, pos = lexeme[way.column] or lexeme["lemma"], lexeme["lemma"], lexeme["pos"]
    if pos == "noun":
        look = _phrase(way, text, lemma, adjectives)
    elif pos == "adjective":
        look = _adjective(way, text, lemma)
    elif pos == "name":
        look = _row(text, text, "PROPN", way.xpos, ("PROPN", way.xpos, "flat"))
    elif pos == "verb":
        look = _row(text, lemma, "VERB", way.xpos, ("ADP", "RP", "compound:prt"))
    else:
        look = _row(text, lemma, "ADV", way.xpos, ("ADV", "RB", "fixed"))
    if way.determiner:
        word, lemma = (lexeme["article"], "a") if way.determiner == "a" else (way.determiner, way.determiner)
        shifted = (replace(piece, head=piece.head + (piece.head >= 0)) for piece in look)
        look = (Piece(word, lemma, "DET", "DT", "det", head(look) + 1), *shifted)
    if way.possessive:
        ending = "'" if way.column == "plural" and text.endswith("s") else "'s"
        look = (*look, Piece(ending, "'s", "PART", "POS", "case", head(look)))
    return look


def _phrase(way: Way, text: str, singular: str, adjectives: frozenset[str]) -> Look:
    """Modifiers and head of a noun: the last word, or the first before *of*."""
    words, lemmas = text.split(" "), singular.split(" ")
    lemmas = lemmas if len(lemmas) == len(words) else words
    proper = singular[:1].isupper() and way.xpos == "NN" and not way.determiner
    noun, tag = ("PROPN", "NNP") if proper else ("NOUN", way.xpos)
    top = (words.index("of") if "of" in words else len(words)) - 1
    pieces = []
    for number, (word, lemma) in enumerate(zip(words, lemmas, strict=True)):
        if number == top:
            pieces.append(Piece(word, lemma, noun, tag))
        elif number < top and word in adjectives:
            pieces.append(Piece(word, lemma, "ADJ", "JJ", "amod", top))
        elif number < top:
            pieces.append(Piece(word, lemma, noun, "NNP" if proper else "NN", "compound", top))
        elif word == "of":
            pieces.append(Piece(word, lemma, "ADP", "IN", "case", len(words) - 1))
        else:
            pieces.append(Piece(word, lemma, "NOUN", "NN" if word == lemma else "NNS", "nmod", top))
    return tuple(pieces)


def _row(text: str, lemma: str, upos: str, xpos: str, others: tuple[str, str, str]) -> Look:
    """A word, and what follows it within one filler: tags and relation of ``others``."""
    first, *rest = text.split(" ")
    return (Piece(first, lemma.split(" ", 1)[0], upos, xpos), *(Piece(word, word, *others, 0) for word in rest))


def _adjective(way: Way, text: str, lemma: str) -> Look:
    """The last word, and adverbs before it: *more sober*."""
    *adverbs, last = text.split(" ")
    pieces = [Piece(word, word, "ADV", "RB", "advmod", len(adverbs)) for word in adverbs]
    more = bool(adverbs) and way.column != "lemma"
    if more:
        pieces[0] = replace(pieces[0], lemma="much", xpos="RBR" if way.xpos == "JJR" else "RBS")
    return (*pieces, Piece(last, lemma.rsplit(" ", 1)[-1], "ADJ", "JJ" if more else way.xpos))
