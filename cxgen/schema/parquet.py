"""What a parquet file says of its own size, read before a library believes it: a few kilobytes may become gigabytes.

The footer and the heads of all pages are read (Thrift's compact protocol), nothing is unpacked. Format:
https://github.com/apache/parquet-format, ``src/main/thrift/parquet.thrift``.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from cxgen.schema.door import MB

_MAGIC: Final = b"PAR1"
_TAIL: Final = 8  # bytes: the footer's length and the magic
# What is allowed whatever the file's size; and per byte of it. The project's own tables have up to 3 values and 15 bytes.
_VALUES, _VALUES_PER_BYTE = 4_000_000, 20
_UNPACKED, _UNPACKED_PER_BYTE = 64 * MB, 100
_FOOTER, _PAGES = MB, 10_000
_DEPTH: Final = 20
_DELTA_BYTE_ARRAY: Final = 7  # each text takes its beginning from the one before: a page's size says nothing about its texts
_DICTIONARY_PAGE: Final = 2


class _Thrift:
    """Values of Thrift's compact protocol: structures as field number -> value."""

    def __init__(self, data: bytes | mmap.mmap, at: int, end: int) -> None:
        self._data, self.at, self._end = data, at, end

    def _byte(self) -> int:
        if not 0 <= self.at < self._end:
            raise ValueError("is cut off")
        self.at += 1
        return self._data[self.at - 1]

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError("has a number beyond 64 bits")
        return value | byte << shift

    def _number(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _size(self) -> int:
        size = self._varint()
        if size > self._end - self.at:
            raise ValueError("is cut off")
        return size

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """The fields from here on."""
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._number()
            found[number] = self._value(head & 15, depth + 1)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEPTH:
            raise ValueError("is nested too deep")
        if kind in {1, 2}:
            return kind == 1
        if kind in {4, 5, 6}:
            return self._number()
        if kind == 12:
            return self.structure(depth)
        if kind in {9, 10}:
            return self._several(depth)
        if kind not in {3, 7, 8}:
            raise ValueError("is damaged")
        size = self._size() if kind == 8 else {3: 1, 7: 8}[kind]
        self.at += size
        return None

    def _several(self, depth: int) -> list[Any]:
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._size()
        if head & 15 in {1, 2}:  # a byte each
            return [self._byte() == 1 for _ in range(size)]
        return [self._value(head & 15, depth + 1) for _ in range(size)]


def oversize(path: Path) -> str:
    """Why a parquet file would become much larger than itself, or is not what it says; empty if neither.

    Raises:
        ValueError: it is no parquet file.
        OSError: it cannot be read.
    """
    size = path.stat().st_size
    if size <= _TAIL + len(_MAGIC):
        raise ValueError("too short")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[-4:] != _MAGIC:
            raise ValueError("it does not end as one")
        (footer,) = struct.unpack("<I", data[-_TAIL:-4])
        start = size - _TAIL - footer
        if start < len(_MAGIC):
            raise ValueError("its footer is cut off")
        if footer > max(_FOOTER, size // 8):
            return f"its footer has {footer} bytes"
        try:
            about = _Thrift(data, start, size - _TAIL).structure()
            return _fault(about, data, start)
        except (KeyError, TypeError, IndexError, AttributeError) as error:  # fields that are missing, or of another type
            raise ValueError("its footer is damaged") from error


def _fault(about: dict[int, Any], data: mmap.mmap, end: int) -> str:
    groups = about[4]
    if sum(group[3] for group in groups) != about[3] or any(group[3] < 0 for group in groups):
        return f"it has not the {about[3]} rows that it says"
    chunks = [chunk[3] for group in groups for chunk in group[1]]
    packed = sum(chunk[7] for chunk in chunks)
    if packed > end or any(chunk[7] < 0 for chunk in chunks):  # the same bytes for many columns
        return f"its columns have {packed} of its {end} bytes"
    values = unpacked = pages = 0
    for chunk in chunks:
        for page in _pages(chunk, data, end):
            values += page[0]
            unpacked += page[1]
            pages += 1
            if values > max(_VALUES, _VALUES_PER_BYTE * len(data)):
                return f"more than {values - 1} values in {len(data)} bytes"
            if unpacked > max(_UNPACKED, _UNPACKED_PER_BYTE * len(data)):
                return f"{len(data)} bytes that unpack to more than {unpacked // MB} MB"
            if pages > _PAGES + len(data) // 200:
                return f"more than {pages - 1} pages in {len(data)} bytes"
    return ""


def _pages(chunk: dict[int, Any], data: mmap.mmap, end: int) -> Iterator[tuple[int, int]]:
    """Values and unpacked bytes of each page of a column.

    Raises:
        ValueError: a page that is none, or is encoded so that its size says nothing.
    """
    at = min(chunk[9], chunk[11]) if chunk.get(11) else chunk[9]
    stop = at + chunk[7]
    if not 0 <= at <= stop <= end:
        raise ValueError("a column is cut off")
    left = chunk[5]
    while at < stop and left > 0:
        reader = _Thrift(data, at, stop)
        head = reader.structure()
        at = reader.at + head[3]
        if head[2] < 0 or head[3] < 0 or at > stop:
            raise ValueError("a page is cut off")
        content = head.get(5) or head.get(8) or head[7]
        number = content[1]
        if number < 0:
            raise ValueError("a page is damaged")
        if content.get(4 if 8 in head else 2) == _DELTA_BYTE_ARRAY:
            raise ValueError("texts that continue one another are not read here: write them plainly")
        left -= 0 if head[1] == _DICTIONARY_PAGE else number
        yield number, head[2]
    if left:
        raise ValueError("a column has not the values that it says")
