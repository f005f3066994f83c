"""How fast, in multiples of floors, from one run: python bench/scale.py [ROWS ...] [--ray]

A busy machine changes ratios less than figures. See bench/README.md for what each one is.
"""

from __future__ import annotations

import os

os.environ["POLARS_MAX_THREADS"] = "1"  # before polars is loaded: one thread for everybody, the floor included

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cxgen.build.params import Params, Request
from cxgen.build.pool import cluster
from cxgen.build.samplers import Run, items_of, samplers
from cxgen.build.shards import Wanted, make_plan, make_shards, single
from cxgen.facade import Constructicon
from cxgen.families import columns_of
from cxgen.project import Project
from cxgen.schema import conform
from cxgen.tables import ROW_GROUP

SETS = 8_192
NAMES = ("caused-motion", "causative-with")
START = ("cxgen --help", "cxgen sample resultative --n 50")


def cpu(run: Callable[[int], object], times: int = 3) -> float:
    """CPU seconds of this process, best of ``times``; ``run`` gets another number each time."""
    taken = []
    for number in range(times):
        start = time.process_time()
        run(number)
        taken.append(time.process_time() - start)
    return min(taken)


def steps(name: str) -> dict[str, Any]:
    """Every step from set numbers to parquet, in rows a second and in floors."""
    sampler = next(
        each for each in samplers(Constructicon()[name].construction, Request()) if (each.config, each.split) == ("nli", "train")
    )
    numbers = np.arange(SETS)
    columns = columns_of("nli")
    finished = conform(items_of(sampler.draw(numbers)), columns)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        floor = cpu(lambda _: finished.write_parquet(path, compression="zstd", row_group_size=ROW_GROUP))
    drawn = cpu(lambda number: sampler.draw(numbers + number * SETS))
    premises = cpu(lambda number: sampler.draw(numbers + number * SETS).texts.hash(0))
    made = cpu(lambda number: conform(items_of(sampler.draw(numbers + number * SETS)), columns))
    seconds = {"floor": floor, "draw": drawn, "draw and hash premises": premises, "draw and render": made}
    rates = {what: round(finished.height / taken) for what, taken in seconds.items()}
    return {"rows a second": rates, "set numbers to parquet, in floors": round((made + floor) / floor, 2)}


def starts() -> dict[str, float]:
    """User CPU of whole processes, best of 7, in multiples of that of importing polars and typer."""

    def user(*command: str) -> float:
        taken = []
        for _ in range(7):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run([sys.executable, *command], check=True, capture_output=True)
            taken.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        return min(taken)

    floor = user("-c", "import polars, typer")
    return {"seconds of the floor": round(floor, 3), **{words: round(user("-m", *words.split()) / floor, 2) for words in START}}


def growth(rows: int) -> dict[str, Any]:
    """``cxgen generate --out`` as a process: seconds, rows a CPU second, and the most memory that any such process has had."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        words = ("generate", NAMES[0], "--n", str(rows), "--out", str(out), "--workers", "1")
        subprocess.run([sys.executable, "-m", "cxgen", *words], check=True, capture_output=True)
        after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
        summary = json.loads((out / "cxgen/summary.json").read_text("utf-8"))
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    made = {"rows": summary["rows"], "bytes a row": round(summary["bytes"] / summary["rows"], 1), "wall": round(wall, 1)}
    repeated = max(source["repeated"] for source in summary["sources"])
    return {**made, "rows a cpu second": round(summary["rows"] / seconds), "peak MB": after.ru_maxrss // 1024, "repeated": repeated}


def ray(rows: int) -> dict[str, float]:
    """Seconds of a run by one and by two Ray workers, its plan included."""
    project, seconds = Project.find(), {}
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as folder, cluster(workers) as pool:
            request = single(Params.read(project.params).request, "nli", rows)
            wanted = Wanted(Run(project, request), NAMES[:1], "nli", Path(folder), 100_000)
            start = time.perf_counter()
            make_shards(wanted, make_plan(wanted, pool), pool)
            seconds[f"{workers} workers"] = round(time.perf_counter() - start, 1)
    return seconds


def main() -> None:
    """Print everything; arguments are sizes for the growth (default: 10,000 and 100,000)."""
    sizes = [int(float(size)) for size in sys.argv[1:] if size != "--ray"] or [10_000, 100_000]
    report: dict[str, Any] = {"polars": pl.__version__, "constructions": {name: steps(name) for name in NAMES}}
    report |= {"starting, in floors": starts(), "growth": [growth(size) for size in sizes]}
    if "--ray" in sys.argv:
        report["ray"] = ray(max(sizes))
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
