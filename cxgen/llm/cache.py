"""Replies that were paid for, kept for good: one SQLite file in WAL mode, content-addressed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType

from cxgen.errors import DataError
from cxgen.llm.messages import Call, Reply

_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    reply TEXT NOT NULL,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS items (
    key TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    call TEXT NOT NULL,
    asked INTEGER NOT NULL,
    max_tokens INTEGER NOT NULL,
    attempt INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batches (
    id TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    keys TEXT NOT NULL,
    state TEXT NOT NULL
) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Answered:
    """Where an item's answer is: under the id ``name`` in the reply to ``call``, one of ``asked`` items."""

    name: str
    call: str
    asked: int
    max_tokens: int
    attempt: int


class Cache:
    """Replies by the key of their call. Every reply is committed before the next step, so that a killed process loses what was in flight.

    Args:
        path: the database; its folder is made.

    Raises:
        DataError: the file is no such database.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._database = sqlite3.connect(path, isolation_level=None, timeout=30)
            # NORMAL in WAL mode survives the death of the process; only a power cut can lose the last commits.
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=NORMAL")
            self._database.executescript(_SCHEMA)
        except sqlite3.DatabaseError as error:
            raise DataError(f"not a cache of replies: {error}", file=path, hint="move it away; a new one is made") from error

    def reply(self, key: str) -> Reply | None:
        """The reply to the call with this key, if there is one."""
        row = self._database.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        data = json.loads(row[0])
        data["logprobs"] = tuple((token, logprob) for token, logprob in data["logprobs"])
        return Reply(**data)

    def put(self, call: Call, reply: Reply) -> None:
        """Keep ``reply``. The first one stays: a second answer to the same call would only be an accident."""
        text = json.dumps(asdict(reply), ensure_ascii=False)
        self._database.execute("INSERT OR IGNORE INTO replies (key, model, reply) VALUES (?, ?, ?)", (call.key, call.model, text))

    def has(self, key: str) -> bool:
        """Whether there is a reply to the call with this key."""
        return self._database.execute("SELECT 1 FROM replies WHERE key = ?", (key,)).fetchone() is not None

    def answered(self, key: str) -> Answered | None:
        """Where the answer to an item is, if it has one."""
        row = self._database.execute("SELECT name, call, asked, max_tokens, attempt FROM items WHERE key = ?", (key,)).fetchone()
        return None if row is None else Answered(*row)

    def note_answers(self, answers: Mapping[str, Answered]) -> None:
        """Note where answers are, by item key; an answer that is known already stays."""
        rows = [(key, a.name, a.call, a.asked, a.max_tokens, a.attempt) for key, a in answers.items()]
        self._database.execute("BEGIN")
        self._database.executemany("INSERT OR IGNORE INTO items VALUES (?, ?, ?, ?, ?, ?)", rows)
        self._database.execute("COMMIT")

    def __len__(self) -> int:
        count: int = self._database.execute("SELECT count(*) FROM replies").fetchone()[0]
        return count

    def open_batches(self, model: str) -> dict[str, list[str]]:
        """Batches that were submitted and not collected: id -> keys of their calls."""
        rows = self._database.execute("SELECT id, keys FROM batches WHERE model = ? AND state = 'open' ORDER BY id", (model,))
        return {name: json.loads(keys) for name, keys in rows}

    def open_batch(self, name: str, model: str, keys: list[str]) -> None:
        """Note that a batch was submitted."""
        self._database.execute("INSERT OR REPLACE INTO batches VALUES (?, ?, ?, 'open')", (name, model, json.dumps(keys)))

    def close_batch(self, name: str) -> None:
        """Note that a batch was collected, or came to nothing."""
        self._database.execute("UPDATE batches SET state = 'closed' WHERE id = ?", (name,))

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
