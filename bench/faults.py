"""Judging against a hostile server: what each kind of fault does, what all of them together do, and kills, full disks, damaged caches.

    python bench/faults.py [--n 20000] [--share 0.1] [--only KIND ...] [--parts PART ...]

Prints, for each kind (`tests/hostile_server.py`), what three such faults do to a small run, and how many requests a second run against a
healthy server then needs for what is open. Then ``--n`` judgments with ``--share`` of the requests drawn from all kinds, once more with ten
kills, and what a full disk and damaged caches lose. The command itself is killed and cramped in `bench/kills.py`.

    lost         items without any judgment
    doubled      items with more than one
    invented     verdicts that are no choice, or about items that were not asked about
    mistaken     verdicts that the server did not give about that item (or in a draft only)
    again        requests sent although the same request had been answered well
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from cxgen.errors import CxgenError  # noqa: E402
from cxgen.llm import Cache, Job, Limits, Outcome, Prompt, ask  # noqa: E402
from cxgen.llm.client import OpenAIBackend  # noqa: E402
from tests.hostile_server import KINDS, serving  # noqa: E402
from tests.llm_server import answer_to  # noqa: E402

PER_REQUEST, KILLS = 10, 10
PARTS = ("each", "mixed", "killed", "full", "damaged")
KEY = "sk-bench-0815-4711"


def job(count: int) -> Job:
    """So many items."""
    items = {f"{n:08x}": {"premise": f"Anna walked {n} miles.", "hypothesis": f"Anna sat {n} times."} for n in range(count)}
    return Job(Prompt.load(ROOT / "pipelines/prompts/label.yaml", "label"), "m", items, PER_REQUEST)


def run(work: Job, url: str, cache: Path, limits: Limits) -> tuple[Outcome, list[str]]:
    """One whole run, and what it said of the cache."""

    async def all_of_it() -> Outcome:
        backend = OpenAIBackend(url, limits.timeout)
        try:
            return await ask(work, backend, replies, limits)
        finally:
            await backend.close()

    with Cache(cache) as replies:
        return asyncio.run(all_of_it()), replies.told


def verdicts(outcome: Outcome) -> dict[str, str]:
    """Item -> verdict; empty if undecided."""
    return {judgment.item: judgment.value for judgment in outcome.judgments}


def wrong(work: Job, outcome: Outcome) -> dict[str, int]:
    """Lost, doubled, invented and mistaken verdicts."""
    said, choices = verdicts(outcome), work.prompt.choices
    truth = {name: choices[answer_to(shown, work.prompt.key, list(choices))] for name, shown in work.items.items()}
    decided = {name: value for name, value in said.items() if value}
    invented = [name for name, value in decided.items() if name not in truth or value not in choices.values()]
    return {
        "lost": len(truth.keys() - said.keys()),
        "doubled": len(outcome.judgments) - len(said),
        "invented": len(invented),
        "mistaken": sum(value != truth[name] for name, value in decided.items() if name not in invented),
    }


def told(counts: dict[str, int]) -> str:
    """Counts in a line."""
    return ", ".join(f"{name} {number}" for name, number in counts.items())


def requests(log: Path) -> list[list[str]]:
    """What the server logged."""
    return [line.split() for line in log.read_text("utf-8").splitlines()] if log.exists() else []


def digest(work: Job, ids: tuple[str, ...]) -> str:
    """A request as the server logs it."""
    call = work.call(ids)
    messages = [{"role": "system", "content": call.system}, {"role": "user", "content": call.user}]
    return hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()


def again(log: Path) -> int:
    """Requests that were sent although the same request had been answered without a fault before."""
    answered: set[str] = set()
    number = 0
    for kind, request in requests(log):
        number += request in answered
        if kind == "good":
            answered.add(request)
    return number


def each_kind(kinds: list[str], folder: Path) -> None:
    """A small run for each kind, its first three requests answered so; then one against a healthy server."""
    work = job(60)
    limits = Limits(concurrency=3, timeout=1.5)
    print(f"{'kind':<22} requests (ideal 6)  decided at once  wrong  then: requests, open  seconds  failed tries")
    for kind in kinds:
        cache, start = folder / f"{kind}.sqlite", time.monotonic()
        with serving(mix={kind: 1.0}, first=3) as url:
            outcome, _ = run(work, url, cache, limits)
        spent = time.monotonic() - start
        with serving() as url:
            healthy, _ = run(work, url, cache, limits)
        faults = sum(wrong(work, outcome).values()) + sum(wrong(work, healthy).values())
        left = sum(not value for value in verdicts(healthy).values())
        print(
            f"{kind:<22} {outcome.tally.budget.requests:8} {outcome.tally.decided:20} {faults:10}"
            f" {healthy.tally.budget.requests:12}, {left:<8} {spent:7.1f}  {dict(outcome.tally.errors) or ''}",
            flush=True,
        )


def mixed(work: Job, share: float, kinds: list[str], folder: Path) -> Outcome:
    """Everything at once, then a healthy server for what is open."""
    mix, log, cache = {kind: share / len(kinds) for kind in kinds}, folder / "mixed.log", folder / "mixed.sqlite"
    limits = Limits(concurrency=16, timeout=3.0)
    start = time.monotonic()
    with serving(mix=mix, seed=1, latency=0.02, log=str(log)) as url:
        outcome, _ = run(work, url, cache, limits)
    spent = time.monotonic() - start
    sent, ideal = requests(log), len(work.groups())
    drawn = Counter(kind for kind, _ in sent)
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    open_ = Counter(judgment.reason for judgment in outcome.judgments if not judgment.value)
    print(f"\n{len(work.items)} judgments, {len(sent) - drawn['good']} faults of {len(drawn) - 1} kinds, {share:.0%} of the requests")
    print(f"  {told(wrong(work, outcome))}; undecided {dict(open_) or 0}")
    print(f"  requests / ideal {len(sent) / ideal:.3f} ({len(sent)} / {ideal}); again {again(log)}; {spent:.0f} s; {usage} MB at most")
    print(f"  key in the cache: {sum(KEY.encode() in path.read_bytes() for path in folder.glob('mixed.sqlite*'))} times")
    with serving() as url:
        healthy, _ = run(work, url, cache, limits)
    left = sum(not value for value in verdicts(healthy).values())
    print(f"  then a healthy server: {healthy.tally.budget.requests} requests, undecided {left}, {told(wrong(work, healthy))}")
    return healthy


def killed(work: Job, share: float, kinds: list[str], folder: Path, undisturbed: Outcome) -> None:
    """Ten kills at random moments, then to the end."""
    mix, chance = {kind: share / len(kinds) for kind in kinds}, random.Random(1)
    log, cache, result = folder / "killed.log", folder / "killed.sqlite", folder / "result"
    keys = {digest(work, ids): work.call(ids).key for ids in work.groups()}
    kept_again = 0
    with serving(mix=mix, seed=2, latency=0.05, log=str(log)) as url:
        for number in range(KILLS + 1):
            kept, before = _kept(cache), requests(log)
            good = {request for kind, request in before if kind == "good"}  # others are asked again in the same words
            child = os.fork()
            if child == 0:
                outcome, _ = run(work, url, cache, Limits(concurrency=16, timeout=3.0))
                result.write_text(json.dumps(verdicts(outcome)), "utf-8")
                os._exit(0)
            if number < KILLS:
                time.sleep(chance.uniform(0.3, 1.5))
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            kept_again += sum(request in good and keys.get(request) in kept for _, request in requests(log)[len(before) :])
    with serving() as url:
        healthy, _ = run(work, url, cache, Limits())
    same = verdicts(healthy) == verdicts(undisturbed)
    sent, ideal = len(requests(log)), len(work.groups())
    print(f"\nkilled {KILLS} times: the same verdicts: {same}; requests {sent} / {ideal}; sent again though kept {kept_again}")


def _kept(cache: Path) -> set[str]:
    if not cache.exists():
        return set()
    with sqlite3.connect(cache) as database:
        return {key for (key,) in database.execute("SELECT key FROM replies")}


def full_disk(work: Job, folder: Path) -> None:
    """Files may not grow beyond a size, as on a full disk; then they may."""
    cache, log = folder / "full.sqlite", folder / "full.log"
    with serving(latency=0.02, log=str(log)) as url:
        command = [sys.executable, __file__, "--limited", url, str(cache), "--n", str(len(work.items))]
        child = subprocess.run(command, capture_output=True, text=True, check=False)
        outcome, _ = run(work, url, cache, Limits(concurrency=16))
    print(f"\nfull disk: exit {child.returncode}, {child.stdout.strip()!r}; traceback: {'Traceback' in child.stderr}")
    print(f"  then with room: {told(wrong(work, outcome))}; answered well and sent again {again(log)} (at most 16 in flight)")


def limited(work: Job, url: str, cache: Path) -> None:
    """The run on the full disk, in a process of its own."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
    try:
        run(work, url, cache, Limits(concurrency=16))
    except CxgenError as error:
        print(error.message)
        sys.exit(2)


