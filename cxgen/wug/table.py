"""What is said of pseudowords: the statistics of Wuggy (Keuleers & Brysbaert 2010), as columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from cxgen.wug.chain import Chain
from cxgen.wug.compiled import Ints
from cxgen.wug.syllables import Segments

SCHEMA: dict[str, pl.datatypes.DataTypeClass] = {
    "word": pl.String,
    "pseudoword": pl.String,
    "rank": pl.Int32,
    "syllables": pl.Int8,
    "segments": pl.String,
    "changed": pl.Int8,
    "max_deviation": pl.Int32,
    "max_deviation_at": pl.Int8,
    "sum_deviation": pl.Int32,
    "old20_word": pl.Float64,
    "old20": pl.Float64,
    "old20_difference": pl.Float64,
    "neighbours": pl.Int32,
    "zipf": pl.Float64,
    "widened": pl.Int8,
}


class Row(NamedTuple):
    """A pseudoword of a word; the names are those of the table's columns."""

    word: str
    source: Segments
    pseudoword: str
    parts: Segments
    rank: int
    old20_word: float
    old20: float
    neighbours: int
    zipf: float
    widened: int


def table(chain: Chain, rows: list[Row]) -> pl.DataFrame:
    """The rows with their statistics, as ``cxgen.wug.generate.pseudowords`` says."""
    columns = dict(zip(Row._fields, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(Row._fields, ())
    sources, outputs = columns.pop("source"), columns.pop("parts")
    syllables = np.array([len(parts) // 3 for parts in outputs], dtype=np.int64)
    found = dict.fromkeys(("changed", "max_deviation", "max_deviation_at", "sum_deviation"))
    figures = np.zeros((len(found), len(rows)), dtype=np.int64)
    for count in np.unique(syllables).tolist():
        places = np.flatnonzero(syllables == count)
        figures[:, places] = _compared(chain, [sources[place] for place in places], [outputs[place] for place in places])
    computed = {
        "syllables": syllables,
        "segments": [".".join([":".join(parts[at : at + 3]) for at in range(0, len(parts), 3)]) for parts in outputs],
        **dict(zip(found, figures, strict=True)),
    }
    difference = pl.col("old20") - pl.col("old20_word")
    return pl.DataFrame({**columns, **computed}).with_columns(old20_difference=difference).select(list(SCHEMA)).cast(pl.Schema(SCHEMA))


def _compared(chain: Chain, sources: list[Segments], outputs: list[Segments]) -> Ints:
    """Segments changed; the largest deviation with its sign, and where it is; the sum of deviations: of words of equally many syllables."""
    known = {parts: chain.numbers(parts) for parts in {*sources, *outputs}}
    old, new = (np.array([known[parts] for parts in words]) for words in (sources, outputs))
    deviations = chain.frequencies(new) - chain.frequencies(old)
    sizes = np.abs(deviations)
    where = sizes.argmax(axis=1)
    largest = np.take_along_axis(deviations, where[:, None], axis=1)[:, 0]
    return np.stack([(new != old).sum(axis=1), largest, where, sizes.sum(axis=1)])
