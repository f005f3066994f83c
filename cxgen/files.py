"""Reading and writing files: a file is there whole or not at all, and an error names file and line.

POSIX only: a rename replaces its target at once, and a lock is let go of when its process dies.
"""

import errno
import fcntl
import json
import math
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any
from unicodedata import normalize

from cxgen.errors import CxgenError, DataError

STDIN = Path("/dev/stdin")
# What spreadsheets take for the start of a formula, the wide forms included; they skip blanks before it.
_FORMULAS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_HALF = re.compile("[\ud800-\udfff]")  # of a pair of surrogates, which is no character
_SCRATCH = ".cxgen-"  # how the names of folders begin that are there while a command runs
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def visible(text: str) -> str:
    """``text`` on one line, with single blanks, without characters that nobody sees."""
    return " ".join("".join(letter for letter in text if letter.isprintable() or letter.isspace()).split())


def whole(text: str) -> str:
    """``text`` with U+FFFD for every half of a surrogate pair."""
    return _HALF.sub("\ufffd", text)


def as_text(value: Any) -> Any:
    """``value``; if it is a text that a spreadsheet would run as a formula, marked as text by an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value.lstrip().startswith(_FORMULAS) else value


def read_text(path: Path, hint: str = "", error: type[CxgenError] = DataError) -> str:
    """The text of a UTF-8 file, composed (NFC), without a byte order mark; an ``error`` names the line where it is not UTF-8."""
    try:
        if path.exists() and not (path.is_file() or path.is_dir() or is_stream(path)):
            raise error("not a regular file", file=path, hint=hint)  # a pipe that nobody writes to, a device without an end
        with _opened(path) as file:
            raw = file.read()
    except OSError as failure:
        raise error(f"cannot read: {failure.strerror}", file=path, hint=hint) from failure
    try:
        return normalize("NFC", raw.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError as failure:
        line = raw.count(b"\n", 0, failure.start) + 1
        message = f"not UTF-8 text: byte 0x{raw[failure.start]:02x}"
        raise error(message, file=path, line=line, hint="save the file as UTF-8; it looks like another encoding") from failure


def read_if_there(path: Path, otherwise: str = "") -> str:
    """`read_text` of a file that need not be there; a link to nothing is there."""
    return read_text(path) if os.path.lexists(path) else otherwise


def is_stream(path: Path) -> bool:
    """Whether a path names what this process has open: /dev/stdout, /dev/fd/63 (of a shell's ``>(...)``)."""
    return path.is_relative_to("/dev/fd") or (path.parent == STDIN.parent and path.name.startswith("std"))


def _opened(path: Path) -> AbstractContextManager[IO[bytes]]:
    if path == STDIN and sys.stdin is None:
        raise DataError("the standard input is closed", file=path)
    return nullcontext(sys.stdin.buffer) if path == STDIN else path.open("rb")


def listed(folder: Path, ending: str) -> list[Path]:
    """The files of a folder whose names end so, in order; not those that editors and systems hide there (``.#x.yaml``, ``._x.yaml``)."""
    paths = folder.iterdir() if folder.is_dir() else ()  # `Path.glob` finds nothing in a folder that may not be read
    return sorted(path for path in paths if path.name.endswith(ending) and path.name[0] != ".")


def require_file(path: Path, hint: str = "") -> None:
    """See that a file is there which a library opens, or that it is the standard input."""
    if path != STDIN and not path.is_file():
        raise DataError("not a file" if path.exists() else "cannot read: No such file or directory", file=path, hint=hint)


def parse_json(text: str, path: Path, hint: str = "", line: int | None = None, finite: bool = True) -> Any:
    """What a JSON text says: every key once, finite numbers unless ``finite`` is False, and U+FFFD for half a surrogate pair; ``path`` and
    ``line`` are for the error."""
    number = _finite if finite else float
    try:
        data = json.loads(text, parse_constant=number, parse_float=number, object_pairs_hook=_once)
        return json.loads(whole(json.dumps(data, ensure_ascii=False)), object_pairs_hook=_once) if "\\ud" in text.lower() else data
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


def json_lines(
    path: Path, hint: str = "", *, finite: bool = True, torn: bool | None = False, errors: str = "strict"
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON lines, one by one, each with its line number from 1; empty lines are passed over.

    If ``torn``, so are, with a warning, lines that are no JSON object: a run was killed, or the disk full, while it wrote one; but not if
    the file has nothing else. None: of such lines only the last one, without its end.
    ``errors``: what is done about bytes that are not UTF-8, see `bytes.decode`; replace: of control characters, too.
    """
    require_file(path, hint)
    rows, foreign = 0, None
    with _opened(path) as file:
        for number, raw in enumerate(file, 1):
            errors = "strict" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) and number == 1 else errors  # UTF-16: no line of it is damaged
            try:
                if row := _object(raw.removeprefix(b"\xef\xbb\xbf" if number == 1 else b""), path, hint, number, finite, errors):
                    rows += 1
                    yield number, row
            except DataError as error:
                if torn is False or (torn is None and raw.endswith(b"\n")):
                    raise
                if raw.endswith(b"\n") or not raw.startswith(b"{"):  # it is not the first of all, half written
                    foreign = foreign or error
                sys.stderr.write(f"warning: {path}, line {number}: half a line is left out\n")
    if foreign and not rows:
        raise foreign


def _object(raw: bytes, path: Path, hint: str, line: int, finite: bool, errors: str) -> dict[str, Any] | None:
    try:
        text = raw.decode("utf-8", errors).strip()
        text = _CONTROLS.sub("\ufffd", text) if errors == "replace" else text
    except UnicodeDecodeError as failure:
        raise DataError("not UTF-8 text", file=path, line=line, hint="save the file as UTF-8") from failure
    row = parse_json(text, path, hint, line, finite) if text else None
    if text and not isinstance(row, dict):
        raise DataError("not a JSON object", file=path, line=line, hint=hint)
    return row


def append_lines(path: Path, *rows: Any) -> None:
    """Add rows to a file of JSON lines that its owner alone may read. They are on the disk when this returns; after an OSError none of them
    is. What a killed run left of a line stays a line of its own."""
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    end = os.fstat(handle).st_size
    try:
        text = b"\n" if rows and end and os.pread(handle, 1, end - 1) != b"\n" else b""
        text += "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "backslashreplace")
        while text := text[os.write(handle, text) :]:  # what did not fit fails when it is tried again
            pass
        os.fsync(handle)
    except OSError as error:
        with suppress(OSError):
            os.ftruncate(handle, end)
        error.filename = str(path)
        raise
    finally:
        os.close(handle)


def require_other(path: Path, others: Iterable[Path]) -> None:
    """See that what is written to ``path`` replaces none of the files that are read or written beside it, by whatever name or link."""
    for other in others:
        if os.path.realpath(path) == os.path.realpath(other) or (path.is_file() and other.is_file() and path.samefile(other)):
            raise DataError("would overwrite what is read or written beside it", file=path, hint="name another file to write")


def require_place(path: Path) -> None:
    """See that a file can be written there, before what it will hold is made."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if (above := next(folder for folder in path.parents if os.path.lexists(folder))).is_symlink() and not above.exists():
        raise DataError("a link to what is not there", file=above, hint="remove the link, or make the folder that it names")
    if not above.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(above))
    with suppress(FileNotFoundError):
        path.stat()  # fails for a link to itself


def write_atomically(path: Path, write: Callable[[Path], object], *, private: bool = False) -> None:
    """Call ``write`` on a temporary file beside ``path``, see it on the disk, then rename it: a reader never sees half a file.

    ``private``: only the owner may read it; others have the rights of a new file. An OSError names ``path``, not the temporary file.
    """
    try:
        require_place(path)
        if is_stream(path) or path.is_char_device() or path.is_fifo():  # they are written to, not replaced
            write(path)
        else:
            _replace(path, write, 0o600 if private else 0o666)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def _replace(path: Path, write: Callable[[Path], object], mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = beside(path)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        write(temporary)
        os.fsync(handle)
        temporary.replace(path)
    finally:
        os.close(handle)
        temporary.unlink(missing_ok=True)


def beside(path: Path) -> Path:
    """A name that nothing has, in the same folder."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}")


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A folder to write into, which becomes ``folder`` (an empty one is filled) when the block ends, and is gone if it fails."""
    target = Path(os.path.realpath(folder))
    temporary = beside(target / "all" if (there := target.is_dir()) else target)  # a shell may stand in it, a disk be mounted there
    require_place(folder / temporary.name)
    try:
        temporary.mkdir(parents=True)
        yield temporary
        for path in sorted(temporary.iterdir()) if there else (temporary,):
            path.replace(target / path.name if there else target)
    except OSError as error:
        error.filename, error.filename2 = str(folder), None
        raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write a text, see `write_atomically`."""
    write_atomically(path, lambda temporary: temporary.write_text(text, "utf-8"))


def write_together(root: Path, texts: Mapping[Path, str]) -> None:
    """Write texts as new files below ``root``: after an error none of them is there, nor a folder that was made for them."""
    made: list[Path] = []
    try:
        for path, text in texts.items():
            made += reversed([place for place in (path, *path.parents) if not os.path.lexists(place)])
            write_text(path, text)
    except BaseException as error:
        for path in reversed(made):
            with suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink()
        if isinstance(error, OSError):
            error.filename = str(root)
        raise


def replace_together(new: Mapping[Path, Path | None]) -> None:
    """Put files in their places (place -> file; None: there is to be none), all of them, or after an error none: then there is what was."""
    ready, place = dict[Path, Path](), Path()
    before = {place: beside(place) for place in new if os.path.lexists(place)}
    with ExitStack() as undo:
        try:
            for place, path in new.items():
                require_place(place)
                if path:
                    place.parent.mkdir(parents=True, exist_ok=True)
                    ready[place] = beside(place)
                    undo.callback(ready[place].unlink, missing_ok=True)
                    shutil.move(path, ready[place])  # from another disk, a copy: nothing is in its place yet
            for place in new:
                if place in before:
                    place.rename(before[place])
                    undo.callback(before[place].replace, place)
                if place in ready:
                    undo.callback(place.unlink, missing_ok=True)
                    ready[place].rename(place)
        except OSError as error:
            error.filename, error.filename2 = str(place), None
            raise
        undo.pop_all()
    for path in (path for place in new for path in place.parent.glob(f".{place.name}.{'[0-9a-f]' * 8}")):  # killed runs' copies, too
        path.unlink()


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold the folder of ``path`` while a file in it is read and written anew; others wait for it."""
    require_place(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _held(path.parent):
        yield


@contextmanager
def _held(folder: Path, how: int = 0) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | how)
        yield
    finally:
        os.close(handle)


@contextmanager
def scratch(place: Path) -> Iterator[Path]:
    """A folder in the folder ``place`` while the block runs. Those that killed runs left there are removed first: nobody holds them."""
    with ExitStack() as held:
        with alone(place / _SCRATCH):  # nobody else looks between the folder's making and its lock
            for left in place.glob(f"{_SCRATCH}*"):
                with suppress(OSError), _held(left, fcntl.LOCK_NB):
                    shutil.rmtree(left)
            folder = place / f"{_SCRATCH}{secrets.token_hex(4)}"
            folder.mkdir()
            held.enter_context(_held(folder))
        held.callback(shutil.rmtree, folder, ignore_errors=True)
        yield folder


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold a lock beside ``path`` while the block runs; ``what`` is said of another run that holds it."""
    lock = Path(f"{path}.lock")
    require_place(lock)
    lock.parent.mkdir(parents=True, exist_ok=True)
    if lock.exists() and not lock.is_file():
        raise DataError("not a regular file", file=lock, hint="move it away")  # a pipe that nobody reads
    with lock.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DataError(f"another run {what}", file=path, hint="wait for its end, or stop it") from None
        yield
