"""From an item to its annotated premise: the text is read along its template, cut into chunks and fillers, and linked."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from cxgen.constructicon import Construction, Part
from cxgen.errors import DataError
from cxgen.sampling.ways import WORD_FORMS, Way
from cxgen.trees.links import LEANING, Linker, Unit
from cxgen.trees.phrases import lemmas_of, phrase_chunk
from cxgen.trees.rules import Cell, cut
from cxgen.trees.words import Chunk, Chunks, Word, closed_class, stated
from cxgen.vocabulary import INFLECTIONS

Words = tuple[Word, ...]
UNKNOWN = "no annotation for"  # so begins what is said of words that nothing knows
_WORD = re.compile(r"[A-Za-z]+(?=n't|'s\b)|n't|'s\b|[\w'-]+|\S")
HINT = "state it in the template, or add the words, as they stand between two slots, to lexicons/chunks.yaml: docs/annotation.md"
_BEHIND: dict[str, tuple[str, str, str]] = {
    "name": ("PROPN", "NNP", "flat"),
    "verb": ("ADP", "RP", "compound:prt"),
    "adverb": ("ADV", "RB", "fixed"),
}
_UPOS = {"noun": "NOUN", "name": "PROPN", "verb": "VERB", "adjective": "ADJ"}  # all others are adverbs


@dataclass(frozen=True)
class Token:
    """A token with its ``head`` (from 1; 0 for the root), the slot that it fills, and whether it is the head (``anchor``) of the filler."""

    form: str
    lemma: str
    upos: str
    xpos: str
    head: int
    relation: str
    slot: str
    anchor: bool
    space_after: bool


@dataclass(frozen=True)
class Sentence:
    """An annotated premise: its ``premise_id``, the construction of its meaning, and the number of that one's verb, from 1."""

    item: str
    construction: str
    text: str
    tokens: tuple[Token, ...]
    verb: int


