"""Plain rules for the words of a template that no chunk knows: function words by the table, adjuncts and verbs by their build."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from cxgen.trees.chunks import Chunk, Chunks, Link, Word
from cxgen.trees.closed import ClosedClass, ClosedWord
from cxgen.trees.phrases import lemmas_of, nominal, phrase_chunk, word_forms
from cxgen.trees.relations import NOMINAL

_LEANING = frozenset({"det", "nmod:poss", "amod", "nummod", "advmod", "det:predet"})
_NEVER = frozenset({"AUX", "CCONJ", "PART", "PUNCT", "SCONJ"})  # in no noun phrase
_VERBAL = frozenset({"finite", "base", "ing", "participle"})
_FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})


@dataclass(frozen=True)
class Cell:
    """A word of the template, or the filler of a slot with the tags of its head (``word`` is empty then).

    Attributes:
        verb: the construction's verb.
        leans: it belongs to a noun that follows: *his*, *this*, *the dog's*.
    """

    word: str = ""
    upos: str = ""
    xpos: str = ""
    verb: bool = False
    leans: bool = False


class Rules:
    """Cuts the words between fillers into chunks."""

    def __init__(self, chunks: Chunks, closed: ClosedClass) -> None:
        self.chunks = chunks
        self.closed = closed
        self._known: dict[tuple[Cell, ...], dict[int, Chunk]] = {}

    def chunks_of(self, cells: tuple[Cell, ...]) -> dict[int, Chunk]:
        """Place in ``cells`` -> the chunk that begins there; words that nothing knows are in none."""
        if cells not in self._known:
            self._known[cells] = self._cut(cells)
        return self._known[cells]

    def _cut(self, cells: Sequence[Cell]) -> dict[int, Chunk]:
        found: dict[int, Chunk] = {}
        at = 0
        while at < len(cells):
            chunk = self._chunk(cells, at, found) if cells[at].word else None
            if chunk:
                found[at] = chunk
            at += len(chunk.words) if chunk else 1
        return found

    def _chunk(self, cells: Sequence[Cell], at: int, found: dict[int, Chunk]) -> Chunk | None:
        run = [cell.word for cell in takewhile(lambda cell: cell.word, cells[at:])]
        if known := self.chunks.longest(run):
            return known
        if run[0] == ",":
            return self._comma(cells, at, found)
        clause = list(takewhile(lambda word: word not in ",.", run))
        return (
            self._closed(cells, at, found, several=True)
            or self._adjunct(clause, 2)
            or self._correlative(cells, at, clause)
            or self._noun(cells, at, clause, self._before(found, at))
            or self._adjective(clause, self._before(found, at))
            or self._closed(cells, at, found)
            or self._adjunct(clause[:1], 1)
            or self._result(cells, at, found)
            or self._verb(cells, at, found)
        )

    def _comma(self, cells: Sequence[Cell], at: int, found: dict[int, Chunk]) -> Chunk:
        """It belongs to what it divides: an adjunct right before it, or the clause or conjunct that the word behind it opens."""
        head = "VERB" if "clause" in self.follows(cells, at + 1) else "P"
        after = self._chunk(cells, at + 1, {}) if at + 1 < len(cells) and cells[at + 1].word else None
        if after and after.key[0] == "the" and after.words[0].upos == "ADV":
            head = "HOST"
        before = self._before(found, at)
        if head != "HOST" and before and len(before.words) > 1 and any(word.link.head == "P" for word in before.words):
            head = "LAST"
        elif after and after.words[0].link.relation in {"cc", "mark", "advmod", "nsubj"} and after.words[0].link.head in {"NEXT", "VERB"}:
            head = after.words[0].link.head
        return Chunk((Word(",", ",", "PUNCT", ",", Link("punct", head), predicate=False),), {})

    def _before(self, found: dict[int, Chunk], at: int) -> Chunk | None:
        """The chunk that ends right before ``at``."""
        return next((chunk for start, chunk in reversed(found.items()) if start < at <= start + len(chunk.words)), None)

    def _adjunct(self, run: Sequence[str], least: int) -> Chunk | None:
        """The longest adjunct at the beginning of ``run``."""
        for size in range(len(run), least - 1, -1):
            if chunk := phrase_chunk(tuple(run[:size])):
                return chunk
        return None

    def _correlative(self, cells: Sequence[Cell], at: int, run: Sequence[str]) -> Chunk | None:
        """*the more, the longer*: of a clause, before its subject; or of the adjective behind it."""
        words = [word.lower() for word in run[:3]]
        if len(words) == 1 and words[0] == "the" and len(cells) > at + 1 and cells[at + 1].xpos == "JJR":
            return Chunk((Word(run[0], "the", "ADV", "RB", Link("advmod", "NEXT"), predicate=False),), {"NEXT?": Link("xcomp", "HOST")})
        if words[:1] != ["the"] or len(words) < 2 or not (lemma := _comparative(words[1])):
            return None
        often = words[2:] == ["often"]
        the = Word(run[0], "the", "ADV", "RB", Link("advmod", "2"), predicate=False)
        size = 3 if often else 2
        adjective = at + size < len(cells) and cells[at + size].upos == "ADJ"
        clause = not adjective and "clause" in self.follows(cells, at + size)
        more = Word(run[1], lemma, "ADV", "RBR", Link("advmod", "3" if often else "VERB" if clause else "NEXT"), predicate=False)
        last = [Word(run[2], "often", "ADV", "RB", Link("advmod", "VERB"), predicate=False)] if often else []
        others = {"NEXT?": Link("nsubj", "VERB"), "VERB?": Link("advcl", "P")} if clause else {"NEXT?": Link("xcomp", "P")}
        return Chunk((the, more, *last), others)

    def _closed(self, cells: Sequence[Cell], at: int, found: dict[int, Chunk], *, several: bool = False) -> Chunk | None:
        """A function word by the table; with ``several`` only those of several words, and subordinators, which no phrase begins with."""
        words = [cell.word.lower() for cell in takewhile(lambda cell: cell.word, cells[at : at + self.closed.longest])]
        for row in self.closed.at(words):
            end = at + len(row.chunk.words)
            following = cells[end].word.lower() if end < len(cells) else ""
            behind = self.follows(cells, end)
            if (row.before in {"", following} or row.before in behind) and (not several or self._no_phrase(row, cells, end)):
                return self._as_written(row, cells, at, found)
        return None

    def _no_phrase(self, row: ClosedWord, cells: Sequence[Cell], end: int) -> bool:
        """Whether ``row`` begins no phrase: several words, or a subordinator with its clause or participle."""
        opens = row.before == "clause" or (row.before == "ing" and "noun" in self.follows(cells, end + 1))
        return len(row.chunk.words) > 1 or (row.upos == "SCONJ" and opens)

    def _as_written(self, row: ClosedWord, cells: Sequence[Cell], at: int, found: dict[int, Chunk]) -> Chunk:
        words = tuple(replace(word, form=cells[at + number].word) for number, word in enumerate(row.chunk.words))
        if not row.next:
            return Chunk(words, {})
        before = self._before(found, at)
        after_noun = words[0].link.relation == "case" and before and before.words[-1].upos in NOMINAL and before.words[-1].link.head == "P"
        verbal = any(word.link.head == "VERB" for word in words)
        return Chunk(words, {"VERB?": row.next} if verbal else {"NEXT?": Link("nmod", "PREV") if after_noun else row.next})

    def _adjective(self, run: Sequence[str], before: Chunk | None) -> Chunk | None:
        """*(was) too shy, (was) unable*: the predicate after *be*."""
        if not before or before.words[-1].lemma != "be":
            return None
        size = 2 if run[0].lower() in {"too", "so", "very"} and len(run) > 1 else 1
        if "ADJ" not in lemmas_of(run[size - 1].lower()) or self.closed.at([run[size - 1].lower()]):
            return None
        degree = [Word(run[0], run[0].lower(), "ADV", "RB", Link("advmod", "2"), predicate=False)] if size == 2 else []
        adjective = Word(run[size - 1], run[size - 1].lower(), "ADJ", "JJ", Link("root", "0"), predicate=True)
        infinitive = run[size : size + 1] == ["to"]
        return Chunk((*degree, adjective), {"VERB": Link("advcl" if degree else "xcomp", str(size))} if infinitive else {})

    def _result(self, cells: Sequence[Cell], at: int, found: dict[int, Chunk]) -> Chunk | None:
        """*(pushed the door) open*: an adjective behind an object."""
        word, before = cells[at].word, self._before(found, at)
        noun = at > 0 and (before.words[-1].upos if before else cells[at - 1].upos) in NOMINAL
        if not noun or ("ADJ" not in lemmas_of(word) and "VBN" not in word_forms(word)) or "noun" in self.follows(cells, at + 1):
            return None
        for place in range(at - 1, -1, -1):
            words = found[place].words if place in found else ()
            if any(w.upos == "VERB" for w in words) or (not cells[place].word and cells[place].upos == "VERB"):
                return Chunk((Word(word, word, "ADJ", "JJ", Link("xcomp", "HOST"), predicate=False),), {})
            if any(w.upos in {"CCONJ", "SCONJ", "PUNCT"} or w.link.relation == "punct" for w in words):
                return None
        return None

    def follows(self, cells: Sequence[Cell], at: int) -> set[str]:
        """What stands at ``at``: ``noun``, ``verb`` (``base``, ``ing``, ``finite``), ``clause`` (a noun with its verb), ``end``."""
        found: set[str] = set()
        subject = joined = False
        for place in range(at, len(cells)):
            what = self._what(cells, place, subject)
            if what == "lean":
                continue
            if what == "noun" and (not subject or joined):
                found.add("noun")
                subject, joined = True, False
                continue
            if subject and cells[place].word in {"or", "and"}:
                joined = True
                continue
            if what in _VERBAL:
                found.update(
                    set() if joined else {"clause"} if subject and what in {"finite", "base"} else set() if subject else {"verb", what}
                )
            elif not subject:
                found.add(what)
            return found
        return found or {"end"}

    def _what(self, cells: Sequence[Cell], at: int, subject: bool) -> str:
        cell = cells[at]
        if not cell.word:
            return _filler(cell, cells[at + 1] if at + 1 < len(cells) else None)
        lower = cell.word.lower()
        rows = self.closed.at([lower])
        for row in rows if rows and rows[0].upos != "SCONJ" else ():
            word = row.chunk.words[0]
            if word.upos in {"PUNCT", "AUX"}:
                return "end" if word.upos == "PUNCT" else "finite" if word.xpos in _FINITE else "base"
            if word.link.relation in _LEANING or word.upos in NOMINAL:
                return "lean" if word.link.relation in _LEANING else "noun"
        return "other" if rows else _open_class(cell.word, subject)

    def _noun(self, cells: Sequence[Cell], at: int, run: Sequence[str], before: Chunk | None) -> Chunk | None:
        """A noun written out: a subject if a verb follows, a conjunct behind a conjunction, else an object."""
        for size in range(len(run), 0, -1):
            found = nominal(run[:size], 1)
            alone = size == 1 and run[0][:1].islower() and "VERB" in lemmas_of(run[0])
            if (
                not found
                or alone
                or self.closed.at([run[size - 1].lower()])
                or any(row.upos in _NEVER for word in run[:size] for row in self.closed.at([word.lower()]))
            ):
                continue
            link = Link("conj", "OBJ") if before and before.words[0].upos == "CCONJ" else Link("obj", "HOST")
            link = Link("nsubj", "VERB") if self.follows(cells, at + size) & {"finite", "base"} else link
            words = [replace(word, link=link) if number == found[0] else word for number, word in enumerate(found[1])]
            return Chunk(tuple(words), {})
        return None

    def _verb(self, cells: Sequence[Cell], at: int, found: dict[int, Chunk]) -> Chunk | None:
        """A verb written out: the predicate, or a conjunct of it."""
        word = cells[at].word
        lemmas = lemmas_of(word.lower()).get("VERB")
        if not lemmas:
            return None
        before = self._before(found, at)
        tag = _verb_tag(word.lower(), lemmas[0], before.words[-1] if before else None)
        others: dict[str, Link] = {}
        link = Link("root", "0")
        start = at
        while (opening := self._before(found, start)) and all(word.upos in {"ADV", "PART"} for word in opening.words):
            start -= len(opening.words)
        if opening and "CCONJ" in {opening.words[0].upos, opening.words[-1].upos}:
            link = Link("conj", "HOST")
        elif tag == "VBG":
            link = Link("advcl", "V")
        else:
            link = {"": link, "that": Link("ccomp", "HOST"), "how": Link("ccomp", "HOST")}.get(
                self._subordinator(cells, at, found), Link("advcl", "V")
            )
            others["PREV?"] = Link("nsubj", "1")
        behind = self.follows(cells, at + 1)
        if "adjective" in behind:
            others["NEXT?"] = Link("xcomp", "1")
        elif "clause" in behind:
            others |= {"NEXT?": Link("obj", "1"), "VERB?": Link("xcomp", "1")}
        elif "noun" in behind:
            others["NEXT?"] = Link("obj", "1")
        embeds = at + 1 < len(cells) and cells[at + 1].word in {"that", "how"} and "clause" in self.follows(cells, at + 2)
        return Chunk((Word(word, lemmas[0], "VERB", tag, link, predicate=link.relation in {"root", "ccomp"} and not embeds),), others)

    def _subordinator(self, cells: Sequence[Cell], at: int, found: dict[int, Chunk]) -> str:
        """The subordinator before ``at`` with only a subject between; empty if there is none."""
        for place in range(at - 1, -1, -1):
            first = found[place].words[0] if place in found else None
            if first and (first.upos in {"CCONJ", "PUNCT"} or first.link.relation == "punct"):
                return ""
            if first and (first.upos == "SCONJ" or first.xpos == "WRB"):
                return first.lemma
            if not cells[place].word and cells[place].upos == "VERB":
                return ""
        return ""


def _filler(cell: Cell, following: Cell | None) -> str:
    """As `Rules.follows`, of a filler; an adjective leans on the noun that follows."""
    if cell.upos == "ADJ":
        return "lean" if following and not following.word and following.upos in {*NOMINAL, "ADJ"} else "adjective"
    if cell.leans or cell.upos == "ADV":
        return "lean"
    if cell.upos in {"VERB", "AUX"}:
        return {"VBG": "ing", "VB": "base", "VBN": "participle"}.get(cell.xpos, "finite")
    return "noun" if cell.upos in NOMINAL else "other"


def _open_class(word: str, subject: bool) -> str:
    """As `Rules.follows`, of a word of the dictionary; a ``subject`` stands before it."""
    lemmas = lemmas_of(word.lower())
    if subject and "VERB" in lemmas:
        return "ing" if word.endswith("ing") else "finite"
    if "VBG" in word_forms(word.lower()):
        return "ing"
    if "NOUN" in lemmas or word[:1].isupper():
        return "noun"
    if "VERB" in lemmas:
        return "base" if word in lemmas["VERB"] else "finite"
    return "lean"


_COMPARATIVES = {"more": "much", "less": "little", "better": "well", "worse": "badly", "farther": "far", "further": "far"}


def _comparative(word: str) -> str:
    """The adverb of which ``word`` is the comparative; empty if it is none."""
    if word in _COMPARATIVES:
        return _COMPARATIVES[word]
    lemmas = lemmas_of(word)
    found = (*lemmas.get("ADV", ()), *lemmas.get("ADJ", ())) if word.endswith("er") else ()
    return next((lemma for lemma in found if lemma != word), "")


def _verb_tag(word: str, lemma: str, before: Word | None) -> str:
    if word.endswith("ing") and word != lemma:
        return "VBG"
    if before and before.upos == "AUX" and before.lemma in {"have", "be", "get"}:
        return "VBN"
    if before and (before.upos in {"AUX", "PART"} or before.lemma == "not"):
        return "VB"
    if word == lemma:
        return "VBD" if "VBD" in word_forms(word) else "VBP"
    return "VBZ" if word.endswith("s") else "VBD"
