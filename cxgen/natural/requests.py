"""What a writer is asked: one contrast set a request, round seed words drawn from the lexicon's bands."""

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from cxgen.constructicon import Construction, Square, square_faults
from cxgen.errors import SchemaError
from cxgen.lexicon import Frame
from cxgen.natural.words import QUALITIES
from cxgen.sampling.pools import ABSENT, frame_candidates, frames_of
from cxgen.streams import order_key, uniform_at
from cxgen.vocabulary import BANDS, WRITING


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
    document, squares = construction.document, list(construction.natural.values())
    if not squares:
        hint = "add a section natural: to its file, see docs/natural.md"
        raise SchemaError(f"{construction.name} has no square for writers", file=document.path, hint=hint)
    for square in squares:
        for fault, keys in square_faults(construction, square):
            line = document.line(["natural", *keys])
            raise SchemaError(f"natural: {square.design}: {fault}", file=document.path, line=line, hint="see docs/natural.md")
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
    """The lemmas that ``frames`` have for ``slot``, sorted."""
    lexicon = construction.lexicon
    rows = {row for frame in frames for row in frame_candidates(frame, construction.slots[slot], lexicon) if row != ABSENT}
    return sorted({lexicon.lemmas[row] for row in rows})
