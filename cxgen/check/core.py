"""What a check finds, and how checks are registered."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cxgen.constructicon import Construction
from cxgen.schema import Document


@dataclass(frozen=True)
class Finding:
    """A fault with its place and hint; the code is E... (nothing can be generated) or W... (something is probably not meant)."""

    code: str
    message: str
    file: Path
    line: int
    hint: str


Check = Callable[[Construction], Iterator[Finding]]
CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    """Register a check by the code with which its docstring begins."""
    CHECKS[str(function.__doc__)[:4]] = function
    return function


def finding(code: str, message: str, document: Document, keys: Sequence[str | int], hint: str) -> Finding:
    """A finding at the node under ``keys``."""
    return Finding(code, message, document.path, document.line(keys), hint)


def near(name: str, known: Iterable[str]) -> str:
    """A hint which of the ``known`` names is meant."""
    close = difflib.get_close_matches(name, list(known), n=2, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else f"declared: {', '.join(sorted(known)) or 'none'}"
