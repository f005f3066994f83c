"""Answers that were paid for, kept for good: a file of JSON lines to which each reply's answers are appended as they come."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from cxgen.errors import DataError
from cxgen.files import json_lines, locked

_HINT = "remove the line, or move the file away: a new one is made"


@dataclass(frozen=True)
class Judgment:
    """What one model said about one item.

    Attributes:
        item: the item's id.
        task: what was asked.
        value: the verdict (or free answer); empty if undecided.
        reason: why it is undecided; empty otherwise.
        judge: the model that was asked; ``model``: the one that answered, by its own account.
        fingerprint, request_id: the server's.
        prompt: the prompt's content hash.
        temperature, max_tokens: the request's parameters; no temperature: the server takes none.
        call: the request's content address.
        asked: items in that request; ``tokens_in`` and ``tokens_out`` are the request's, not the item's.
        logprob: log probability of the verdict; None where the server gives none.
        attempt: 0, or how often the item had been answered unusably before.
    """

    item: str
    task: str
    value: str
    reason: str
    judge: str
    model: str = ""
    fingerprint: str = ""
    request_id: str = ""
    prompt: str = ""
    temperature: float | None = 0.0
    max_tokens: int = 0
    call: str = ""
    asked: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    logprob: float | None = None
    attempt: int = 0


class Cache:
    """Judgments by the content address of what was asked of an item, and batches that were submitted. Opened by `opened`.

    Attributes:
        file: to which is appended; None: nothing is kept.
        judgments: address -> judgment.
        batches: name of an open batch -> (model, keys of its calls).
    """

    def __init__(self) -> None:
        self.file: IO[bytes] | None = None
        self.judgments: dict[str, Judgment] = {}
        self.batches: dict[str, tuple[str, tuple[str, ...]]] = {}

    def take(self, row: Mapping[str, Any]) -> None:
        """Take one line's object.

        Raises:
            TypeError, KeyError: it is none of ours.
        """
        if "batch" in row:
            self.batches[row["batch"]] = row["model"], tuple(row["keys"])
        elif "closed" in row:
            self.batches.pop(row["closed"], None)
        else:
            self.judgments.setdefault(row["key"], Judgment(**row["judgment"]))

    def _append(self, rows: list[dict[str, Any]]) -> None:
        for row in rows:
            self.take(row)
        if self.file:
            text = "".join(json.dumps(row) + "\n" for row in rows).encode()
            try:
                whole = self.file.write(text) == len(text)
            except OSError:
                whole = False
            if not whole:
                hint = "what was answered before is kept: make room and run the same command again"
                raise DataError("cannot be written; is the disk full?", file=Path(self.file.name), hint=hint)

    def put(self, judgments: Mapping[str, Judgment]) -> None:
        """Keep judgments by the address of what was asked.

        Raises:
            DataError: the file cannot be written.
        """
        self._append([{"key": key, "judgment": asdict(judgment)} for key, judgment in judgments.items()])

    def open_batch(self, name: str, model: str, keys: tuple[str, ...]) -> None:
        """Note that a batch of these calls is submitted."""
        self._append([{"batch": name, "model": model, "keys": keys}])

    def close_batch(self, name: str) -> None:
        """Note that a batch was collected, or came to nothing."""
        self._append([{"closed": name}])


@contextmanager
def opened(path: Path) -> Iterator[Cache]:
    """The cache in ``path``, held for this process: two runs would pay twice. A last line that a killed run left half written is cut off.

    Raises:
        DataError: another run holds it, it cannot be opened, or a line is none of ours.
    """
    with locked(path, "is asking models with these answers"):
        try:
            raw = path.read_bytes() if path.exists() else b""
            file = path.open("ab", buffering=0)
        except OSError as error:
            raise DataError(f"cannot be opened: {error.strerror}", file=path, hint="its file and folder must be writable") from error
        with file:
            if raw and not raw.startswith(b'{"'):
                raise DataError("not a file of kept answers", file=path, hint="name another one: --cache FILE")
            cache = Cache()
            for number, row in json_lines(path, _HINT, torn=True):
                try:
                    cache.take(row)
                except (TypeError, KeyError, ValueError) as error:
                    raise DataError("not a kept answer", file=path, line=number, hint=_HINT) from error
            os.truncate(path, raw.rfind(b"\n") + 1)
            cache.file = file
            yield cache
