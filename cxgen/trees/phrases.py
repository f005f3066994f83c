"""Trees for adjuncts whose build leaves no choice: an adverb, a time, a prepositional phrase. Any other adjunct needs a chunk."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from cxgen.schema import read_yaml
from cxgen.trees.words import Chunk, Link, Word, closed_class, names


def _closed(relation: str) -> set[str]:
    return {key[0] for key, rows in closed_class().items() if len(key) == 1 and any(row.words[0].relation == relation for row in rows)}


_DETERMINERS, _POSSESSIVES, _PREPOSITIONS = map(_closed, ("det", "nmod:poss", "case"))
_WORDS = read_yaml(Path(__file__).with_name("phrases.yaml")).data
_FIXED: list[list[str]] = [text.split() for text in _WORDS["fixed"]]
_LISTS = {name: names(text) for name, text in _WORDS.items() if isinstance(text, str)}
COMPARATIVES: dict[str, str] = _WORDS["comparatives"]  # -> the adverb
_MODIFIERS = (  # of a noun: the words, their tags and their relation
    (_closed("det:predet"), "DET", "PDT", "det:predet"),
    (_DETERMINERS, "DET", "DT", "det"),
    (_POSSESSIVES, "PRON", "PRP$", "nmod:poss"),
    (_LISTS["numerals"], "NUM", "CD", "nummod"),
    (_LISTS["orders"], "ADJ", "JJ", "amod"),
)


@cache
def phrase_chunk(words: tuple[str, ...]) -> Chunk | None:
    """The adjunct as a chunk that belongs to the predicate (``P``); None where its build is not known for sure. No commas."""
    lower = [word.lower() for word in words]
    phrase = _adverbs(words, lower) or _measured(words, lower) or _prepositional(words, lower, 0) or _time(words)
    if not phrase and len(words) > 2 and lower[0] in _LISTS["before"] | _LISTS["at a time"]:
        phrase = _prepositional(words, lower, 1)
    return Chunk(tuple(phrase)) if phrase else None


def _adverb(word: str, head: str) -> Word:
    return Word(word, word.lower(), "ADV", "RB", "advmod", head)


def plain_adverb(lower: Sequence[str]) -> bool:
    """Whether the first of these words, if there is one, is an adverb that is compared with *more*: often, calmly."""
    return any(
        word == "often" or (word.endswith("ly") and len(word) > 4 and word not in {"family", "belly", "supply"}) for word in lower[:1]
    )


def _adverbs(words: Sequence[str], lower: Sequence[str]) -> list[Word]:
    """One adverb, perhaps with *very* before it."""
    if not plain_adverb(lower[-1:]) and lower[-1] not in _LISTS["adverbs"] | _LISTS["at a time"]:
        return []
    if len(words) == 2 and lower[0] in {"very", "rather", "quite", "so", "too", "not", "soon"}:
        return [_adverb(words[0], "2"), _adverb(words[1], "P")]
    return [_adverb(words[0], "P")] if len(words) == 1 else []


def _measured(words: Sequence[str], lower: Sequence[str]) -> list[Word]:
    """*two days ago, a year earlier*."""
    if len(words) == 1 or lower[-1] not in {"ago", "later", "earlier", "before"} or lower[0] in _PREPOSITIONS:
        return []
    noun = nominal(words[:-1], 1, ("obl:npmod", str(len(words))))
    last = Word(words[-1], lower[-1], "ADV", "RBR" if lower[-1] == "earlier" else "RB", "advmod", "P")
    return [*noun[1], last] if noun and noun[1][-1].lemma in _LISTS["times"] else []


def _time(words: Sequence[str]) -> list[Word]:
    """*last night, that evening, the next morning, one winter evening*: a noun of time without preposition."""
    noun = nominal(words, 1, ("obl:tmod", "P"))
    return noun[1] if noun and noun[1][noun[0] - 1].lemma in _LISTS["times"] else []


def _prepositional(words: Sequence[str], lower: Sequence[str], start: int) -> list[Word]:
    """*before lunch, in front of the guests, just after the end of the show, early in the morning*."""
    first = start + _preposition(lower, start)
    infinitive = lower[start] == "to" and len(words) > start + 1 and "VERB" in lemmas_of(words[start + 1])
    precise = start == 1 and lower[0] in _LISTS["at a time"]
    noun = None if first == start or infinitive else nominal(words[first:], first + 1, ("obl", "1" if precise else "P"))
    if noun is None:
        return []
    opening = [_adverb(words[0], "P" if precise else str(noun[0]))] if start else []
    return [*opening, *_cases(words[start:first], start + 1, noun[0]), *noun[1]]


def _preposition(lower: Sequence[str], at: int) -> int:
    """How many words the preposition at ``at`` has; 0 if there is none."""
    sizes = (len(fixed) for fixed in _FIXED if fixed == lower[at : at + len(fixed)])
    return next(sizes, int(lower[at] in _PREPOSITIONS))


def _cases(words: Sequence[str], first: int, head: int) -> Iterator[Word]:
    for number, word in enumerate(words):
        link = ("fixed", str(first)) if number else ("case", str(head))
        yield Word(word, word.lower(), *(("NOUN", "NN") if word in _LISTS["nouns in fixed"] else ("ADP", "IN")), *link)


def nominal(words: Sequence[str], first: int, link: Link) -> tuple[int, list[Word]] | None:
    """The number of a noun, which gets ``link``, and the noun with what belongs to it; ``first`` is the number of the first word.

    Determiner, possessive or numeral, adjectives, nouns; then perhaps a preposition and another such phrase, which belongs to the noun.
    """
    lower = [word.lower() for word in words]
    if "'s" in words:  # the teacher's back, New Year's Eve
        at = words.index("'s")
        owned = nominal(words[at + 1 :], first + at + 1, link)
        owner = nominal(words[:at], first, ("nmod:poss", str(owned[0]))) if owned else None
        mark = Word("'s", "'s", "PART", "POS", "case", str(owner[0])) if owner else None
        return (owned[0], [*owner[1], mark, *owned[1]]) if owned and owner and mark else None
    # not *the past*, *the last round*
    ends = (n for n in range(1, len(words) - 1) if lower[n] in _PREPOSITIONS and lower[n - 1] not in _DETERMINERS)
    cut = next(ends, len(words))
    if not words or lower[0] in _PREPOSITIONS or _LISTS["no nouns"].intersection(lower[:cut]):
        return None
    if lower[cut - 1] in _DETERMINERS | _POSSESSIVES | {"next"} or lower[:cut][-2:] == ["way", "home"]:
        return None
    head = first + cut - 1
    before = [_before_noun(word, last, str(head)) for last, word in zip(["", *lower], words[: cut - 1], strict=False)]
    modifiers = [word for word in before if word]
    tags = _noun(words[cut - 1])
    if not tags:  # a noun that the dictionary lacks, behind a determiner or an adjective; no form of a verb can be one behind the latter
        verbs = lemmas_of(lower[cut - 1]).get("VERB", (words[cut - 1],))
        certain = bool(modifiers) and modifiers[-1].relation in {"det", "nmod:poss"}
        likely = words[cut - 1] in verbs and any(modifier.relation != "compound" for modifier in modifiers)
        tags = (words[cut - 1], "NOUN", "NN") if certain or likely else None
    if not tags or len(modifiers) < len(before):
        return None
    phrase = [*modifiers, Word(words[cut - 1], *tags, *link)]
    if cut == len(words):
        return head, phrase
    behind = cut + _preposition(lower, cut)
    rest = nominal(words[behind:], first + behind, ("nmod", str(head)))
    return rest and (head, [*phrase, *_cases(words[cut:behind], first + cut, rest[0]), *rest[1]])


def _before_noun(word: str, last: str, head: str) -> Word | None:
    """``last``: the word before it, if there is one."""
    lower = word.lower()
    for words, upos, xpos, relation in _MODIFIERS:
        if lower in words:
            return Word(word, "a" if lower == "an" else lower, upos, xpos, relation, head)
    if "ADJ" in lemmas_of(lower):
        return Word(word, lower, "ADJ", "JJ", "amod", head)
    if word[:1].isupper() and last:
        return Word(word, word, "PROPN", "NNP", "compound", head)
    formed = "-" in lower or {"VBN", "VBD"} & word_forms(lower)  # a rolled-up magazine, a torn curtain
    if last in _DETERMINERS | _POSSESSIVES and formed and not _noun(word):
        return Word(word, lower, "ADJ", "JJ", "amod", head)
    tags = _noun(word) or ((word, "NOUN", "NN") if word.endswith("ing") else None)
    return tags and Word(word, *tags, "compound", head)


def _noun(word: str) -> tuple[str, str, str] | None:
    """Lemma, part of speech and tag of a noun."""
    if word[:1].isupper():
        return word, "PROPN", "NNP"
    lemmas = lemmas_of(word).get("NOUN")
    if not lemmas:
        return None
    plural = (word.endswith("s") and lemmas[0] != word) or word not in lemmas
    return (lemmas[0], "NOUN", "NNS") if plural else (word, "NOUN", "NN")


@cache
def lemmas_of(word: str) -> dict[str, tuple[str, ...]]:
    """The parts of speech that a word can be, with its lemmas."""
    from lemminflect import getAllLemmas

    lemmas: dict[str, tuple[str, ...]] = getAllLemmas(word)
    return lemmas


@cache
def word_forms(word: str) -> frozenset[str]:
    """The tags of the Penn Treebank that ``word`` can have as a verb."""
    from lemminflect import getAllInflections

    lemmas = lemmas_of(word).get("VERB", ())
    return frozenset(tag for lemma in lemmas for tag, forms in getAllInflections(lemma, upos="VERB").items() if word in forms)
