"""A pool of processes whose workers die."""

from __future__ import annotations

import multiprocessing.connection
import os
import struct

import pytest

from cxgen.errors import CxgenError
from cxgen.stages.pool import executor


def dies(number):
    """Kills its process, at once or while it gives its result."""
    if number == 5:
        os.kill(os.getpid(), 9)
    if number == 7:

        def half(connection, data):
            connection._send(struct.pack("!i", len(data)) + bytes(data[:10]))
            os.kill(os.getpid(), 9)

        multiprocessing.connection.Connection._send_bytes = half
    return number


@pytest.mark.parametrize("numbers", [range(6), range(6, 30)], ids=["at once", "while it gives its result"])
def test_a_dead_worker_ends_the_run_in_one_line(numbers):
    with pytest.raises(CxgenError, match="a worker was killed"), executor(2) as pool:
        list(pool.map(dies, numbers))


def test_results_come_in_the_order_of_the_jobs():
    with executor(2) as pool:
        assert list(pool.map(abs, range(-20, 0))) == list(range(20, 0, -1))
