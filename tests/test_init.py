"""A project of one's own, from an installed wheel and without the clone: `cxgen init`, and what its README says to run."""

import itertools
import os
import re
import subprocess
import sys
import sysconfig
from contextlib import nullcontext
from pathlib import Path

import polars as pl
import pytest
import yaml

from cxgen import layout
from cxgen.build.params import Params
from cxgen.build.pool import HERE
from cxgen.project import Project
from tests.conftest import ROOT, edit

MADE = [
    *(
        ".gitignore",
        "README.md",
        "docs/annotation.md",
        "docs/publishing.md",
        "docs/templates.md",
        "docs/tutorial.md",
        "dvc.yaml",
        "lexicons/scenes/my-construction.tsv",
        "params.yaml",
        "pipelines/dropped.csv",
    ),
    "templates/my-construction.yaml",
]


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_init_writes_a_project_and_no_file_that_is_there(cxgen, tmp_path):
    made = cxgen("init", "my-bench", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert files(tmp_path / "my-bench") == MADE
    assert "cd my-bench && cxgen sample my-construction" in made.stdout
    assert max(map(len, made.stdout.splitlines())) <= 80
    assert len((tmp_path / "my-bench/README.md").read_text("utf-8").splitlines()) <= 30
    assert (tmp_path / "my-bench/.gitignore").read_text("utf-8").splitlines()[1] == "key.parquet"
    assert yaml.safe_load((tmp_path / "my-bench/params.yaml").read_text("utf-8"))["publish"]["title"] == "my-bench"

    scenes = tmp_path / "my-bench/lexicons/scenes/doors.tsv"
    scenes.write_text("mine")
    refused = cxgen("new", "doors", cwd=tmp_path / "my-bench")
    assert (refused.returncode, scenes.read_text(), "there are already: lexicons/scenes/doors.tsv" in refused.stderr) == (2, "mine", True)
    assert files(tmp_path / "my-bench") == sorted([*MADE, "lexicons/scenes/doors.tsv"])

    (tmp_path / "here").mkdir()
    (tmp_path / "here/README.md").write_text("mine")
    refused = cxgen("init", ".", cwd=tmp_path / "here")
    assert (refused.returncode, files(tmp_path / "here")) == (2, ["README.md"])
    assert "there are already: README.md\n" in refused.stderr
    (tmp_path / "here/README.md").unlink()
    assert "  cxgen sample my-construction\n" in cxgen("init", ".", cwd=tmp_path / "here").stdout
    assert files(tmp_path / "here") == MADE


def test_a_folder_without_a_project_is_told_of_init(cxgen, tmp_path):
    told = cxgen("evaluate", "--baseline", "majority", cwd=tmp_path)
    assert told.returncode == 2 and "`cxgen init FOLDER`" in told.stderr


def test_the_first_construction_has_no_faults_and_those_that_the_parameters_do_not_name_are_told(cxgen, tmp_path, monkeypatch):
    monkeypatch.setattr("cxgen.cli.check.executor", lambda _: nullcontext(HERE))  # what a process loads for trees takes seconds
    cxgen("init", 'a "b" c', cwd=tmp_path)  # a name that YAML would not take as it is
    root = tmp_path / 'a "b" c'
    params = Params.read(root / layout.PARAMS)
    assert params.left_out(Project.at(root)) == []
    assert "cxgen sample another" in cxgen("new", "another", cwd=root).stdout
    assert params.left_out(Project.at(root)) == ["another"]
    edit(root / "lexicons/scenes/another.tsv", "kick | push", "kick | tiktok")
    about = 'lookalike_of: another\ntitle: t\nform: f\nmeaning: m\nsources: [me]\nkinds: {look: {group: g, gloss: "g", entails: []}}\n'
    (root / "templates/look.yaml").write_text(f"name: look\n{about}", "utf-8")
    assert params.left_out(Project.at(root)) == ["another"]
    checked = cxgen("check", cwd=root)  # look-alikes have files, too
    assert (checked.returncode, "another: words that cxgen's lexicon has not, with forms from lemminflect" in checked.stderr) == (0, True)
    assert "2 constructions, 0 errors, " in checked.stdout and "my-construction" not in checked.stdout


@pytest.mark.parametrize("command", ["init bench", "init .", "new doors"])
def test_what_cannot_be_written_whole_is_not_begun_and_works_when_there_is_room(cxgen, tmp_path, command, monkeypatch):
    """Each of the writes fails in its turn, as on a full disk."""
    sync, replace, count = os.fsync, Path.replace, iter(())

    def full(write):
        def one(*given):
            if next(count, None) is not None:
                return write(*given)
            raise OSError(28, "No space left on device")

        return one

    monkeypatch.setattr(os, "fsync", full(sync))
    monkeypatch.setattr(Path, "replace", full(replace))
    (tmp_path / "mine").write_text("mine")
    for number in itertools.count():
        count = iter(range(number))
        made = cxgen(*command.split(), cwd=tmp_path)
        if made.returncode == 0:
            break
        assert (made.returncode, "No space left" in made.stderr, made.stdout) == (2, True, "")
        assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert number > len(made.stdout.splitlines()) and "templates/" in made.stdout


class Installed:
    """The wheel of this tree in an environment of its own, which sees what is installed beside cxgen, but not the clone."""

    def __init__(self, folder):
        uv = [sys.executable, "-m", "uv"]
        self.home = folder / "env"
        self._do(*uv, "build", "--wheel", "--no-build-isolation", "--offline", "--out-dir", folder / "dist", ROOT, cwd=folder)
        (wheel,) = (folder / "dist").glob("*.whl")
        self._do(*uv, "venv", "--offline", "--python", sys.executable, self.home, cwd=folder)
        self._do(*uv, "pip", "install", "--offline", "--no-deps", "--python", self.home / "bin/python", wheel, cwd=folder)
        (self.packages,) = self.home.glob("lib/python*/site-packages")
        (self.packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")  # a .pth there, that of the clone, is not read

    @staticmethod
    def _do(*command, cwd, **env):
        kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "CXGEN_PROJECT"}}
        env = {**kept, "DVC_NO_ANALYTICS": "1", "NO_COLOR": "1", "COLUMNS": "80", **env}
        done = subprocess.run([*map(str, command)], cwd=cwd, env=env, check=False, capture_output=True, text=True, timeout=300)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def __call__(self, *command, cwd):
        """What a command line does: of ``cxgen``, or of a module such as dvc."""
        program = [self.home / "bin/cxgen"] if command[0] == "cxgen" else [self.home / "bin/python", "-m", command[0]]
        return self._do(*program, *command[1:], cwd=cwd, PATH=f"{self.home / 'bin'}:{os.environ['PATH']}")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return Installed(tmp_path_factory.mktemp("wheel"))


