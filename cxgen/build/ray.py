"""A Ray cluster in place of the processes of one machine. The environment variable RAY_ADDRESS names it; without, Ray starts one here."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from cxgen.build.pool import Executor, In, Out
from cxgen.errors import CxgenError, needs

TRIES = 5  # of a job whose worker died


@contextmanager
def cluster(workers: int) -> Iterator[Executor]:
    """An executor of ``workers`` tasks at a time, each on a CPU of the cluster.

    Raises:
        DataError: Ray is not installed.
    """
    with needs("--engine ray needs the package ray", "ray"):
        import ray

    started = not ray.is_initialized()
    if started:
        ray.init(num_cpus=None, log_to_driver=False, configure_logging=False, include_dashboard=False)
    try:
        yield _Cluster(ray, workers)
    finally:
        if started:
            ray.shutdown()


class _Cluster:
    def __init__(self, ray: Any, workers: int) -> None:
        self.ray, self.workers = ray, workers

    def map(self, function: Callable[[In], Out], jobs: Iterable[In]) -> Iterator[Out]:
        """As the built-in ``map``. A worker that dies costs the job that it was at, which is done again elsewhere."""
        remote = self.ray.remote(num_cpus=1, max_retries=TRIES, runtime_env={"env_vars": {"POLARS_MAX_THREADS": "1"}})(function)
        running: deque[Any] = deque()
        for job in jobs:
            running.append(remote.remote(job))
            if len(running) >= self.workers:
                yield self._result(running.popleft())
        while running:
            yield self._result(running.popleft())

    def _result(self, reference: Any) -> Any:
        try:
            return self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, CxgenError) else error) from None
