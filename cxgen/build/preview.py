"""A sample of a construction: contrast sets one after the other, the designs taking turns, with one block of them in memory."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from cxgen.build.samplers import items_of, previews
from cxgen.build.wug import changed_sets, substituted
from cxgen.constructicon import Construction
from cxgen.display import ordered
from cxgen.errors import CxgenError, EmptySlotError
from cxgen.families import own_columns
from cxgen.sampling import Sampler, Wugs, span
from cxgen.schema import Column
from cxgen.vocabulary import LABELS

FIRST, GROWTH, MOST = 16, 4, 250  # sets of each design that are drawn at first, how many times more next, and at most
SPARE = 8  # sets drawn on top, since a few repeat a premise
DRY = 2_000  # draws in a row without a new set, after which a design has no others
LINEAGE = ("id", "contrast_set", "construction", "contrast_of", "config", "design", "kind", "template")
MATERIAL = ("verb", "slots")  # with these a sample shows its family's columns
_FORKS: dict[str, int] = {}  # ``of``: the process that was forked when it had polars' threads


@dataclass(frozen=True)
class Wanted:
    """What a sample is to hold: how many premises; of one kind, design and label, or all; pseudowords for a mode's words or none."""

    premises: int
    family: str = "nli"
    seed: int = 1
    kind: str = ""
    label: int | None = None
    wugs: Wugs | None = None
    mode: str = ""
    design: str = ""


@dataclass
class _Source:
    """A sampler with what was drawn of it: premises so far (``seen``, shared by a config), the next number, draws without a new set."""

    sampler: Sampler
    wanted: Wanted
    seen: set[int]
    next: int = 0
    idle: int = 0
    sets: int = 0

    def take(self, count: int) -> pl.DataFrame:
        """What is to be seen of the next ``count`` new sets, with the ``rank`` of each set; of fewer, if there are no others."""
        tables = []
        while count and self.idle < DRY:
            numbers = span(self.next, max(count + SPARE, min(self.idle, 2 * MOST)))
            items = items_of(self.sampler.draw(numbers))
            fresh = self._fresh(items, count)
            if 2 * len(fresh) < len(numbers):  # a few rows of a table would hold the texts of all
                items = items_of(self.sampler.draw(np.array(fresh, dtype=np.int64))) if fresh else items.clear()
            if fresh:
                tables.append(items.filter(pl.col("set_number").is_in(fresh)))
            count -= len(fresh)
            self.idle = 0 if fresh else self.idle + len(numbers)
            self.next = int(numbers[-1]) + 1 if count else fresh[-1] + 1
        return self._shown(pl.concat(tables)) if tables else pl.DataFrame()

    def _fresh(self, items: pl.DataFrame, most: int) -> list[int]:
        """The numbers of the first ``most`` sets whose premises are new."""
        fresh: list[int] = []
        if items.height:
            premises = items.select("set_number", pl.col("premise").hash(0)).unique(maintain_order=True)
            for number, hashes in premises.group_by("set_number", maintain_order=True).agg("premise").iter_rows():
                if len(fresh) < most and self.seen.isdisjoint(hashes):
                    self.seen.update(hashes)
                    fresh.append(number)
        return fresh

    def _shown(self, items: pl.DataFrame) -> pl.DataFrame:
        wanted = self.wanted
        if wanted.wugs:
            numbers = items["set_number"].unique().sort().to_numpy()
            items = changed_sets(substituted(self.sampler, numbers, wanted.wugs, [wanted.mode]), items).drop("mode", strict=False)
        if items.height:
            items = items.filter(kind=wanted.kind) if wanted.kind else items
            items = items.filter(label=wanted.label) if wanted.label is not None else items
        if items.height:
            items = items.with_columns(rank=pl.col("set_number").rank("dense") + self.sets)
            self.sets += items["set_number"].n_unique()
        return items


