"""Raw text in passages: plain or gzip files, by line, by paragraph, or from a field of JSON lines."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cxgen.errors import DataError
from cxgen.tables import one_line, track

LONGEST = 20_000  # characters of a passage; a longer line is cut at a blank


@dataclass(frozen=True)
class Passage:
    """Text that is tagged in one go, and where it begins: file, line and column (characters of the line, or of the field), from 1."""

    text: str
    file: Path
    line: int
    column: int = 1

    def where(self, start: int) -> tuple[int, int]:
        """Line and column of a character of the text."""
        ends = self.text.count("\n", 0, start)
        return (self.line + ends, start - self.text.rfind("\n", 0, start)) if ends else (self.line, self.column + start)


@dataclass
class Texts:
    """Files of text, in UTF-8.

    Attributes:
        files: plain or gzip.
        paragraphs: whether lines up to an empty one are one passage; else every line is one.
        field: the files have JSON lines, and their text is in this field.
        lines: how many were read; ``damaged``: those of them with bytes that are not UTF-8, which are read as U+FFFD.
    """

    files: Sequence[Path]
    paragraphs: bool = False
    field: str | None = None
    lines: int = 0
    damaged: int = 0

    def passages(self) -> Iterator[Passage]:
        """All passages, in order.

        Raises:
            DataError: a file that is not text; a line that is not a JSON object with the field.
        """
        for path in track(self.files, "reading", len(self.files)):
            if self.field is not None:
                yield from self._fields(path)
            elif self.paragraphs:
                yield from self._paragraphs(path)
            else:
                yield from (piece for number, text in self._lines(path) for piece in _cut(Passage(text, path, number)))

    def _lines(self, path: Path) -> Iterator[tuple[int, str]]:
        """Numbered lines, without their ends."""
        number = 0
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
        try:
            with gzip.open(path) if packed else path.open("rb") as stream:
                for number, data in enumerate(stream, 1):
                    if b"\0" in data:
                        raise DataError("not text: it holds zero bytes", file=path, line=number, hint="save the text as UTF-8")
                    text = data.decode("utf-8", "replace")
                    self.lines += 1
                    self.damaged += "\ufffd" in text
                    yield number, text.removeprefix("\ufeff" if number == 1 else "").rstrip("\r\n")
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(f"damaged gzip data: {one_line(error)}", file=path, line=number + 1) from error

    def _fields(self, path: Path) -> Iterator[Passage]:
        """The lines of the texts in the field."""
        for number, line in self._lines(path):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                text = row[self.field] + ""
            except ValueError as error:
                hint = "without --field a file is read as plain text"
                raise DataError(f"not JSON: {one_line(error)}", file=path, line=number, hint=hint) from error
            except (KeyError, TypeError) as error:
                names = ", ".join(list(row)[:8]) if isinstance(row, dict) else "no object"
                raise DataError(f"no text in the field {self.field!r}", file=path, line=number, hint=f"the line has: {names}") from error
            column = 1
            for part in text.splitlines(keepends=True):
                yield from _cut(Passage(part.rstrip("\r\n"), path, number, column))
                column += len(part)

    def _paragraphs(self, path: Path) -> Iterator[Passage]:
        held: list[str] = []
        first = 0
        for number, text in self._lines(path):
            if held and (not text.strip() or sum(map(len, held)) > LONGEST):
                yield from _cut(Passage("\n".join(held), path, first))
                held = []
            if text.strip():
                first = first if held else number
                held.append(text)
        if held:
            yield from _cut(Passage("\n".join(held), path, first))


def _cut(passage: Passage) -> Iterator[Passage]:
    """A passage in pieces of bearable length."""
    text, start = passage.text, 0
    while len(text) - start > LONGEST:
        end = text.rfind(" ", start + 1, start + LONGEST) + 1 or start + LONGEST
        yield Passage(text[start:end], passage.file, *passage.where(start))
        start = end
    yield Passage(text[start:], passage.file, *passage.where(start))
