"""Damaged and hostile files: one line, exit code 2, soon, and without filling the memory. What is done to them stands in `tests.damage`."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from cxgen.errors import plain
from tests.conftest import COMMAND
from tests.damage import CASES, Case
from tests.test_publish import make

SECONDS, MEGABYTES, PATIENCE = 5, 1_000, 60  # of the processor; at most resident; by the clock, whatever else the machine does


@pytest.fixture(scope="module")
def sound(shared):
    """The mini project, run to its end: what is damaged are copies of it."""
    return shared("published", make)


@pytest.fixture
def damaged(sound, tmp_path):
    def spoil(case: Case) -> Path:
        folder = Path(shutil.copytree(sound, tmp_path / "project", ignore=shutil.ignore_patterns(".git")))
        case.damage(folder)
        return folder

    return spoil


def wrong(code: object, said: str) -> str:
    """What is wrong with an answer to a damaged file; empty if nothing is."""
    lines = said.splitlines()
    if code != 2:
        return f"exit code {code}: {said[-300:]}"
    if not lines or any(not line.startswith("  hint: ") for line in lines[1:]):
        return f"not one line and a hint: {said[-300:]}"
    if plain(said) != said:
        return f"control characters: {said!r}"
    return ""


FAST = {  # kind -> names: a cross-section
    "candidates": ("label as text", "an id twice", "candidates.parquet is half of it"),
    "verdicts": ("another verdict",),
    "dataset": ("label 9", "another split", "a column more"),
    "edited dataset": ("one label turned", "rows gone", "a second file of a split"),
    "judgments": ("a value that is no choice", "a reason with escapes", "two answers about an item"),
    "metrics": ("splits is of another shape", "splits with a leak", "lint is nested 100,000 levels deep"),
    "snapshot": ("ids out of range", "no column lemma", "classes.json is a pipe"),
    "params": ("a trillion items", "oversampling that is none", "a tiny share", "a sexagesimal without end"),
    "templates": ("a slot related to itself", "bindings that grow", "a set tag", "an escape sequence"),
    "chunks": ("a head out of range",),
    "prompts": ("an attribute for a field", "the answer is the id", "choices that are no labels"),
    "readings": ("first.csv is a pipe", "a rating of 9", "an answer twice"),
    "own words": ("classes in a circle",),
    "places": ("outputs is a file", "NOTICE is a link out"),
    "hub folder": ("version is rows as text",),
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in FAST.items() for name in names])
def test_a_damaged_file_is_answered_in_one_line(damaged, cxgen, kind, name):
    case = next(case for case in CASES if (case.kind, case.name) == (kind, name))
    result = cxgen(*case.command, cwd=damaged(case))
    assert wrong(result.returncode, result.stderr) == ""


@dataclass(frozen=True)
class Answer:
    """What a command made of a damaged file."""

    case: Case
    wrong: str
    seconds: float
    megabytes: float


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 4 << 30))  # for the sake of the machine


def _asked(case: Case, sound: Path, folder: Path) -> Answer:
    shutil.copytree(sound, folder / "project", ignore=shutil.ignore_patterns(".git"))
    case.damage(folder / "project")
    threads = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NO_COLOR"), "1")
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            [*COMMAND, *case.command],
            cwd=folder / "project",
            env={**os.environ, **threads},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            preexec_fn=_bounded,  # noqa: PLW1509 - it calls nothing that a lock could hold up
        )
        code, used = _ended(process)
    text = (folder / "said").read_text("utf-8", "replace")
    shutil.rmtree(folder)
    seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    fault = wrong(code, text)
    if not fault and (seconds > SECONDS or megabytes > MEGABYTES):
        fault = f"{seconds:.1f} s, {megabytes:.0f} MB"
    return Answer(case, fault, seconds, megabytes)


def _ended(process: subprocess.Popen) -> tuple[object, resource.struct_rusage]:
    """Exit code and use; what does not end is ended."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status), used
        time.sleep(0.02)
    process.kill()
    return "none: it hangs", os.wait4(process.pid, 0)[2]


@pytest.mark.slow
def test_every_damaged_file_is_answered_in_one_line_soon_and_in_little_memory(sound, tmp_path, capsys):
    """Every tenth file, or with CXGEN_DAMAGE=all every one. The figures are printed by kind."""
    chosen = CASES if os.environ.get("CXGEN_DAMAGE") == "all" else CASES[::10]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda numbered: _asked(numbered[1], sound, tmp_path / str(numbered[0])), enumerate(chosen)))
    bad = [answer for answer in answers if answer.wrong]
    with capsys.disabled():
        failed = Counter(answer.case.kind for answer in bad)
        for kind, number in Counter(answer.case.kind for answer in answers).items():
            mine = [answer for answer in answers if answer.case.kind == kind]
            most = f"at most {max(a.seconds for a in mine):.1f} s and {max(a.megabytes for a in mine):.0f} MB"
            print(f"\n{kind}: {number} files, {failed[kind]} answered badly; {most}", end="")
    assert not bad, "\n".join(f"{answer.case.id}: {answer.wrong}" for answer in bad)
