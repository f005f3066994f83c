"""Is what a writer wrote what was asked for? Every fault is named; nothing is mended."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from cxgen.constructicon import Construction, Square
from cxgen.natural.requests import Asked, shape_of
from cxgen.natural.words import Filler, Fillers, Unit, lemmas, matched, pattern, say, skeleton, tokens, units, without_determiner

_SHORTEST, _LONGEST = 7, 45  # words of a sentence
_SENTENCE = re.compile(r"^[\"“'‘]?[A-Z][^{}<>\[\]|\\_*#=@\n]*[.][\"”'’]?$")
_INNER_END = re.compile(r"[.!?][\"”'’]?\s+[\"“'‘]?[A-Z]")
_ABBREVIATED = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St)\. ")
Marks = dict[str, dict[str, str]]  # kind -> slot -> the marked words


class Written(NamedTuple):
    """A set that a writer wrote, sound."""

    asked: Asked
    sentences: dict[str, str]  # by kind
    marks: Marks
    fillers: dict[str, Filler]  # by slot
    words: dict[str, str]  # frame word -> how hypotheses have it


def check(construction: Construction, asked: Asked, answer: str, look_up: Fillers, refused: Collection[str] = ()) -> Written | list[str]:
    """The set in ``answer`` (JSON, see `shape_of`), or why it is refused; ``refused``: lemmas that nobody should read."""
    square, given = construction.natural[asked.design], json.loads(answer)
    if faults := _misshapen(construction, square, given):
        return faults
    words = square.words[given["choice"] if len(square.words) > 1 else next(iter(square.words))]
    entries = {kind: given["kinds"][kind] for kind in square.kinds}
    marks = {kind: {slot: without_determiner(text) for slot, text in entry["slots"].items()} for kind, entry in entries.items()}
    sentences = {kind: entry["sentence"].strip() for kind, entry in entries.items()}
    listed = {kind: units(sentences[kind], marks[kind]) for kind in square.kinds}
    faults = [fault for kind in square.kinds for fault in _of_sentence(square, kind, sentences[kind], marks[kind], listed[kind])]
    if faults := faults or _of_set(construction, square, marks, listed, words):
        return faults
    slots = {slot: text for kind in reversed(square.kinds) for slot, text in marks[kind].items()}
    fillers = {slot: look_up.filler(construction.slots[slot], text, listed.values()) for slot, text in slots.items()}
    faults = [f"{slot}: nobody knows the word {text!r}" for slot, text in slots.items() if fillers[slot] is None]
    if faults := [*faults, *_of_words(sentences, asked.seeds, refused)]:
        return faults
    known = {slot: filler for slot in square.slots if (filler := fillers.get(slot))}
    written = Written(asked, sentences, marks, known, {name: ways[0] for name, ways in words.items()})
    return list(_of_hypotheses(construction, written, look_up)) or written


def _misshapen(construction: Construction, square: Square, given: Any) -> list[str]:
    """What an answer lacks, or has too much; what stands beside ``kinds`` and ``choice`` is passed over."""
    from jsonschema import Draft202012Validator

    errors = list(Draft202012Validator(shape_of(construction, square)).iter_errors(given))
    errors = [error for error in errors if error.absolute_path or error.validator != "additionalProperties"]
    return [": ".join(map(str, [*error.absolute_path, error.message]))[:300] for error in errors]


def _of_sentence(square: Square, kind: str, sentence: str, marks: Mapping[str, str], listed: Sequence[Unit]) -> Iterator[str]:
    """What is wrong with one sentence by itself."""
    if not _SENTENCE.match(sentence) or _INNER_END.search(_ABBREVIATED.sub("", sentence)):
        yield f"{kind}: not one sentence that begins with a capital and ends with a full stop"
        return
    length = sum(word[:1].isalnum() for word in tokens(sentence))
    if not _SHORTEST <= length <= _LONGEST:
        yield f"{kind}: {length} words, not {_SHORTEST} to {_LONGEST}"
    for slot, mark in marks.items():
        count = sum(unit.slot == slot for unit in listed)
        if count != 1:
            yield f"{kind}: {slot}: {mark!r} occurs {f'{count} times' if count else 'nowhere that is no other slot'}"
    for needed in square.needs:
        if not any(unit.word in needed or ("n't" in unit.word and "not" in needed) for unit in listed):
            yield f"{kind}: none of {', '.join(needed[:5])} ... occurs"


def _of_set(
    construction: Construction, square: Square, marks: Marks, listed: Mapping[str, list[Unit]], words: Mapping[str, Sequence[str]]
) -> list[str]:
    """What is wrong with the sentences together: their shapes, and that they differ where the square does not."""
    faults = []
    bare: dict[str, list[str]] = {}
    for kind in square.kinds:
        spoken_for: set[int] = set()
        for alternatives in square.patterns(construction.kinds[kind]):
            wanted = [pattern(parts, words) for parts in alternatives]
            places = next((places for regex, _ in wanted if (places := matched(listed[kind], regex)) is not None), None)
            if places is None:
                faults.append(f"{kind}: the sentence does not show {wanted[0][1]}" + (" or a like order" if len(wanted) > 1 else ""))
            spoken_for |= places or set()
        bare[kind] = skeleton(listed[kind], spoken_for)
    texts = {slot: {own[slot].lower() for own in marks.values() if slot in own} for slot in square.slots}
    faults += [f"{slot} has other words in other kinds: {', '.join(sorted(own))}" for slot, own in texts.items() if len(own) > 1]
    different = [pair for pair in pairwise(square.kinds) if bare[pair[0]] != bare[pair[1]]]
    faults = faults or [f"{one} and {other} differ outside the slots: {_difference(bare[one], bare[other])}" for one, other in different]
    same = len({" ".join(unit.text for unit in sentence) for sentence in listed.values()}) < len(listed)
    return faults or (["two kinds have the same sentence"] if same else [])


def _difference(one: Sequence[str], other: Sequence[str]) -> str:
    place = next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other)))
    first, second = (" ".join(words[max(0, place - 1) : place + 3]) or "nothing" for words in (one, other))
    return f"{first!r} and {second!r}"


def _of_words(sentences: Mapping[str, str], seeds: Sequence[str], refused: Collection[str]) -> Iterator[str]:
    """That no seed word occurs, in whatever form (the first letters, as many as a regular ending leaves); and words not to be read."""
    words = {Unit(token).word for sentence in sentences.values() for token in tokens(sentence)}
    heads = [seed.lower().split()[0] for seed in seeds]
    if heads and not any(word.startswith(head[: max(3, len(head) - 1)]) or head in lemmas(word) for word in words for head in heads):
        yield f"none of the seed words occurs: {', '.join(seeds)}"
    for word in sorted(words) if refused else ():
        if not {word, *lemmas(word)}.isdisjoint(refused):
            yield f"a word that nobody should read: {word}"


def _of_hypotheses(construction: Construction, written: Written, look_up: Fillers) -> Iterator[str]:
    """Hypotheses that a premise says word for word, or that two rules share."""
    wordings = [text for rule in construction.designs[written.asked.design].rules for text in construction.rules[rule].wordings]
    claims = [say(wording, written.fillers, written.words, look_up) for wording in wordings]
    if len(set(claims)) < len(claims):
        yield "two hypotheses are the same sentence"
    for kind, sentence in written.sentences.items():
        for claim in claims:
            if claim.rstrip(".").lower() in sentence.lower():
                yield f"{kind}: the sentence says the hypothesis {claim!r} word for word"
