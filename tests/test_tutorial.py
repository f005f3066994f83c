"""The tutorial: its YAML parts, one after the other, are a construction in one file that works as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cxgen.build import run
from cxgen.build.items import sample_items
from cxgen.build.params import Params
from cxgen.check import lint
from cxgen.constructicon import load_construction
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.report import variety
from cxgen.trees import Chunks
from tests.mini import write_params

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs/tutorial.md").read_text("utf-8")
NAME = "giving"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with nothing but the tutorial's file, in place of the one that `cxgen new` wrote."""
    from cxgen.cli.explore import new

    monkeypatch.setenv("CXGEN_PROJECT", str(tmp_path))
    new(NAME)
    (tmp_path / f"templates/{NAME}.yaml").write_text("\n".join(blocks("yaml")), "utf-8")
    return Project(tmp_path)


@pytest.fixture
def giving(project):
    return load_construction(project, NAME, Lexicon.of(project))


def test_the_file_has_nothing_to_find_fault_with(project, giving):
    """Trees and `form_check` included."""
    assert list(lint(giving, chunks=Chunks.load(*project.chunk_files()))) == []


@pytest.mark.slow
def test_the_file_goes_through_the_whole_pipeline(project):
    write_params(project.root, n_per_construction=120, n_per_lookalike=60, constructions=[NAME], generate={"workers": 1})
    params = Params.read(project.params)
    report = run.build(project, params)
    audit = report["splits"]
    assert audit["constructions"][NAME]["items"]["nli"]["all"] >= 120
    assert audit["lookalikes"]["pledging"]["all"] >= 60
    assert report["wug"]["constructions"][NAME]["content"]["items"]
    assert {"spread"} <= variety.run(project, 1)["pledging"].keys()


def test_new_verbs_and_a_look_alike_make_sentences_without_any_other_file(giving):
    items = sample_items(giving, 1, 60)
    shipped = Lexicon.of(Project(ROOT))
    own = {row for row in giving.lexicon.classes["handing"].ids if row >= len(shipped)}
    assert len(own) >= 10
    assert set(items["construction"]) == {NAME, "pledging"}
    assert items.filter(items["construction"] == NAME)["verb"].n_unique() >= 10
    assert items["premise"].str.contains(r"(handed|slid|threw|flung|promised|owed) [A-Z]\w+ the \w+ and (mentioned|kept) the").any()


def test_explain_prints_what_the_tutorial_shows(project, capsys):
    from cxgen.cli.explain import explain
    from cxgen.cli.output import Format

    explain(NAME, form=Format.table)
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    [shown] = blocks("text")
    start = printed.index(shown.splitlines()[0])
    assert printed[start : start + len(shown.splitlines())] == shown.splitlines()


@pytest.mark.slow
def test_the_other_constructions_stay_as_they_are(project):
    from polars.testing import assert_frame_equal

    assert project.template_files().keys() - Project(ROOT).template_files().keys() == {NAME}
    words, mine = Lexicon.of(Project(ROOT)), Lexicon.of(project)
    for name in ("conative", "resultative"):
        here, there = load_construction(project, name, mine), load_construction(Project(ROOT), name, words)
        assert_frame_equal(sample_items(here, 1, 5), sample_items(there, 1, 5))
