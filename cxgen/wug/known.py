"""Sets of forms that compiled code can ask: a table of 64-bit hashes.

The hash of a form is that of its letters as a number in base ``BASE``, so that it follows from the hashes of its segments. Two forms may
have the same one; that a form that nobody knows is taken for known so has a chance of 10^-13.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from cxgen.wug.compiled import compiled

BASE = 0x9E3779B97F4A7C15  # odd, without regularity
_MASK = 2**64 - 1
_SMALLEST = 1 << 16
Hashes = NDArray[np.uint64]


def hashed(text: str) -> int:
    """The hash of a form; of a segment, as it counts in a form."""
    value = 0
    for letter in text.encode():
        value = (value * BASE + letter) & _MASK
    return value


@compiled("void(u8[::1],u8[::1])")
def insert(table: Hashes, values: Hashes) -> None:
    """Put hashes into a table whose size is a power of two; 0 is an empty place."""
    mask = np.uint64(len(table) - 1)
    for value in values:
        at = (value ^ (value >> np.uint64(32))) & mask
        while table[at] != 0 and table[at] != value:
            at = (at + np.uint64(1)) & mask
        table[at] = value


@compiled("b1(u8[::1],u8)")
def holds(table: Hashes, value: np.uint64) -> bool:
    """Whether a hash is in a table."""
    mask = np.uint64(len(table) - 1)
    at = (value ^ (value >> np.uint64(32))) & mask
    while table[at] != 0:
        if table[at] == value:
            return True
        at = (at + np.uint64(1)) & mask
    return False


@compiled("u8[::1](u1[:,::1])")
def rows_hashed(letters: NDArray[np.uint8]) -> Hashes:
    """The hashes of forms, a row for each, filled up with 0."""
    found = np.zeros(len(letters), np.uint64)
    for row in range(len(letters)):
        for letter in letters[row]:
            if letter:
                found[row] = found[row] * np.uint64(BASE) + np.uint64(letter)
    return found


class Known:
    """A growing set of forms."""

    def __init__(self, forms: Iterable[str] = ()) -> None:
        listed = list(forms)
        width = max([1, *map(len, listed)])
        self._waiting: list[int] = []
        self._count = len(listed)
        self._table = np.zeros(_SMALLEST, dtype=np.uint64)
        self._grow()
        insert(self._table, rows_hashed(np.array(listed, dtype=f"S{width}").view(np.uint8).reshape(len(listed), width)))

    def copy(self) -> Known:
        """Another set with the same forms."""
        other = object.__new__(Known)
        other._waiting, other._count, other._table = self._waiting[:], self._count, self._table.copy()
        return other

    def update(self, forms: Iterable[str]) -> None:
        """Add forms."""
        self._waiting.extend(map(hashed, forms))

    @property
    def table(self) -> Hashes:
        """The hashes."""
        if self._waiting:
            self._count += len(self._waiting)
            self._grow()
            insert(self._table, np.array(self._waiting, dtype=np.uint64))
            self._waiting.clear()
        return self._table

    def _grow(self) -> None:
        """Leave at least three quarters empty."""
        if 4 * self._count > len(self._table):
            size = len(self._table)
            while 4 * self._count > size:
                size *= 2
            values = self._table[self._table > 0]
            self._table = np.zeros(size, dtype=np.uint64)
            insert(self._table, values)
