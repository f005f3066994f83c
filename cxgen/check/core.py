"""What checks yield, and how they are registered."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cxgen.constructicon import Construction, Place
from cxgen.errors import CxgenError


@dataclass(frozen=True)
class Finding:
    """A fault with its place and hint; the code is E... (nothing can be generated) or W... (something is probably not meant)."""

    code: str
    message: str
    file: Path
    line: int
    hint: str


Check = Callable[[Construction], Iterator[CxgenError]]
CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    """Register a check by the code with which its docstring begins."""
    CHECKS[str(function.__doc__)[:4]] = function
    return function


def fault(place: Place, message: str, hint: str) -> CxgenError:
    """What is wrong at a place, not to be raised."""
    return place[0].wrong(place[1], message, hint)
