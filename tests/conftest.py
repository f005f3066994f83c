"""Shared fixtures: the shipped lexicon and constructions, the tests' own small project, and the command line in this process."""

import os

# Small tables, and as many processes as cores: more threads would only wait for each other.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["POLARS_MAX_THREADS"] = "1"

import contextlib
import copy
import io
import re
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings

from cxgen.build.params import Params
from cxgen.build.tables import read_splits
from cxgen.constructicon import load_construction, target_names
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.trees import Chunks
from cxgen.vocabulary import SPLITS
from tests import mini as small

ROOT = small.ROOT
settings.register_profile("any machine", deadline=None)  # a busy one is not wrong
settings.load_profile("any machine")
COMMAND = (sys.executable, "-c", "from cxgen.cli import main; main()")
ASKED_FOR = ("hf", "browser", "ray")  # tests that run only where `-m` names them, since they need what `make test` does not install


@pytest.hookimpl(trylast=True)  # of those that `-m` leaves: to look for WordNet loads NLTK
def pytest_collection_modifyitems(config, items):
    """Tests marked ``wordnet`` are left out where WordNet is not installed, unless CXGEN_REQUIRE_WORDNET=1 asks for them."""
    asked = set(re.findall(r"(?<!not )\b\w+", config.getoption("markexpr", "")))
    left = [item for item in items if any(item.get_closest_marker(name) and name not in asked for name in ASKED_FOR)]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]
    needy = [item for item in items if item.get_closest_marker("wordnet")]
    if needy and os.environ.get("CXGEN_REQUIRE_WORDNET") != "1":
        from cxgen.curate.build import find_wordnet

        if find_wordnet() is None:
            for item in needy:
                item.add_marker(pytest.mark.skip(reason="WordNet 3.0 is not installed here; .ci/run installs it and requires it"))


@pytest.fixture(scope="session", autouse=True)
def _shipped_words_once():
    """The shipped lexicon is read once in a test process, not by each of the hundreds of commands that run in it."""
    shipped, load, read = Project(ROOT).snapshot, Lexicon.load, {}

    def once(folder, memory=None):
        if folder != shipped:
            return load(folder, memory)
        if not read:
            read[folder] = load(folder)
        lexicon = copy.copy(read[folder])
        lexicon.memory = memory
        return lexicon

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lexicon, "load", staticmethod(once))
        yield


@pytest.fixture(scope="session")
def project():
    return Project(ROOT)


@pytest.fixture(scope="session")
def lexicon(project):
    return Lexicon.of(project)


@pytest.fixture(scope="session")
def chunks(project):
    return Chunks.load(*project.chunk_files())


@pytest.fixture(scope="session")
def constructions(project, lexicon):
    return {name: load_construction(project, name, lexicon) for name in target_names(project)}


@pytest.fixture
def scratch(tmp_path):
    """A project folder of its own with copies of templates and params; the lexicon is the shipped one."""
    shutil.copytree(ROOT / "templates", tmp_path / "templates")
    shutil.copy(ROOT / "params.yaml", tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """``shared(name, build)``: a folder that is built once by ``build(folder)`` for all test processes; it is read only."""

    def get(name, build):
        base = tmp_path_factory.getbasetemp()
        base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
        with FileLock(base / f"{name}.lock"):
            if not (base / name).exists():
                started = base / f"{name}.started"
                shutil.rmtree(started, ignore_errors=True)
                started.mkdir()
                build(started)
                started.rename(base / name)
        return base / name

    return get


@pytest.fixture(scope="session")
def mini_source(shared):
    """The mini project as it is, for all; tests that change or fill it take ``mini``."""
    return shared("mini", small.write_project)


@pytest.fixture
def mini(mini_source, tmp_path):
    """The folder of a mini project to fill, or to break."""
    return Path(shutil.copytree(mini_source, tmp_path / "mini"))


@pytest.fixture
def doors(tmp_path, monkeypatch):
    """A project with the construction that `cxgen new` writes; its template file."""
    from cxgen.cli.begin import new

    monkeypatch.setenv("CXGEN_PROJECT", str(tmp_path))
    new("doors")
    return tmp_path / "templates/doors.yaml"


@pytest.fixture(scope="session")
def mini_lexicon(mini_source):
    return Lexicon.of(Project(mini_source))


@pytest.fixture(scope="session")
def reach(mini_source, mini_lexicon):
    """The mini project's construction."""
    return load_construction(Project(mini_source), "reach", mini_lexicon)


@pytest.fixture(scope="session")
def mini_dataset(shared):
    """A mini project with its dataset and pseudoword items; read only."""
    return shared("mini-dataset", lambda folder: build_dataset(small.write_project(folder, wug={"share": 0.5})))


def build_dataset(folder, workers=1):
    """Make the dataset and its items with pseudowords in ``folder``."""
    from cxgen.build.pool import executor
    from cxgen.build.run import build

    project = Project(folder)
    params = Params.read(project.params)
    with executor(workers) as pool:
        build(project, params, pool)


def stored(config, split=None, *, project):
    """A finished table as it is stored: labels as numbers, the columns in their own order."""
    return read_splits(Project(project), config, [split] if split else SPLITS)


Result = namedtuple("Result", "returncode stdout stderr")


def run_cxgen(*args, cwd=ROOT, **env):
    """Run the command line in this process, as the user has it, in a folder; further keywords are environment variables."""
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
    return run_cxgen


@pytest.fixture
def cli():
    """Run ``cxgen`` in a process of its own: where the process itself is what is tested."""
    plain = {"cwd": ROOT, "capture_output": True, "text": True, "timeout": 300}
    return lambda *args, **env: subprocess.run([*COMMAND, *args], check=False, env={**os.environ, **env}, **plain)


def sampled(cases, step):
    """Every so manieth case, or with CXGEN_PROOFS=all every one: of many alike that take long together."""
    return list(cases)[:: 1 if os.environ.get("CXGEN_PROOFS") == "all" else step]


def small_project(folder, constructions, **params):
    """A project folder that asks for few items of some shipped constructions; the project and its parameters."""
    small.write_params(
        folder,
        constructions=constructions,
        **{"n_per_construction": 480, "n_per_lookalike": 240, "sizes": {"minimal_pairs": 160}, **params},
    )
    project = Project(folder)
    return project, Params.read(project.params)


def edit(path: Path, old: str, new: str) -> int:
    """Replace ``old`` once in ``path``; the 1-based line where it stood."""
    text = path.read_text("utf-8")
    assert old in text, f"{old!r} is not in {path.name}"
    path.write_text(text.replace(old, new, 1), "utf-8")
    return text[: text.index(old)].count("\n") + 1
