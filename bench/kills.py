"""The command ``cxgen judge`` killed, on a full disk, and with damaged replies: what it loses, what it pays twice, and what it says.

    python bench/kills.py [--n 480] [--kills 10] [--share 0.1] [--parts PART ...]

A small project is judged by a server on this machine, undisturbed; then copies of it with disturbances. Prints for each:

    same bytes   whether judgments, verdicts and counts are, byte for byte, those of the undisturbed run
    again        requests that were sent although their reply was kept
    in flight    requests that were answered, and whose reply nobody had time to keep
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from cxgen.layout import JUDGMENTS, REPLIES, VERDICTS, metric  # noqa: E402
from cxgen.project import Project  # noqa: E402
from cxgen.stages import generate  # noqa: E402
from cxgen.stages.params import Params  # noqa: E402
from tests.hostile_server import KINDS, serving  # noqa: E402
from tests.mini import write_project  # noqa: E402

KEY = "sk-bench-0815-4711"
CONCURRENCY = 8
PARTS = ("killed", "faults", "full", "damaged")
RESULTS = (JUDGMENTS, VERDICTS, metric("judge"), metric("models"))
COMMAND = (sys.executable, "-c", "from cxgen.cli import main; main()", "judge", "--backend", "openai", "--model", "m", "--export")
TASKS = ("--task", "label", "--task", "acceptability", "--items-per-request", "3", "--concurrency", str(CONCURRENCY))
# Kinds that leave items undecided, or that take long: a run under all of them is `bench/faults.py`.
SWIFT = ("429", "500", "503", "reset", "reset-midway", "close-midway", "text-surrogate", "cut", "missing", "prose", "html", "not-utf8")


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    said: str


def made(folder: Path, count: int) -> Path:
    """A project with about five times ``count`` pairs to judge."""
    write_project(folder, n_per_construction=count, judge={"backend": "openai", "models": ["m"]})
    generate.run(Project(folder), Params.read(folder / "params.yaml"), workers=1)
    return folder


def started(folder: Path, url: str, most: int | None = None) -> subprocess.Popen[str]:
    """The command under way; its files may have ``most`` bytes."""

    def limit() -> None:
        if most is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return subprocess.Popen(
        [*COMMAND, *TASKS, "--base-url", url],
        cwd=folder,
        env={**os.environ, "OPENAI_API_KEY": KEY, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,  # noqa: PLW1509 - it calls nothing that a lock could hold up
    )


def run(folder: Path, url: str, most: int | None = None) -> Ended:
    """The command to its end."""
    process = started(folder, url, most)
    said = process.communicate()[1]
    return Ended(process.returncode, said)


def results(folder: Path) -> list[str]:
    """Digests of what the command writes."""
    return [hashlib.sha256((folder / path).read_bytes()).hexdigest() if (folder / path).exists() else "" for path in RESULTS]


def requests(log: Path) -> list[tuple[str, ...]]:
    """(what was done, digest of the request), as the server logged it."""
    return [tuple(line.split()) for line in log.read_text("utf-8").splitlines()] if log.exists() else []


def kept(folder: Path) -> int:
    """Replies in the cache."""
    path = folder / REPLIES
    if not path.exists():
        return 0
    with sqlite3.connect(path) as database:
        return int(database.execute("SELECT count(*) FROM replies").fetchone()[0])


def strays(folder: Path) -> list[str]:
    """Files that nobody wants: half-written ones, and what lies beside the replies when nobody uses them."""
    return sorted(path.name for path in folder.rglob(".*.*") if path.is_file() and path.suffix not in {".lock", ".sqlite"})


def killed(folder: Path, kills: int, seed: int = 1, mix: dict[str, float] | None = None) -> tuple[list[str], dict[str, object]]:
    """Kill the command at random moments of its work, then let it end; its results, and figures.

    With a ``mix`` of faults, a healthy server has the last word.
    """
    chance, log = random.Random(seed), folder.parent / f"{folder.name}.log"
    total, again, flying, died = 0, 0, 0, 0
    with serving(mix=mix, seed=seed, latency=0.05, log=str(log), steady=True) as url:
        for number in range(kills):
            before, stood = len(requests(log)), kept(folder)
            process = started(folder, url)
            wanted = before + chance.randint(1, 30)
            while process.poll() is None and len(requests(log)) < wanted:
                time.sleep(0.01)
            time.sleep(chance.uniform(0.0, 0.1))
            died += process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.communicate()
            good = sum(what == "good" for what, _ in requests(log)[before:])
            flying += max(0, good - (kept(folder) - stood)) if mix is None else 0
            total = number + 1
        ended = run(folder, url)
    answered = Counter(digest for what, digest in requests(log) if what == "good")
    again = sum(answered.values()) - len(answered) - flying
    with serving(steady=True) as url:
        last = run(folder, url)
    figures: dict[str, object] = {"kills": f"{died} of {total}", "exit": ended.code, "then": last.code}
    figures |= {"requests": len(requests(log)), "strays": strays(folder)}
    if mix is None:
        figures |= {"in flight": flying, "again": again}
    return results(folder), figures


def full(folder: Path, most: int) -> tuple[list[str], dict[str, object]]:
    """Files cannot grow beyond ``most`` bytes; then they can."""
    log = folder.parent / f"{folder.name}.log"
    with serving(latency=0.02, log=str(log), steady=True) as url:
        first = run(folder, url, most)
        found = strays(folder)
        last = run(folder, url)
    sent = Counter(digest for _, digest in requests(log))
    lines = first.said.splitlines()
    said = {"exit": first.code, "lines": len(lines), "said": lines[0] if lines else "", "traceback": "Traceback" in first.said}
    return results(folder), {**said, "strays": found, "then": last.code, "paid twice": sum(sent.values()) - len(sent)}


def damaged(folder: Path, change: str, seed: int = 3) -> tuple[list[str], dict[str, object]]:
    """The replies of a finished run are damaged, and the results gone; the command once more."""
    path, chance, log = folder / REPLIES, random.Random(seed), folder.parent / f"{folder.name}.log"
    for name in (JUDGMENTS, VERDICTS):
        (folder / name).unlink()
    data = bytearray(path.read_bytes())
    if change == "half":
        data = data[: len(data) // 2]
    elif change == "first page":
        data[:4096] = bytes(4096)
    else:
        for _ in range(int(change)):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)
    with serving(log=str(log), steady=True) as url:
        ended = run(folder, url)
    told = [line for line in ended.said.splitlines() if "damaged" in line or line.startswith("cxgen:")]
    return results(folder), {"exit": ended.code, "asked anew": len(requests(log)), "traceback": "Traceback" in ended.said, "said": told}


def undisturbed(folder: Path) -> tuple[list[str], int]:
    """The results without any disturbance, and the number of requests."""
    log = folder.parent / f"{folder.name}.log"
    with serving(log=str(log), steady=True) as url:
        ended = run(folder, url)
    if ended.code:
        raise SystemExit(ended.said)
    return results(folder), len(requests(log))


def tell(what: str, same: bool, figures: dict[str, object]) -> None:
    """A line."""
    print(f"{what}: same bytes {same}; " + "; ".join(f"{name} {value}" for name, value in figures.items()), flush=True)


def main() -> None:
    """Run it all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=480, help="pairs of the project, about")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--share", type=float, default=0.1, help="faults of the second series of kills")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS, metavar="PART", help=f"of {', '.join(PARTS)}")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        base = made(Path(name, "base"), given.n)
        copy = iter(Path(name, f"copy{number}") for number in range(100))
        whole = Path(shutil.copytree(base, next(copy)))
        wanted, number = undisturbed(whole)
        print(f"undisturbed: {number} requests", flush=True)
        if "killed" in given.parts:
            found, figures = killed(Path(shutil.copytree(base, next(copy))), given.kills)
            tell("killed", found == wanted, figures)
        mix = {kind: given.share / len(SWIFT) for kind in SWIFT if kind in KINDS}
        if "faults" in given.parts:
            found, figures = killed(Path(shutil.copytree(base, next(copy))), given.kills, 2, mix)
            tell(f"killed, {given.share:.0%} faults (verdicts and counts only)", found[1:3] == wanted[1:3], figures)
        for most in (0, 50_000, 400_000) if "full" in given.parts else ():
            found, figures = full(Path(shutil.copytree(base, next(copy))), most)
            tell(f"no file beyond {most} bytes", found == wanted, figures)
        for change in ("1", "20", "1000", "half", "first page") if "damaged" in given.parts else ():
            found, figures = damaged(Path(shutil.copytree(whole, next(copy))), change)
            tell(f"replies damaged ({change}; verdicts and counts only)", found[1:3] == wanted[1:3], figures)


if __name__ == "__main__":
    main()
