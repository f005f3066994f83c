"""Whose data may be released under whose name, and what is refused where nobody can tell that results are up to date."""

import shutil
import sys
from dataclasses import replace

import pytest

from cxgen.build.params import Params, Publish
from cxgen.project import Project
from cxgen.publish import SHIPPED, digest, identity_reasons, own_data, stale_reasons
from tests.conftest import ROOT, edit

OWN = Publish(title="My constructions", authors=("A. Linguist",), provenance="Written by hand.", canary="canary GUID 1")


@pytest.fixture(scope="module")
def shipped():
    return Params.read(ROOT / "params.yaml").publish


def test_what_is_shipped_is_known_to_the_gate(shipped):
    """Whoever changes publish: in params.yaml adds the digest to `SHIPPED`."""
    found = {name: digest(getattr(shipped, name)) for name in SHIPPED}
    assert {name: own for name, own in found.items() if own not in SHIPPED[name]} == {}


def test_this_project_and_copies_of_it_release_under_its_names(shipped, scratch):
    for root in (ROOT, scratch):
        assert own_data(Project(root)) == ""
        assert list(identity_reasons(Project(root), shipped)) == []


def changed(folder):
    edit(folder / "templates/conative.yaml", "title: Conative", "title: My conative")
    return "templates/conative.yaml"


def added(folder):
    shutil.copy(folder / "templates/conative.yaml", folder / "templates/mine.yaml")
    return "templates/mine.yaml"


def words(folder):
    (folder / "lexicons/classes").mkdir(parents=True)
    (folder / "lexicons/classes/mine.yaml").write_text("mine: {}\n")
    return "lexicons/classes/mine.yaml"


@pytest.mark.parametrize("change", [changed, added, words])
def test_data_of_one_s_own_need_names_of_one_s_own(scratch, shipped, change):
    name = change(scratch)
    reasons = list(identity_reasons(Project(scratch), shipped))
    assert len(reasons) == len(SHIPPED)
    assert all(name in reason for reason in reasons)
    assert list(identity_reasons(Project(scratch), OWN)) == []
    reasons = identity_reasons(Project(scratch), replace(OWN, canary=shipped.canary))
    assert [reason.split()[1] for reason in reasons] == ["publish.canary"]


def test_names_that_are_not_set_are_refused_whosever_data_it_is(scratch):
    reasons = list(identity_reasons(Project(scratch), Publish()))
    assert [reason.split()[1] for reason in reasons] == [f"publish.{name}" for name in SHIPPED]
    assert all("not set" in reason for reason in reasons)


def test_without_dvc_nothing_is_taken_for_up_to_date(monkeypatch, tmp_path):
    assert list(stale_reasons(tmp_path)) == []  # no pipeline, nothing to be out of date
    (tmp_path / "dvc.yaml").write_text("stages: {}\n")
    monkeypatch.setitem(sys.modules, "dvc.repo", None)
    (reason,) = stale_reasons(tmp_path)
    assert reason.startswith("DVC is not installed: cannot tell whether")


def test_a_stage_that_is_out_of_date_is_named(tmp_path, monkeypatch):
    from dvc.repo import Repo

    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("a")
    (tmp_path / "dvc.yaml").write_text("stages:\n  copy:\n    cmd: cp in.txt out.txt\n    deps: [in.txt]\n    outs: [out.txt]\n")
    (reason,) = stale_reasons(tmp_path)
    assert "DVC cannot tell" in reason
    with Repo.init(str(tmp_path), no_scm=True) as repo:
        repo.reproduce()
    assert list(stale_reasons(tmp_path)) == []
    (tmp_path / "in.txt").write_text("b")
    assert list(stale_reasons(tmp_path)) == ["out of date: copy: run `dvc repro`"]
