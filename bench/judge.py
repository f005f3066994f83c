"""Judging 20,000 items against a local server: what it costs beyond the ideal, and what faults and kills do.

    python bench/judge.py [items]

Prints, from one run: requests sent / ideal and wall time / ideal (requests x latency / concurrency) without faults; lost, doubled and
invented verdicts with every fault injected; then the same killed with -9 ten times at random moments and resumed: whether the result is
that of the undisturbed run, and how many requests were sent again although their answer was kept.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import pickle
import random
import signal
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from cxgen.llm import Cache, Job, Limits, Outcome, Prompt, ask  # noqa: E402
from cxgen.llm.client import OpenAIBackend  # noqa: E402
from tests.llm_server import FAULTS, answer_to, serving  # noqa: E402

PER_REQUEST, CONCURRENCY, LATENCY = 10, 16, 0.2
GOOD = {"answered", "slow", "prose", "no-logprobs", "repeated"}


def job(count: int) -> Job:
    """The items."""
    items = {f"{n:08x}": {"premise": f"Anna walked {n} miles.", "hypothesis": f"Anna sat {n} times."} for n in range(count)}
    return Job(Prompt.load(ROOT / "pipelines/prompts", "label"), "m", items, PER_REQUEST)


async def run(work: Job, url: str, cache: Path, limits: Limits) -> Outcome:
    """One whole run."""
    backend = OpenAIBackend(url, limits.timeout)
    try:
        with Cache(cache) as replies:
            return await ask(work, backend, replies, limits)
    finally:
        await backend.close()


def verdicts(outcome: Outcome) -> dict[str, str]:
    """Item -> verdict."""
    return {judgment.item: judgment.value for judgment in outcome.judgments}


def check(work: Job, outcome: Outcome) -> str:
    """Lost, doubled and invented verdicts."""
    said, choices = verdicts(outcome), list(work.prompt.choices)
    lost = sum(not said.get(name) for name in work.items)
    invented = sum(bool(v) and v != work.prompt.choices[answer_to(work.items[n], work.prompt.key, choices)] for n, v in said.items())
    return f"lost {lost}, doubled {len(outcome.judgments) - len(said)}, invented {invented}"


def digest(work: Job, ids: tuple[str, ...]) -> str:
    """As the server logs it."""
    call = work.call(ids)
    messages = [{"role": "system", "content": call.system}, {"role": "user", "content": call.user}]
    return hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()


def main() -> None:
    """Run all three."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    work, groups = job(count), job(count).groups()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serving(latency=LATENCY) as url:
            start = time.monotonic()
            outcome = asyncio.run(run(work, url, folder / "clean.sqlite", Limits(concurrency=CONCURRENCY)))
            wall, ideal = time.monotonic() - start, len(groups) * LATENCY / CONCURRENCY
        sent = outcome.tally.budget.requests
        ratios = f"requests / ideal {sent / len(groups):.3f}; wall / ideal {wall / ideal:.3f} ({wall:.1f} s)"
        print(f"no faults: {check(work, outcome)}; {ratios}")

        faults = {fault: 0.003 if fault == "hang" else 0.02 for fault in FAULTS}
        limits = Limits(concurrency=CONCURRENCY, timeout=2.0, tries=10)
        with serving(latency=LATENCY / 10, faults=faults, seed=1) as url:
            outcome = asyncio.run(run(work, url, folder / "faults.sqlite", limits))
        ratio = outcome.tally.budget.requests / len(groups)
        print(f"faults: {check(work, outcome)}; requests / ideal {ratio:.3f}; {dict(outcome.tally.errors)}")

        with serving(latency=LATENCY / 10, faults=faults, seed=2, log=str(folder / "log")) as url:
            again = kill_and_resume(work, url, limits, folder)
        same = pickle.loads((folder / "result").read_bytes()) == verdicts(outcome)
        logged = len(_lines(folder / "log"))
        print(f"killed ten times: the same result: {same}; answered requests sent again: {again}; requests logged {logged}")


def kill_and_resume(work: Job, url: str, limits: Limits, folder: Path) -> int:
    """Kill a run ten times, then let it end, with its verdicts in ``folder / "result"``; how many answered requests were sent again."""
    log, cache = folder / "log", folder / "killed.sqlite"
    chance, again, of = random.Random(1), 0, {digest(work, ids): work.call(ids).key for ids in work.groups()}
    for attempt in range(11):
        kept, before = _kept(cache), _lines(log)
        child = os.fork()
        if child == 0:
            (folder / "result").write_bytes(pickle.dumps(verdicts(asyncio.run(run(work, url, cache, limits)))))
            os._exit(0)
        if attempt < 10:
            time.sleep(chance.uniform(0.5, 3.0))
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        # A reply that could not be used is asked for again, in the same words; one that could must not be.
        useless = {line[1] for line in _lines(log) if line[0] not in GOOD}
        again += sum(of.get(line[1]) in kept for line in _lines(log)[len(before) :] if line[1] not in useless)
    return again


def _kept(cache: Path) -> set[str]:
    if not cache.exists():
        return set()
    with sqlite3.connect(cache) as database:
        return {key for (key,) in database.execute("SELECT key FROM replies")}


def _lines(log: Path) -> list[list[str]]:
    return [line.split() for line in log.read_text("utf-8").splitlines()] if log.exists() else []


if __name__ == "__main__":
    main()
