"""Answers that are written down as they come, line by line, so that an interrupted run loses at most a line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

# An item's id, and its context with one continuation per answer.
Continued = tuple[str, tuple[str, list[str]]]


class Kept:
    """A file of answers, each under a hash of what was asked of whom. Lines that were cut off, or of something else, are passed over.

    Args:
        path: the file; made when the first answer comes.
        identity: what answers depend on beside the texts.
    """

    def __init__(self, path: Path, identity: str) -> None:
        self._path, self._identity = path, identity
        self._rows: dict[str, dict[str, Any]] = {}
        for line in path.read_text("utf-8").split("\n") if path.is_file() else []:
            with suppress(ValueError, TypeError):
                key, row = json.loads(line)
                self._rows[key] = row

    def known(self, items: Sequence[Continued]) -> dict[str, dict[str, Any]]:
        """Id -> the answer to the item that was kept before."""
        return {item[0]: row for item in items if (row := self._rows.get(self._key(item))) is not None}

    def keep(self, item: Continued, row: dict[str, Any]) -> dict[str, Any]:
        """Write ``row`` down at once; gives it back."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps([self._key(item), row]) + "\n")  # on a line of its own, after one that was cut off
        return row

    def _key(self, item: Continued) -> str:
        return hashlib.sha256(json.dumps([self._identity, item]).encode()).hexdigest()[:24]
