"""Plain rules for the words of a template that no chunk knows: function words by the table, adjuncts and verbs by their build."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from cxgen.trees.phrases import COMPARATIVES, lemmas_of, nominal, phrase_chunk, plain_adverb, word_forms
from cxgen.trees.words import NOMINAL, Chunk, Chunks, Link, Word, closed_class, longest

_LEANING = frozenset({"det", "nmod:poss", "amod", "nummod", "advmod", "det:predet"})
_NEVER = frozenset({"AUX", "CCONJ", "PART", "PUNCT", "SCONJ"})  # in no noun phrase
_VERBAL = {"VBG": "ing", "VB": "base", "VBN": "participle", "VBD": "finite", "VBZ": "finite", "VBP": "finite", "MD": "finite"}


class Cell(NamedTuple):
    """A word of the template, or (``word`` empty) a filler by the tags of its head; ``leans``: it belongs to a noun that follows."""

    word: str = ""
    upos: str = ""
    xpos: str = ""
    leans: bool = False
    bare: bool = False  # a filler of one word, without determiner


@lru_cache(10_000)  # the premises of a template are much the same
def cut(cells: tuple[Cell, ...], known: Chunks) -> dict[int, Chunk]:
    """The words between fillers in chunks: the place in ``cells`` -> the chunk that begins there; words that nothing knows are in none."""
    cutter, at = _Cutter(cells, known), 0
    while at < len(cells):
        if chunk := cutter.chunk(at):
            cutter.chunks[at] = chunk
        at += len(chunk.words) if chunk else 1
    return cutter.chunks


class _Cutter:
    def __init__(self, cells: Sequence[Cell], known: Chunks) -> None:
        self.cells = cells
        self.known = known
        self.chunks: dict[int, Chunk] = {}

    def chunk(self, at: int) -> Chunk | None:
        run = [cell.word for cell in takewhile(lambda cell: cell.word, self.cells[at:])]
        if not run:
            return None
        if known := longest(self.known.by_words, run):
            return known
        if run[0] == ",":
            return self._comma(at)
        clause = list(takewhile(lambda word: word not in {",", "."}, run))
        if not clause:
            return self._closed(at, run)
        return (
            self._closed(at, run, several=True)
            or _adjunct(clause, 2)
            or self._correlative(at, clause)  # the more, the longer
            or self._compared(at, clause)  # (sings) louder
            or self._noun(at, clause)
            or self._adjective(at, clause)  # (was) too shy, (was) unable
            or self._closed(at, run)
            or _adjunct(clause, 1)
            or self._result(at)  # (pushed the door) open
            or self._verb(at)
        )

    def _cell(self, at: int) -> Cell:
        return self.cells[at] if at < len(self.cells) else Cell()

    def _before(self, at: int) -> Chunk | None:
        return next((chunk for start, chunk in reversed(self.chunks.items()) if start < at <= start + len(chunk.words)), None)

    def _backwards(self, at: int) -> Iterator[tuple[Word, ...]]:
        """What stands before ``at``, the nearest first: the words of chunks, and fillers, as words without a form."""
        for place, cell in reversed(list(enumerate(self.cells[:at]))):
            if place in self.chunks or not cell.word:
                yield self.chunks[place].words if place in self.chunks else (Word("", "", cell.upos, cell.xpos),)

    def _comma(self, at: int) -> Chunk:
        """It belongs to what it divides: an adjunct right before it, or the clause or conjunct that the word behind it opens."""
        head = "VERB" if "clause" in self._follows(at + 1) else "P"
        before, behind = self._before(at), _Cutter(self.cells, self.known).chunk(at + 1)
        if behind and behind.words[0].lemma == "the" and behind.words[0].upos == "ADV":
            head = "HOST"
        elif before and len(before.words) > 1 and any(word.head == "P" for word in before.words):
            head = "LAST"
        elif behind and behind.words[0].relation in {"cc", "mark", "advmod", "nsubj"} and behind.words[0].head in {"NEXT", "VERB"}:
            head = behind.words[0].head
        return Chunk((Word(",", ",", "PUNCT", ",", "punct", head),))

    def _correlative(self, at: int, run: Sequence[str]) -> Chunk | None:
        words = [word.lower() for word in run[:3]]
        if words == ["the"] and self._cell(at + 1).xpos == "JJR":
            head = "VERB" if "clause" in self._follows(at + 2) else "HOST"
            return Chunk((Word(run[0], "the", "ADV", "RB", "advmod", "NEXT"),), {"NEXT?": ("xcomp", head)})
        if words[0] != "the" or len(words) < 2 or not (lemma := _comparative(words[1])):
            return None
        often = [Word(word, word, "ADV", "RB", "advmod", "VERB") for word in run[2:3] if plain_adverb(words[2:])]
        behind = at + 2 + len(often)
        filler, after = self._cell(behind), self._cell(behind + 1)
        alone = filler.word == ";" or (filler.word == "the" and bool(_comparative(after.word)))
        clause = not alone and "clause" in self._follows(behind)
        the = Word(run[0], "the", "ADV", "RB", "advmod", "2")
        if alone or (not filler.upos and not clause and filler.word != "the"):
            better = self._cell(at - 1).word == ","  # the louder she sings, the better; else: sings the louder
            tags = ("ADJ", "JJR", "root", "0") if better else ("ADV", "RBR", "advmod", "HOST")
            return Chunk((the, Word(run[1], lemma, *tags, predicate=better)))
        if filler.upos == "ADJ" or not clause:
            return Chunk((the, Word(run[1], lemma, "ADV", "RBR", "advmod", "3" if often else "NEXT"), *often), {"NEXT?": ("xcomp", "P")})
        first = not any(chunk.words[0].upos == "ADV" and chunk.words[0].lemma == "the" and chunk.others for chunk in self.chunks.values())
        links: dict[str, Link] = {"NEXT?": ("nsubj", "VERB"), **({"VERB?": ("advcl", "P")} if first else {})}  # the main clause is second
        if filler.bare and filler.xpos == "NNS" and words[1] in {"more", "fewer"}:  # the more guests came
            return Chunk((the, Word(run[1], "many" if words[1] == "more" else "few", "ADJ", "JJR", "amod", "NEXT")), links)
        return Chunk((the, Word(run[1], lemma, "ADV", "RBR", "advmod", "3" if often else "VERB"), *often), links)

    def _compared(self, at: int, run: Sequence[str]) -> Chunk | None:
        """An adverb's comparative behind its verb: *sings louder (the faster she drives), less often, louder and drives faster*."""
        words = [word.lower() for word in run[:3]]
        often = plain_adverb(words[1:2])
        behind = run[1 + often :]
        goes_on = behind[0] not in {"the", "and"} if behind else self._cell(at + 1 + often).upos not in {"", "ADV"}
        if goes_on or not (lemma := _comparative(words[0])):
            return None
        more = Word(run[0], lemma, "ADV", "RBR", "advmod", "2" if often else "HOST")
        return Chunk((more, *(Word(word, word, "ADV", "RB", "advmod", "HOST") for word in run[1:2] if often)))

    def _closed(self, at: int, run: Sequence[str], *, several: bool = False) -> Chunk | None:
        """A function word by the table; with ``several`` only those of several words, and subordinators, which no phrase begins with."""
        for row in longest(closed_class(), run) or ():
            end, first = at + len(row.words), row.words[0]
            opened = self._opened(end) if first.upos == "CCONJ" else end
            if row.before not in {"", self._cell(end).word.lower()} and row.before not in self._follows(opened):
                continue
            opens = row.before == "clause" or (row.before == "ing" and "noun" in self._follows(end + 1))
            if not several or len(row.words) > 1 or (first.upos == "SCONJ" and opens):
                last = before.words[-1] if (before := self._before(at)) else first
                of_noun = "NEXT?" in row.others and first.relation == "case" and last.upos in NOMINAL and last.head == "P"
                words = tuple(replace(word, form=form) for word, form in zip(row.words, run, strict=False))
                return Chunk(words, {"NEXT?": ("nmod", "PREV")} if of_noun else row.others)
        return None

    def _opened(self, at: int) -> int:
        """Where what a conjunction opens begins, an adjunct before it left out: *and in the end Ann left*."""
        words = [cell.word for cell in takewhile(lambda cell: cell.word not in {"", ",", "."}, self.cells[at:])]
        adjunct = _adjunct(words, 2)
        return at + len(adjunct.words) if adjunct else at

    def _adjective(self, at: int, run: Sequence[str]) -> Chunk | None:
        before = self._before(at)
        size = 2 if run[0].lower() in {"too", "so", "very"} and len(run) > 1 else 1
        word, lower = run[size - 1], run[size - 1].lower()
        if not before or before.words[-1].lemma != "be" or "ADJ" not in lemmas_of(lower) or (lower,) in closed_class():
            return None
        degree = [Word(run[0], run[0].lower(), "ADV", "RB", "advmod", "2")] if size == 2 else []
        others = {"VERB": ("advcl" if degree else "xcomp", str(size))} if run[size : size + 1] == ["to"] else {}
        return Chunk((*degree, Word(word, lower, "ADJ", "JJ", "root", "0", predicate=True)), others)

    def _result(self, at: int) -> Chunk | None:
        word, before = self.cells[at].word, next(self._backwards(at), None)
        adjective = "ADJ" in lemmas_of(word) or "VBN" in word_forms(word)
        if not before or before[-1].upos not in NOMINAL or not adjective or "noun" in self._follows(at + 1):
            return None
        for words in self._backwards(at):
            if any(other.upos == "VERB" for other in words):
                return Chunk((Word(word, word, "ADJ", "JJ", "xcomp", "HOST"),))
            if any(other.upos in {"CCONJ", "SCONJ", "PUNCT"} or other.relation == "punct" for other in words):
                break
        return None

    def _noun(self, at: int, run: Sequence[str]) -> Chunk | None:
        """A noun written out: a subject if a verb follows, a conjunct behind a conjunction, else an object."""
        conjoined = (before := self._before(at)) and before.words[0].upos == "CCONJ"
        for size in range(len(run), 0, -1):
            verb = size == 1 and run[0][:1].islower() and "VERB" in lemmas_of(run[0])
            never = any(row.words[0].upos in _NEVER for word in run[:size] for row in closed_class().get((word.lower(),), ()))
            if verb or never or (run[size - 1].lower(),) in closed_class():
                continue
            link = ("conj", "OBJ") if conjoined else ("obj", "HOST")
            link = ("nsubj", "VERB") if self._follows(at + size) & {"finite", "base"} else link
            if noun := nominal(run[:size], 1, link):
                return Chunk(tuple(noun[1]))
        return None

    def _verb(self, at: int) -> Chunk | None:
        """A verb written out: the predicate of its clause."""
        word = self.cells[at].word
        lemmas = lemmas_of(word.lower()).get("VERB")
        if not lemmas:
            return None
        tag = _verb_tag(word.lower(), lemmas[0], before.words[-1] if (before := self._before(at)) else None)
        link, others = self._clause(at, tag)
        behind = self._follows(at + 1)
        embeds = self._cell(at + 1).word in {"that", "how"} and "clause" in self._follows(at + 2)
        if embeds:
            others |= {"NEXT?": ("nsubj", "VERB"), "VERB?": ("ccomp", "1")}
        elif "adjective" in behind:
            others["NEXT?"] = "xcomp", "1"
        elif behind & {"clause", "noun"}:
            others |= {"NEXT?": ("obj", "1")} | ({"VERB?": ("xcomp", "1")} if "clause" in behind else {})
        return Chunk((Word(word, lemmas[0], "VERB", tag, *link, predicate=link[0] in {"root", "ccomp"} and not embeds),), others)

    def _clause(self, at: int, tag: str) -> tuple[Link, dict[str, Link]]:
        """What a verb is to the other clauses, and what it makes of the filler before it; its subordinator has only a subject behind it."""
        start = at
        while (opening := self._before(start)) and (
            all(word.upos in {"ADV", "PART"} for word in opening.words) or any(word.head == "P" for word in opening.words)
        ):
            start -= len(opening.words)
        if opening and "CCONJ" in {opening.words[0].upos, opening.words[-1].upos}:
            return ("conj", "HOST"), {}
        link = ("root", "0")
        for word, *_ in () if tag == "VBG" else self._backwards(at):
            if word.upos == "SCONJ" or word.xpos == "WRB":
                link = ("ccomp", "HOST") if word.lemma in {"that", "how"} else ("advcl", "V")
            if link[1] != "0" or word.upos in {"CCONJ", "PUNCT"} or word.relation == "punct" or (word.upos == "VERB" and not word.form):
                break
        return (("advcl", "V"), {}) if tag == "VBG" else (link, {"PREV?": ("nsubj", "1")})

    def _follows(self, at: int) -> set[str]:
        """What stands at ``at``: ``noun``, ``verb`` (``base``, ``ing``, ``finite``), ``clause`` (a noun with its verb), ``end``."""
        seen: set[str] = set()
        subject = joined = False
        for place in range(at, len(self.cells)):
            what = self._what(place, subject)
            if what == "noun" and (not subject or joined):
                seen.add("noun")
                subject, joined = True, False
            elif subject and self.cells[place].word in {"or", "and"}:
                joined = True
            elif what != "lean" and not subject:
                return {"verb", what} if what in _VERBAL.values() else {what}
            elif what != "lean":
                return seen | ({"clause"} if what in {"finite", "base"} and not joined else set())
        return seen or {"end"}

    def _what(self, at: int, subject: bool) -> str:
        """What a cell is; of a word of the dictionary that depends on whether a ``subject`` stands before it."""
        word, upos, xpos, leans, _ = self.cells[at]
        if not word:
            adjective = upos == "ADJ" and self._cell(at + 1).upos not in {*NOMINAL, "ADJ"}
            leans = leans or upos in {"ADJ", "ADV"}
            return "adjective" if adjective else "lean" if leans else _VERBAL.get(xpos, "noun" if upos in NOMINAL else "other")
        rows = [row.words[0] for row in closed_class().get((word.lower(),), ())]
        for first in rows if rows and rows[0].upos != "SCONJ" else ():
            if first.upos in {"AUX", "PUNCT"}:
                return "end" if first.upos == "PUNCT" else "finite" if _VERBAL[first.xpos] == "finite" else "base"
            if first.relation in _LEANING or first.upos in NOMINAL:
                return "lean" if first.relation in _LEANING else "noun"
        lemmas = lemmas_of(word.lower())
        if rows or "VBG" in word_forms(word.lower()):
            return "other" if rows else "ing"
        if ("NOUN" in lemmas or word[:1].isupper()) and not (subject and "VERB" in lemmas):
            return "noun"
        return "lean" if "VERB" not in lemmas else "base" if word in lemmas["VERB"] and not subject else "finite"


def _adjunct(run: Sequence[str], least: int) -> Chunk | None:
    """The longest adjunct at the beginning of ``run``; if need be a single word."""
    return next((chunk for size in range(len(run), least - 1, -1) if (chunk := phrase_chunk(tuple(run[:size])))), None)


def _comparative(word: str) -> str:
    """The adverb of which ``word`` is the comparative; empty if it is none."""
    lemmas = lemmas_of(word) if word.endswith("er") else {}
    positive = (lemma for lemma in (*lemmas.get("ADV", ()), *lemmas.get("ADJ", ())) if lemma != word)
    return COMPARATIVES.get(word) or next(positive, "")


def _verb_tag(word: str, lemma: str, before: Word | None) -> str:
    if word.endswith("ing") and word != lemma:
        return "VBG"
    if before and (before.upos in {"AUX", "PART"} or before.lemma == "not"):
        return "VBN" if before.upos == "AUX" and before.lemma in {"have", "be", "get"} else "VB"
    if word == lemma:
        return "VBD" if "VBD" in word_forms(word) else "VBP"
    return "VBZ" if word.endswith("s") else "VBD"
