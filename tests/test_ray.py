"""Runs on a real Ray cluster of several processes on this machine: the same rows, and a worker that is killed costs its shard only."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from cxgen.build.params import Wug
from cxgen.build.pool import Here
from cxgen.build.request import Request
from cxgen.errors import DataError
from cxgen.project import Project
from cxgen.stages import stream
from cxgen.stages.engines import engine

pytestmark = pytest.mark.ray
REQUEST = stream.single(Request(seed=5), "nli", 2_400)


@pytest.fixture(scope="module")
def cluster():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def begun(folder, out, pool):
    return stream.prepare(stream.Wanted(Project(folder), ["reach"], "nli", REQUEST, out, 130, Wug(share=0.1)), pool)


def files(out):
    return {path.relative_to(out): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def here(mini_source, tmp_path_factory):
    """What this process writes."""
    out = tmp_path_factory.mktemp("here")
    stream.run(begun(mini_source, out, Here()), Here())
    return files(out)


def test_a_cluster_writes_what_one_process_writes(cluster, here, mini_source, tmp_path):
    with engine("ray", 2) as pool:
        summary = stream.run(begun(mini_source, tmp_path, pool), pool)
    assert summary["shards"] == summary["of"] > 15
    assert files(tmp_path) == here


def test_a_worker_that_is_killed_costs_only_its_shard(cluster, here, mini_source, tmp_path):
    """The first process to write a shard is killed, as the system kills one that takes too much memory."""
    plan, killed = begun(mini_source, tmp_path, Here()), []

    def kill():
        for _ in range(6_000):
            workers = [int(each.name) for each in Path("/proc").glob("[0-9]*") if int(each.name) != os.getpid() and writes(each, tmp_path)]
            if workers:
                os.kill(workers[0], signal.SIGKILL)
                killed.append(workers[0])
                return
            time.sleep(0.002)

    hunter = threading.Thread(target=kill)
    hunter.start()
    with engine("ray", 2) as pool:
        stream.run(plan, pool)
    hunter.join()
    assert killed
    left = [path for path in tmp_path.rglob("*") if path.name.startswith(".")]
    for path in left:  # what the killed worker was writing; the next run sweeps it away
        path.unlink()
    assert len(left) <= 1
    assert files(tmp_path) == here


def writes(process, folder):
    """Whether a process (its folder in /proc) has a file below ``folder`` open."""
    try:
        return any(str(file.readlink()).startswith(str(folder / "data")) for file in (process / "fd").iterdir())
    except OSError:
        return False


def test_what_is_wrong_is_told_as_it_is_told_here(cluster, mini_source, tmp_path):
    plan = begun(mini_source, tmp_path, Here())
    (tmp_path / "cxgen/numbers.npz").write_bytes(b"others")
    with engine("ray", 2) as pool, pytest.raises(DataError, match="not the file that the run has written"):
        stream.run(plan, pool)
