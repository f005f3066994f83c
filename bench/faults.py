"""Asking under faults: what all kinds of them together do, and kills: `python bench/faults.py [--n 20000] [--share 0.1] [--kills 10]`.

So many judgments are asked of a local server that answers a share of the requests with a fault (`tests/hostile_server.py`), then of a
healthy one; once more with the process killed at random moments. Prints

    lost, doubled    items without a judgment, with more than one
    wrong            verdicts that the server did not give about that item
    again            requests sent although the same request had been answered well
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from cxgen.asking import Limits, Outcome  # noqa: E402
from cxgen.asking.prompts import KEY  # noqa: E402
from tests.hostile_server import KINDS, serving  # noqa: E402
from tests.test_asking import SECRET, expected, lines, pairs, run, values  # noqa: E402

BUSY = Limits(concurrency=16, timeout=3.0, tries=10)


def said(outcome: Outcome, items: dict[str, dict[str, str]]) -> str:
    """Lost, doubled and wrong judgments, and those that are open."""
    found, truth = values(outcome), expected(items)
    wrong = sum(bool(value) and value != truth.get(name) for name, value in found.items())
    open_ = Counter(judgment.reason for judgment in outcome.judgments if not judgment.value)
    doubled = len(outcome.judgments) - len(found)
    return f"lost {len(items.keys() - found.keys())}, doubled {doubled}, wrong {wrong}, undecided {dict(open_) or 0}"


def again(log: Path) -> int:
    """Requests that were sent although the same one had been answered without a fault before."""
    answered: set[str] = set()
    number = 0
    for kind, request in map(str.split, lines(log)):
        number += request in answered
        answered |= {request} if kind == "good" else set()
    return number


def main() -> None:
    """Run it all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=20_000, help="judgments")
    parser.add_argument("--share", type=float, default=0.1, help="of the requests that are answered with a fault")
    parser.add_argument("--kills", type=int, default=10)
    given = parser.parse_args()
    os.environ[KEY] = SECRET
    items, mix = pairs(given.n), {kind: given.share / len(KINDS) for kind in KINDS}
    with tempfile.TemporaryDirectory() as name:
        log, kept = Path(name, "log"), Path(name, "mixed.jsonl")
        start = time.monotonic()
        with serving(mix=mix, seed=1, latency=0.02, log=str(log)) as url:
            outcome = run(url, items, kept, BUSY)
        seconds, ideal = time.monotonic() - start, given.n // 10
        print(f"{given.n} judgments, {given.share:.0%} faults of {len(KINDS)} kinds: {said(outcome, items)}")
        leaked = SECRET.encode() in kept.read_bytes().lower()
        print(f"  requests / ideal {len(lines(log)) / ideal:.3f}; again {again(log)}; {seconds:.0f} s; key kept: {leaked}")
        with serving() as url:
            outcome = run(url, items, kept)
        print(f"  then a healthy server: {outcome.summary['requests']} requests, {said(outcome, items)}")
        log, kept, chance = Path(name, "killed.log"), Path(name, "killed.jsonl"), random.Random(1)
        with serving(mix=mix, seed=2, latency=0.05, log=str(log)) as url:
            for _ in range(given.kills):
                child = os.fork()
                if child == 0:
                    run(url, items, kept, BUSY)
                    os._exit(0)
                time.sleep(chance.uniform(0.3, 1.5))
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        with serving(log=str(log)) as url:
            last = run(url, items, kept)
        print(f"killed {given.kills} times: {said(last, items)}; again {again(log)} (at most 16 in flight at each kill)")


if __name__ == "__main__":
    main()
