"""What a writer is asked: one contrast set a request, round seed words drawn from the lexicon's bands."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from cxgen.constructicon import Construction, Square, square_faults
from cxgen.errors import SchemaError
from cxgen.lexicon import Frame
from cxgen.sampling.pools import ABSENT, frame_candidates, frames_of
from cxgen.streams import order_keys, uniform_at
from cxgen.vocabulary import BANDS, WRITING, Role

_QUALITIES = (Role.result, Role.property)


@dataclass(frozen=True)
class Asked:
    """A set that is asked for.

    Attributes:
        id: construction, design, seed and number.
        design: whose square it is.
        task: the prompt: one of `cxgen.vocabulary.WRITING`.
        fields: what the prompt shows.
    """

    id: str
    design: str
    task: str
    fields: dict[str, str]

    @property
    def seeds(self) -> tuple[str, ...]:
        """The seed words."""
        return seeds_in(self.fields)


def asked(construction: Construction, seed: int, start: int, count: int) -> list[Asked]:
    """The sets number ``start`` to ``start + count - 1``: the same ones however many are asked for.

    Squares take turns, then prompts; every verb of the square's frames comes up once before one comes up again.

    Raises:
        SchemaError: the construction has no square for writers, or one that does not fit its design.
    """
    squares = require_squares(construction)
    sources = [(_described(construction, square), _Seeds(construction, square, seed)) for square in squares]
    wanted = []
    for number in range(start, start + count):
        turn, place = divmod(number, len(squares))
        square, (described, seeds) = squares[place], sources[place]
        fields = {**described, "seeds": seeds.of(turn)}
        wanted.append(Asked(f"{construction.name}.{square.design}.{seed}.{number}", square.design, WRITING[turn % len(WRITING)], fields))
    return wanted


def require_squares(construction: Construction) -> list[Square]:
    """The construction's squares for writers, sound.

    Raises:
        SchemaError: there is none, or one does not fit its design.
    """
    document = construction.document
    if not construction.natural:
        raise SchemaError(
            f"{construction.name} has no square for writers",
            file=document.path,
            hint="add a section natural: to its file, see docs/natural.md",
        )
    for square in construction.natural.values():
        for fault, keys in square_faults(construction, square):
            line = document.line(["natural", *keys])
            raise SchemaError(f"natural: {square.design}: {fault}", file=document.path, line=line, hint="see docs/natural.md")
    return list(construction.natural.values())


def seeds_in(fields: Mapping[str, str]) -> tuple[str, ...]:
    """The seed words of a request's fields."""
    named = (part.partition(": ")[2] for part in fields["seeds"].split("; "))
    return tuple(word for words in named for word in words.split(", ") if word)


def shape_of(construction: Construction, square: Square) -> dict[str, Any]:
    """JSON Schema of an answer: ``choice`` (where there are several) and, kind by kind, ``sentence`` and ``slots``."""
    kinds = {}
    for kind in square.kinds:
        slots = {slot: {"type": "string"} for slot in square.marked(construction, kind)}
        kinds[kind] = _object({"sentence": {"type": "string"}, "slots": _object(slots)})
    choice = {"choice": {"type": "string", "enum": list(square.words)}} if len(square.words) > 1 else {}
    return _object({**choice, "kinds": _object(kinds)})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _described(construction: Construction, square: Square) -> dict[str, str]:
    several = square.words if len(square.words) > 1 else {}
    choices = "; ".join(f"{name}: {_written(words)}" for name, words in several.items())
    return {
        "construction": construction.title,
        "form": construction.form,
        "meaning": " ".join(construction.meaning.split()),
        "scene": square.tells,
        "kinds": "; ".join(f"{name}: {says}" for name, says in square.kinds.items()),
        "slots": "; ".join(f"{name}: {what}" for name, what in square.slots.items()),
        "avoid": square.avoid or "nothing more",
        "choices": choices or "none",
        "reply": json.dumps(_blank(construction, square, next(iter(several), ""))),
    }


def _written(words: Mapping[str, tuple[str, ...]]) -> str:
    return ", ".join(f"{name} = {' or '.join(ways)}" for name, ways in words.items())


def _blank(construction: Construction, square: Square, choice: str) -> dict[str, Any]:
    kinds = {kind: {"sentence": "...", "slots": dict.fromkeys(square.marked(construction, kind), "...")} for kind in square.kinds}
    return {**({"choice": "..."} if choice else {}), "kinds": kinds}


class _Seeds:
    """Where the seed words of a square come from: verbs of its design's frames, adjectives of the same frames, nouns of each band."""

    def __init__(self, construction: Construction, square: Square, seed: int) -> None:
        self._stream = (seed, construction.name, square.design, "natural")
        self._main = construction.kinds[construction.designs[square.design].kinds[0]].verb
        self._quality = next((name for name in square.slots if construction.slots[name].role in _QUALITIES), "")
        frames = frames_of(construction, construction.designs[square.design])
        self._verbs = _fillers(construction, frames, self._main)
        self._adjectives: dict[str, set[str]] = {}
        for frame in frames if self._quality else ():
            for verb in _fillers(construction, [frame], self._main):
                self._adjectives.setdefault(verb, set()).update(_fillers(construction, [frame], self._quality))
        self._nouns = _nouns(construction)

    def of(self, turn: int) -> str:
        """Those of a turn, as the prompt shows them."""
        verb = _in_turn(self._verbs, (*self._stream, self._main), turn)
        found = {"verb": [verb] if verb else []}
        if self._quality:
            found["adjective"] = _drawn(sorted(self._adjectives[verb]), (*self._stream, self._quality), turn)
        found["nouns"] = [word for band, words in self._nouns.items() for word in _drawn(words, (*self._stream, band), turn)]
        return "; ".join(f"{what}: {', '.join(words)}" for what, words in found.items() if words)


def _in_turn(lemmas: Sequence[str], stream: tuple[str | int, ...], turn: int) -> str:
    """The lemma whose turn it is, each round in another order; empty if there is none."""
    if not lemmas:
        return ""
    number, place = divmod(turn, len(lemmas))
    keys = dict(zip(lemmas, order_keys((*stream, number), lemmas), strict=True))
    return sorted(lemmas, key=keys.__getitem__)[place]


def _drawn(lemmas: Sequence[str], stream: tuple[str | int, ...], turn: int) -> list[str]:
    """One of ``lemmas``, by the stream's number ``turn``; none of none."""
    chance = uniform_at(stream, np.array([turn], dtype=np.int64))[0]
    return [lemmas[int(chance * len(lemmas))]] if lemmas else []


def _fillers(construction: Construction, frames: Iterable[Frame], slot: str) -> list[str]:
    """The lemmas that ``frames`` have for ``slot``, sorted."""
    lexicon = construction.lexicon
    rows = {row for frame in frames for row in frame_candidates(frame, construction.slots[slot], lexicon) if row != ABSENT}
    return sorted({lexicon.lemmas[row] for row in rows})


def _nouns(construction: Construction) -> dict[str, list[str]]:
    """Band -> the lexicon's count nouns in it, sorted."""
    common = (pl.col("pos") == "noun") & (pl.col("countability") == "count") & ~pl.col("lemma").str.contains(r"\p{Lu}")
    table = construction.lexicon.table.filter(common)
    return {band: table.filter(pl.col("band") == band)["lemma"].unique().sort().to_list() for band in BANDS}
