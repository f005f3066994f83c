"""What a writer is asked for (one contrast set a request, round seed words), and whether what it wrote is that: every fault is named."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from cxgen.check import require_sound
from cxgen.constructicon import Construction
from cxgen.constructicon.model import Square
from cxgen.errors import SchemaError
from cxgen.lexicon import Frame
from cxgen.natural.words import QUALITIES, Filler, Fillers, Unit, matched, pattern, say, skeleton, tokens, units, without_determiner
from cxgen.sampling.pools import ABSENT, frame_candidates, frames_of
from cxgen.streams import order_key, uniform_at
from cxgen.trees.phrases import lemmas_of
from cxgen.vocabulary import BANDS, WRITING

_SHORTEST, _LONGEST = 7, 45  # words of a sentence
_SENTENCE = re.compile(r"^[\"“'‘]?[A-Z].*[.][\"”'’]?$")
# Letters that look like others (Cyrillic, full-width, dotless, with combining marks) would keep a word from being known for what it is.
_FOREIGN = re.compile(r"[^A-Za-zÀ-ÖØ-öø-įĴ-ķĹ-ňŊ-ž0-9 '\"‘’“”,;:.!?()–—-]")
_LONGEST_WORD = 30  # letters
_INNER_END = re.compile(r"[.!?][\"”'’]?\s+[\"“'‘]?[A-Z]")
_ABBREVIATED = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St)\. ")
Marks = dict[str, dict[str, str]]  # kind -> slot -> the marked words


class Asked(NamedTuple):
    """A set that is asked for."""

    id: str  # construction, design, seed and number
    design: str
    task: str  # the prompt
    fields: dict[str, str]  # what the prompt shows

    @property
    def seeds(self) -> list[str]:
        """The seed words."""
        named = (part.partition(": ")[2] for part in self.fields["seeds"].split("; "))
        return [word for words in named for word in words.split(", ") if word]


def asked(construction: Construction, seed: int, start: int, count: int) -> list[Asked]:
    """The sets number ``start`` to ``start + count - 1``: the same ones however many are asked for.

    Squares take turns, then prompts; every verb of the square's frames comes up once before one comes up again.
    """
    squares = construction.natural.values()
    if not squares:
        hint = "add a section natural: to its file, see docs/natural.md"
        raise SchemaError(f"{construction.name} has no square for writers", file=construction.document.path, hint=hint)
    require_sound(construction, "E1")
    sources = [(square.design, _described(construction, square), _seeds(construction, square, seed)) for square in squares]
    wanted = []
    for number in range(start, start + count):
        turn, place = divmod(number, len(sources))
        design, described, seeds = sources[place]
        fields = {**described, "seeds": seeds(turn)}
        wanted.append(Asked(f"{construction.name}.{design}.{seed}.{number}", design, WRITING[turn % len(WRITING)], fields))
    return wanted


def shape_of(construction: Construction, square: Square) -> dict[str, Any]:
    """JSON Schema of an answer: ``choice`` (where there are several) and, kind by kind, ``sentence`` and ``slots``."""
    text = {"type": "string"}
    slots = {kind: _object(dict.fromkeys(square.marked(construction, kind), text)) for kind in square.kinds}
    kinds = _object({kind: _object({"sentence": text, "slots": own}) for kind, own in slots.items()})
    return _object({"choice": {**text, "enum": list(square.words)}, "kinds": kinds} if len(square.words) > 1 else {"kinds": kinds})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _described(construction: Construction, square: Square) -> dict[str, str]:
    several = square.words if len(square.words) > 1 else {}
    choices = {choice: ", ".join(f"{name} = {' or '.join(ways)}" for name, ways in words.items()) for choice, words in several.items()}
    kinds = {kind: {"sentence": "...", "slots": dict.fromkeys(square.marked(construction, kind), "...")} for kind in square.kinds}
    return {
        "construction": construction.title,
        "form": construction.form,
        "meaning": " ".join(construction.meaning.split()),
        "scene": square.tells,
        "kinds": _listed(square.kinds),
        "slots": _listed(square.slots),
        "avoid": square.avoid or "nothing more",
        "choices": _listed(choices) or "none",
        "reply": json.dumps({"choice": "...", "kinds": kinds} if several else {"kinds": kinds}),
    }


def _listed(texts: dict[str, str]) -> str:
    return "; ".join(f"{name}: {text}" for name, text in texts.items())


def _seeds(construction: Construction, square: Square, seed: int) -> Callable[[int], str]:
    """Turn -> seed words: a verb of the design's frames, an adjective of the same frames, a count noun of each band."""
    design, slots = construction.designs[square.design], construction.slots
    stream = (seed, construction.name, square.design, "natural")
    frames, main = frames_of(construction, design), construction.kinds[design.kinds[0]].verb
    quality = next((name for name in square.slots if slots[name].role in QUALITIES), "")
    adjectives: dict[str, set[str]] = {verb: set() for verb in _fillers(construction, frames, main)}
    for frame in frames if quality else ():
        for verb in _fillers(construction, [frame], main):
            adjectives[verb].update(_fillers(construction, [frame], quality))
    common = (pl.col("pos") == "noun") & (pl.col("countability") == "count") & ~pl.col("lemma").str.contains(r"\p{Lu}")
    table = construction.lexicon.table.filter(common)
    nouns = {band: table.filter(pl.col("band") == band)["lemma"].unique().sort().to_list() for band in BANDS}

    def drawn(lemmas: list[str], name: str, turn: int) -> list[str]:
        chance = uniform_at((*stream, name), np.array([turn], dtype=np.int64))[0]
        return [lemmas[int(chance * len(lemmas))]] if lemmas else []

    def of(turn: int) -> str:
        number, place = divmod(turn, len(adjectives))
        verb = sorted(adjectives, key=lambda lemma: order_key(*stream, main, number, lemma))[place]
        words = {"verb": [verb], "adjective": drawn(sorted(adjectives[verb]), quality, turn)}
        words["nouns"] = [word for band, lemmas in nouns.items() for word in drawn(lemmas, band, turn)]
        return _listed({what: ", ".join(listed) for what, listed in words.items() if listed})

    return of


