"""Who does the work: this process, or a pool of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Protocol, TypeVar

from cxgen.errors import CxgenError

In = TypeVar("In")
Out = TypeVar("Out")
_THREADS = "POLARS_MAX_THREADS"
_PATIENCE = 1.0  # seconds between two looks whether the workers live


class Executor(Protocol):
    """Anything that maps a function over jobs and gives the results in their order: a pool, an engine.

    Attributes:
        workers: how many jobs are done at a time.
    """

    workers: int

    def map(self, function: Callable[[In], Out], jobs: Iterable[In]) -> Iterable[Out]:
        """As the built-in ``map``."""


class Here:
    """Maps in this process."""

    workers = 1

    def map(self, function: Callable[[In], Out], jobs: Iterable[In]) -> Iterator[Out]:
        """As the built-in ``map``."""
        return map(function, jobs)


HERE = Here()


class _Pool:
    def __init__(self, pool: ProcessPoolExecutor, workers: int) -> None:
        self.pool, self.workers = pool, workers

    def map(self, function: Callable[[In], Out], jobs: Iterable[In]) -> Iterator[Out]:
        """As the built-in ``map``.

        Raises:
            CxgenError: a worker died.
        """
        futures = [self.pool.submit(function, job) for job in jobs]
        dead = CxgenError(
            "a worker was killed, perhaps because memory ran out",
            hint="run it again (a run in shards goes on with --resume), if need be with fewer workers",
        )
        for future in futures:
            while not wait([future], _PATIENCE).done:  # a result that a killed worker left half written never comes
                if not all(process.is_alive() for process in self.pool._processes.values()):
                    raise dead
            try:
                yield future.result()
            except BrokenProcessPool as error:
                raise dead from error


@contextmanager
def executor(workers: int) -> Iterator[Executor]:
    """Processes on this machine, with one polars thread each; this process if one is enough. Leaving the block ends them."""
    if workers <= 1:
        yield HERE
        return
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"
    spawn = multiprocessing.get_context("spawn")  # polars' threads do not survive a fork
    pool = ProcessPoolExecutor(workers, spawn, initializer=_leave_interrupts_to_the_parent)
    try:
        yield _Pool(pool, workers)
    finally:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        if pool._result_queue is not None:  # while this end is open, too, what a worker has left half written is waited for
            pool._result_queue._writer.close()  # type: ignore[attr-defined]
        pool.shutdown(cancel_futures=True)
        del os.environ[_THREADS]
        if before is not None:
            os.environ[_THREADS] = before


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
