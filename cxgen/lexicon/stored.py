"""What the files of a snapshot must be like."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import DataError
from cxgen.files import parse_json
from cxgen.schema import Column, Contract
from cxgen.schema.door import MB, read_bytes, read_text
from cxgen.schema.sound import known_sound
from cxgen.tables import read_table
from cxgen.vocabulary import BANDS, INFLECTIONS, POS, RELATIONS

HINT = "run `cxgen lexicon build`, or restore the file"
_MOST_BYTES = 64 * MB
LEXEMES, CLASSES = "lexemes", "classes of {} lexemes"  # the rules of `known_sound`
_NAME = re.compile("[a-z][a-z0-9-]*")
_TEXTS = pl.List(pl.String)
_WORD = 200  # bytes of a word, or a phrase
_LEXEMES = Contract(
    (
        Column("key", pl.String, ""),
        Column("lemma", pl.String, "", longest=_WORD),
        Column("pos", pl.String, "", values=POS),
        *(Column(name, pl.String, "", null=True) for name in ("sense", "lexfile")),
        Column("zipf", pl.Float64, "", within=(0, 10)),
        Column("percentile", pl.Float64, "", within=(0, 100)),
        Column("band", pl.String, "", values=BANDS),
        Column("top10k", pl.Boolean, ""),
        Column("countability", pl.String, "", null=True),
        Column("gender", pl.String, "", null=True, values=("m", "f", "any", "none")),
        *(Column(name, pl.String, "", null=True, longest=_WORD) for name in ("article", *INFLECTIONS)),
        *(Column(name, _TEXTS, "") for name in (*RELATIONS, "derived", "classes", "frames")),
    ),
    key=("key",),
    least=1,
)
PSEUDOWORDS = Contract(
    (
        Column("key", pl.String, ""),
        Column("variant", pl.Int8, "", within=(0, 127)),
        Column("lemma", pl.String, "", longest=_WORD),
        *(Column(name, pl.String, "", null=True, longest=_WORD) for name in ("article", *INFLECTIONS)),
    ),
    key=("key", "variant"),
    least=1,
)


def read_lexemes(path: Path) -> tuple[pl.DataFrame, bool]:
    """The lexemes, and whether they are those that are shipped.

    Raises:
        DataError: there are none, or they are not as `lexicon build` writes them.
    """
    with suppress(DataError):  # which `read_table` says in the words of tables
        content = read_bytes(path, _MOST_BYTES)
        if known_sound(content, LEXEMES):
            return pl.read_parquet(content), True
    table = read_table(path, _LEXEMES, HINT)
    keys = table["key"].implode()
    for relation in RELATIONS:
        strange = table[relation].explode().drop_nulls().unique()
        strange = strange.filter(~strange.is_in(keys))
        if len(strange):
            raise DataError(f"column {relation} names {strange[0]!r}, which is no lexeme", file=path, hint=HINT)
    return table, False


def read_classes(path: Path, lexemes: int) -> tuple[dict[str, Any], bool]:
    """Classes, frames, cuts of bands and overrides, and whether they are those that are shipped.

    Args:
        path: the file.
        lexemes: how many there are.

    Raises:
        DataError: missing, not JSON, or not as `lexicon build` writes it. The file is large and read by every command, so that this is no
            JSON Schema.
    """
    data, shipped = _classes(path, read_text(path, _MOST_BYTES, DataError, HINT), lexemes)
    return dict(data), shipped


@lru_cache(2)  # a program that draws samples one by one asks for the same each time
def _classes(path: Path, text: str, lexemes: int) -> tuple[dict[str, Any], bool]:
    if known_sound(text, CLASSES.format(lexemes)):
        return dict(json.loads(text)), True
    data = parse_json(text, path, HINT)
    fault = next(_faults(data, lexemes), "")
    if fault:
        raise DataError(fault, file=path, hint=HINT)
    return dict(data), False


def _faults(data: Any, lexemes: int) -> Iterator[str]:
    if not isinstance(data, dict) or not {"classes", "frames"} <= data.keys():
        yield "expected an object with classes and frames"
        return
    for section, kind in (("classes", dict), ("frames", dict), ("overrides", dict), ("bands", list)):
        if not isinstance(data.get(section, kind()), kind):
            yield f"{section}: expected {'a list' if kind is list else 'an object'}"
            return
    odd = next((name for section in ("classes", "frames") for name in data[section] if not _NAME.fullmatch(name)), None)
    if odd is not None:
        yield f"{odd[:60]!r} is no name of a class or construction"
    yield from (f"classes.{name}: {fault}" for name, entry in data["classes"].items() for fault in _class_faults(entry, lexemes))
    for name, frames in data["frames"].items():
        if not isinstance(frames, list):
            yield f"frames.{name}: expected a list"
            return
        yield from (f"frames.{name}.{number}: {fault}" for number, frame in enumerate(frames) for fault in _frame_faults(frame))
    for number, row in enumerate(data.get("bands", ())):
        if not isinstance(row, dict) or not {"at", *POS} <= row.keys() or not all(isinstance(value, int | float) for value in row.values()):
            yield f"bands.{number}: expected a number for each of at, {', '.join(POS)}"
    for pos, words in data.get("overrides", {}).items():
        if pos not in POS or not _texts_of_texts(words):
            yield f"overrides.{pos}: expected lemma -> form -> text"


def _class_faults(entry: Any, lexemes: int) -> Iterator[str]:
    if not isinstance(entry, dict) or entry.get("pos") not in POS or not isinstance(entry.get("gloss", ""), str):
        yield f"expected pos (one of {', '.join(POS)}), ids, extended and gloss"
        return
    ids: Any = entry.get("ids")
    extended: Any = entry.get("extended")
    if not _numbers(ids, lexemes) or not _numbers(extended, lexemes):
        yield f"ids and extended are lists of row numbers below {lexemes}"
    elif not set(extended) <= set(ids):
        yield "extended has rows that ids lacks"


def _frame_faults(frame: Any) -> Iterator[str]:
    if not isinstance(frame, dict) or not isinstance(frame.get("name"), str) or not _texts(frame.get("design")):
        yield "expected name, design and slots"
    elif not isinstance(frame.get("slots"), dict) or not all(map(_texts, frame["slots"].values())):
        yield "slots: expected slot -> classes or sense keys"
    elif not _texts_of_texts({"": frame.get("words", {})}) or not isinstance(frame.get("preset", ""), str):
        yield "words: expected texts"
    elif not all(_texts(frame.get(name, [])) for name in ("marked", "entails_alone")):
        yield "marked and entails_alone: expected texts"


def _numbers(value: Any, below: int) -> bool:
    return isinstance(value, list) and all(type(one) is int and 0 <= one < below for one in value)


def _texts(value: Any) -> bool:
    """Whether it is a text, or a list of texts."""
    return isinstance(value, str) or (isinstance(value, Sequence) and all(isinstance(one, str) for one in value))


def _texts_of_texts(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(inner, Mapping) and all(isinstance(text, str) for text in inner.values()) for inner in value.values()
    )
