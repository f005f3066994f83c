"""How fast, in multiples of floors, from one run: python bench/scale.py [ROWS ...] [--ray] [--stages]

A busy machine changes ratios less than figures. See bench/README.md for what each one is.
"""

from __future__ import annotations

import os

os.environ["POLARS_MAX_THREADS"] = "1"  # before polars is loaded: one thread for everybody, the floor included

import json
import multiprocessing
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml

from cxgen.build.params import Params, Request
from cxgen.build.pool import Executor, cluster, executor
from cxgen.build.run import choose
from cxgen.build.samplers import Run, candidates, items_of, samplers, samplers_of
from cxgen.build.shards import Wanted, make_plan, make_shards, single
from cxgen.facade import Constructicon
from cxgen.families import columns_of
from cxgen.project import Project
from cxgen.schema import conform
from cxgen.tables import ROW_GROUP

SETS = 8_192
NAMES = ("caused-motion", "causative-with")
START = ("cxgen --help", "cxgen sample resultative --n 50")


def cpu(run: Callable[[int], object], times: int = 7) -> float:
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
    floor, draws = written(finished), sampler.draw(numbers)
    texts = cpu(lambda _: (replace(draws).texts, replace(draws).statements()))
    words = [
        draws.forms.lexicon.table["lemma"].sample(SETS * (len(draws.design.kinds) + len(draws.design.rules)), with_replacement=True)
    ] * 5
    loop = cpu(lambda _: [f"The {a} {b} the {c} {d} the {e}." for a, b, c, d, e in zip(*map(pl.Series.to_list, words), strict=True)])
    drawn = cpu(lambda number: sampler.draw(numbers + number * SETS))
    premises = cpu(lambda number: sampler.draw(numbers + number * SETS).texts.hash(0))
    made = cpu(lambda number: conform(items_of(sampler.draw(numbers + number * SETS)), columns))
    seconds = {"floor": floor, "draw": drawn, "draw and hash premises": premises, "draw and render": made}
    rates = {what: round(finished.height / taken) for what, taken in seconds.items()}
    floors = {"set numbers to parquet, in floors": round((made + floor) / floor, 2), "judged rows to parquet, in floors": judged(name)}
    return {"rows a second": rates, **floors, "sentences, in f-string loops": round(texts / loop, 2)}


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


def judged(name: str, rows: int = 200_000) -> float:
    """What a build makes of the clauses that judges have accepted, in multiples of writing it: sets drawn, compared, chosen, finished."""
    run = Run(Project.find(), single(Params.read(Project.find().params).request, "nli", rows))
    made, columns, finished = samplers_of(run, name), columns_of("nli"), []

    def build(_: int) -> None:
        accepted = candidates(made, run.request, head_room=False)
        finished.append(conform(choose(accepted, made, run.request), columns))

    taken = cpu(build)
    return round(1 + taken / written(finished[-1]), 2)


def written(finished: pl.DataFrame) -> float:
    """The floor: CPU seconds of writing finished rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        return cpu(lambda _: finished.write_parquet(path, compression="zstd", row_group_size=ROW_GROUP))


def process(*command: str, **options: Any) -> dict[str, float]:
    """Seconds, CPU seconds and peak memory (of its largest process) of a command, its children included."""
    start = time.perf_counter()
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise subprocess.CalledProcessError(running.returncode, command)
    wall = time.perf_counter() - start
    return {"wall": round(wall, 1), "cpu": round(used.ru_utime + used.ru_stime, 1), "peak MB": used.ru_maxrss // 1024}


def growth(rows: int) -> dict[str, Any]:
    """``cxgen generate --out`` as a process."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        used = process(sys.executable, "-m", "cxgen", "generate", NAMES[0], "--n", str(rows), "--out", str(out), "--workers", "1")
        summary = json.loads((out / "cxgen/summary.json").read_text("utf-8"))
    repeated = max(source["repeated"] for source in summary["sources"])
    made = {"rows": summary["rows"], "bytes a row": round(summary["bytes"] / summary["rows"], 1), "repeated": repeated}
    return {**made, **used, "rows a cpu second": round(summary["rows"] / used["cpu"])}


def speedup(engine: Callable[[int], AbstractContextManager[Executor]], rows: int) -> dict[str, float]:
    """Seconds of a run by one and by two workers, its plan and their start included, and how many times as fast two are. One worker has
    one processor: with two, polars writes rows on the other while the next ones are made, 1.6 processors in all."""
    project, seconds, processors = Project.find(), [], sorted(os.sched_getaffinity(0))
    for workers in (1, 2):
        os.sched_setaffinity(0, processors[:workers])
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            with engine(workers) as pool:
                request = single(Params.read(project.params).request, "nli", rows)
                wanted = Wanted(Run(project, request), NAMES[:1], "nli", Path(folder), max(rows // 20, 1_000))
                make_shards(wanted, make_plan(wanted, pool), pool)
            seconds.append(round(time.perf_counter() - start, 1))
    os.sched_setaffinity(0, processors)
    return {"1 worker": seconds[0], "2 workers": seconds[1], "times": round(seconds[0] / seconds[1], 2)}


def _counted(number: int) -> int:
    """Something that takes a processor a second or two, and nothing else."""
    return sum(value * value % 7 for value in range(10_000_000 + number))


def ceiling() -> float:
    """How many times as fast two processes count as one does: what no two workers can exceed here, whatever they share."""
    seconds = []
    for workers in (1, 2):
        with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
            list(pool.map(time.sleep, [0.5] * workers))
            start = time.perf_counter()
            list(pool.map(_counted, (0, 0)))
        seconds.append(time.perf_counter() - start)
    return round(seconds[0] / seconds[1], 2)


def stages() -> dict[str, Any]:
    """The stages of ``dvc repro``, one after the other in a copy of the project without results; each as a share of all."""
    root = Project.find().root
    pipeline, used = yaml.safe_load((root / "dvc.yaml").read_text("utf-8")), {}
    env = {name: value for name, value in os.environ.items() if name != "POLARS_MAX_THREADS"} | {"PYTHONPATH": str(root)}
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(root, Path(folder) / "copy", ignore=shutil.ignore_patterns(".*", "outputs"))
        for name, stage in pipeline["stages"].items():
            words = stage["cmd"].removeprefix("${cxgen} ").split()
            used[name] = process(sys.executable, "-m", "cxgen", *words, cwd=copy, env=env)
    total = sum(each["wall"] for each in used.values())
    return {name: {**each, "share": round(each["wall"] / total, 3)} for name, each in used.items()}


def main() -> None:
    """Print everything; arguments are sizes for the growth (default: 10,000 and 100,000)."""
    sizes = [int(float(size)) for size in sys.argv[1:] if not size.startswith("--")] or [10_000, 100_000]
    report: dict[str, Any] = {"polars": pl.__version__, "starting, in floors": starts()}
    report["growth"] = [growth(size) for size in sizes]  # while this process is small: a child's peak is its parent's at least
    if "--stages" in sys.argv:
        report["stages"] = stages()
    report["constructions"] = {name: steps(name) for name in NAMES}
    report["two processes that only count, times"] = ceiling()
    report["workers"] = speedup(executor, max(sizes))
    if "--ray" in sys.argv:
        report["ray"] = speedup(cluster, max(sizes))
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