def _fillers(construction: Construction, frames: Iterable[Frame], slot: str) -> list[str]:
    own, lexicon = construction.slots[slot], construction.lexicon
    return sorted({lexicon.lemmas[row] for frame in frames for row in frame_candidates(frame, own, lexicon) if row != ABSENT})


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
    unsaid = "nothing, or a text with a character that nobody sees, such as U+200B"  # of which `asking.prompts` makes null
    whys = [unsaid if error.instance is None else error.message for error in errors]
    return [": ".join(map(str, [*error.absolute_path, why]))[:300] for error, why in zip(errors, whys, strict=True)]


def _of_sentence(square: Square, kind: str, sentence: str, marks: Mapping[str, str], listed: Sequence[Unit]) -> Iterator[str]:
    if not _SENTENCE.match(sentence) or _INNER_END.search(_ABBREVIATED.sub("", sentence)):
        yield f"{kind}: not one sentence that begins with a capital and ends with a full stop"
        return
    for text in (sentence, *marks.values()):
        if odd := _FOREIGN.search(text):
            yield f"{kind}: {odd[0]!r} (U+{ord(odd[0]):04X}) is no letter, digit or mark of plain English"
            return
    words = [word for word in tokens(sentence) if word[0].isalnum()]
    length = len(words)
    if long := next((word for word in words if len(word) > _LONGEST_WORD), ""):
        yield f"{kind}: a word of {len(long)} letters: {long[:_LONGEST_WORD]}..."
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
    words = {Unit(token).word for sentence in sentences.values() for token in tokens(sentence)}
    lemmas = {word: {word, *chain.from_iterable(lemmas_of(word).values())} for word in words}
    heads = [seed.lower().split()[0] for seed in seeds]
    if heads and not any(word.startswith(head[: max(3, len(head) - 1)]) or head in lemmas[word] for word in words for head in heads):
        yield f"none of the seed words occurs: {', '.join(seeds)}"
    for word in sorted(words):
        if not lemmas[word].isdisjoint(refused):
            yield f"a word that nobody should read: {word}"


def _of_hypotheses(construction: Construction, written: Written, look_up: Fillers) -> Iterator[str]:
    wordings = [text for rule in construction.designs[written.asked.design].rules for text in construction.rules[rule].wordings]
    claims = [say(wording, written.fillers, written.words, look_up) for wording in wordings]
    if len(set(claims)) < len(claims):
        yield "two hypotheses are the same sentence"
    for kind, sentence in written.sentences.items():
        for claim in claims:
            if claim.rstrip(".").lower() in sentence.lower():
                yield f"{kind}: the sentence says the hypothesis {claim!r} word for word"