def _before_a_fork() -> None:
    with suppress(OSError):  # where there is no /proc, processes are not forked by default
        if any(thread.read_text().startswith("polars-0") for thread in Path("/proc/self/task").glob("*/comm")):
            _FORKS["of"] = os.getpid()


os.register_at_fork(before=_before_a_fork)


def require_threads() -> None:
    """See that this process is not the fork of one that has used polars: it would wait for ever for threads that it has not."""
    if _FORKS.get("of", os.getpid()) != os.getpid():
        hint = 'start it with multiprocessing.get_context("spawn"), or use cxgen in the child only'
        raise CxgenError("this process was forked from one that has used cxgen, whose threads it has not", hint=hint)


def sampled(construction: Construction, wanted: Wanted) -> Iterator[pl.DataFrame]:
    """The items of as many premises as are wanted, or of all that there are, block by block: the designs' first sets, then their second."""
    sources = _sources(construction, wanted)
    kinds = 1 if wanted.kind else min(len(source.sampler.design.kinds) for source in sources)
    lacking = wanted.premises
    for count in _steps(-(-lacking // (kinds * len(sources)))):
        items = _together(source.take(count) for source in sources)
        if not items.height:
            break
        items = items.sort("rank", maintain_order=True).drop("rank")
        premises = items.select("premise_id").unique(maintain_order=True).head(lacking)
        yield premises.join(items, on="premise_id", maintain_order="left_right")
        lacking -= premises.height
        if not lacking:
            return
    if wanted.wugs and lacking == wanted.premises:
        what, hint = f"nothing survives the substitution {wanted.mode!r}", f"see `cxgen explain {construction.name} --wug {wanted.mode}`"
        raise EmptySlotError(f"{construction.name}: {what}", file=construction.document.path, hint=hint)


def sample_items(construction: Construction, seed: int, sets: int, family: str = "") -> pl.DataFrame:
    """Items of up to ``sets`` contrast sets of every design (default family: that of its first config), over all verbs."""
    return _together(source.take(sets) for source in _sources(construction, Wanted(0, family, seed))).drop("rank", strict=False)


def _sources(construction: Construction, wanted: Wanted) -> list[_Source]:
    seen: dict[str, set[int]] = defaultdict(set)
    made = previews(construction, wanted.seed, wanted.family)
    chosen = [one for one in made if wanted.design in {"", one.design.name} and (not wanted.kind or wanted.kind in one.design.kinds)]
    if not chosen:
        what = " and ".join(f"{name} {value!r}" for name, value in (("design", wanted.design), ("kind", wanted.kind)) if value)
        hint = f"`cxgen explain {construction.name}` tells what each design is for; --family takes another one"
        raise CxgenError(f"{construction.name}: no sets of {wanted.family} have {what}", file=construction.document.path, hint=hint)
    return [_Source(one, wanted, seen[one.config]) for one in chosen]


def _together(tables: Iterator[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat([table for table in tables if table.height] or [pl.DataFrame()], how="diagonal_relaxed")


def _steps(expected: int) -> Iterator[int]:
    """How many sets of each design to draw next: few at first, so that something is seen at once."""
    total = 0
    while True:
        count = min(total * GROWTH or FIRST, expected) - total if total < expected else total
        total += min(count, MOST)
        yield min(count, MOST)


def readable(items: pl.DataFrame, family: str) -> pl.DataFrame:
    """Drawn items as people want to see them: what is read first, lineage, what else the family has, verb and slots; labels by name."""
    own = [column.name for column in own_columns(family) if column.name in items.columns]
    return labelled(items.select(*LINEAGE, *own, *MATERIAL), own_columns(family))


def labelled(items: pl.DataFrame, columns: Iterable[Column]) -> pl.DataFrame:
    """A table, what is read first of it at its head, with its labels by name."""
    labels = [column.name for column in columns if column.labels and column.name in items.columns]
    return ordered(items).with_columns(pl.col(labels).replace_strict(dict(enumerate(LABELS)), return_dtype=pl.String))
