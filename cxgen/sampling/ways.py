"""The word forms that a pattern can ask for, and every way to write each. Sentences are composed and annotated from this one table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from cxgen.vocabulary import POS


class By(Enum):
    """What chooses among the ways of a form."""

    NOTHING = auto()
    NUMBER = auto()  # singular, plural
    DETERMINER = auto()  # what the frame's word `det` says, see DETERMINERS
    PRONOUN = auto()  # he, she, singular they, it, plural they


DETERMINERS = ("the", "a", "bare", "plural")


@dataclass(frozen=True)
class Way:
    """One way to write a form.

    Attributes:
        xpos: tag of the Penn Treebank.
        column: column of the lexicon with the word; empty for a closed-class word.
        determiner: ``the``, ``a`` (as the lexicon's column ``article`` spells it), or none.
        possessive: with 's, or ' after a plural in s.
        word, lemma, upos: of a closed-class word.
    """

    xpos: str
    column: str = ""
    determiner: str = ""
    possessive: bool = False
    word: str = ""
    lemma: str = ""
    upos: str = ""


@dataclass(frozen=True)
class WordForm:
    """A form.

    Attributes:
        gives: what it gives, for the documentation.
        example: of it.
        by: what chooses among the ways; the last one serves for choices beyond them.
        ways: part of speech -> ways.
    """

    gives: str
    example: str
    by: By
    ways: dict[str, tuple[Way, ...]]

    @property
    def closed(self) -> bool:
        """Whether it is a closed-class word that agrees with the filler, not the filler itself."""
        return all(not way.column for ways in self.ways.values() for way in ways)


def _noun(gives: str, example: str, *ways: Way, name: Way | None = None, by: By = By.NUMBER) -> WordForm:
    return WordForm(gives, example, by, {"noun": ways, "name": (name or Way("NNP", "lemma"),)})


def _number(determiner: tuple[str, str], possessive: bool = False) -> tuple[Way, Way]:
    one, many = determiner
    return Way("NN", "lemma", one, possessive), Way("NNS", "plural", many, possessive)


def _closed(gives: str, example: str, by: By, upos: str, *words: tuple[str, str, str]) -> WordForm:
    ways = tuple(Way(xpos, word=word, lemma=lemma, upos=upos) for word, lemma, xpos in words)
    return WordForm(gives, example, by, {"noun": ways, "name": ways})


def _pronoun(gives: str, example: str, words: str, xpos: str = "PRP") -> WordForm:
    return _closed(gives, example, By.PRONOUN, "PRON", *((word, word, xpos) for word in words.split()))


def _verb(gives: str, example: str, column: str, xpos: str) -> WordForm:
    return WordForm(gives, example, By.NOTHING, {"verb": (Way(xpos, column),)})


def _adjective(gives: str, example: str, column: str, xpos: str) -> WordForm:
    return WordForm(gives, example, By.NOTHING, {"adjective": (Way(xpos, column),)})


_PLAIN = {"adjective": (Way("JJ", "lemma"),), "adverb": (Way("RB", "lemma"),), "phrase": (Way("", "lemma"),)}
_THE = _noun("a noun with *the*; a name, adjective, adverb or phrase as it is", "the dog, the dogs, Ann, wet", *_number(("the", "the")))

WORD_FORMS: dict[str, WordForm] = {
    "": WordForm(_THE.gives, _THE.example, By.NUMBER, {**_THE.ways, **_PLAIN}),
    "a": _noun("with *a* or *an*; nothing before a plural", "a dog, an ox, dogs, Ann", *_number(("a", ""))),
    "bare": _noun("without determiner", "dog, dogs, Ann", *_number(("", ""))),
    "np": _noun(
        "with the determiner that the frame's word `det` names: the, a, bare or plural",
        "the dog, a dog, dog, dogs, Ann",
        Way("NN", "lemma", "the"),
        Way("NN", "lemma", "a"),
        Way("NN", "lemma"),
        Way("NNS", "plural"),
        by=By.DETERMINER,
    ),
    "poss-of": _noun(
        "with *the* and the possessive ending",
        "the dog's, the dogs', Ann's",
        *_number(("the", "the"), possessive=True),
        name=Way("NNP", "lemma", possessive=True),
    ),
    "subj": _pronoun("pronoun of its referent, as a subject", "he, she, they, it", "he she they it they"),
    "obj": _pronoun("pronoun, as an object", "him, her, them, it", "him her them it them"),
    "poss": _pronoun("pronoun, possessive", "his, her, their, its", "his her their its their", "PRP$"),
    "refl": _pronoun("pronoun, reflexive", "himself, themself", "himself herself themself itself themselves"),
    "was": _closed("*was* or *were*, by its number", "was, were", By.NUMBER, "AUX", ("was", "be", "VBD"), ("were", "be", "VBD")),
    "is": _closed("*is* or *are*", "is, are", By.NUMBER, "AUX", ("is", "be", "VBZ"), ("are", "be", "VBP")),
    "has": _closed("*has* or *have*", "has, have", By.NUMBER, "AUX", ("has", "have", "VBZ"), ("have", "have", "VBP")),
    "does": _closed("*does* or *do*", "does, do", By.NUMBER, "AUX", ("does", "do", "VBZ"), ("do", "do", "VBP")),
    "this": _closed("*this* or *these*, before {x:bare}", "this, these", By.NUMBER, "DET", ("this", "this", "DT"), ("these", "this", "DT")),
    "base": _verb("base form", "go", "lemma", "VB"),
    "third": _verb("third person singular present", "goes", "third", "VBZ"),
    "ing": _verb("present participle", "going", "ing", "VBG"),
    "past": _verb("past tense", "went", "past", "VBD"),
    "participle": _verb("past participle", "gone", "participle", "VBN"),
    "er": _adjective("comparative", "wetter, more sober", "comparative", "JJR"),
    "est": _adjective("superlative", "wettest, most sober", "superlative", "JJS"),
}

AGREEING = frozenset(name for name, form in WORD_FORMS.items() if form.closed and form.by is By.NUMBER)  # was, is, has, does, this

FORMS: dict[str, tuple[str, ...]] = {pos: tuple(name for name, form in WORD_FORMS.items() if pos in form.ways) for pos in POS}
