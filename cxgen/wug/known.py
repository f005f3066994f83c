"""Sets of forms that compiled code can ask: a table of hashes, small enough to stay near the processor.

The hash of a form is that of its letters as a number in base ``BASE``, so that it follows from the hashes of its segments. Half of its
bits say where in the table the form is, the others stand there: that a form that nobody knows is taken for known has a chance of 10^-9.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from cxgen.wug.compiled import Bytes, compiled

BASE = 0x9E3779B97F4A7C15  # odd, without regularity
_LOW = 2**32 - 1
Hashes = NDArray[np.uint64]
Table = NDArray[np.uint32]


@compiled("UniTuple(u8,2)(u8,i8)")
def _placed(value: np.uint64, size: int) -> tuple[np.uint64, np.uint64]:
    """Where a hash is looked for first in a table of some size, and what stands there: not 0, which is an empty place."""
    mixed = value * np.uint64(BASE)
    return (mixed >> np.uint64(32)) & np.uint64(size - 1), (mixed & np.uint64(_LOW)) | np.uint64(1)


@compiled("void(u4[::1],u8[::1])")
def insert(table: Table, values: Hashes) -> None:
    """Put hashes into a table whose size is a power of two."""
    for value in values:
        at, mark = _placed(value, len(table))
        while table[at] != 0 and table[at] != mark:
            at = (at + np.uint64(1)) & np.uint64(len(table) - 1)
        table[at] = mark


@compiled("b1(u4[::1],u8)")
def holds(table: Table, value: np.uint64) -> bool:
    """Whether a hash is in a table."""
    at, mark = _placed(value, len(table))
    while table[at] != 0:
        if table[at] == mark:
            return True
        at = (at + np.uint64(1)) & np.uint64(len(table) - 1)
    return False


@compiled("b1[::1](u4[::1],u8[::1])")
def unheld(table: Table, values: Hashes) -> NDArray[np.bool_]:
    """Which of some hashes are not in a table."""
    found = np.empty(len(values), np.bool_)
    for place in range(len(values)):
        found[place] = not holds(table, values[place])
    return found


@compiled("u8[::1](u1[:,::1])")
def rows_hashed(letters: Bytes) -> Hashes:
    """The hashes of forms, a row for each, filled up with 0."""
    found = np.zeros(len(letters), np.uint64)
    for row in range(len(letters)):
        for letter in letters[row]:
            if letter:
                found[row] = found[row] * np.uint64(BASE) + np.uint64(letter)
    return found


def hashed(forms: list[str]) -> Hashes:
    """The hashes of forms; those of segments, as they count in a form."""
    width = max([1, *map(len, forms)])
    return rows_hashed(np.array(forms, dtype=f"S{width}").view(np.uint8).reshape(len(forms), width))


class Known:
    """A growing set of forms."""

    def __init__(self, forms: Iterable[str] = ()) -> None:
        listed = list(forms)
        self._values = [hashed(listed)]
        self._waiting: list[str] = []
        self._count = len(listed)
        self._table: Table = np.zeros(0, dtype=np.uint32)
        self._grow()

    def copy(self) -> Known:
        """Another set with the same forms."""
        other = object.__new__(Known)
        other._values, other._waiting, other._count, other._table = self._values[:], self._waiting[:], self._count, self._table.copy()
        return other

    def update(self, forms: Iterable[str]) -> None:
        """Add forms."""
        self._waiting.extend(forms)

    @property
    def table(self) -> Table:
        """What ``holds`` takes."""
        if self._waiting:
            self._values.append(hashed(self._waiting))
            self._count += len(self._waiting)
            self._waiting.clear()
            if 2 * self._count > len(self._table):
                self._grow()
            else:
                insert(self._table, self._values[-1])
        return self._table

    def _grow(self) -> None:
        """Leave at least half of the places empty."""
        self._table = np.zeros(1 << max(8, (2 * self._count - 1).bit_length()), dtype=np.uint32)
        for values in self._values:
            insert(self._table, values)
