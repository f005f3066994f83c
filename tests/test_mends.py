"""Mistakes in projects that a reviewer made: each is named, where it stands, with what to do about it."""

from __future__ import annotations

import pytest
import yaml

from cxgen.cli.new import new
from cxgen.constructicon import load_construction
from cxgen.errors import SchemaError
from cxgen.lint import lint
from cxgen.project import Project
from cxgen.stages.params import Params
from tests import mini as small
from tests.conftest import edit


def test_a_construction_is_asked_for_once(tmp_path):
    small.write_params(tmp_path, constructions=["reach", "reach"])
    with pytest.raises(SchemaError, match=r"^constructions: .* has non-unique elements"):
        Params.read(tmp_path / "params.yaml")


@pytest.fixture
def doors(tmp_path, monkeypatch):
    """A project with the construction that `cxgen new` writes; its template file."""
    monkeypatch.setenv("CXGEN_PROJECT", str(tmp_path))
    new("doors")
    return tmp_path / "templates/doors.yaml"


def own_frames(folder, construction, **frame):
    """A file of one frame in the project's own lexicon."""
    path = folder / "lexicons/frames/more.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    entry = {"name": "more", "design": "outcome", "slots": {"agent": "people", "verb": "reach-verbs", "target": "things"}, **frame}
    path.write_text("# frames of the project\n" + yaml.safe_dump({"construction": construction, "frames": [entry]}, sort_keys=False), "utf-8")
    return path


def linted(path, lexicon):
    return {finding.code: finding for finding in lint(load_construction(Project(path.parent.parent), path.stem, lexicon))}


def test_a_wording_that_stands_twice_is_found_where_it_stands(doors, lexicon):
    line = edit(doors, '"Afterwards, {second} was open."', '"Afterwards, {first} was open."')
    found = linted(doors, lexicon)["W302"]
    assert (found.file, found.line) == (doors, line)
