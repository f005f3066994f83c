"""Damaged and hostile files: one line, exit code 2, soon, and without filling the memory. What is done to them stands in `tests.damage`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from cxgen.errors import plain
from tests.conftest import ROOT, sampled
from tests.damage import Case
from tests.damage_cases import CASES
from tests.test_publish import make

SECONDS, MEGABYTES = 4, 1_000  # of the processor, without the second that the interpreter takes to start; at most resident


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
    if "not released" in said and "Traceback" not in said:
        return ""  # every reason on a line of its own
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


def _asked(numbers: Sequence[int], sound: Path, folder: Path) -> list[Answer]:
    """The answers to these cases, from one process that forks for each."""
    command = [sys.executable, "-m", "tests.damage_fork", str(sound), str(folder)]
    given = "".join(f"{number}\n" for number in numbers)
    process = subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    answers = []
    for line in process.stdout.splitlines():
        told = json.loads(line)
        fault = wrong(told["code"], told["said"])
        if not fault and (told["seconds"] > SECONDS or told["megabytes"] > MEGABYTES):
            fault = f"{told['seconds']:.1f} s, {told['megabytes']:.0f} MB"
        answers.append(Answer(CASES[told["number"]], fault, told["seconds"], told["megabytes"]))
    assert len(answers) == len(numbers)
    return answers


@pytest.mark.slow
def test_every_damaged_file_is_answered_in_one_line_soon_and_in_little_memory(sound, tmp_path, capsys):
    """A sample of the files. The figures are printed by kind."""
    chosen = sampled(range(len(CASES)), 16)
    with ThreadPoolExecutor(2) as pool:
        parts = pool.map(lambda part: _asked(chosen[part::2], sound, tmp_path / str(part)), range(2))
        answers = [answer for part in parts for answer in part]
    bad = [answer for answer in answers if answer.wrong]
    with capsys.disabled():
        failed = Counter(answer.case.kind for answer in bad)
        for kind, number in Counter(answer.case.kind for answer in answers).items():
            mine = [answer for answer in answers if answer.case.kind == kind]
            most = f"at most {max(a.seconds for a in mine):.1f} s and {max(a.megabytes for a in mine):.0f} MB"
            print(f"\n{kind}: {number} files, {failed[kind]} answered badly; {most}", end="")
    assert not bad, "\n".join(f"{answer.case.id}: {answer.wrong}" for answer in bad)
