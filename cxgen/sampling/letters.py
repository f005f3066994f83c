"""Hashes of what premises say, computed from the draws: no sentence is put together.

The hash of a text is the polynomial of its bytes at `BASE` modulo 2^64 (Karp & Rabin 1987, "Efficient randomized pattern-matching
algorithms"), so that of a concatenation follows from those of its parts. Spaces and capitals do not count, since sentences are made of
parts without regard to either: texts that differ in nothing else are taken for the same.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.sampling.draws import Draws, frame_words
from cxgen.sampling.forms import Table

Hashes = NDArray[np.uint64]
BASE = np.uint64(0x9E3779B97F4A7C15)  # odd: no letter is ever multiplied away


def letters(draws: Draws) -> Hashes:
    """Sets x kinds: the hash of each premise's letters; it is equal for premises that are equal, in whatever template or kind."""
    found = np.zeros(len(draws.chosen), dtype=np.uint64)
    for kind, template, places in draws.groups():
        rows = places % len(draws)
        mine = np.zeros(len(rows), dtype=np.uint64)
        for part in draws.construction.premise_parts(kind, template.name):
            if part.slot in draws.construction.slots:
                slot = draws.construction.slots[part.slot]
                values, powers = _of_table(draws.forms.table(slot, part.form))
                keys = draws.forms.keys(slot, part.form, draws.plan, draws.sampler.pools, rows)
            else:
                values, powers = _of_texts(
                    tuple(frame_words(part.slot, draws.construction, draws.sampler.pools)) if part.slot else (part.text,)
                )
                keys = draws.plan.frame[rows] if part.slot else np.zeros(1, dtype=np.int64)
            mine = mine * powers[keys] + values[keys]
        found[places] = mine
    return _mixed(found).reshape(-1, len(draws)).T


def _hashes(texts: pl.Series) -> tuple[Hashes, Hashes]:
    """Of every text its hash, and what the hash of a text before it is multiplied by."""
    plain = texts.str.to_lowercase().str.replace_all(" ", "", literal=True)
    sizes = plain.str.len_bytes().to_numpy().astype(np.int64)
    letters = np.frombuffer("".join(plain.to_list()).encode(), dtype=np.uint8)
    starts = np.cumsum(sizes) - sizes
    values, powers = np.zeros(len(sizes), dtype=np.uint64), np.ones(len(sizes), dtype=np.uint64)
    for place in range(int(sizes.max(initial=0))):
        rows = np.flatnonzero(sizes > place)
        values[rows] = values[rows] * BASE + letters[starts[rows] + place]
        powers[rows] *= BASE
    return values, powers


@lru_cache(maxsize=4096)
def _of_texts(texts: tuple[str, ...]) -> tuple[Hashes, Hashes]:
    return _hashes(pl.Series(texts))


@lru_cache(maxsize=1024)
def _of_table(table: Table) -> tuple[Hashes, Hashes]:
    return _hashes(table.texts)


def _mixed(hashes: Hashes) -> Hashes:
    """The finaliser of SplitMix64 (Steele et al. 2014, "Fast splittable pseudorandom number generators"): all bits depend on all."""
    hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Hashes = hashes ^ (hashes >> np.uint64(31))
    return mixed
