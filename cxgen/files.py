"""Reading and writing files: a file is there whole or not at all, and an error names file and line.

POSIX only: a rename replaces its target at once, and a lock is let go of when its process dies.
"""

from __future__ import annotations

import errno
import fcntl
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cxgen.errors import CxgenError, DataError


def read_text(path: Path, hint: str = "", error: type[CxgenError] = DataError) -> str:
    """The text of a UTF-8 file, without a byte order mark.

    Raises:
        CxgenError: of the class ``error``: it is missing, cannot be read, or is not UTF-8 (with the line).
    """
    try:
        raw = path.read_bytes()
    except OSError as failure:
        raise error(f"cannot read: {failure.strerror}", file=path, hint=hint) from failure
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as failure:
        line = raw.count(b"\n", 0, failure.start) + 1
        message = f"not UTF-8 text: byte 0x{raw[failure.start]:02x}"
        raise error(message, file=path, line=line, hint="save the file as UTF-8; it looks like another encoding") from failure


def require_file(path: Path, hint: str = "") -> None:
    """See that a file is there which a library opens.

    Raises:
        DataError: it is missing, or a folder.
    """
    if not path.is_file():
        raise DataError("not a file" if path.exists() else "cannot read: No such file or directory", file=path, hint=hint)


def parse_json(text: str, path: Path, hint: str = "", line: int | None = None, finite: bool = True) -> Any:
    """What a JSON text says: every key once, and finite numbers unless ``finite`` is False.

    Raises:
        DataError: not such JSON; ``path`` and ``line`` are for its message.
    """
    number = _finite if finite else float
    try:
        return json.loads(text, parse_constant=number, parse_float=number, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON: {' '.join(str(error).split())[:200]}", file=path, line=line, hint=hint) from error


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number} is not a finite number")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise ValueError(f"the key {twice[:60]!r} occurs twice")
    return data


def read_json(path: Path, hint: str = "") -> Any:
    """What a JSON file says.

    Raises:
        DataError: missing, unreadable or not JSON.
    """
    return parse_json(read_text(path, hint), path, hint)


def json_lines(path: Path, hint: str = "", *, finite: bool = True, torn: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON lines, one by one, each with its line number from 1; empty lines are passed over.

    Args:
        path: the file.
        hint: what such a file looks like, for the error.
        finite: whether NaN and infinities are refused.
        torn: whether a last line without its line end is passed over, since a killed run was writing it.

    Raises:
        DataError: missing or unreadable; with the line: not UTF-8, not JSON, or no object.
    """
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                if torn and not raw.endswith(b"\n"):
                    return
                row = _json_line(raw, path, number, hint, finite)
                if row is not None:
                    yield number, row
    except OSError as failure:
        raise DataError(f"cannot read: {failure.strerror}", file=path, hint=hint) from failure


def _json_line(raw: bytes, path: Path, number: int, hint: str, finite: bool) -> dict[str, Any] | None:
    """The object of a line; None of an empty one."""
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError as failure:
        raise DataError("not UTF-8 text", file=path, line=number, hint="save the file as UTF-8") from failure
    if not text:
        return None
    row = parse_json(text, path, hint, number, finite)
    if not isinstance(row, dict):
        raise DataError("not a JSON object", file=path, line=number, hint=hint)
    return row


def require_place(path: Path) -> None:
    """See that a file can be written there, before what it will hold is made.

    Raises:
        OSError: it cannot.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    above = next(folder for folder in path.parents if folder.exists())
    if not above.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(above))


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Call ``write`` on a temporary file beside ``path``, see it on the disk, then rename it: a reader never sees half a file.

    Raises:
        OSError: it cannot be written; the error names ``path``.
    """
    try:
        if path.is_char_device():  # /dev/stdout is written to, not replaced
            write(path)
            return
        with _replacing(path) as temporary:
            write(temporary)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text, see `write_atomically`."""
    write_atomically(path, lambda temporary: temporary.write_text(text, "utf-8"))


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        os.fsync(handle)
        temporary.replace(path)
    finally:
        os.close(handle)
        temporary.unlink(missing_ok=True)


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold a lock beside ``path`` (a file that need not exist) while the block runs.

    Args:
        path: what is locked.
        what: what another run with it does, for the message.

    Raises:
        DataError: another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with Path(f"{path}.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DataError(f"another run {what}", file=path, hint="wait for its end, or stop it") from None
        yield
