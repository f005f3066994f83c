"""Processes that work: in order, and with an end. They load this file, which therefore loads little."""

import multiprocessing.connection
import os
import signal
import struct
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from cxgen.build.pool import executor
from cxgen.errors import CxgenError, DataError

ROOT = Path(__file__).resolve().parent.parent


def squared(number):
    return number * number


def sleeping(number):
    time.sleep(60)


PARENT = """
from cxgen.build.pool import executor
from tests.test_pool import sleeping
if __name__ == "__main__":
    with executor(2) as pool:
        list(pool.map(sleeping, range(2)))
"""


def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    (tmp_path / "parent.py").write_text(PARENT)
    told = {"env": {**os.environ, "PYTHONPATH": str(ROOT)}, "stdout": subprocess.PIPE, "start_new_session": True}
    parent = subprocess.Popen([sys.executable, tmp_path / "parent.py"], **told)

    def workers():
        listed = subprocess.run(["ps", "-ww", "-eo", "sid=,args="], check=True, capture_output=True, text=True).stdout
        return [line for line in listed.splitlines() if line.split()[0] == str(parent.pid) and "spawn_main" in line]

    deadline = time.monotonic() + 60
    while len(workers()) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert len(workers()) == 2
    time.sleep(2)  # they have begun
    os.kill(parent.pid, signal.SIGKILL)
    assert parent.communicate(timeout=30)[0] == b"", "nobody holds the pipe any more"
    assert workers() == []


def dying(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def dying_in_a_word(number):
    """Killed while the result is on its way."""
    if number == 3:

        def half(connection, data):
            connection._send(struct.pack("!i", len(data)) + bytes(data[:10]))
            os.kill(os.getpid(), signal.SIGKILL)

        multiprocessing.connection.Connection._send_bytes = half
    return number


def failing(number):
    raise DataError(f"number {number[0]}", hint="another one")


@pytest.mark.parametrize("job", [dying, dying_in_a_word])
def test_results_come_in_the_order_of_the_jobs_until_a_killed_worker_ends_the_run_in_one_line(job):
    before = os.environ.get("POLARS_MAX_THREADS")
    with pytest.raises(CxgenError, match="a worker was killed") as error, executor(2) as pool:
        assert list(pool.map(squared, range(50))) == [number * number for number in range(50)]
        list(pool.map(job, range(10)))
    assert "--resume" in error.value.hint
    assert os.environ.get("POLARS_MAX_THREADS") == before


def no_worker(*_):
    raise BrokenPipeError


def test_workers_that_cannot_begin_end_the_run_in_one_line_too(monkeypatch):
    monkeypatch.setattr(ProcessPoolExecutor, "submit", no_worker)
    with pytest.raises(CxgenError, match="a worker was killed"), executor(2) as pool:
        list(pool.map(squared, range(10)))


def test_an_error_of_a_worker_is_raised_here_and_jobs_too_large_to_wait_in_a_pipe_are_dropped():
    with pytest.raises(DataError, match="number 0") as error, executor(2) as pool:
        list(pool.map(failing, [(number, bytes(3_000_000)) for number in range(20)]))
    assert error.value.hint == "another one"
