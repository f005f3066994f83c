"""What a model of this machine has said so far, line by line in a file, so that an interrupted run loses at most a line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

# An item's id, and its context with one continuation per answer.
Continued = tuple[str, tuple[str, list[str]]]


class Kept:
    """A file of answers, each under a hash of what was asked of whom. Lines that are none, or of something else, are passed over.

    Args:
        path: the file; made when the first answer comes.
        identity: what answers depend on beside the texts.
    """

    def __init__(self, path: Path, identity: str) -> None:
        self._path, self._identity = path, identity
        self._file: IO[str] | None = None
        self._rows: dict[str, dict[str, Any]] = {}
        lines = path.read_text("utf-8").split("\n") if path.is_file() else []
        for line in lines:
            with suppress(ValueError, TypeError):
                key, row = json.loads(line)
                self._rows[key] = row

    def known(self, items: Sequence[Continued]) -> dict[str, dict[str, Any]]:
        """Id -> what was said of the item before."""
        return {item[0]: row for item in items if (row := self._rows.get(self._key(item))) is not None}

    def keep(self, item: Continued, row: dict[str, Any]) -> dict[str, Any]:
        """Write ``row`` down at once; gives it back."""
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("a", encoding="utf-8")
            self._file.write("\n")  # after a line that was cut off
        self._file.write(json.dumps([self._key(item), row]) + "\n")
        self._file.flush()
        return row

    def _key(self, item: Continued) -> str:
        return hashlib.sha256(json.dumps([self._identity, item]).encode()).hexdigest()[:24]

    def __enter__(self) -> Kept:
        """Itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