def git(folder, *command):
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    return subprocess.run(["git", *who, *command], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_a_project_from_a_wheel_gets_from_init_to_a_release(installed, tmp_path):
    shipped = {
        path: path.stat().st_mtime_ns for path in installed.packages.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    }
    bench = tmp_path / "my-bench"

    def run(*command, code=0, cwd=bench):
        done = installed(*command, cwd=cwd)
        assert done.returncode == code, (command, done.stdout, done.stderr)
        return done

    run("cxgen", "init", "my-bench", cwd=tmp_path)
    git(bench, "init", "-q")
    run("dvc", "init", "-q")
    sample = run("cxgen", "sample", "my-construction", "--n", 4).stdout
    assert len(sample.splitlines()) == 16
    assert set(re.findall(r"(?m)^     (\w+) ", sample)) == {"entailment", "neutral", "contradiction"}

    run("dvc", "repro")
    assert "Give-aways" in run("dvc", "plots", "show", "--json").stdout
    checked = run("cxgen", "check")
    assert (checked.stdout, checked.stderr) == ("1 construction, 0 errors, 0 warnings\n", "")
    tables = {path.parent.name: pl.read_parquet(path) for path in (bench / layout.HUB).glob("*/test-*.parquet")}
    assert set(tables) == {"nli", "nli_wug"}
    assert tables["nli"]["construction"].unique().to_list() == ["my-construction"]
    assert "0.333" in run("cxgen", "evaluate", "--baseline", "word-pairs").stdout
    assert run("cxgen", "report", "html") and (bench / layout.PAGE).stat().st_size > 10_000

    git(bench, "add", ".")
    git(bench, "commit", "-qm", "First version")
    refused = run("cxgen", "publish", "me/test", "--dry-run", code=2).stderr.partition("not released:\n")[2].partition("  hint: ")[0]
    assert [line.strip() for line in refused.splitlines()] == [
        "params.yaml: publish.authors is not set",
        "params.yaml: publish.provenance is not set",
        "templates/my-construction.yaml: meaning, sources, no_lookalike: still to be written (TODO)",
    ]
    assert git(bench, "status", "--porcelain") == ""
    assert not [name for name in git(bench, "ls-files").splitlines() if name.startswith("outputs/") and "metrics/" not in name]
    assert shipped == {path: path.stat().st_mtime_ns for path in shipped}
    assert set(shipped) == {path for path in installed.packages.rglob("*") if path.is_file() and "__pycache__" not in path.parts}


@pytest.mark.slow
def test_a_hint_of_how_to_install_fits_a_wheel(installed, tmp_path):
    installed("cxgen", "init", ".", cwd=tmp_path)
    (installed.packages / "sitecustomize.py").write_text("import sys\nsys.modules['huggingface_hub'] = None\n")
    refused = installed("cxgen", "publish", "me/test", cwd=tmp_path)
    (installed.packages / "sitecustomize.py").unlink()
    assert (refused.returncode, refused.stderr.splitlines()[-1]) == (2, "  hint: pip install 'cxgen-nli[publish]'")
