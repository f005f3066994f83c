"""What a run has found so far, in a file beside its output: an interrupted or killed run goes on behind its last batch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from cxgen.mining.texts import Place


class Partial:
    """Rows and, after every batch, the place behind it and what was counted so far.

    Attributes:
        place: where reading goes on.
        counts: as of then; empty at the start.
    """

    def __init__(self, path: Path, identity: str) -> None:
        """Open the file. What stands behind its last batch is cut off; what another run left is overwritten.

        Args:
            path: the file.
            identity: what the rows depend on.
        """
        self.path, self.place = path, Place()
        self.counts: dict[str, Any] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        end = self._sound_end(identity)
        self._file: IO[str] = path.open("r+" if end else "w", encoding="utf-8")
        if end:
            self._file.truncate(end)
            self._file.seek(0, 2)
        else:
            self._write({"identity": identity})
            self._file.flush()

    def _sound_end(self, identity: str) -> int:
        """The bytes up to the end of the last batch; 0 if the file is missing or another run's."""
        if not self.path.is_file():
            return 0
        end = here = 0
        with self.path.open("rb") as file:
            for line in file:
                here += len(line)
                try:
                    found = json.loads(line)
                except ValueError:
                    break
                if not line.endswith(b"\n"):
                    break
                if not end and found.get("identity") != identity:
                    return 0
                if "done" in found:
                    self.place, self.counts = Place(*found["done"]), found["counts"]
                if "row" not in found:
                    end = here
        return end

    def add(self, rows: Sequence[Mapping[str, Any]], place: Place | None, counts: Mapping[str, Any]) -> None:
        """Write what a batch gave; ``place`` is None where the batch ended within a line, so that the next one counts with it."""
        for found in rows:
            self._write({"row": found})
        if place is not None:
            self._write({"done": astuple(place), "counts": counts})
        self._file.flush()

    def _write(self, entry: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(entry, ensure_ascii=False) + "\n")

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows, in order."""
        with self.path.open(encoding="utf-8") as file:
            for line in file:
                entry = json.loads(line)
                if "row" in entry:
                    yield entry["row"]

    def __enter__(self) -> Partial:
        """Itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the file."""
        self._file.close()
