"""Stage ``generate``: candidate items of every construction."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from cxgen import layout
from cxgen.check import require_sound
from cxgen.constructicon import Construction, load_construction, target_names
from cxgen.files import require_place
from cxgen.generate import Job, Request, Source, Wugs, fill, filling, sources, span
from cxgen.judge import BlockJudge, ShapeJudge
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.stages.params import Params
from cxgen.stages.pool import Executor, executor
from cxgen.tables import track, write_table
from cxgen.trees import Chunks


@dataclass(frozen=True)
class Order:
    """Blocks of one construction to make, wherever that may be.

    Attributes:
        run: the run that they belong to; what a process has loaded for another run is not used, since files may have changed.
    """

    run: str
    project: Project
    request: Request
    name: str
    jobs: tuple[Job, ...]


class Workshop:
    """What a process keeps loaded during a run."""

    def __init__(self, project: Project, request: Request) -> None:
        self.project, self.request = project, request
        self._constructions: dict[str, Construction] = {}
        self._sources: dict[str, list[Source]] = {}
        self._shapes: dict[str, ShapeJudge] = {}
        self._judges: dict[str, BlockJudge] = {}

    @cached_property
    def lexicon(self) -> Lexicon:
        """The project's lexicon."""
        return Lexicon.of(self.project)

    @cached_property
    def chunks(self) -> Chunks:
        """The project's closed-class words."""
        return Chunks.load(*self.project.chunk_files())

    @cached_property
    def wugs(self) -> Wugs:
        """The pseudowords."""
        return Wugs.load(self.project.snapshot)

    def construction(self, name: str) -> Construction:
        """The construction ``name``."""
        if name not in self._constructions:
            self._constructions[name] = load_construction(self.project, name, self.lexicon)
        return self._constructions[name]

    def sources(self, name: str) -> list[Source]:
        """Its sources."""
        if name not in self._sources:
            self._sources[name] = sources(self.construction(name), self.request)
        return self._sources[name]

    def shapes(self, construction: Construction) -> ShapeJudge:
        """Who checks the form of blocks."""
        if construction.name not in self._shapes:
            self._shapes[construction.name] = ShapeJudge(construction, self.chunks)
        return self._shapes[construction.name]

    def judge(self, construction: Construction) -> BlockJudge:
        """Who judges blocks."""
        if construction.name not in self._judges:
            self._judges[construction.name] = BlockJudge(construction, self.chunks)
        return self._judges[construction.name]


_BLOCK_COST = 300  # what a block costs by itself, in sets

_WORKSHOPS: dict[str, Workshop] = {}  # of the current run only


def workshop(run: str, project: Project, request: Request) -> Workshop:
    """What this process keeps for ``run``."""
    if run not in _WORKSHOPS:
        _WORKSHOPS.clear()
        _WORKSHOPS[run] = Workshop(project, request)
    return _WORKSHOPS[run]


def blocks(order: Order) -> list[pl.DataFrame]:
    """The items that ``order`` asks for, and whether their premises have the construction's form (``well_formed``, bool)."""
    shop = workshop(order.run, order.project, order.request)
    sources = shop.sources(order.name)
    return [_block(sources[job.source], job, shop) for job in order.jobs]


def _block(source: Source, job: Job, shop: Workshop) -> pl.DataFrame:
    drawn = source.drawn(span(job.start, job.count))
    items = source.items(drawn)
    if not items.height:
        return items
    strange = np.flatnonzero(~shop.shapes(source.construction).holds(drawn))
    failed = drawn.gather(strange)["premise_id"].to_list()
    return items.with_columns(well_formed=~pl.col("premise_id").is_in(failed))


def candidates(project: Project, names: Sequence[str], request: Request, run: Executor) -> pl.DataFrame:
    """Candidate items of the constructions ``names``, in that order, whoever runs the jobs."""
    token = secrets.token_hex(8)
    shop = workshop(token, project, request)
    fillings = []
    for name in names:
        construction = shop.construction(name)
        require_sound(construction)
        fillings.append(filling(construction, request))

    def made(jobs: list[tuple[int, Job]]) -> Iterator[tuple[int, pl.DataFrame]]:
        shares = batches(jobs, run.workers)
        orders = [Order(token, project, request, names[jobs[share[0]][0]], tuple(jobs[at][1] for at in share)) for share in shares]
        for share, tables in zip(shares, track(run.map(blocks, orders), "generating", len(orders)), strict=True):
            yield from zip(share, tables, strict=True)

    try:
        fill(fillings, made)
    finally:
        _WORKSHOPS.clear()
    return pl.concat([each.table() for each in fillings], how="diagonal")


def batches(jobs: Sequence[tuple[int, Job]], workers: int) -> list[list[int]]:
    """The places of ``jobs`` (number of the construction, block) by construction, longest first: who has one loaded goes on with it.

    Only a construction that would keep one of ``workers`` busy when the others are done is cut up.
    """
    costs = [_BLOCK_COST + job.count for _, job in jobs]
    whole = Counter[int]()
    for (number, _), cost in zip(jobs, costs, strict=True):
        whole[number] += cost
    most = sum(costs) / (2 * workers)
    found: list[list[int]] = []
    total = 0
    for at, (number, _) in enumerate(jobs):
        if not found or number != jobs[found[-1][0]][0] or total + costs[at] > most:
            found.append([])
            total = 0
        found[-1].append(at)
        total += costs[at]
    return sorted(found, key=lambda share: -whole[jobs[share[0]][0]])


def construction_names(project: Project, params: Params) -> list[str]:
    """The constructions that the parameters ask for.

    Raises:
        UnknownNameError: one of them has no file.
    """
    if params.constructions is None:
        return target_names(project)
    for name in params.constructions:
        project.template_file(name)
    return list(params.constructions)


def run(project: Project, params: Params, workers: int | None = None) -> pl.DataFrame:
    """Generate and write the candidates; returns the table."""
    require_place(project.root / layout.CANDIDATES)
    with executor(workers or params.workers) as pool:
        table = candidates(project, construction_names(project, params), params.request, pool)
    write_table(table, project.root / layout.CANDIDATES)
    return table
