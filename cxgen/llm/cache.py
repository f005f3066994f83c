"""Replies that were paid for, kept for good: one SQLite file in WAL mode, content-addressed. What is read back is distrusted."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from types import TracebackType

from cxgen.errors import DataError
from cxgen.files import require_file
from cxgen.llm.messages import Call, Reply
from cxgen.llm.salvage import is_ours, salvaged

_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    reply TEXT NOT NULL,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    digest TEXT
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS items (
    key TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    call TEXT NOT NULL,
    asked INTEGER NOT NULL,
    max_tokens INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    digest TEXT
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batches (
    id TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    keys TEXT NOT NULL,
    state TEXT NOT NULL
) WITHOUT ROWID;
"""
_PATIENCE = 10.0  # seconds; a run holds the lock beside the file, so that only another program can be in the way
_MALFORMED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_KINDS = {
    sqlite3.SQLITE_FULL: ("the disk is full", "what was answered before is kept: make room and run the same command again"),
    sqlite3.SQLITE_IOERR: ("cannot be read or written", "what was answered before is kept: make room if the disk is full, and run again"),
    sqlite3.SQLITE_BUSY: ("another program is writing to it", "wait until it is done, or end it"),
    sqlite3.SQLITE_READONLY: ("cannot be written", "its file and folder must be writable"),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "its folder must be writable, and have room"),
    sqlite3.SQLITE_PERM: ("cannot be opened", "its file and folder must be writable"),
    sqlite3.SQLITE_CORRUPT: ("damaged", "run the same command again: what can still be read is kept"),
}
_KINDS[sqlite3.SQLITE_LOCKED] = _KINDS[sqlite3.SQLITE_BUSY]


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

    A file that is damaged is set aside under another name, and what can be read of it goes on. Every method raises `DataError` where
    the file cannot be read or written.

    Args:
        path: the database; its folder is made.

    Attributes:
        told: what the user should know of the state in which it was found; a line each.

    Raises:
        DataError: the file is no such database, or cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(path):
            require_file(path, "move it away; a new one is made")  # SQLite would write into a device, and beside it
        self._path = path
        self._damaged = 0
        self._told: list[str] = []
        with self._guarded():
            try:
                self._database = _opened(path)
            except sqlite3.DatabaseError as error:
                if _code(error) not in _MALFORMED or not is_ours(path):
                    raise
                self._told.append(salvaged(path, _SCHEMA))
                self._database = _opened(path)

    @property
    def told(self) -> list[str]:
        """See the class."""
        damaged = [f"{self._path.name}: {self._damaged} of its entries were damaged, set aside, and asked anew"] if self._damaged else []
        return self._told + damaged

    def reply(self, key: str) -> Reply | None:
        """The reply to the call with this key, if there is one that can be read; one that cannot is set aside."""
        with self._guarded():
            row = self._database.execute("SELECT reply, digest FROM replies WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        text, digest = row
        try:
            found = Reply.stored(json.loads(text)) if digest in {None, _digest(key, text)} else None
        except (ValueError, TypeError, RecursionError):
            found = None
        if found is None:
            self._set_aside("replies", key)
        return found

    def put(self, call: Call, reply: Reply) -> None:
        """Keep ``reply``. The first one stays: a second answer to the same call would only be an accident."""
        text = json.dumps(asdict(reply), ensure_ascii=False)
        row = (call.key, call.model, text, _digest(call.key, text))
        with self._guarded():
            self._database.execute("INSERT OR IGNORE INTO replies (key, model, reply, digest) VALUES (?, ?, ?, ?)", row)

    def has(self, key: str) -> bool:
        """Whether there is a reply to the call with this key."""
        with self._guarded():
            return self._database.execute("SELECT 1 FROM replies WHERE key = ?", (key,)).fetchone() is not None

    def answered(self, key: str) -> Answered | None:
        """Where the answer to an item is, if it has one."""
        with self._guarded():
            select = "SELECT name, call, asked, max_tokens, attempt, digest FROM items WHERE key = ?"
            row = self._database.execute(select, (key,)).fetchone()
        if row is None:
            return None
        *fields, digest = row
        typed = [type(value) for value in fields] == [str, str, int, int, int]
        if not typed or (digest is not None and digest != _digest(key, *fields)):
            self._set_aside("items", key)
            return None
        return Answered(*fields)

    def note_answers(self, answers: Mapping[str, Answered]) -> None:
        """Note where answers are, by item key; an answer that is known already stays."""
        rows = [(key, *astuple(answer), _digest(key, *astuple(answer))) for key, answer in answers.items()]
        with self._guarded(), self._at_once():
            self._database.executemany("INSERT OR IGNORE INTO items VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def forget_answers(self, keys: Iterable[str]) -> None:
        """Forget where the answers to these items were: their replies are no more, or say something else by now."""
        with self._guarded(), self._at_once():
            self._database.executemany("DELETE FROM items WHERE key = ?", [(key,) for key in keys])

    def __len__(self) -> int:
        with self._guarded():
            count: int = self._database.execute("SELECT count(*) FROM replies").fetchone()[0]
        return count

    def open_batches(self, model: str) -> dict[str, list[str]]:
        """Batches that were submitted and not collected: id -> keys of their calls."""
        select = "SELECT id, keys FROM batches WHERE model = ? AND state = 'open' ORDER BY id"
        with self._guarded():
            rows = self._database.execute(select, (model,)).fetchall()
        found: dict[str, list[str]] = {}
        for name, text in rows:
            try:
                found[name] = [str(key) for key in json.loads(text)]
            except (ValueError, TypeError):
                self._damaged += 1
        return found

    def open_batch(self, name: str, model: str, keys: list[str], instead_of: str = "") -> None:
        """Note that a batch was submitted, under another name than the one that it had."""
        with self._guarded(), self._at_once():
            self._database.execute("INSERT OR REPLACE INTO batches VALUES (?, ?, ?, 'open')", (name, model, json.dumps(keys)))
            self._database.execute("UPDATE batches SET state = 'closed' WHERE id = ?", (instead_of,))

    def close_batch(self, name: str) -> None:
        """Note that a batch was collected, or came to nothing."""
        with self._guarded():
            self._database.execute("UPDATE batches SET state = 'closed' WHERE id = ?", (name,))

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _set_aside(self, table: str, key: str) -> None:
        self._damaged += 1
        with self._guarded():
            # Under a key that no call has; the next one set aside takes its place.
            self._database.execute(f"UPDATE OR REPLACE {table} SET key = 'damaged ' || key WHERE key = ?", (key,))

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        """A transaction: all of the block or nothing."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._database.execute("COMMIT")
        except sqlite3.Error:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            message, hint = _KINDS.get(_code(error), ("not a cache of replies", "move it away; a new one is made"))
            raise DataError(f"{message} ({error})", file=self._path, hint=hint) from error


def _opened(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, isolation_level=None, timeout=_PATIENCE)
    database.text_factory = lambda text: text.decode("utf-8", "replace")  # what is no UTF-8 does not match its digest
    try:
        # NORMAL in WAL mode survives the death of the process; only a power cut can lose the last commits.
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        (state,) = database.execute("PRAGMA quick_check(1)").fetchone()
        if state != "ok":
            error = sqlite3.DatabaseError(state.splitlines()[0])
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error
        database.executescript(_SCHEMA)
        for table in ("replies", "items"):  # as they were before there were digests
            if "digest" not in {column[1] for column in database.execute(f"PRAGMA table_info({table})")}:
                database.execute(f"ALTER TABLE {table} ADD COLUMN digest TEXT")
    except sqlite3.Error:
        database.close()
        raise
    return database


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # the rest says in which way


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:16]
