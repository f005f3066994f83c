"""Candidate items of a construction: whole contrast sets, more than needed, for the judge to choose from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from cxgen.constructicon import Construction, Design
from cxgen.errors import DataError, EmptySlotError
from cxgen.generate.forms import Forms
from cxgen.generate.partition import SPLITS, best_partition, set_counts
from cxgen.generate.plan import draw_plan
from cxgen.generate.pools import MARKED, PRESETS, Pools, design_pools, frame_verbs, verb_pools
from cxgen.generate.sets import realise_sets
from cxgen.generate.substitute import Wugs, substituted
from cxgen.lexicon import Lexicon
from cxgen.semantics import Selection, label_matrix, solve

BLOCKS = 12
SHARES = {"train": 0.7, "dev": 0.15, "test": 0.15}


@dataclass(frozen=True)
class Request:
    """What to generate.

    Attributes:
        triples: rows wanted per construction in ``nli``, its opposites' not counted.
        lookalike_triples: rows wanted per look-alike in ``distinction``, its target's not counted.
        seed: the project's seed.
        shares: split -> share.
        preset: frequency preset, ``sliced`` or ``contest``.
        oversample: candidates per set that will be kept, at least 1.
        marked: how often a filler that its frame marks comes up, relative to one that it does not: above 0, up to 1.
    """

    triples: int = 4000
    lookalike_triples: int = 1000
    seed: int = 1
    shares: Mapping[str, float] = field(default_factory=lambda: dict(SHARES))
    preset: str = "sliced"
    oversample: float = 1.15
    marked: float = MARKED

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise DataError(
                f"unknown band preset {self.preset!r}",
                hint=f"bands.preset in params.yaml is one of {', '.join(PRESETS)}",
            )
        if min(self.triples, self.lookalike_triples, self.oversample) < 1:
            raise DataError("n_per_construction, n_per_lookalike and generate.oversample must be at least 1", hint="see params.yaml")
        if not 0 < self.marked <= 1:
            raise DataError(f"generate.marked is {self.marked}: it must be above 0 and at most 1", hint="see params.yaml")

    @property
    def wanted(self) -> dict[str, int]:
        """Rows wanted per construction or look-alike, by config."""
        return {"nli": self.triples, "distinction": self.lookalike_triples}


def selections(construction: Construction, design: Design) -> list[Selection]:
    """The balanced selections of cells of ``design``.

    Raises:
        EmptySlotError: there is none.
    """
    found = solve(label_matrix(construction, design))
    if not found:
        raise EmptySlotError(
            f"{construction.name}: no balanced contrast set in design {design.name!r}",
            file=construction.document.path,
            line=construction.document.line(["designs", design.name]),
            hint=f"see `cxgen explain {construction.name}`: every kind needs an E, an N and a C, every hypothesis all three equally often",
        )
    return found


def generate_items(construction: Construction, lexicon: Lexicon, request: Request) -> pl.DataFrame:
    """Candidate items of every design and split.

    Returns:
        One row per (premise, hypothesis): ``set_number`` (i64, rank of its set in its design and split), ``design``, ``split``, ``frame``,
        ``wording`` and the columns of the dataset but ``acceptability``. Rows of a set are adjacent, ordered by premise kind and label.
        No premise occurs in two sets.

    Raises:
        EmptySlotError: a slot that nothing fills, a design without balanced sets, or too few distinct sets.
    """
    forms = Forms(lexicon)
    counts = set_counts(construction, request.wanted, request.shares)
    seen: set[str] = set()
    tables: list[pl.DataFrame] = []
    for design, found, split, pools, stream in _parts(construction, lexicon, request):
        needed = counts[design.name, split]
        wanted = math.ceil(needed * request.oversample)
        table = _distinct_sets(construction, design, pools, found, lexicon, forms, stream, wanted, needed, seen)
        tables.append(table.with_columns(split=pl.lit(split)))
    return pl.concat(tables)


_Part = tuple[Design, list[Selection], str, Pools, tuple[str | int, ...]]


def _parts(construction: Construction, lexicon: Lexicon, request: Request) -> Iterator[_Part]:
    """Every design, with its selections, and split, with its candidates and its stream."""
    usable, usual = (frame_verbs(construction, lexicon, request.preset, marked=marked) for marked in (True, False))
    pools = verb_pools(construction, lexicon, request.preset)
    splits = best_partition(pools, usable, usual, request.shares, request.seed, construction.name)
    for design in construction.designs.values():
        found = selections(construction, design)
        for split in SPLITS:
            fillers = design_pools(construction, design, lexicon, splits, split, request.preset, request.marked)
            yield design, found, split, fillers, (request.seed, construction.name, design.name, split)


def wug_items(
    construction: Construction, lexicon: Lexicon, request: Request, wugs: Wugs, modes: Sequence[str], chosen: pl.DataFrame
) -> pl.DataFrame:
    """Contrast sets that `generate_items` makes, with pseudowords.

    Args:
        construction, lexicon, request: as for `generate_items`.
        wugs: the pseudowords.
        modes: which words are replaced, keys of ``MODES``; each gives items of its own.
        chosen: ``design, split, set_number`` of the sets wanted.

    Returns:
        The columns of `generate_items` and ``mode``: what survives of the sets, labels computed anew, mode by mode.
    """
    tables = []
    parts = list(_parts(construction, lexicon, request))
    for mode in modes:
        for design, found, split, pools, stream in parts:
            wanted = chosen.filter((pl.col("design") == design.name) & (pl.col("split") == split))
            numbers = wanted["set_number"].unique().sort().to_numpy()
            table = substituted(construction, design, pools, found, lexicon, stream, numbers, wugs, mode)
            if table.height:
                tables.append(table.with_columns(split=pl.lit(split), mode=pl.lit(mode)))
    return pl.concat(tables) if tables else pl.DataFrame()


def sample_items(
    construction: Construction, lexicon: Lexicon, seed: int, sets: int, wugs: Wugs | None = None, mode: str = ""
) -> pl.DataFrame:
    """Items of ``sets`` contrast sets of every design, over all verbs, for a preview; with pseudowords if ``wugs`` are given."""
    forms = Forms(lexicon)
    tables = []
    for design in construction.designs.values():
        pools = design_pools(construction, design, lexicon, {}, None)
        stream = (seed, construction.name, design.name, "sample")
        found = selections(construction, design)
        table = _distinct_sets(construction, design, pools, found, lexicon, forms, stream, sets, 1, set())
        if wugs is not None:
            numbers = table["set_number"].unique().sort().to_numpy()
            table = substituted(construction, design, pools, found, lexicon, stream, numbers, wugs, mode)
        tables.append(table)
    tables = [table for table in tables if table.height]
    if not tables:
        raise EmptySlotError(
            f"{construction.name}: nothing survives the substitution {mode!r}",
            file=construction.document.path,
            hint=f"see `cxgen explain {construction.name} --wug {mode}`",
        )
    return pl.concat(tables).with_columns(split=pl.lit("sample"))


def _distinct_sets(
    construction: Construction,
    design: Design,
    pools: Pools,
    found: list[Selection],
    lexicon: Lexicon,
    forms: Forms,
    stream: tuple[str | int, ...],
    wanted: int,
    needed: int,
    seen: set[str],
) -> pl.DataFrame:
    """The first ``wanted`` sets of the stream none of whose premises is in ``seen``, which grows.

    Fewer are given where the stream runs dry, but never fewer than ``needed``.
    """
    tables: list[pl.DataFrame] = []
    have = start = 0
    for _ in range(BLOCKS):
        count = max(wanted - have, 1) + 8
        plan = draw_plan(construction, design, pools, lexicon, stream, start, count)
        block = realise_sets(construction, design, plan, pools, found, forms)
        fresh = _fresh(block, seen)[: wanted - have]
        tables.append(block.filter(pl.col("set_number").is_in(fresh)).with_columns(pl.col("set_number").cast(pl.Int64) + start))
        have += len(fresh)
        start += count
        if have >= wanted:
            break
    if have < needed:
        raise EmptySlotError(
            f"{construction.name}: only {have} distinct contrast sets of design {stream[2]!r} in {stream[3]}, {needed} are needed",
            file=construction.document.path,
            line=construction.document.line(["designs", design.name]),
            hint="add words or frames, or lower n_per_construction or the design's weight",
        )
    return pl.concat(tables)


def _fresh(block: pl.DataFrame, seen: set[str]) -> list[int]:
    """Numbers of the sets whose premises are all new, to one another and to ``seen``."""
    fresh: list[int] = []
    premises = block.select("set_number", "premise").unique(maintain_order=True).group_by("set_number", maintain_order=True).agg("premise")
    for number, texts in premises.iter_rows():
        if seen.isdisjoint(texts):
            seen.update(texts)
            fresh.append(number)
    return fresh
