"""Shared fixtures: the committed lexicon, the shipped constructions, a scratch project to break."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from cxgen.constructicon import load_all
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.stages.params import Params

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def project():
    return Project(ROOT)


@pytest.fixture(scope="session")
def lexicon(project):
    return Lexicon.of(project)


@pytest.fixture(scope="session")
def constructions(project, lexicon):
    return load_all(project, lexicon)


@pytest.fixture
def scratch(tmp_path):
    """A project folder of its own with copies of templates and params; the lexicon is the shipped one."""
    shutil.copytree(ROOT / "templates", tmp_path / "templates")
    shutil.copy(ROOT / "params.yaml", tmp_path)
    return tmp_path


@dataclass(frozen=True)
class Result:
    """What a command gave."""

    returncode: int
    stdout: str
    stderr: str


def run_cxgen(*args, cwd=ROOT, **env):
    """Run the command line in this process: ``run_cxgen("sample", "reach", cwd=mini)``; as the user has it, with errors and exit codes.

    The working directory, ``CXGEN_PROJECT`` and colours do not come from outside; further keywords are environment variables.
    """
    from cxgen.cli import main

    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.delenv("CXGEN_PROJECT", raising=False)
        for name, value in {"NO_COLOR": "1", "COLUMNS": "80", **env}.items():
            patch.setenv(name, value)
        patch.chdir(cwd)
        patch.setattr(sys, "argv", ["cxgen", *map(str, args)])
        with pytest.raises(SystemExit) as ended:
            main()
    return Result(ended.value.code or 0, out.getvalue(), err.getvalue())


@pytest.fixture
def cxgen():
    """The command line in this process, see `run_cxgen`."""
    return run_cxgen


@pytest.fixture
def cli():
    """Run ``cxgen`` in a process of its own, in a folder."""

    def run(*args, cwd=ROOT, **env):
        command = [sys.executable, "-c", "from cxgen.cli import main; main()", *args]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, **env}, timeout=300)

    return run


def small_project(folder, constructions, *changes):
    """A project folder that asks for few items of some constructions; the project and its parameters."""
    shutil.copy(ROOT / "params.yaml", folder)
    for old, new in (
        ("n_per_construction: 4000", "n_per_construction: 480"),
        ("n_per_lookalike: 1200", "n_per_lookalike: 240"),
        ("constructions: all", f"constructions: [{constructions}]"),
        *changes,
    ):
        edit(folder / "params.yaml", old, new)
    project = Project(folder)
    return project, Params.read(project.params)


def edit(path: Path, old: str, new: str) -> int:
    """Replace ``old`` once in ``path``; the 1-based line where it stood."""
    text = path.read_text("utf-8")
    assert old in text, f"{old!r} is not in {path.name}"
    path.write_text(text.replace(old, new, 1), "utf-8")
    return text[: text.index(old)].count("\n") + 1
