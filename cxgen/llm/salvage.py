"""What can be read of a damaged cache of replies goes into a new one; the damaged file is kept under another name."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

_MAGIC = b"SQLite format 3\0"
_MORE, _FIELD = 2**24, b'"request_id": "'  # bytes after the first page, and what stands in every reply
_PAGE = 4096  # SQLite's default, which the cache keeps
_TABLES = ("replies", "items", "batches")
_DIGITS = "0123456789abcdef"


def is_ours(path: Path) -> bool:
    """Whether a file that SQLite does not know was once a cache of replies."""
    with path.open("rb") as file:
        first, more = file.read(_PAGE), file.read(_MORE)
    alike = sum(one == other for one, other in zip(first, _MAGIC, strict=False))
    return alike > len(_MAGIC) // 2 or b"CREATE TABLE replies" in first or _FIELD in more


def salvaged(path: Path, schema: str) -> str:
    """Put a new cache of what can be read in the place of ``path``; nothing is changed if that fails.

    Args:
        path: the damaged file.
        schema: the statements that make an empty one.

    Returns:
        What was done, for the user.

    Raises:
        sqlite3.Error, OSError: it cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix=".salvage", dir=path.parent) as folder:
        new, copy = Path(folder, "new"), Path(folder, "copy")
        for ending in ("", "-wal"):
            if (source := Path(f"{path}{ending}")).exists():
                shutil.copyfile(source, f"{copy}{ending}")
        target = sqlite3.connect(new)
        target.executescript(schema)
        target.commit()
        first = new.read_bytes()[:_PAGE]
        kept = _copied(copy, target)
        if not kept:  # the first page may be what is damaged: it is the same in every cache
            with copy.open("r+b") as file:
                # Of another version than the size that it states, so that the file's own size counts.
                file.write(first[:24] + b"\0\0\0\1" + first[28:92] + b"\0\0\0\0" + first[96:])
            kept = _copied(copy, target)
        target.close()
        number = 1
        while (aside := Path(f"{path}.damaged{number}")).exists():
            number += 1
        path.rename(aside)
        for ending in ("-wal", "-shm"):
            Path(f"{path}{ending}").unlink(missing_ok=True)
        new.rename(path)
    return f"{path.name} was damaged: {kept} of its replies could be read and go on; the damaged file is now {aside.name}"


def _copied(source: Path, target: sqlite3.Connection) -> int:
    """Number of replies that could be copied."""
    database = sqlite3.connect(source)
    database.text_factory = lambda text: text.decode("utf-8", "replace")  # what is no UTF-8 will not match its digest
    kept = 0
    for table in _TABLES:
        width = len(target.execute(f"PRAGMA table_info({table})").fetchall())
        insert = f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * width)})"
        for row in _rows(database, table, "id" if table == "batches" else "key"):
            target.execute(insert, (*row, *[None] * (width - len(row))))
            kept += table == "replies"
    target.commit()
    database.close()
    return kept


def _rows(database: sqlite3.Connection, table: str, key: str) -> Iterator[tuple[object, ...]]:
    """The rows that can be reached: in many short ranges, each from both ends, as reading stops at a damaged page."""
    starts = ["", *(a + b for a in _DIGITS for b in _DIGITS), "g"]
    for start, end in zip(starts, [*starts[1:], "\U0010ffff"], strict=True):
        for order in ("ASC", "DESC"):
            try:
                yield from database.execute(f"SELECT * FROM {table} WHERE {key} >= ? AND {key} < ? ORDER BY {key} {order}", (start, end))
                break
            except sqlite3.Error:
                continue
