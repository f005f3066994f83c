"""How a spelling may sound: the likely pronunciations of a segmented form, to find homophones of real words.

A form is read as consonants and nuclei in turn: the coda of one syllable and the onset of the next are one cluster, so that spelled and
spoken syllable boundaries need not agree. A nucleus is read by the coda that follows (a silent *e* is part of it) and by its place in
the word. The readings were counted over the words of CMUdict by ``cxgen.curate.wug``. Sounds are one character each, without stress;
unstressed *IH*, *EH* and *AH* are the same.
"""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import polars as pl

from cxgen.wug.compiled import Bytes, Floats, Ints, compiled
from cxgen.wug.known import BASE, Known, Table, holds
from cxgen.wug.syllables import Segments

_LEAST = 0.03  # a pronunciation less probable than this, relative to the likeliest, is not considered
_MOST = 64  # pronunciations considered
_ROOM = 1 << 10  # for pronunciations of one unit more
HEAD = 5  # characters by which a beginning is told


def units(parts: Segments) -> list[str]:
    """The clusters and nuclei of a form, as the keys under which their readings are listed.

    Clusters: ``^onset``, ``coda-onset``, ``coda$``. Nuclei: ``nucleus|coda|place``, where the place is m(onosyllable), f(irst), l(ast) or
    i(nner).
    """
    last = len(parts) // 3 - 1
    found = [f"^{parts[0]}"]
    for number in range(last + 1):
        nucleus, coda = parts[3 * number + 1], parts[3 * number + 2]
        place = "m" if not last else "f" if not number else "l" if number == last else "i"
        found.append(f"{nucleus}|{coda}|{place}")
        found.append(f"{coda}$" if number == last else f"{coda}-{parts[3 * number + 3]}")
    return found


class Sounds:
    """The sounds of real words, and how the parts of forms are read."""

    def __init__(self, table: pl.DataFrame) -> None:
        """From the rows ``unit``, ``sound``, ``share`` (see ``cxgen.curate.wug``)."""
        real = table.filter(pl.col("unit").is_null())["sound"].to_list()
        self._real = Known(real).table
        self._heads = Known({sound[:size] for sound in real for size in range(1, HEAD + 1)}).table
        read: dict[str, list[tuple[str, float]]] = {}
        for unit, sound, share in table.filter(pl.col("unit").is_not_null()).iter_rows():
            read.setdefault(unit, []).append((sound, share / 100))
        self._listed = {unit: tuple(found) for unit, found in read.items()}
        self._numbers: dict[str, int] = {}  # of the units asked for
        self._starts = np.zeros(2, dtype=np.int64)  # for each of them, where its readings are in the arrays
        self._letters, self._shares = np.zeros((1, 1), dtype=np.uint8), np.zeros(1)

    def like(self, parts: Segments) -> bool:
        """Whether a likely pronunciation of a form is that of a real word.

        Forms with a part that occurs in no word whose pronunciation is known sound like none.
        """
        numbers = [self._numbers[unit] if unit in self._numbers else self._number(unit) for unit in units(parts)]
        return bool(spoken(np.array(numbers), self._starts, self._letters, self._shares, self._real, self._heads))

    def _number(self, unit: str) -> int:
        """The number of a new unit, whose readings are put into the arrays."""
        found, number = self._readings(unit), len(self._numbers)
        if number + 1 == len(self._starts):
            self._starts = np.pad(self._starts, (0, number + 1))
        first, last = int(self._starts[number]), int(self._starts[number]) + len(found)
        width = max([len(sound) for sound, _ in found], default=0)
        if last > len(self._shares) or width > self._letters.shape[1]:
            more = last, max(width - self._letters.shape[1], 0)
            self._letters, self._shares = np.pad(self._letters, ((0, more[0]), (0, more[1]))), np.pad(self._shares, (0, more[0]))
        for place, (sound, share) in enumerate(found, first):
            self._letters[place, : len(sound)], self._shares[place] = list(sound.encode()), share
        self._starts[number + 1], self._numbers[unit] = last, number
        return number

    def _readings(self, unit: str) -> tuple[tuple[str, float], ...]:
        """The readings of a unit and their shares; of an unknown one those of its parts."""
        if unit in self._listed:
            return self._listed[unit]
        if "|" in unit:
            nucleus, _, place = unit.split("|")
            return self._listed.get(f"{nucleus}||{place}", ())
        if "-" in unit:
            coda, onset = unit.split("-")
            pairs = product(self._readings(f"{coda}$"), self._readings(f"^{onset}"))
            return tuple((re.sub(r"(.)\1", r"\1", a + b), p * q) for (a, p), (b, q) in pairs)
        return ()


@compiled("Tuple((u8,u8,i8))(u8,u8,i8,u1[::1])")
def extended(said: np.uint64, head: np.uint64, size: int, sounds: Bytes) -> tuple[np.uint64, np.uint64, int]:
    """The hash of what is said and ``sounds``, that of its beginning, and the length of this."""
    for sound in sounds:
        if sound:
            said = said * np.uint64(BASE) + np.uint64(sound)
            if size < HEAD:
                head, size = head * np.uint64(BASE) + np.uint64(sound), size + 1
    return said, head, size


@compiled("b1(i8[::1],i8[::1],u1[:,::1],f8[::1],u4[::1],u4[::1])")
def spoken(numbers: Ints, starts: Ints, letters: Bytes, shares: Floats, real: Table, heads: Table) -> bool:
    """Whether a likely pronunciation of a form is a real word's.

    Args:
        numbers: of its units.
        starts: for every unit its first reading, and their number.
        letters, shares: of all readings: the sounds, filled up with 0, and how probable they are.
        real: a table of the pronunciations of words (see ``cxgen.wug.known``).
        heads: of the beginnings of these, up to ``HEAD`` characters.
    """
    whole, heard = np.empty((2, _ROOM), np.uint64), np.empty((2, _ROOM), np.uint64)  # hashes: of all that is said, and of its beginning
    sizes, chances = np.empty((2, _ROOM), np.int64), np.empty((2, _ROOM))
    now, count = 0, 1
    whole[0, 0], heard[0, 0], sizes[0, 0], chances[0, 0] = np.uint64(0), np.uint64(0), 0, 1.0
    for number in numbers:
        first, last = starts[number], starts[number + 1]
        if first == last:
            return False
        best, new, size = shares[first], 1 - now, 0
        for before in range(count):
            for reading in range(first, last):
                chance = chances[now, before] * shares[reading]
                if chance < _LEAST * best or size == _ROOM:
                    continue
                said, head, long = extended(whole[now, before], heard[now, before], sizes[now, before], letters[reading])
                if long == 0 or holds(heads, head):
                    whole[new, size], heard[new, size], sizes[new, size], chances[new, size] = said, head, long, chance / best
                    size += 1
        if size == 0:
            return False
        if size > _MOST:
            order = np.argsort(-chances[new, :size], kind="mergesort")[:_MOST]
            whole[new, :_MOST], heard[new, :_MOST] = whole[new][order], heard[new][order]
            sizes[new, :_MOST], chances[new, :_MOST] = sizes[new][order], chances[new][order]
        now, count = new, min(size, _MOST)
    found = False
    for at in range(count):
        found = found or holds(real, whole[now, at])
    return found
