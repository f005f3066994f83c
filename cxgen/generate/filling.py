"""Distinct contrast sets, in order, out of blocks that anybody may have made: which to make next, and which to keep."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import polars as pl

from cxgen.constructicon import Construction
from cxgen.errors import EmptySlotError

SETS = 2_000  # of a block: enough for whole columns, few enough to be passed around
ROUNDS = 12  # of blocks, after which a source that still lacks sets has run dry
MANY = 1_000  # draws, by which a round says how many sets there are
SPARE = 8  # drawn on top, since a few clash


@dataclass
class Need:
    """What is wanted of a source, and what there is so far.

    Attributes:
        label: the source's config, design and split, to name it.
        wanted: sets to stop at.
        least: sets that must be found.
        drawn: set numbers that were asked for.
        kept: distinct sets that were found.
        rounds: of blocks, so far.
        before, asked: ``kept`` before the last round, and sets that were asked for in it.
    """

    label: tuple[str, str, str]
    wanted: int
    least: int
    drawn: int = 0
    kept: int = 0
    rounds: int = 0
    before: int = 0
    asked: int = 0

    @property
    def hopeless(self) -> bool:
        """Whether many draws gave so few new sets that the rounds which are left cannot give what must be found, even twice as lucky."""
        found = self.kept - self.before
        return self.asked >= MANY and self.kept + 2 * (ROUNDS - self.rounds) * found < self.least


@dataclass(frozen=True)
class Job:
    """A block to make: sets ``start`` to ``start + count - 1`` of the source number ``source``."""

    source: int
    start: int
    count: int


@dataclass
class Filling:
    """The sets of one construction. No premise occurs in two sets of a config; within a source, lower numbers come first.

    Attributes:
        construction: to say what is lacking.
        needs: per source.
    """

    construction: Construction
    needs: list[Need]
    _tables: list[list[pl.DataFrame]] = field(init=False)
    _seen: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._tables = [[] for _ in self.needs]

    def jobs(self) -> Iterator[Job]:
        """The next round of blocks; none when every source has what is wanted or has run dry."""
        for number, need in enumerate(self.needs):
            if need.kept >= need.wanted or need.rounds == ROUNDS or need.hopeless:
                continue
            need.before = need.kept
            need.rounds += 1
            count = need.wanted - need.kept + SPARE
            need.asked = count
            for start in range(need.drawn, need.drawn + count, SETS):
                yield Job(number, start, min(SETS, need.drawn + count - start))
            need.drawn += count

    def take(self, job: Job, block: pl.DataFrame) -> None:
        """Keep of a block the sets that are new, as many as are still wanted. To be called in the order of `jobs`."""
        need = self.needs[job.source]
        seen = self._seen.setdefault(need.label[0], set())
        fresh = _fresh(block, seen)[: need.wanted - need.kept]
        need.kept += len(fresh)
        self._tables[job.source].append(block.filter(pl.col("set_number").is_in(fresh)))

    def table(self) -> pl.DataFrame:
        """All items, source by source.

        Raises:
            EmptySlotError: a source has too few distinct sets.
        """
        for need in self.needs:
            if need.kept < need.least:
                config, design, split = need.label
                raise EmptySlotError(
                    f"{self.construction.name}: only {need.kept} distinct contrast sets of design {design!r} for {config} in {split},"
                    f" {need.least} are needed",
                    file=self.construction.document.path,
                    line=self.construction.document.line(["designs", design]),
                    hint="add words or frames, or lower the size in params.yaml or the design's weight",
                )
        found = [table for tables in self._tables for table in tables if table.height]
        return pl.concat(found, how="diagonal") if found else pl.DataFrame()


def oversampled(sets: int, factor: float) -> int:
    """Candidates for ``sets`` sets."""
    return math.ceil(sets * factor)


def _fresh(block: pl.DataFrame, seen: set[str]) -> list[int]:
    """Numbers of the sets whose premises are all new, to one another and to ``seen``, which grows."""
    fresh: list[int] = []
    rows: Iterable[tuple[int, list[str]]] = (
        block.select("set_number", "premise")
        .unique(maintain_order=True)
        .group_by("set_number", maintain_order=True)
        .agg("premise")
        .iter_rows()
    )
    for number, texts in rows:
        if seen.isdisjoint(texts):
            seen.update(texts)
            fresh.append(number)
    return fresh
