"""Reading and writing files: a file is there whole or not at all, and an error names file and line.

POSIX only: a rename replaces its target at once, and a lock is let go of when its process dies.
"""

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

# What spreadsheets take for the start of a formula, the wide forms included; they skip blanks before it.
_FORMULAS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def as_text(value: Any) -> Any:
    """``value``; if it is a text that a spreadsheet would run as a formula, marked as text by an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value.lstrip().startswith(_FORMULAS) else value


def read_text(path: Path, hint: str = "", error: type[CxgenError] = DataError) -> str:
    """The text of a UTF-8 file, without a byte order mark; an ``error`` names the line where it is not UTF-8."""
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
    """See that a file is there which a library opens."""
    if not path.is_file():
        raise DataError("not a file" if path.exists() else "cannot read: No such file or directory", file=path, hint=hint)


def parse_json(text: str, path: Path, hint: str = "", line: int | None = None, finite: bool = True) -> Any:
    """What a JSON text says: every key once, and finite numbers unless ``finite`` is False; ``path`` and ``line`` are for the error."""
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
    data: dict[str, Any] = {}
    for name, value in pairs:
        if name in data:
            raise ValueError(f"the key {name[:60]!r} occurs twice")
        data[name] = value
    return data


def read_json(path: Path, hint: str = "") -> Any:
    """What a JSON file says."""
    return parse_json(read_text(path, hint), path, hint)


def json_lines(path: Path, hint: str = "", *, finite: bool = True, torn: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON lines, one by one, each with its line number from 1; empty lines are passed over.

    If ``torn``, so is a last line without its line end, since a killed run was writing it.
    """
    require_file(path, hint)
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            if torn and not raw.endswith(b"\n"):
                return
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            except UnicodeDecodeError as failure:
                raise DataError("not UTF-8 text", file=path, line=number, hint="save the file as UTF-8") from failure
            row = parse_json(text, path, hint, number, finite) if text else {}
            if not isinstance(row, dict):
                raise DataError("not a JSON object", file=path, line=number, hint=hint)
            if text:
                yield number, row


def require_place(path: Path) -> None:
    """See that a file can be written there, before what it will hold is made."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    above = next(folder for folder in path.parents if folder.exists())
    if not above.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(above))


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Call ``write`` on a temporary file beside ``path``, see it on the disk, then rename it: a reader never sees half a file.

    An OSError names ``path``, not the temporary file.
    """
    try:
        if path.is_char_device():  # /dev/stdout is written to, not replaced
            write(path)
        else:
            _replace(path, write)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        write(temporary)
        temporary.chmod(0o644)
        os.fsync(handle)
        temporary.replace(path)
    finally:
        os.close(handle)
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text, see `write_atomically`."""
    write_atomically(path, lambda temporary: temporary.write_text(text, "utf-8"))


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold a lock beside ``path`` while the block runs; ``what`` is said of another run that holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with Path(f"{path}.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DataError(f"another run {what}", file=path, hint="wait for its end, or stop it") from None
        yield
