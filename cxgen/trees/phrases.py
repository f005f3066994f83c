"""Trees for adjuncts whose build leaves no choice: an adverb, a time, a prepositional phrase. Any other adjunct needs a chunk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from cxgen.project import closed_class_file
from cxgen.trees.chunks import Chunk, Link, Word
from cxgen.trees.closed import closed_class


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CLOSED = closed_class(closed_class_file())
_DETERMINERS, _POSSESSIVES, _PREPOSITIONS = (_CLOSED.single(relation) for relation in ("det", "nmod:poss", "case"))
_NO_NOUNS = _words(
    "i you he she it we they me him us them myself yourself himself herself itself themselves who then too still not more less"
)
_NUMERALS = _words("one two three four five six seven eight nine ten eleven twelve")
_FIXED = (  # prepositions of several words: the others are fixed to the first
    *("in front of", "because of", "out of", "on top of", "ahead of", "next to", "in spite of", "instead of", "thanks to", "according to"),
    *("by way of", "on behalf of", "as part of"),
)
_BEFORE = _words("just right shortly straight only long even soon well halfway")  # adverbs that belong to the preposition's noun
_AT_A_TIME = _words("early late later soon once twice")  # adverbs that a phrase makes precise
_TIMES = _words(
    """
    morning afternoon evening night day week month year summer winter spring autumn weekend moment minute hour second time Monday
    Tuesday Wednesday Thursday Friday Saturday Sunday today yesterday tomorrow tonight
    """
)
_ADVERBS = _words(
    """
    afterwards again alone already altogether always anyway aside away back downstairs eventually ever finally forwards home indoors
    inside instead later meanwhile never next nonetheless often once outdoors outside overnight soon sometimes somehow still then
    there together too twice upstairs
    """
)
_ORDINALS = _words("last next other first second third same previous following")

_MODIFIERS = (  # of a noun: the words, their tags and their relation
    (_CLOSED.single("det:predet"), "DET", "PDT", "det:predet"),
    (_DETERMINERS, "DET", "DT", "det"),
    (_POSSESSIVES, "PRON", "PRP$", "nmod:poss"),
    (_NUMERALS, "NUM", "CD", "nummod"),
    (_ORDINALS, "ADJ", "JJ", "amod"),
)


@lru_cache(maxsize=4096)
def phrase_chunk(words: tuple[str, ...]) -> Chunk | None:
    """The adjunct as a chunk that belongs to the predicate (``P``); None where its build is not known for sure.

    Args:
        words: as written, without commas.
    """
    lower = [word.lower() for word in words]
    adverb = _adverb(words, lower)
    if adverb:
        return Chunk(adverb, {})
    if lower[-1] in {"ago", "later", "earlier", "before"} and len(words) > 1 and lower[0] not in _PREPOSITIONS:
        noun = nominal(words[:-1], 1)
        if noun and noun[1][-1].lemma in _TIMES:
            last = Word(words[-1], lower[-1], "ADV", "RBR" if lower[-1] == "earlier" else "RB", Link("advmod", "P"), predicate=False)
            return Chunk((*_headed(noun, "obl:npmod", str(len(words))), last), {})
    for start in (0, 1):
        if start and (len(words) < 3 or lower[0] not in _BEFORE | _AT_A_TIME):
            break
        found = _prepositional(words, lower, start) or (None if start else _time(words))
        if found:
            return Chunk(found, {})
    return None


def _adverb(words: Sequence[str], lower: Sequence[str]) -> tuple[Word, ...] | None:
    """One adverb, perhaps with *very* before it, or two of the same."""
    if lower[-1] in _ADVERBS | _AT_A_TIME or (
        lower[-1].endswith("ly") and len(lower[-1]) > 4 and lower[-1] not in {"family", "belly", "supply"}
    ):
        if len(words) == 1:
            return (Word(words[0], lower[0], "ADV", "RB", Link("advmod", "P"), predicate=False),)
        if len(words) == 2 and lower[0] in {"very", "rather", "quite", "so", "too", "not", "soon"}:
            first = Word(words[0], lower[0], "ADV", "RB", Link("advmod", "2"), predicate=False)
            return (first, Word(words[1], lower[1], "ADV", "RB", Link("advmod", "P"), predicate=False))
    return None


def _time(words: Sequence[str]) -> tuple[Word, ...] | None:
    """*last night, that evening, the next morning, one winter evening*: a noun of time without preposition."""
    noun = nominal(words, 1)
    if noun is None or noun[1][noun[0]].lemma not in _TIMES:
        return None
    return tuple(_headed(noun, "obl:tmod", "P"))


def _prepositional(words: Sequence[str], lower: Sequence[str], start: int) -> tuple[Word, ...] | None:
    """*before lunch, in front of the guests, just after the end of the show, early in the morning*."""
    size = _preposition(lower, start)
    if not size:
        return None
    noun = nominal(words[start + size :], start + size + 1)
    infinitive = lower[start] == "to" and "VERB" in lemmas_of(words[start + 1]) if len(words) > start + 1 else False
    if noun is None or infinitive:
        return None
    head = start + size + noun[0] + 1
    result: list[Word] = []
    if start:
        relation = Link("advmod", "P" if lower[0] in _AT_A_TIME else str(head))
        result.append(Word(words[0], lower[0], "ADV", "RB", relation, predicate=False))
    result += _cases(words[start : start + size], start + 1, head)
    return (*result, *_headed(noun, "obl", "1" if start and lower[0] in _AT_A_TIME else "P"))


def _preposition(lower: Sequence[str], at: int) -> int:
    """How many words the preposition at ``at`` has; 0 if there is none."""
    for fixed in _FIXED:
        size = fixed.count(" ") + 1
        if " ".join(lower[at : at + size]) == fixed:
            return size
    return int(lower[at] in _PREPOSITIONS)


def _cases(words: Sequence[str], first: int, head: int) -> Iterator[Word]:
    for number, word in enumerate(words):
        link = Link("fixed", str(first)) if number else Link("case", str(head))
        upos, xpos = ("NOUN", "NN") if word in {"front", "top", "spite", "way", "behalf", "part"} else ("ADP", "IN")
        yield Word(word, word.lower(), upos, xpos, link, predicate=False)


Nominal = tuple[int, list[Word]]


def nominal(words: Sequence[str], first: int) -> Nominal | None:
    """A noun with what belongs to it, and the place of its head (from 0); ``first`` is the number of its first word.

    Determiner, possessive or numeral, adjectives, nouns; then perhaps a preposition and another such phrase, which belongs to the noun
    before it.
    """
    lower = [word.lower() for word in words]
    ends = (n for n in range(1, len(words)) if lower[n] in _PREPOSITIONS and lower[n - 1] not in _DETERMINERS)  # not *the past*
    cut = next(ends, len(words))
    none = not words or lower[0] in _PREPOSITIONS or _NO_NOUNS.intersection(lower[:cut])
    if none or lower[cut - 1] in _DETERMINERS | _POSSESSIVES | {"next"} or lower[:cut][-2:] == ["way", "home"]:
        return None
    head = cut - 1
    done: list[Word] = []
    for number, word in enumerate(words[:head]):
        piece = _before_noun(word, number, str(first + head))
        if piece is None:
            return None
        done.append(piece)
    tag = _noun(words[head]) or _unlisted(words[head], done)
    if tag is None:
        return None
    done.append(Word(words[head], tag[0], tag[1], tag[2], Link("root", "0"), predicate=False))
    if cut == len(words):
        return head, done
    size = _preposition(lower, cut)
    rest = nominal(words[cut + size :], first + cut + size) if size else None
    if rest is None:
        return None
    done += _cases(words[cut : cut + size], first + cut, first + cut + size + rest[0])
    return head, [*done, *_headed(rest, "nmod", str(first + head))]


def _unlisted(word: str, before: Sequence[Word]) -> tuple[str, str, str] | None:
    """A noun that the dictionary lacks, behind a determiner or an adjective; no form of a verb can be one."""
    verbs = lemmas_of(word.lower()).get("VERB", ())
    certain = bool(before) and before[-1].link.relation in {"det", "nmod:poss"}
    plain = all(piece.link.relation == "compound" for piece in before)
    return None if not certain and (plain or (verbs and word not in verbs)) else (word, "NOUN", "NN")


def _before_noun(word: str, number: int, head: str) -> Word | None:
    lower = word.lower()
    for words, upos, xpos, relation in _MODIFIERS:
        if lower in words:
            return Word(word, "a" if lower == "an" else lower, upos, xpos, Link(relation, head), predicate=False)
    if "ADJ" in lemmas_of(lower):
        return Word(word, lower, "ADJ", "JJ", Link("amod", head), predicate=False)
    if word[:1].isupper() and number:
        return Word(word, word, "PROPN", "NNP", Link("compound", head), predicate=False)
    tag = _noun(word) or ((word, "NOUN", "NN") if word.endswith("ing") else None)
    return tag and Word(word, *tag, Link("compound", head), predicate=False)


def _noun(word: str) -> tuple[str, str, str] | None:
    """Lemma, part of speech and tag of a noun."""
    if word[:1].isupper():
        return word, "PROPN", "NNP"
    lemmas = lemmas_of(word).get("NOUN")
    if not lemmas:
        return None
    plural = (word.endswith("s") and lemmas[0] != word) or word not in lemmas
    return (lemmas[0], "NOUN", "NNS") if plural else (word, "NOUN", "NN")


@lru_cache(maxsize=4096)
def lemmas_of(word: str) -> dict[str, tuple[str, ...]]:
    """The parts of speech that a word can be, with its lemmas."""
    from lemminflect import getAllLemmas

    found: dict[str, tuple[str, ...]] = getAllLemmas(word)
    return found


@lru_cache(maxsize=4096)
def word_forms(word: str) -> frozenset[str]:
    """The tags of the Penn Treebank that ``word`` can have as a verb."""
    from lemminflect import getAllInflections

    lemmas = lemmas_of(word).get("VERB", ())
    return frozenset(tag for lemma in lemmas for tag, forms in getAllInflections(lemma, upos="VERB").items() if word in forms)


def _headed(noun: Nominal, relation: str, head: str) -> Iterator[Word]:
    """The words of ``noun``, its head linked so."""
    place, words = noun
    for number, word in enumerate(words):
        yield Word(word.form, word.lemma, word.upos, word.xpos, Link(relation, head), predicate=False) if number == place else word
