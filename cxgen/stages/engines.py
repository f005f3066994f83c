"""Who makes the shards of a streamed run: processes of this machine, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from cxgen.build.pool import Executor, In, Out, executor
from cxgen.errors import CxgenError, needs

TRIES = 5  # of a shard whose worker died


@contextmanager
def engine(name: str, workers: int) -> Iterator[Executor]:
    """An executor that gives results as they come: jobs must not depend on each other's order.

    Args:
        name: ``local`` or ``ray``.
        workers: processes of this machine; of Ray, tasks at a time, each on a CPU of the cluster.

    Raises:
        DataError: Ray is not installed.
    """
    if name == "local":
        with executor(workers) as pool:
            yield pool
        return
    with needs("--engine ray needs the package ray", "ray"):
        import ray

    started = not ray.is_initialized()
    if started:  # RAY_ADDRESS names a cluster; without it one of this machine's processes is started
        ray.init(num_cpus=None, log_to_driver=False, configure_logging=False, include_dashboard=False)
    try:
        yield _Ray(ray, workers)
    finally:
        if started:
            ray.shutdown()


class _Ray:
    """Maps on a Ray cluster. A worker that dies costs the job it was at, which is done again elsewhere."""

    def __init__(self, ray: Any, workers: int) -> None:
        self.ray, self.workers = ray, workers

    def map(self, function: Callable[[In], Out], jobs: Iterable[In]) -> Iterator[Out]:
        """Results as they come; as many jobs are under way as there are workers."""
        threads = {"env_vars": {"POLARS_MAX_THREADS": "1"}}
        remote = self.ray.remote(num_cpus=1, max_retries=TRIES, runtime_env=threads)(function)
        waiting, running = iter(jobs), set()
        while True:
            for job in waiting:
                running.add(remote.remote(job))
                if len(running) >= self.workers:
                    break
            if not running:
                return
            done, rest = self.ray.wait(list(running), num_returns=1)
            running = set(rest)
            yield from map(self._result, done)

    def _result(self, reference: Any) -> Any:
        try:
            return self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, CxgenError) else error) from None
