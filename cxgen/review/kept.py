"""The answers of the local form: one file per annotator, a line per answer, on the disk before the page hears that it was saved."""

from __future__ import annotations

import json
import os
import re
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cxgen.errors import DataError
from cxgen.files import parse_json

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


class Kept:
    """The answers in a folder.

    Args:
        folder: where the files are, or will be.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)

    def readers(self) -> list[str]:
        """Who has answered, or begun."""
        return sorted(path.stem for path in self._folder.glob("*.jsonl"))

    def of(self, reader: str) -> list[dict[str, Any]]:
        """The lines of a reader, in order; what a killed server left of a line was never acknowledged, and is cut off.

        Raises:
            DataError: the file is damaged.
        """
        path = self._path(reader)
        with self._lock:
            if not path.exists():
                return []
            raw = path.read_bytes()
            whole = raw[: raw.rfind(b"\n") + 1]
            if whole != raw:
                os.truncate(path, len(whole))
        try:
            rows = [parse_json(line, path) for line in whole.decode("utf-8").splitlines()]
        except UnicodeDecodeError as error:
            raise DataError("not UTF-8 text", file=path, hint="move it away; the form begins a new one") from error
        return [row for row in rows if isinstance(row, dict)]

    def add(self, reader: str, **row: Any) -> None:
        """Append a line and see it on the disk."""
        line = {"reader": reader, **row, "at": datetime.now(UTC).isoformat(timespec="seconds")}
        with self._lock, self._path(reader).open("ab") as file:
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _path(self, reader: str) -> Path:
        if not NAME.fullmatch(reader):
            raise DataError("not a name", hint="letters, digits, - and _, at most 40")
        return self._folder / f"{reader}.jsonl"
