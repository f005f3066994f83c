"""Expected failures: what went wrong, where, and what to do about it. The CLI prints them without a traceback, exit code 2."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

# Characters that nobody sees (Unicode's Cf, Zl, Zp, the second control block and its end), as in a regular expression's character class: a
# text that holds one is not what it seems to be.
UNSEEN = (
    "\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe-\uffff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)
_ENDLESS = re.compile(r"\S{200,}")  # words that a message shows the beginning of


class CxgenError(Exception):
    """Base of every expected failure.

    Args:
        message: what is wrong, in one sentence.
        file: the file at fault, if any.
        line: its 1-based line, if known.
        hint: what the user can do about it.
    """

    def __init__(self, message: str, *, file: Path | None = None, line: int | None = None, hint: str = "") -> None:
        message, hint = (_ENDLESS.sub(lambda word: f"{word[0][:60]}...", text) for text in (message, hint))
        super().__init__(message)
        self.message, self.file, self.line, self.hint = message, file, line, hint

    def __reduce__(self) -> tuple[object, ...]:  # survives the trip from a worker process
        return (type(self), (self.message,), self.__dict__)

    def __str__(self) -> str:
        return self.render()

    @property
    def where(self) -> str:
        """``file:line``, relative to the working directory where possible; empty when unknown."""
        if self.file is None:
            return ""
        inside = self.file.is_absolute() and self.file.is_relative_to(Path.cwd())
        path = str(self.file.relative_to(Path.cwd()) if inside else self.file).replace("\n", "\\n")
        return f"{path}:{self.line}" if self.line else str(path)

    def render(self) -> str:
        """The lines that the user sees: place, message, hint."""
        head = f"{self.where}: {self.message}" if self.where else self.message
        return f"{head}\n  hint: {self.hint}" if self.hint else head


def some(names: Sequence[str], most: int = 5) -> str:
    """The first of ``names``, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


class SchemaError(CxgenError):
    """A YAML file that does not parse or breaks its schema."""


class UnknownNameError(CxgenError):
    """A name that does not exist; the message lists the nearest ones."""


class EmptySlotError(CxgenError):
    """A slot that nothing fills; the message says which constraint emptied it."""


class DataError(CxgenError):
    """An input table that is missing or malformed."""


def unknown(what: str, name: str, known: Iterable[str], *, file: Path | None = None, line: int | None = None) -> UnknownNameError:
    """The error about ``name`` that suggests the nearest of ``known``."""
    from difflib import get_close_matches

    names = sorted(known)
    near = get_close_matches(str(name).lower(), names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names[:30]) or 'none'}"
    return UnknownNameError(f"unknown {what} {name!r}", file=file, line=line, hint=hint)


def install(extra: str) -> str:
    """How to install an extra: in the clone, or of the wheel that is installed. Never by the name ``cxgen``: that is another project's."""
    if (Path(__file__).parent / "_data").is_dir():
        return f"pip install 'cxgen-nli[{extra}]'"
    return f"in the clone of cxgen: pip install -e '.[{extra}]'"


@contextmanager
def needs(what: str, extra: str) -> Iterator[None]:
    """Say which extra of the package to install where an import within the block fails."""
    try:
        yield
    except ImportError as error:
        raise DataError(what, hint=install(extra)) from error


def lacking(*modules: str) -> list[str]:
    """Those of the modules that are not installed: what comes later is told before the work."""
    return [name for name in modules if find_spec(name) is None]
