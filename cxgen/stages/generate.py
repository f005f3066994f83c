"""Stage ``generate``: candidate items of every construction."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from cxgen.constructicon import load_construction, target_names
from cxgen.generate import Request, generate_items
from cxgen.lexicon import Lexicon
from cxgen.lint import require_sound
from cxgen.project import Project
from cxgen.stages.params import Params
from cxgen.stages.tables import track, write_table

CANDIDATES = Path("outputs/work/candidates.parquet")


def candidates(project: Project, names: Sequence[str], request: Request, workers: int = 1) -> pl.DataFrame:
    """Candidate items of the constructions ``names``, in that order, whatever the number of ``workers``."""
    jobs = [(project, name, request) for name in names]
    return pl.concat(track(_run(jobs, min(workers, len(jobs))), "generating", len(jobs)))


def _run(jobs: list[tuple[Project, str, Request]], workers: int) -> Iterator[pl.DataFrame]:
    if workers <= 1:
        yield from map(_one, jobs)
        return
    # spawn: polars' threads do not survive a fork. Leaving the block ends the workers, so Ctrl-C need only reach the parent.
    with multiprocessing.get_context("spawn").Pool(workers, initializer=_ignore_interrupt) as pool:
        yield from pool.imap(_one, jobs)


def _ignore_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _one(job: tuple[Project, str, Request]) -> pl.DataFrame:
    project, name, request = job
    lexicon = Lexicon.of(project)
    construction = load_construction(project, name, lexicon)
    require_sound(construction, lexicon)
    return generate_items(construction, lexicon, request)


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
    """Generate and write ``outputs/work/candidates.parquet``; returns the table."""
    table = candidates(project, construction_names(project, params), params.request, workers or params.workers)
    write_table(table, project.root / CANDIDATES)
    return table
