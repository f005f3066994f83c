"""Expected failures: what went wrong, where, and what to do about it. The CLI prints them without a traceback, exit code 2."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

# Characters that nobody sees (Unicode's Cf, Zl, Zp, the second control block and its end), in the notation of a character class of both
# Python's and Rust's regular expressions: a text that holds one is not what it seems to be.
UNSEEN: Final = (
    "\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe-\uffff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)


class CxgenError(Exception):
    """Base of every expected failure.

    Args:
        message: what is wrong, in one sentence.
        file: the file at fault, if any.
        line: its 1-based line, if known.
        hint: what the user can do about it.
    """

    def __init__(self, message: str, *, file: Path | None = None, line: int | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the trip from a worker process."""
        return (_rebuild, (type(self), self.message, self.file, self.line, self.hint))

    def __str__(self) -> str:
        """What the command line prints: place, message, hint."""
        return self.render()

    @property
    def where(self) -> str:
        """``file:line``, relative to the working directory where possible; empty when unknown."""
        if self.file is None:
            return ""
        path = self.file
        if path.is_absolute() and path.is_relative_to(Path.cwd()):
            path = path.relative_to(Path.cwd())
        return f"{path}:{self.line}" if self.line else str(path)

    def render(self) -> str:
        """The lines that the user sees."""
        head = f"{self.where}: {self.message}" if self.where else self.message
        return f"{head}\n  hint: {self.hint}" if self.hint else head


def _rebuild(cls: type[CxgenError], message: str, file: Path | None, line: int | None, hint: str) -> CxgenError:
    return cls(message, file=file, line=line, hint=hint)


class SchemaError(CxgenError):
    """A YAML file that does not parse or breaks its schema."""


class UnknownNameError(CxgenError):
    """A name that does not exist; the message lists the nearest ones."""


class EmptySlotError(CxgenError):
    """A slot that nothing fills; the message says which constraint emptied it."""


class DataError(CxgenError):
    """An input table that is missing or malformed."""


def unknown(what: str, name: str, known: Iterable[str], *, file: Path | None = None, line: int | None = None) -> UnknownNameError:
    """An :class:`UnknownNameError` for ``name`` that suggests the nearest of ``known``."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names[:20]) or 'none'}"
    return UnknownNameError(f"unknown {what} {name!r}", file=file, line=line, hint=hint)


def install(extra: str) -> str:
    """How to install an extra of the package. Never from an index by the name ``cxgen``: there it is another project's."""
    return f"in the clone of cxgen: pip install -e '.[{extra}]'"


@contextmanager
def needs(what: str, extra: str) -> Iterator[None]:
    """Say which extra of the package to install where an import within the block fails.

    Raises:
        DataError: with ``what`` is needed for which package.
    """
    try:
        yield
    except ImportError as error:
        raise DataError(what, hint=install(extra)) from error