class Annotator:
    """Annotates the premises of one construction and its look-alikes."""

    def __init__(self, construction: Construction, chunks: Chunks) -> None:
        self.construction = construction
        self.chunks = chunks.also(construction.documents)
        lexemes = construction.lexicon.table.select("lemma", "sense", "pos", "article", *INFLECTIONS).rows(named=True)
        self._lexemes = {(lexeme["lemma"], lexeme["sense"]): lexeme for lexeme in reversed(lexemes)}
        self._ways = cache(self._ways_of)
        groups = construction.groups.items()
        self._known = cache(lambda kind: self.chunks.of_kind({kind, *(group for group, members in groups if kind in members)}))

    def sentence(self, item: Mapping[str, Any]) -> Sentence:
        """Annotate the premise of ``item``: ``premise_id, construction, kind, template, premise``, ``slots`` (of ``slot, lemma, sense``).

        A DataError: the premise is not what its template and fillers give, or its template gives no tree.
        """
        sentence, faults = self.tree(item)
        if sentence:
            return sentence
        document, template = self.construction.document, item["template"]
        message = f"{self.construction.name}: template {template!r} as {item['kind']!r}: {'; '.join(faults)}"
        raise DataError(message, file=document.path, line=document.line(["templates", template]), hint=HINT)

    def tree(self, item: Mapping[str, Any]) -> tuple[Sentence | None, list[str]]:
        """The sentence, or what keeps the premise from being one."""
        units, missing = self._units(item)
        linker = Linker(units, self.construction.kinds[item["kind"]].verb, self.construction.slots)
        heads = {} if missing else linker.link()
        if missing or linker.problems:
            return None, missing or linker.problems
        tokens, text, at = [], item["premise"], 0
        for unit in units:
            for number, word in enumerate(unit.words, unit.start):
                form, space = text[at : at + len(word.form)], text.startswith(" ", at + len(word.form))
                at += len(form) + space
                relation, head = heads[number]
                anchor = bool(unit.slot) and number == unit.head
                tokens.append(Token(form, word.lemma, word.upos, word.xpos, head, relation, unit.slot, anchor, space))
        return Sentence(item["premise_id"], item["construction"], text, tuple(tokens), linker.verb), []

    def _units(self, item: Mapping[str, Any]) -> tuple[list[Unit], list[str]]:
        """The units of a premise, and what is wrong with the words that nothing knows."""
        pieces = list(self._pieces(item))
        cells = [cell for cell, _ in pieces]
        first = cells[0].word.lower()
        if first != "i" and ((first,) in closed_class() or lemmas_of(first)):
            cells[0] = Cell(first)
        chunks = cut(tuple(cells), self._known(item["kind"]))
        units: list[Unit] = []
        missing: dict[int, str] = {}  # the place behind them -> words
        behind = 0
        for place, (cell, unit) in enumerate(pieces):
            if chunk := chunks.get(place):
                units.append(Unit(chunk.words, chunk.others))
                behind = place + len(chunk.words)
            elif unit:
                units.append(unit)
            elif place >= behind:
                missing[place + 1] = f"{missing.pop(place, '')} {cell.word}".strip()
        return units, [f"{UNKNOWN} {words!r}" for words in missing.values()]

    def _pieces(self, item: Mapping[str, Any]) -> Iterator[tuple[Cell, Unit | None]]:
        """The premise word by word, and filler by filler."""
        degree = the = False  # a comparative behind *the* is no adjunct: the later she leaves
        for part, text, words in self._read(item):
            degree, the = the, text.lower().split()[-1:] == ["the"]
            if part and words:
                unit = Unit(words, part=part, slot="" if WORD_FORMS[part.form].closed else part.slot)
                yield Cell("", unit.top.upos, unit.top.xpos, part.form in LEANING, len(words) == 1), unit
            elif part and not degree and (phrase := self._phrase(text)):
                slot = part.slot if len(phrase.words) == 1 else ""
                own = phrase.words
                if link := part.deprel or self.construction.slots[part.slot].deprel:  # of what belongs to the predicate else
                    relation, head = stated(link)
                    own = tuple(replace(word, relation=relation, head=head) if word.head == "P" else word for word in own)
                yield Cell(upos="PRON" if own[0].upos == "PRON" else "ADV"), Unit(own, phrase.others, slot=slot)
            else:
                yield from ((Cell(word), None) for word in _WORD.findall(text))

    def unread(self, item: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """The slots of a premise that phrases fill whose trees are not known as a whole, each with its phrase."""
        for entry in item["slots"]:
            text = entry["lemma"]
            if self._lexemes[text, entry["sense"]]["pos"] == "phrase" and not self._phrase(text):
                yield entry["slot"], text

    def _phrase(self, text: str) -> Chunk | None:
        """The tree of what fills a slot with words of its own: a chunk's, or one that follows from its build."""
        words = tuple(_WORD.findall(text))
        chunk = self.chunks.by_words.get(tuple(word.lower() for word in words))
        pronouns = (row for row in closed_class().get((text.lower(),), ()) if row.words[0].upos == "PRON")
        return chunk or next(pronouns, None) or phrase_chunk(words)

    def _read(self, item: Mapping[str, Any]) -> Iterator[tuple[Part | None, str, Words]]:
        """What stands in the premise: literals without a part, and the longest way to write the filler of each part that fits."""
        text, at = item["premise"], 0
        lexemes = {entry["slot"]: (entry["lemma"], entry["sense"]) for entry in item["slots"]}
        for part in self.construction.premise_parts(item["kind"], item["template"]):
            slot = self.construction.slots.get(part.slot)
            if slot and slot.name not in lexemes:
                continue
            before, _, after = slot.wrap.partition("{}") if slot and not WORD_FORMS[part.form].closed else ("", "", "")
            ways = self._ways(part, lexemes.get(part.slot))
            for piece in ({before: ()}, ways, {after: ()}):
                filler = piece is ways and slot is not None
                sizes = ((way, size) for way in piece if (size := _size(text, at, way, whole=filler)) >= 0)
                way, size = next(sizes, ("", len(text) + 1))
                if way and size:
                    yield (part if filler else None), way, piece[way]
                at += size
        if at != len(text):
            raise DataError(f"{text!r} does not follow its template", hint="make it anew: `dvc repro`")

    def _ways_of(self, part: Part, filler: tuple[str, str | None] | None) -> dict[str, Words]:
        """The ways to write a part, the longest first, with their words (none of a phrase, a frame's word, a literal)."""
        if filler is None:
            texts = {frame.words.get(part.slot, "") for frame in self.construction.frames} if part.slot else {part.text}
            return dict.fromkeys(sorted(texts, key=len, reverse=True), ())
        if filler not in self._lexemes:
            raise DataError(f"{filler[0]!r} ({filler[1]}) is not in the lexicon", hint="the lexicon has changed: run `dvc repro`")
        lexeme = self._lexemes[filler]
        if lexeme["pos"] == "phrase":
            return {filler[0]: ()}
        looks = [tuple(_look(way, lexeme, self.chunks.adjectives)) for way in WORD_FORMS[part.form].ways[lexeme["pos"]]]
        ways = [(" ".join(word.form for word in words).replace(" '", "'"), words) for words in looks]
        ways.sort(key=lambda way: len(way[0]))
        return dict(ways[::-1])  # of two alike, the first: a mass noun is not its own plural


def _size(text: str, at: int, way: str, *, whole: bool) -> int:
    """How much of ``text`` is ``way`` from ``at``, in any case, a space that is there already left out; -1: it is not, or not ``whole``."""
    forms = (way, way.lstrip(" ")) if text[at - 1 : at] == " " else (way,)
    size = next((len(form) for form in forms if text[at : at + len(form)].lower() == form.lower()), -1)
    return -1 if whole and text[at + size : at + size + 1].isalpha() else size


def _look(way: Way, lexeme: dict[str, Any], adjectives: frozenset[str]) -> Iterator[Word]:
    """The words of a row of the lexicon, written so. The head is the last, of a noun that before *of*, of a name, verb or adverb the first;
    ``adjectives`` begin nouns of several words."""
    if way.word:
        yield Word(way.word, way.lemma, way.upos, way.xpos)
        return
    pos, text, lemma = lexeme["pos"], lexeme[way.column] or lexeme["lemma"], lexeme["lemma"]
    forms, lemmas = text.split(" "), lemma.split(" ")
    proper = pos == "noun" and lemma[:1].isupper() and way.xpos == "NN" and not way.determiner
    more = pos == "adjective" and len(forms) > 1 and way.column != "lemma"
    upos, xpos = ("PROPN", "NNP") if proper else (_UPOS.get(pos, "ADV"), "JJ" if more else way.xpos)
    top = len(forms) if pos in {"noun", "adjective"} else 1
    top = forms.index("of") if pos == "noun" and "of" in forms else top
    shift = 1 if way.determiner else 0
    head = str(top + shift)
    if way.determiner:
        of = "NEXT" if pos == "adjective" else head  # an article before an adjective is that of its noun
        yield Word(lexeme["article"] if way.determiner == "a" else way.determiner, way.determiner, "DET", "DT", "det", of)
    for number, (form, own) in enumerate(zip(forms, lemmas if len(lemmas) == len(forms) else forms, strict=True), 1):
        if number == top:
            yield Word(form, own, upos, xpos)
        elif pos == "adjective":
            much = more and number == 1
            yield Word(form, "much" if much else form, "ADV", f"RB{way.xpos[-1]}" if much else "RB", "advmod", head)
        elif pos != "noun":
            yield Word(form, own, *_BEHIND[pos], head)
        elif form == "of":
            yield Word(form, own, "ADP", "IN", "case", str(len(forms) + shift))
        elif number > top:
            yield Word(form, own, "NOUN", "NN" if form == own else "NNS", "nmod", head)
        elif form in adjectives:
            yield Word(form, own, "ADJ", "JJ", "amod", head)
        else:
            yield Word(form, own, upos, "NNP" if proper else "NN", "compound", head)
    if way.possessive:
        yield Word("'" if way.column == "plural" and text.endswith("s") else "'s", "'s", "PART", "POS", "case", head)
