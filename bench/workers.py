"""One Ray worker and two, each held to a core of its own, over the same run; ratios of one run, as JSON: python bench/workers.py [ROWS]

A worker left to itself takes more than the one CPU that Ray lends it: it encodes a block in one thread while it says the next one in
another. So two of them on two cores cannot be twice as fast as one; how fast a core of its own makes each is what more machines give.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cxgen.build.params import Params
from cxgen.build.pool import Executor, In, Out
from cxgen.project import Project
from cxgen.stages import stream
from cxgen.stages.engines import engine

CONSTRUCTION, SHARD = "caused-motion", 500_000


class Held:
    """Gives every job a core of its own while it runs, out of as many as there are workers."""

    def __init__(self, inner: Executor, locks: Path, cores: list[int]) -> None:
        self.inner, self.locks, self.cores, self.workers = inner, locks, cores, inner.workers

    def map(self, function: Callable[[In], Out], jobs: Iterable[In]) -> Iterable[Out]:
        """As the built-in ``map``."""
        locks, cores = self.locks, self.cores

        def run(job: In) -> Out:
            with core(locks, cores):
                return function(job)

        return self.inner.map(run, jobs)


@contextmanager
def core(locks: Path, cores: list[int]) -> Iterator[None]:
    """All threads of this process on the first of ``cores`` that no other process has."""
    before = os.sched_getaffinity(0)
    files = {number: (locks / str(number)).open("w") for number in cores}
    while True:
        for number, file in files.items():
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            hold({number})
            try:
                yield
            finally:
                hold(before)
                for each in files.values():
                    each.close()
            return
        time.sleep(0.001)


def hold(cores: set[int]) -> None:
    """This process's threads on ``cores``."""
    for thread in Path("/proc/self/task").iterdir():
        os.sched_setaffinity(int(thread.name), cores)


def timed(workers: int, rows: int, *, held: bool) -> dict[str, Any]:
    """Seconds of a run, loading and the survey included, and what was written."""
    project = Project.find()
    request = stream.single(Params.read(project.params).request, "nli", rows)
    with tempfile.TemporaryDirectory() as folder:
        out, locks = Path(folder) / "out", Path(folder) / "locks"
        locks.mkdir()
        start = time.perf_counter()
        with engine("ray", workers) as pool:
            run: Executor = Held(pool, locks, sorted(os.sched_getaffinity(0))[:workers]) if held else pool
            up = time.perf_counter()
            plan = stream.prepare(stream.Wanted(project, [CONSTRUCTION], "nli", request, out, SHARD), run)
            surveyed = time.perf_counter()
            made = stream.run(plan, run)
            end = time.perf_counter()
        digest = hashlib.blake2b()
        for path in sorted(out.rglob("*.parquet")):
            digest.update(path.read_bytes())
    parts = {"survey": surveyed - up, "shards": end - surveyed, "all": end - start}
    return {**{name: round(seconds, 1) for name, seconds in parts.items()}, "rows": made["rows"], "bytes": digest.hexdigest()[:16]}


def main() -> None:
    """Print everything; the argument is how many rows to ask for (default: a million)."""
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    report: dict[str, Any] = {}
    for name, held in (("each on its core", True), ("as Ray runs them", False)):
        one, two = (timed(workers, rows, held=held) for workers in (1, 2))
        gains = {f"gain, {part}": round(one[part] / two[part], 2) for part in ("survey", "shards", "all")}
        report[name] = {"one": one, "two": two, **gains, "same bytes": one["bytes"] == two["bytes"]}
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
