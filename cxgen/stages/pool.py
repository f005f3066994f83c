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
_THREADS = "POLARS_MAX_THREADS"


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


class _Pool:
    def __init__(self, pool: Pool, workers: int, *, whole: bool) -> None:
        self.pool, self.workers, self.whole = pool, workers, whole

    def map(self, function: Callable[[In], Out], jobs: Iterable[In]) -> Iterator[Out]:
        if self.whole:
            return self.pool.imap_unordered(function, jobs)
        return self.pool.imap(function, jobs)


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
def _one_thread_each() -> Iterator[None]:
    """Processes that start within have one thread each for polars: there are as many of them as cores."""
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        del os.environ[_THREADS]
        if before is not None:
            os.environ[_THREADS] = before


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
        with held(), _one_thread_each():
            pool = multiprocessing.get_context("spawn").Pool(workers)  # spawn: polars' threads do not survive a fork
            stack.callback(pool.join)
            stack.callback(pool.terminate)
        yield _Pool(pool, workers, whole=whole)


def in_order(run: Executor, function: Callable[[tuple[int, In]], tuple[int, Out]], jobs: Iterable[In]) -> Iterator[Out]:
    """The results of ``function`` in the order of ``jobs``, whatever order ``run`` gives them in; it gets each job with its number."""
    waiting: dict[int, Out] = {}
    due = 0
    for number, result in run.map(function, enumerate(jobs)):
        waiting[number] = result
        while due in waiting:
            yield waiting.pop(due)
            due += 1
