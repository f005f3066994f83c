"""Raw text as a stream of passages, however large the files are: plain or gzip, lines or paragraphs, or a field of JSON lines."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from cxgen.errors import DataError
from cxgen.schema.door import MB, require_file
from cxgen.tables import one_line

LONGEST = 20_000  # characters of a passage: a longer line is cut at a blank
_MOST_LINE = 64 * MB  # bytes of a line of JSON
_MOST_BYTES = 1 << 50
_GZIP = b"\x1f\x8b"
_ZERO = "not text: it holds zero bytes"


@dataclass(frozen=True)
class Place:
    """Between two lines.

    Attributes:
        file: the file's number.
        offset: bytes of it, unpacked, that lie before.
        line: lines of it that lie before.
        lines: lines of all files that lie before.
        damaged: those of them with bytes that are no UTF-8; the bytes are read as U+FFFD.
    """

    file: int = 0
    offset: int = 0
    line: int = 0
    lines: int = 0
    damaged: int = 0


@dataclass(frozen=True)
class Passage:
    """What is tagged in one go.

    Attributes:
        text: in which line ends, if any, are those of the file.
        file: number of the file.
        line: 1-based line in which it begins; of JSON lines, that of the object.
        column: 1-based character of that line (of JSON lines: of the field) with which it begins.
        after: where reading goes on after it; None within a line.
        lines: whether a line end in the text begins another line of the file.
    """

    text: str
    file: int
    line: int
    column: int
    after: Place | None
    lines: bool = False

    def where(self, start: int) -> tuple[int, int]:
        """Line and column, 1-based, of a character of the text."""
        ends = self.text.count("\n", 0, start) if self.lines else 0
        return (self.line + ends, start - self.text.rfind("\n", 0, start)) if ends else (self.line, self.column + start)


class Texts:
    """The passages of files, from a place on. No more than a passage and a line is held.

    Attributes:
        files: what is read.
        place: how far reading has come.
    """

    def __init__(self, files: Sequence[Path], *, paragraphs: bool = False, field: str | None = None) -> None:
        """See that the files are there.

        Args:
            files: plain text or gzip, in UTF-8.
            paragraphs: whether lines up to an empty one belong together; else every line is a passage.
            field: the files have JSON lines, and their text is in this field.

        Raises:
            DataError: a file that is missing or no regular file.
        """
        self.files, self._paragraphs, self._field = tuple(files), paragraphs, field
        self._sizes = [require_file(path, _MOST_BYTES) for path in files]
        self._raw: IO[bytes] | None = None
        self.place = Place()

    @property
    def total(self) -> int:
        """Bytes of all files."""
        return sum(self._sizes)

    @property
    def done(self) -> int:
        """Bytes read so far."""
        inside = 0 if self._raw is None or self._raw.closed else self._raw.tell()
        return sum(self._sizes[: self.place.file]) + inside

    def passages(self, start: Place | None = None) -> Iterator[Passage]:
        """The passages behind ``start``; by default, all.

        Raises:
            DataError: a file that is damaged, or no text; a line that is no JSON object, or without a text in the field.
        """
        self.place = start or Place()
        while self.place.file < len(self.files):
            lines = self._lines(self.files[self.place.file])
            if self._field is not None:
                yield from self._fields(lines, self._field)
            elif self._paragraphs:
                yield from _paragraphs(lines)
            else:
                for text, before, after in lines:
                    yield from _cut(text, before, after)
            here = self.place
            self.place = Place(here.file + 1, lines=here.lines, damaged=here.damaged)

    def _lines(self, path: Path) -> Iterator[tuple[str, Place, Place]]:
        """A file's lines, without their ends, each with the places before and behind it."""
        try:
            with path.open("rb") as raw, _unpacked(raw) as stream:
                self._raw = raw
                stream.seek(self.place.offset)
                while data := stream.readline(_MOST_LINE):
                    before = self.place
                    if b"\0" in data:
                        raise DataError(_ZERO, file=path, line=before.line + 1, hint="save the text as UTF-8")
                    text = data.decode("utf-8", "replace")
                    counts = before.lines + 1, before.damaged + ("\ufffd" in text)
                    self.place = Place(before.file, before.offset + len(data), before.line + 1, *counts)
                    yield text.removeprefix("" if before.offset else "\ufeff").rstrip("\r\n"), before, self.place
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(f"damaged gzip data: {one_line(error)}", file=path, line=self.place.line + 1) from error

    def _fields(self, lines: Iterator[tuple[str, Place, Place]], field: str) -> Iterator[Passage]:
        for line, before, after in lines:
            if not line.strip():
                continue
            path = self.files[before.file]
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                hint = "without --field a file is read as plain text"
                raise DataError(f"not JSON: {one_line(error)}", file=path, line=after.line, hint=hint) from error
            if not isinstance(row, dict) or not isinstance(row.get(field), str):
                names = ", ".join(list(row)[:8]) if isinstance(row, dict) else "no object"
                raise DataError(f"no text in the field {field!r}", file=path, line=after.line, hint=f"the line has: {names}")
            yield from _parts(row[field], before, after)


def _unpacked(raw: IO[bytes]) -> IO[bytes]:
    packed = raw.read(2) == _GZIP
    raw.seek(0)
    return gzip.GzipFile(fileobj=raw) if packed else raw  # type: ignore[return-value]  # it is read like any file


def _cut(text: str, before: Place, after: Place, column: int = 1) -> Iterator[Passage]:
    """A line in passages of bearable length."""
    while len(text) > LONGEST:
        end = text.rfind(" ", 1, LONGEST) + 1 or LONGEST
        yield Passage(text[:end], before.file, before.line + 1, column, None)
        text, column = text[end:], column + end
    yield Passage(text, before.file, before.line + 1, column, after)


def _parts(text: str, before: Place, after: Place) -> Iterator[Passage]:
    """The lines of a document; only the last of them ends where the next one begins."""
    column = 1
    for part in text.splitlines(keepends=True):
        for passage in _cut(part.rstrip("\r\n"), before, after, column):
            yield Passage(passage.text, passage.file, passage.line, passage.column, None)
        column += len(part)
    yield Passage("", before.file, before.line + 1, column, after)


def _paragraphs(lines: Iterator[tuple[str, Place, Place]]) -> Iterator[Passage]:
    held: list[str] = []
    first = last = Place()
    for text, before, after in lines:
        if held and (not text.strip() or sum(map(len, held)) + len(text) > LONGEST):
            yield Passage("\n".join(held), first.file, first.line + 1, 1, last, lines=True)
            held = []
        if len(text) > LONGEST:
            yield from _cut(text, before, after)
        elif text.strip():
            first = first if held else before
            held.append(text)
        last = after
    if held:
        yield Passage("\n".join(held), first.file, first.line + 1, 1, last, lines=True)
