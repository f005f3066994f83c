"""What a check finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cxgen.schema import Document


@dataclass(frozen=True)
class Finding:
    """A fault with its place and hint.

    Attributes:
        code: E... (nothing can be generated) or W... (something is probably not meant).
    """

    code: str
    message: str
    file: Path
    line: int
    hint: str


def finding(code: str, message: str, document: Document, keys: Sequence[str | int], hint: str) -> Finding:
    """A finding at the node under ``keys``."""
    return Finding(code, message, document.path, document.line(keys), hint)
