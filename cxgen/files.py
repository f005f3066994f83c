"""Reading and writing files: a file is there whole or not at all, and an error names file and line.

POSIX only: a rename replaces its target at once, and a lock is let go of when its process dies.
"""

import errno
import fcntl
import json
import math
import os
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator
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
    """What a JSON text says: every key once, finite numbers unless ``finite`` is False, half a surrogate pair (which no file can hold)
    as U+FFFD; ``path`` and ``line`` are for the error."""
    number = _finite if finite else float
    try:
        data = json.loads(text, parse_constant=number, parse_float=number, object_pairs_hook=_once)
        return whole(data) if "\\ud" in text.lower() else data
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON: {' '.join(str(error).split())[:200]}", file=path, line=line, hint=hint) from error


def whole(data: Any) -> Any:
    """JSON data whose texts can be written: half a surrogate pair becomes U+FFFD."""
    if isinstance(data, str):
        return data.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(data, dict):
        return {whole(name): whole(value) for name, value in data.items()}
    return [whole(value) for value in data] if isinstance(data, list) else data


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

    If ``torn``, so is, with a warning, what a killed run or a full disk left of a line.
    """
    require_file(path, hint)
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            try:
                row = _object(raw, path, hint, number, finite)
            except DataError as error:
                if not torn:
                    raise
                row = None
                print(f"warning: {path}, line {number}: {error.message}; it is passed over", file=sys.stderr)
            if row is not None:
                yield number, row


def _object(raw: bytes, path: Path, hint: str, line: int, finite: bool) -> dict[str, Any] | None:
    try:
        text = raw.decode("utf-8-sig" if line == 1 else "utf-8").strip()
    except UnicodeDecodeError as failure:
        raise DataError("not UTF-8 text", file=path, line=line, hint="save the file as UTF-8") from failure
    row = parse_json(text, path, hint, line, finite) if text else None
    if text and not isinstance(row, dict):
        raise DataError("not a JSON object", file=path, line=line, hint=hint)
    return row


def require_place(path: Path, inputs: Iterable[Path] = ()) -> None:
    """See that a file can be written there, before what it will hold is made, and that it is none of those that are read."""
    if path.is_file() and any(given.exists() and path.samefile(given) for given in inputs):
        raise CxgenError("would overwrite what is read", file=path, hint="give what is written another name")
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    above = next(folder for folder in path.parents if folder.exists())
    if not above.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(above))


def write_atomically(path: Path, write: Callable[[Path], object], mode: int = 0o666) -> None:
    """Call ``write`` on a temporary file beside ``path``, see it on the disk, then rename it: a reader never sees half a file.

    ``mode``: who may read it, less the umask. An OSError names ``path``, not the temporary file.
    """
    try:
        if path.is_char_device():  # /dev/stdout is written to, not replaced
            write(path)
        else:
            _replace(path, write, mode)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def _replace(path: Path, write: Callable[[Path], object], mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
    try:
        write(temporary)
        os.fsync(handle)
        temporary.replace(path)
    finally:
        os.close(handle)
        temporary.unlink(missing_ok=True)


def append_line(path: Path, line: str) -> None:
    """Add a line to a file and see it on the disk; if that fails, the file is as it was."""
    with path.open("ab", buffering=0) as file:
        size, data = os.fstat(file.fileno()).st_size, f"{line}\n".encode()
        done = 0
        try:
            while done < len(data):  # a disk that is nearly full takes a part, and fails with the rest
                done += file.write(data[done:])
            os.fsync(file.fileno())
        except OSError:
            os.truncate(path, size)
            raise


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
