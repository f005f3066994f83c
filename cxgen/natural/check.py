"""Is what a writer wrote what was asked for? Every fault is named; nothing is mended."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from cxgen.constructicon import Construction, Square
from cxgen.natural.requests import Asked
from cxgen.natural.say import say
from cxgen.natural.sentences import Step, Unit, matched, skeleton, steps, tokens, units, without_determiner
from cxgen.natural.words import Filler, Fillers

SHORTEST, LONGEST = 7, 45  # words of a sentence
_SENTENCE = re.compile(r"^[\"“'‘]?[A-Z][^{}<>\[\]|\\_*#=@\n]*[.][\"”'’]?$")
_INNER_END = re.compile(r"[.!?][\"”'’]?\s+[\"“'‘]?[A-Z]")
_ABBREVIATED = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St)\. ")
_NT = "n't"


@dataclass(frozen=True)
class Written:
    """A set that a writer wrote, sound.

    Attributes:
        asked: what it answers.
        sentences: kind -> sentence.
        marks: kind -> slot -> the marked words, as they stand.
        fillers: slot -> what was marked.
        words: frame word -> how hypotheses have it.
        seeds: those of the seed words that occur.
    """

    asked: Asked
    sentences: dict[str, str]
    marks: dict[str, dict[str, str]]
    fillers: dict[str, Filler]
    words: dict[str, str]
    seeds: tuple[str, ...]

    def hypotheses(self, construction: Construction, look_up: Fillers) -> dict[str, list[str]]:
        """Hypothesis rule of the design -> its wordings with the set's words."""
        rules = construction.designs[self.asked.design].rules
        return {rule: [say(wording, self.fillers, self.words, look_up) for wording in construction.rules[rule].wordings] for rule in rules}


def check(construction: Construction, asked: Asked, answer: str, look_up: Fillers, refused: Collection[str] = ()) -> Written | list[str]:
    """The set in ``answer``, or why it is refused.

    Args:
        construction: whose square it is.
        asked: what was asked.
        answer: a JSON object, see `shape_of`.
        look_up: of the construction.
        refused: words (lemmas, lower case) that nobody should read.
    """
    square = construction.natural[asked.design]
    found = json.loads(answer)
    faults = list(_misshapen(construction, square, found))
    if faults:
        return faults
    words = square.choices[found["choice"] if len(square.words) > 1 else next(iter(square.choices))]
    marks = {kind: {slot: without_determiner(text) for slot, text in found["kinds"][kind]["slots"].items()} for kind in square.kinds}
    sentences = {kind: found["kinds"][kind]["sentence"].strip() for kind in square.kinds}
    listed = {kind: units(sentences[kind], marks[kind]) for kind in square.kinds}
    faults = [fault for kind in square.kinds for fault in _of_sentence(square, kind, sentences[kind], marks[kind], listed[kind])]
    faults += _of_set(construction, square, marks, listed, words, sentences) if not faults else []
    if faults:
        return faults
    slots = {slot: text for kind in reversed(square.kinds) for slot, text in marks[kind].items()}
    fillers = {slot: look_up.filler(construction.slots[slot], text, listed.values()) for slot, text in slots.items()}
    known = {slot: filler for slot, filler in fillers.items() if filler}
    seeds = _used(asked.seeds, sentences)
    faults = [f"{slot}: nobody knows the word {text!r}" for slot, text in slots.items() if slot not in known]
    faults += [] if seeds or not asked.seeds else [f"none of the seed words occurs: {', '.join(asked.seeds)}"]
    faults += _disparaging(sentences, refused)
    if faults:
        return faults
    chosen = {name: ways[0] for name, ways in words.items()}
    written = Written(asked, sentences, marks, {slot: known[slot] for slot in square.slots if slot in known}, chosen, seeds)
    return list(_of_hypotheses(construction, written, look_up)) or written


def _misshapen(construction: Construction, square: Square, found: Any) -> Iterator[str]:
    """What an answer lacks, or has too much."""
    if not isinstance(found, dict) or not isinstance(found.get("kinds"), dict):
        yield "no object `kinds`"
        return
    if len(square.words) > 1 and found.get("choice") not in square.words:
        yield f"`choice` is none of {', '.join(square.words)}"
    strange = sorted(map(str, found["kinds"].keys() ^ set(square.kinds)))
    if strange:
        yield f"the kinds are not those that were asked for: {', '.join(strange)}"
        return
    for kind, entry in found["kinds"].items():
        marks = entry.get("slots") if isinstance(entry, dict) else None
        if not isinstance(marks, dict) or not isinstance(entry.get("sentence"), str):
            yield f"{kind}: no `sentence` and `slots`"
            continue
        wanted = square.marked(construction, kind)
        lacking = [slot for slot in wanted if not isinstance(marks.get(slot), str) or not tokens(marks[slot])]
        yield from (f"{kind}: {slot} is not marked" for slot in lacking)
        yield from (f"{kind}: {slot} is no slot of this kind" for slot in marks if slot not in wanted)


