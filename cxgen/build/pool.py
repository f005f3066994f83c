"""Who does the work: this process, a pool of them, or a Ray cluster."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, TypeVar

from cxgen.errors import CxgenError, needs

In = TypeVar("In")
Out = TypeVar("Out")
_THREADS = "POLARS_MAX_THREADS"
_PATIENCE = 1.0  # seconds between two looks whether the workers live
_AHEAD = 64  # jobs that are given out before the first result is taken: what waits is held in memory
_CLOSES = sys.version_info >= (3, 11, 6) and sys.version_info[:3] != (3, 12, 0)  # whether Python does it itself when a worker has died
_TRIES = 5  # of a Ray job whose worker died


class Executor:
    """Maps a function over jobs and gives the results in their order: in this process, unless a subclass has other workers."""

    def map(self, function: Callable[[In], Out], jobs: Iterable[In]) -> Iterator[Out]:
        """As the built-in ``map``; other workers begin at once, and `CxgenError` says that one died."""
        return map(function, jobs)


HERE = Executor()


class _Pool(Executor):
    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def map(self, function: Callable[[In], Out], jobs: Iterable[In]) -> Iterator[Out]:
        begun = (self._pool.submit(function, job) for job in jobs)
        with _alive():
            with _undisturbed():  # the first job starts the workers
                first = deque(islice(begun, 1))
            first.extend(islice(begun, _AHEAD - 1))
        return self._results(first, begun)

    def _results(self, futures: deque[Future[Out]], others: Iterator[Future[Out]]) -> Iterator[Out]:
        while futures:
            future = futures.popleft()
            with _alive():
                while not wait([future], _PATIENCE).done:  # a result that a killed worker left half written never comes
                    if not all(process.is_alive() for process in self._pool._processes.values()):
                        raise BrokenProcessPool
                result = future.result()
                futures.extend(islice(others, 1))
            yield result


@contextmanager
def _alive() -> Iterator[None]:
    try:
        yield
    except (BrokenProcessPool, BrokenPipeError) as error:  # a pipe: it died before it had begun, or could not
        hint = "run it again (a run in shards goes on with --resume), if need be with fewer workers"
        raise CxgenError("a worker was killed, perhaps because memory ran out", hint=hint) from error


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Interrupts wait. Processes that are started meanwhile never get one: else those that are loading Python say what they were at."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(parent: int) -> None:
    """A worker leaves interrupts to its parent, and ends when that is gone: who is killed cannot end others."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=watch, daemon=True).start()


class _Cluster(Executor):
    def __init__(self, ray: Any, workers: int) -> None:
        self._ray, self._workers = ray, workers

    def map(self, function: Callable[[In], Out], jobs: Iterable[In]) -> Iterator[Out]:
        """A worker that dies costs the job that it was at, which is done again elsewhere."""
        remote = self._ray.remote(num_cpus=1, max_retries=_TRIES, runtime_env={"env_vars": {_THREADS: "1"}})(function)
        running: deque[Any] = deque()
        for job in jobs:
            running.append(remote.remote(job))
            if len(running) >= self._workers:
                yield self._result(running.popleft())
        while running:
            yield self._result(running.popleft())

    def _result(self, reference: Any) -> Any:
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, CxgenError) else error) from None


@contextmanager
def executor(workers: int) -> Iterator[Executor]:
    """Processes on this machine, with one polars thread each; this process if one is enough. Leaving the block ends them."""
    if workers <= 1:
        yield HERE
        return
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"
    spawn = multiprocessing.get_context("spawn")  # polars' threads do not survive a fork
    pool = ProcessPoolExecutor(workers, spawn, _begin, (os.getpid(),))
    try:
        yield _Pool(pool)
    finally:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        if pool._result_queue is not None:  # while this end is open, too, what a worker has left half written is waited for
            pool._result_queue._writer.close()  # type: ignore[attr-defined]
        calls = getattr(pool, "_call_queue", None)
        if calls is not None and not _CLOSES:  # else the thread that hands out jobs writes to nobody for ever
            with suppress(OSError):
                calls._reader.close()
        pool.shutdown(cancel_futures=True)
        del os.environ[_THREADS]
        if before is not None:
            os.environ[_THREADS] = before


@contextmanager
def cluster(workers: int) -> Iterator[Executor]:
    """Tasks of a Ray cluster, ``workers`` at a time. RAY_ADDRESS names it; without, Ray starts one here."""
    with needs("--engine ray needs the package ray", "ray"):
        import ray

    started = not ray.is_initialized()
    if started:
        ray.init(log_to_driver=False, configure_logging=False, include_dashboard=False)
    try:
        yield _Cluster(ray, workers)
    finally:
        if started:
            ray.shutdown()
