"""Items of whole contrast sets, premises all different: candidates for a dataset."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from cxgen.build.request import Request
from cxgen.build.samplers import items_of, samplers
from cxgen.constructicon import Construction
from cxgen.errors import EmptySlotError
from cxgen.families import family_of
from cxgen.sampling import Sampler, span

SETS = 2_000  # drawn at a time: enough for whole columns, few enough for memory
ROUNDS = 12  # after which a sampler that still lacks sets has run dry
SAYS_MUCH = 1_000  # draws, by which a round says how many sets there are
SPARE = 8  # drawn on top, since a few clash


@dataclass
class Need:
    """What is wanted of a sampler, and what there is so far.

    Attributes:
        wanted: sets to stop at.
        required: sets that must be there in the end.
        drawn: set numbers that were asked for.
        kept: the numbers of the new sets.
        dry: whether so few of many draws were new that the rounds which are left cannot give what is required, even twice as lucky.
    """

    sampler: Sampler
    wanted: int
    required: int
    drawn: int = 0
    kept: list[int] = field(default_factory=list)
    dry: bool = False

    def draw(self, left: int, seen: set[str]) -> None:
        """Draw as many sets as are lacking, and keep those whose premises are all new, to one another and to ``seen``, which grows."""
        before, count = len(self.kept), self.wanted - len(self.kept) + SPARE
        for start in range(self.drawn, self.drawn + count, SETS):
            draws = self.sampler.draw(span(start, min(SETS, self.drawn + count - start)))
            for number, premises in enumerate(draws.texts.to_numpy().reshape(-1, len(draws)).T.tolist(), start):
                if seen.isdisjoint(premises):
                    seen.update(premises)
                    self.kept += [number] if len(self.kept) < self.wanted else []
        self.drawn += count
        self.dry = count >= SAYS_MUCH and len(self.kept) + 2 * left * (len(self.kept) - before) < self.required

    def items(self, most: int) -> Iterator[pl.DataFrame]:
        """The items of the first ``most`` sets that were kept, some thousand sets at a time."""
        numbers = np.array(self.kept[:most], dtype=np.int64)
        for start in range(0, len(numbers), SETS):
            yield items_of(self.sampler.draw(numbers[start : start + SETS]))


def fill(needs: Sequence[Need]) -> None:
    """Find the sets of the samplers of a construction: no premise occurs in two sets of a family.

    Raises:
        EmptySlotError: a sampler has too few distinct sets.
    """
    seen: dict[str, set[str]] = {}
    for left in reversed(range(ROUNDS)):
        for need in needs:
            if len(need.kept) < need.wanted and not need.dry:
                need.draw(left, seen.setdefault(family_of(need.sampler.config).name, set()))
    for need in needs:
        if len(need.kept) < need.required:
            construction, design = need.sampler.construction, need.sampler.design.name
            raise EmptySlotError(
                f"{construction.name}: only {len(need.kept)} distinct contrast sets of design {design!r} for {need.sampler.config} in"
                f" {need.sampler.split}, {need.required} are needed",
                file=construction.document.path,
                line=construction.document.line(["designs", design]),
                hint="add words or frames, or lower the size in params.yaml or the design's weight",
            )


def candidates(made: Sequence[Sampler], request: Request, *, head_room: bool = True) -> pl.DataFrame:
    """Items of the `samplers` of a construction.

    Args:
        made: the samplers.
        request: says how many sets are wanted.
        head_room: whether there are `Request.oversample` times as many, for judges to choose from.

    Returns:
        The columns of `Draws.render`, ``id``, and those of all families (null where a family has no such column). Rows of a set are
        adjacent. No premise occurs in two sets of a config.

    Raises:
        EmptySlotError: too few distinct sets.
    """
    needs = []
    for each in made:
        sets = request.sets(each.construction, each.design, each.config)[each.split]
        needs.append(Need(each, math.ceil(sets * request.oversample), sets))
    fill(needs)
    return _concat(table for need in needs for table in need.items(need.wanted if head_room else need.required))


def generate_items(construction: Construction, request: Request) -> pl.DataFrame:
    """The `candidates` of a construction."""
    return candidates(samplers(construction, request), request)


def _concat(tables: Iterable[pl.DataFrame]) -> pl.DataFrame:
    there = [table for table in tables if table.height]
    return pl.concat(there, how="diagonal") if there else pl.DataFrame()