def _of_sentence(square: Square, kind: str, sentence: str, marks: Mapping[str, str], listed: Sequence[Unit]) -> Iterator[str]:
    """What is wrong with one sentence by itself."""
    plain = _ABBREVIATED.sub("", sentence)
    if not _SENTENCE.match(sentence) or _INNER_END.search(plain):
        yield f"{kind}: not one sentence that begins with a capital and ends with a full stop"
        return
    length = sum(word[:1].isalnum() for word in tokens(sentence))
    if not SHORTEST <= length <= LONGEST:
        yield f"{kind}: {length} words, not {SHORTEST} to {LONGEST}"
    counts = {slot: sum(unit.slot == slot for unit in listed) for slot in marks}
    for slot, count in counts.items():
        if count != 1:
            yield f"{kind}: {slot}: {marks[slot]!r} occurs {f'{count} times' if count else 'nowhere that is no other slot'}"
    words = [unit.word for unit in listed]
    for needed in square.needs:
        if not any(word in needed or (_NT in word and "not" in needed) for word in words):
            yield f"{kind}: none of {', '.join(needed[:5])} ... occurs"


def _of_set(
    construction: Construction,
    square: Square,
    marks: Mapping[str, Mapping[str, str]],
    listed: Mapping[str, list[Unit]],
    words: Mapping[str, Sequence[str]],
    sentences: Mapping[str, str],
) -> list[str]:
    """What is wrong with the sentences together: their shapes, and that they differ where the square does not."""
    faults: list[str] = []
    bare: dict[str, list[str]] = {}
    for kind in square.kinds:
        spoken_for: set[int] = set()
        for alternatives in square.patterns(construction.kinds[kind]):
            wanted: list[list[Step]] = [steps(parts, square.slots, words) for parts in alternatives]
            found = next((places for each in wanted if (places := matched(listed[kind], each)) is not None), None)
            if found is None:
                faults.append(f"{kind}: the sentence does not show {_shown(wanted[0])}" + (" or a like order" if len(wanted) > 1 else ""))
                continue
            spoken_for |= found
        bare[kind] = skeleton(listed[kind], spoken_for)
    for slot in square.slots:
        texts = {mine[slot].lower() for mine in marks.values() if slot in mine}
        if len(texts) > 1:
            faults.append(f"{slot} has other words in other kinds: {', '.join(sorted(texts))}")
    if faults:
        return faults
    for one, other in pairwise(square.kinds):
        if bare[one] != bare[other]:
            faults.append(f"{one} and {other} differ outside the slots: {_difference(bare[one], bare[other])}")
    return faults if faults or len(set(sentences.values())) == len(sentences) else ["two kinds have the same sentence"]


def _shown(wanted: Sequence[Step]) -> str:
    """A pattern as messages have it."""
    said_ = [
        f"<{step.slot}>" if step.slot else "his/her/their" if step.possessive else "/".join(" ".join(way) for way in step.ways[:3])
        for step in wanted
    ]
    return " ".join(said_)


def _difference(one: Sequence[str], other: Sequence[str]) -> str:
    place = next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other)))
    first, second = (" ".join(words[max(0, place - 1) : place + 3]) or "nothing" for words in (one, other))
    return f"{first!r} and {second!r}"


def _used(seeds: Sequence[str], sentences: Mapping[str, str]) -> tuple[str, ...]:
    """The seed words that occur, in whatever form: their first letters, as many as a regular ending may leave."""
    words = {Unit(token).word for sentence in sentences.values() for token in tokens(sentence)}

    def occurs(seed: str) -> bool:
        head = seed.lower().split()[0]
        return any(word == head or word.startswith(head[: max(3, len(head) - 1)]) or head in _lemmas(word) for word in words)

    return tuple(seed for seed in seeds if occurs(seed))


@lru_cache(50_000)
def _lemmas(word: str) -> frozenset[str]:
    from lemminflect import getAllLemmas

    return frozenset(lemma for lemmas in getAllLemmas(word).values() for lemma in lemmas)


def _disparaging(sentences: Mapping[str, str], refused: Collection[str]) -> list[str]:
    words = {Unit(token).word for sentence in sentences.values() for token in tokens(sentence)}
    odd = sorted(word for word in words if word in refused or _lemmas(word) & set(refused)) if refused else []
    return [f"a word that nobody should read: {word}" for word in odd]


def _of_hypotheses(construction: Construction, written: Written, look_up: Fillers) -> Iterator[str]:
    """Hypotheses that a premise says word for word, or that two rules share."""
    said_ = [text for texts in written.hypotheses(construction, look_up).values() for text in texts]
    if len(set(said_)) < len(said_):
        yield "two hypotheses are the same sentence"
    for kind, sentence in written.sentences.items():
        for text in said_:
            if text.rstrip(".").lower() in sentence.lower():
                yield f"{kind}: the sentence says the hypothesis {text!r} word for word"
