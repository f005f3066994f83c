"""A sample of a construction: contrast sets one after the other, the designs taking turns, with one block of them in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from cxgen.build.samplers import items_of, previews
from cxgen.build.wug import changed_sets, substituted
from cxgen.constructicon import Construction
from cxgen.errors import EmptySlotError
from cxgen.sampling import Sampler, Wugs, span

FIRST, GROWTH, MOST = 16, 4, 2_000  # sets of each design that are drawn at first, how many times more next, and at most
SPARE = 8  # sets drawn on top, since a few repeat a premise
DRY = 2_000  # draws in a row without a new set, after which a design has no others


@dataclass
class Fresh:
    """The contrast sets of a source whose premises are all new, in the order of their numbers.

    Attributes:
        source: what is drawn from.
        seen: hashes of the premises so far, of this and of the other sources of its config.
        next: number of the set that is drawn next.
        idle: draws since the last new set.
    """

    source: Sampler
    seen: set[int]
    next: int = 0
    idle: int = 0

    def take(self, count: int) -> pl.DataFrame:
        """The items of the next ``count`` new sets; of fewer, if there are no others."""
        tables = [pl.DataFrame()]
        while count and self.idle < DRY:
            numbers = span(self.next, max(count + SPARE, self.idle))
            items = items_of(self.source.draw(numbers))
            fresh = self._fresh(items, count)
            tables.append(items.filter(pl.col("set_number").is_in(fresh)))
            count -= len(fresh)
            self.idle = 0 if fresh else self.idle + len(numbers)
            self.next = int(numbers[-1]) + 1 if count else fresh[-1] + 1
        return pl.concat([table for table in tables if table.width] or tables)

    def _fresh(self, items: pl.DataFrame, most: int) -> list[int]:
        """The numbers of the first ``most`` sets whose premises are new."""
        if not items.height:
            return []
        premises = items.select("set_number", pl.col("premise").hash(0)).unique(maintain_order=True)
        fresh: list[int] = []
        for number, hashes in premises.group_by("set_number", maintain_order=True).agg("premise").iter_rows():
            if self.seen.isdisjoint(hashes):
                self.seen.update(hashes)
                fresh.append(number)
                if len(fresh) == most:
                    break
        return fresh


@dataclass(frozen=True)
class Wanted:
    """What a sample is to hold.

    Attributes:
        premises: how many.
        family: of the items.
        seed: another seed, other sets.
        kind: only premises of this kind; empty: all.
        label: only items with this label; None: all.
        wugs, mode: pseudowords for the words of the mode; None for none.
    """

    premises: int
    family: str = "nli"
    seed: int = 1
    kind: str = ""
    label: int | None = None
    wugs: Wugs | None = None
    mode: str = ""


def sampled(construction: Construction, wanted: Wanted) -> Iterator[pl.DataFrame]:
    """The items of as many premises as are wanted, or of all that there are, block by block: the designs' first sets, then their second.

    Raises:
        EmptySlotError: nothing fills a slot, or nothing survives the pseudowords.
        SchemaError: no design is of the family, or gives sets.
    """
    draws = _draws(construction, wanted)
    kinds = 1 if wanted.kind else min(len(each.source.design.kinds) for each in draws)
    lacking, sets = wanted.premises, [0] * len(draws)
    for count in _steps(-(-lacking // (kinds * len(draws)))):
        tables = [_ranked(_shown(each, count, wanted), sets, number) for number, each in enumerate(draws)]
        items = pl.concat([table for table in tables if table.height] or [pl.DataFrame()], how="diagonal_relaxed")
        if not items.height:
            break
        items = items.sort("rank", maintain_order=True).drop("rank")
        premises = items.select("premise_id").unique(maintain_order=True).head(lacking)
        yield premises.join(items, on="premise_id", maintain_order="left_right")
        lacking -= premises.height
        if not lacking:
            return
    if wanted.wugs and lacking == wanted.premises:
        raise _nothing_survives(construction, wanted.mode)


def sample_items(
    construction: Construction, seed: int, sets: int, family: str = "", wugs: Wugs | None = None, mode: str = ""
) -> pl.DataFrame:
    """Items of up to ``sets`` contrast sets of every design, over all verbs, design by design.

    Args:
        construction: whose.
        seed: another seed, other sets.
        sets: per design.
        family: items of this family; by default of the one that each design names first.
        wugs, mode: with pseudowords for the words of ``mode``.

    Raises:
        EmptySlotError: nothing fills a slot, or nothing survives the pseudowords.
        SchemaError: no design is of the family, or gives sets.
    """
    wanted = Wanted(0, family, seed, wugs=wugs, mode=mode)
    tables = [table for each in _draws(construction, wanted) if (table := _shown(each, sets, wanted)).height]
    if wugs and not tables:
        raise _nothing_survives(construction, mode)
    return pl.concat(tables, how="diagonal_relaxed") if tables else pl.DataFrame()


def _draws(construction: Construction, wanted: Wanted) -> list[Fresh]:
    made = [each for each in previews(construction, wanted.seed, wanted.family) if not wanted.kind or wanted.kind in each.design.kinds]
    seen: dict[str, set[int]] = {each.config: set() for each in made}
    return [Fresh(each, seen[each.config]) for each in made]


def _nothing_survives(construction: Construction, mode: str) -> EmptySlotError:
    message, hint = f"nothing survives the substitution {mode!r}", f"see `cxgen explain {construction.name} --wug {mode}`"
    return EmptySlotError(f"{construction.name}: {message}", file=construction.document.path, hint=hint)


def _steps(expected: int) -> Iterator[int]:
    """How many sets of each design to draw next: few at first, so that something is seen at once."""
    total = 0
    while True:
        count = min(total * GROWTH or FIRST, expected) - total if total < expected else total
        total += min(count, MOST)
        yield min(count, MOST)


def _shown(draws: Fresh, count: int, wanted: Wanted) -> pl.DataFrame:
    """What is to be seen of the next ``count`` sets."""
    items = draws.take(count)
    if items.height and wanted.wugs:
        numbers = items["set_number"].unique().sort().to_numpy()
        items = changed_sets(substituted(draws.source, numbers, wanted.wugs, [wanted.mode]), items).drop("mode", strict=False)
    if not items.height:
        return items
    items = items.filter(pl.col("kind") == wanted.kind) if wanted.kind else items
    return items if wanted.label is None else items.filter(pl.col("label") == wanted.label)


def _ranked(items: pl.DataFrame, sets: list[int], number: int) -> pl.DataFrame:
    """``items`` with the ``rank`` of their sets in source ``number``, which counts them in ``sets``."""
    if items.height:
        items = items.with_columns(rank=pl.col("set_number").rank("dense") + sets[number])
        sets[number] += items["set_number"].n_unique()
    return items
