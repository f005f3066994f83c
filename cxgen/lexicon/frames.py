"""Event frames: which words go together in one construction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cxgen.schema import Document


@dataclass(frozen=True)
class Frame:
    """Words that go together.

    Attributes:
        name: unique within its construction.
        designs: contrast-set designs that use it.
        slots: slot -> class names and sense keys.
        words: closed-class words.
        marked: keys of fillers that fit, but that speakers seldom use so: they are drawn less often.
        preset: the only band preset that uses it; empty for all.
        entails_alone: lemmas of its verbs that by themselves entail what the construction says.
        source: the file in which it is declared; None for a frame of the snapshot.
        number: its place in that file's list, from 0.
    """

    name: str
    designs: tuple[str, ...]
    slots: dict[str, tuple[str, ...]]
    words: dict[str, str] = field(default_factory=dict)
    marked: frozenset[str] = frozenset()
    preset: str = ""
    entails_alone: frozenset[str] = frozenset()
    source: Document | None = field(default=None, repr=False, compare=False)
    number: int = 0

    @classmethod
    def parse(cls, raw: dict[str, Any], source: Document | None = None, number: int = 0) -> Frame:
        """From a schema-checked mapping."""
        slots = {slot: _as_tuple(value) for slot, value in raw["slots"].items()}
        words, marked = dict(raw.get("words", {})), frozenset(raw.get("marked", ()))
        alone = frozenset(raw.get("entails_alone", ()))
        return cls(raw["name"], _as_tuple(raw["design"]), slots, words, marked, raw.get("preset", ""), alone, source, number)

    def place(self, slot: str, number: int) -> tuple[Path | None, int | None]:
        """File and line of the filler ``number`` of ``slot``; None for both where the frame is one of the snapshot."""
        if self.source is None:
            return None, None
        frames = self.source.data.get("frames", ())
        raw = frames[self.number] if self.number < len(frames) else {}
        section = next((name for name, value in raw.items() if isinstance(value, dict) and slot in value), "slots")
        return self.source.path, self.source.line(["frames", self.number, section, slot, number])


def _as_tuple(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
