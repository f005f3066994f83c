"""Who does the work: this process, or a pool of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from multiprocessing.pool import Pool
from typing import Protocol, TypeVar

In = TypeVar("In")
Out = TypeVar("Out")
# A worker has one thread for polars, since there are as many workers as cores, and keeps the memory that it has freed: blocks are alike,
# and giving pages back and asking for them again takes a sixth of the time.
WORKER = {
    "POLARS_MAX_THREADS": "1",
    "_RJEM_MALLOC_CONF": "dirty_decay_ms:-1,muzzy_decay_ms:-1",  # polars' allocator
    "MALLOC_MMAP_THRESHOLD_": str(1 << 32),  # the C library's, which numpy uses
    "MALLOC_TRIM_THRESHOLD_": str(1 << 32),
}


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
    def __init__(self, pool: Pool, workers: int, *, whole: bool) -> None:
        self.pool, self.workers, self.whole = pool, workers, whole

    def map(self, function: Callable[[In], Out], jobs: Iterable[In]) -> Iterator[Out]:
        if self.whole:
            return self.pool.imap_unordered(function, jobs)
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
def _as_workers() -> Iterator[None]:
    """Processes that start within have the environment of `WORKER`."""
    before = {name: os.environ.get(name) for name in WORKER}
    os.environ.update(WORKER)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


@contextmanager
def executor(workers: int, *, whole: bool = False) -> Iterator[Executor]:
    """Processes on this machine; this one if one is enough. Leaving the block ends them, so Ctrl-C need only reach the parent.

    Args:
        workers: how many.
        whole: jobs are large and stand alone: each goes to whoever is free, and results come in any order.
    """
    if workers <= 1:
        yield Here()
        return
    with ExitStack() as stack:
        with held(), _as_workers():
            pool = multiprocessing.get_context("spawn").Pool(workers)  # spawn: polars' threads do not survive a fork
            stack.callback(pool.join)
            stack.callback(pool.terminate)
        yield _Pool(pool, workers, whole=whole)
