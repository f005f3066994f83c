"""How a file of the user's is opened: a regular one, no larger than what reads it can bear. A pipe or a device may never end."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from cxgen.errors import UNSEEN, CxgenError, DataError

MB = 1 << 20
# What no text of a file may hold: control characters but tab and line ends, what nobody sees, halves of pairs.
_CONTROL = "\x00-\x08\x0b\x0c\x0e-\x1f"
_ODD = re.compile(f"[{_CONTROL}{UNSEEN}\ud800-\udfff]")
_ODD_ASCII = re.compile(f"[{_CONTROL}\x7f]")  # six times as fast


def read_bytes(path: Path, most: int, error: type[CxgenError] = DataError, hint: str = "") -> bytes:
    """The bytes of a file.

    Args:
        path: the file.
        most: bytes that it may have.
        error: what to raise.
        hint: for the message.

    Raises:
        CxgenError: there is none, it is no regular file, it cannot be read, or it is larger.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with open(handle, "rb") as file:  # noqa: PTH123 - opened above, without waiting for a pipe's other end
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise error("not a file", file=path, hint=hint)
            raw = file.read(most + 1)
    except OSError as failure:
        raise error(f"cannot read: {failure.strerror}", file=path, hint=hint) from failure
    if len(raw) > most:
        raise _too_large(path, most, error)
    return raw


def require_file(path: Path, most: int, hint: str = "") -> int:
    """The size of a file that another library opens, in bytes; see `read_bytes`.

    Raises:
        DataError: there is none, it is no regular file, or it is larger than ``most``.
    """
    try:
        found = path.stat()
    except OSError as failure:
        raise DataError(f"cannot read: {failure.strerror}", file=path, hint=hint) from failure
    if not stat.S_ISREG(found.st_mode):
        raise DataError("not a file", file=path, hint=hint)
    if found.st_size > most:
        raise _too_large(path, most, DataError)
    return found.st_size


def _too_large(path: Path, most: int, error: type[CxgenError]) -> CxgenError:
    return error(f"larger than {most // MB} MB", file=path, hint="is it the right file? Divide it if so")


def read_text(path: Path, most: int, error: type[CxgenError] = DataError, hint: str = "") -> str:
    """The text of a file: UTF-8, without control characters; arguments as for `read_bytes`.

    Raises:
        CxgenError: as `read_bytes`, or not such a text, with the line.
    """
    raw = read_bytes(path, most, error, hint)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as failure:
        line = raw.count(b"\n", 0, failure.start) + 1
        hint = "save the file as UTF-8; it looks like Latin-1 or another 8-bit encoding"
        raise error(f"not UTF-8 text: byte 0x{raw[failure.start]:02x}", file=path, line=line, hint=hint) from failure
    odd = odd_character(text, 1 if text.startswith("\ufeff") else 0)
    if odd:
        line = text.count("\n", 0, odd.start()) + 1
        what = f"an invisible or control character (U+{ord(odd[0]):04X})"
        raise error(what, file=path, line=line, hint="delete it; the file is plain text")
    return text


def odd_character(text: str, start: int = 0) -> re.Match[str] | None:
    """The first character, from ``start`` on, that no text may hold; None if all may stand there."""
    return (_ODD_ASCII if text.isascii() else _ODD).search(text, start)