def damaged(work: Job, folder: Path) -> None:
    """Bits of a finished cache are turned over; the run after that."""
    chance, cache = random.Random(3), folder / "whole.sqlite"
    with serving() as url:
        run(work, url, cache, Limits(concurrency=16))
        data = cache.read_bytes()
        for bits in (1, 20, 1_000, 20_000):
            turned = bytearray(data)
            for _ in range(bits):
                turned[chance.randrange(len(turned))] ^= 1 << chance.randrange(8)
            copy = folder / f"damaged{bits}.sqlite"
            copy.write_bytes(turned)
            outcome, said = run(work, url, copy, Limits(concurrency=16))
            print(f"\n{bits} of {8 * len(data)} bits of the cache turned over: {said}")
            print(f"  {told(wrong(work, outcome))}; asked anew {outcome.tally.budget.requests} of {len(work.groups())} requests")


def main() -> None:
    """Run it all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=20_000, help="judgments of the mixed run")
    parser.add_argument("--share", type=float, default=0.1, help="of the requests that are answered with a fault")
    parser.add_argument("--only", nargs="+", default=list(KINDS), choices=KINDS, metavar="KIND", help="these kinds")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS, metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--limited", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    os.environ["OPENAI_API_KEY"] = KEY
    work = job(given.n)
    if given.limited:
        limited(work, given.limited[0], Path(given.limited[1]))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "each" in given.parts:
            each_kind(given.only, folder)
        if "mixed" in given.parts or "killed" in given.parts:
            healthy = mixed(work, given.share, given.only, folder)
        if "killed" in given.parts:
            killed(work, given.share, given.only, folder, healthy)
        if "full" in given.parts:
            full_disk(work, folder)
        if "damaged" in given.parts:
            damaged(work, folder)


if __name__ == "__main__":
    main()
