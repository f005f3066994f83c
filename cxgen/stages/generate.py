"""Stage ``generate``: candidate items of every construction."""

from __future__ import annotations

import multiprocessing
import secrets
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import resource_tracker
from multiprocessing.pool import Pool
from typing import Protocol, TypeVar

import polars as pl

from cxgen import layout
from cxgen.annotate import Chunks
from cxgen.constructicon import Construction, load_construction, target_names
from cxgen.generate import Job, Request, Source, fill, filling, make, sources
from cxgen.judge import FormJudge
from cxgen.lexicon import Lexicon
from cxgen.lint import require_sound
from cxgen.project import Project, require_place
from cxgen.stages.params import Params
from cxgen.tables import track, write_table

In = TypeVar("In")
Out = TypeVar("Out")


class Executor(Protocol):
    """Anything that maps a function over jobs and gives the results in their order: a pool, an engine."""

    def map(self, function: Callable[[In], Out], jobs: Iterable[In]) -> Iterable[Out]:
        """As the built-in ``map``."""


class Here:
    """Maps in this process."""

    def map(self, function: Callable[[In], Out], jobs: Iterable[In]) -> Iterator[Out]:
        """As the built-in ``map``."""
        return map(function, jobs)


class _Pool:
    def __init__(self, pool: Pool, workers: int) -> None:
        self.pool, self.workers = pool, workers

    def map(self, function: Callable[[In], Out], jobs: Iterable[In]) -> Iterator[Out]:
        jobs = list(jobs)  # neighbouring jobs are of one construction: whoever has it loaded goes on with it
        return self.pool.imap(function, jobs, chunksize=max(1, -(-len(jobs) // (4 * self.workers))))


@contextmanager
def held() -> Iterator[None]:
    """Ctrl-C waits until the block ends, and processes that start within never hear it: they inherit that it is blocked."""
    resource_tracker.ensure_running()  # starting it within would lift the block
    came = threading.Event()
    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, lambda *_: came.set()) if main else None  # other threads may still receive it
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if main:
            signal.signal(signal.SIGINT, before)
        if came.is_set():
            signal.raise_signal(signal.SIGINT)


@contextmanager
def executor(workers: int) -> Iterator[Executor]:
    """Processes on this machine; this one if one is enough. Leaving the block ends them, so Ctrl-C need only reach the parent."""
    if workers <= 1:
        yield Here()
        return
    with ExitStack() as stack:
        with held():
            pool = multiprocessing.get_context("spawn").Pool(workers)  # spawn: polars' threads do not survive a fork
            stack.callback(pool.join)
            stack.callback(pool.terminate)
        yield _Pool(pool, workers)


@dataclass(frozen=True)
class Order:
    """A block to make, wherever that may be.

    Attributes:
        run: the run that it belongs to; what a process has loaded for another run is not used, since files may have changed.
    """

    run: str
    project: Project
    request: Request
    name: str
    job: Job


class _Workshop:
    """What a process keeps loaded during a run."""

    def __init__(self, project: Project, request: Request) -> None:
        self.project, self.request = project, request
        self._sources: dict[str, list[Source]] = {}
        self._forms: dict[str, FormJudge] = {}

    @cached_property
    def lexicon(self) -> Lexicon:
        return Lexicon.of(self.project)

    def sources(self, name: str) -> list[Source]:
        if name not in self._sources:
            self._sources[name] = sources(load_construction(self.project, name, self.lexicon), self.request)
        return self._sources[name]

    def form(self, construction: Construction) -> FormJudge:
        if construction.name not in self._forms:
            self._forms[construction.name] = FormJudge(construction, Chunks.load(*self.project.chunk_files()))
        return self._forms[construction.name]


_WORKSHOPS: dict[str, _Workshop] = {}  # of the current run only


def block(order: Order) -> pl.DataFrame:
    """The items that ``order`` asks for, and whether their premises have the construction's form (``well_formed``, bool)."""
    if order.run not in _WORKSHOPS:
        _WORKSHOPS.clear()
        _WORKSHOPS[order.run] = _Workshop(order.project, order.request)
    workshop = _WORKSHOPS[order.run]
    source = workshop.sources(order.name)[order.job.source]
    items = make(source, order.job)
    if not items.height:
        return items
    failed = workshop.form(source.construction).failures(items)["premise_id"].to_list()
    return items.with_columns(well_formed=~pl.col("premise_id").is_in(failed))


def candidates(project: Project, names: Sequence[str], request: Request, run: Executor) -> pl.DataFrame:
    """Candidate items of the constructions ``names``, in that order, whoever runs the jobs."""
    token, lexicon = secrets.token_hex(8), Lexicon.of(project)
    fillings = []
    for name in names:
        construction = load_construction(project, name, lexicon)
        require_sound(construction)
        fillings.append(filling(construction, request))

    def blocks(jobs: list[tuple[int, Job]]) -> Iterator[pl.DataFrame]:
        orders = [Order(token, project, request, names[number], job) for number, job in jobs]
        return track(run.map(block, orders), "generating", len(orders))

    try:
        fill(fillings, blocks)
    finally:
        _WORKSHOPS.clear()
    return pl.concat([each.table() for each in fillings], how="diagonal")


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
