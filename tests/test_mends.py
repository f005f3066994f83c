"""Mistakes in projects that a reviewer made: each is named, where it stands, with what to do about it."""

import json
import re
from contextlib import nullcontext

import pytest

import cxgen as api
from cxgen.build.params import Params
from cxgen.build.pool import HERE
from cxgen.check import check_project, findings
from cxgen.cli.begin import new
from cxgen.cli.check import _own
from cxgen.constructicon import load_construction
from cxgen.curate import scenes  # noqa: F401  (takes `findings` by name: before that is replaced)
from cxgen.errors import SchemaError
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from tests import mini as small
from tests.conftest import edit


def test_a_construction_is_asked_for_once(tmp_path):
    small.write_params(tmp_path, constructions=["reach", "reach"])
    with pytest.raises(SchemaError, match=r"constructions: .* has non-unique elements"):
        Params.read(tmp_path / "params.yaml")


@pytest.mark.parametrize(
    ("name", "said"), [("going-past", "its items come with those of 'caused-motion'"), ("nonesuch", "unknown construction")]
)
def test_what_is_no_construction_of_its_own_is_told_where_it_is_asked_for(tmp_path, cxgen, name, said):
    small.write_params(tmp_path, constructions=["conative", name])
    line = (tmp_path / "params.yaml").read_text("utf-8").splitlines().index(f"- {name}") + 1
    for command in ("build", "check", "capacity"):
        refused = cxgen(command, cwd=tmp_path)
        assert (refused.returncode, refused.stderr.startswith(f"cxgen: params.yaml:{line}: "), said in refused.stderr) == (2, True, True)


def test_a_file_of_ones_own_that_is_named_like_a_shipped_look_alike_is_what_is_to_be_mended(tmp_path, cxgen):
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates/in-state.yaml").write_text("name: in-state")
    told = cxgen("sample", "pp-resultative", cwd=tmp_path)
    assert (told.returncode, told.stderr.splitlines()[0]) == (
        2,
        "cxgen: templates/in-state.yaml: is named like a look-alike of 'pp-resultative', in pp-resultative.yaml",
    )


def own_scene(folder, construction, design="open-or-shut", marked=""):
    """A table of one scene in the project's own lexicon."""
    path = folder / f"lexicons/scenes/{construction}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [["id", "designs", "thing", "verb:verb", "marked"], ["more", design, "door", "push", marked]]
    path.write_text("# scenes of the project\n" + "".join("\t".join(row) + "\n" for row in rows), "utf-8")
    return path


def load(path, lexicon):
    return load_construction(Project(path.parent.parent), path.stem, lexicon)


def test_a_template_that_says_nothing_of_its_kinds_is_told_and_no_items_are_drawn_of_it(doors):
    edit(doors, "bare: shared", 'bare: "It rained."')
    assert {finding.code for finding in findings(load(doors, Lexicon.of(Project(doors.parent.parent))))} == {"E206"}


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        (
            "{'first-open, first-shut, second-open': {clause: '{agent} {@what}', say: [bare, last-week]}}",
            "no template says kind 'second-shut'",
        ),
        (
            "{first-open: {clause: '{agent} out{verb:past} it', also: '{agent} {verb:past}', say: and}}",
            "'out' stands directly before {verb:past}",
        ),
        ("{first-open: [{clause: a, say: bare}, {clause: b, say: bare}, {clause: c, say: bare}]}", "a second template 'first-open-bare'"),
    ],
)
def test_what_templates_cannot_say_is_told_before_anything_is_drawn(doors, cxgen, blocks, said):
    doors.write_text(re.sub(r"^templates:\n(  .*\n)+", f"templates: {blocks}\n", doors.read_text("utf-8"), flags=re.MULTILINE), "utf-8")
    for command in ("check", "sample"):
        told = cxgen(command, "doors", cwd=doors.parent.parent)
        assert told.returncode == 2 and said in told.stdout + told.stderr and "doors.yaml:" in told.stdout + told.stderr


def test_blocks_of_templates_may_join_their_clauses_alike(doors):
    """The templates of the second are called after it."""
    blocks = [f"'{kind}-open, {kind}-shut': {{clause: '{{agent}} {{@what}}', say: [bare, last-week]}}" for kind in ("first", "second")]
    doors.write_text(
        re.sub(r"^templates:\n(  .*\n)+", f"templates: {{{', '.join(blocks)}}}\n", doors.read_text("utf-8"), flags=re.MULTILINE), "utf-8"
    )
    loaded = load(doors, Lexicon.of(Project(doors.parent.parent)))
    assert [*loaded.templates] == ["bare", "last-week", "second-open-bare", "second-open-last-week"]
    assert [template.name for template in loaded.templates_for("first-shut")] == ["bare", "last-week"]


@pytest.mark.parametrize("which", [{"only": "doors"}, {"among": ["doors"]}], ids=str)
def test_frames_for_a_construction_that_does_not_exist_are_found(doors, which, monkeypatch):
    monkeypatch.setattr("cxgen.check.findings", lambda *_, **__: [])
    path = own_scene(doors.parent.parent, "dors")
    project = Project(doors.parent.parent)
    number, found = check_project(project, Lexicon.of(project), **which)
    assert number == 1
    assert [(each.code, each.file, each.line, each.hint) for each in found] == [("E101", path, 1, "did you mean doors?")]


@pytest.fixture
def looked_at(monkeypatch):
    """The names of the constructions that `check` looks at; it finds nothing in them."""
    names = []
    monkeypatch.setattr("cxgen.check.findings", lambda construction, **_: names.append(construction.name) or [])
    monkeypatch.setattr("cxgen.cli.check.executor", lambda _: nullcontext(HERE))  # where the line above counts
    return names


def test_a_file_that_cannot_be_read_does_not_keep_the_others_from_being_checked(doors, cxgen, looked_at):
    edit(doors, "schematicity: 9 ", "schematicity: nine ")
    root = doors.parent.parent
    (doors.parent / "gates.yaml").write_text("name: [\n", "utf-8")
    small.write_params(root, constructions=["conative", "let-alone"])
    checked = cxgen("check", "--format", "json", cwd=root)
    found = [(row["code"], row["file"]) for row in json.loads(checked.stdout)]
    assert checked.returncode == 2
    assert found == [("E000", "templates/doors.yaml"), ("E000", "templates/gates.yaml")]
    with pytest.warns(UserWarning, match="left out") as told:
        names = api.constructions(root)
    assert len(told) == 2
    assert looked_at == ["conative", "let-alone"]
    assert {"conative", "let-alone", "resultative"} < {*names}
    assert "doors" not in names


@pytest.mark.parametrize("asked", [[], ["conative"]], ids=str)
def test_check_without_a_name_looks_at_the_projects_own_constructions_and_those_asked_for(doors, cxgen, looked_at, asked):
    new("gates")
    if asked:
        small.write_params(doors.parent.parent, constructions=asked)
    checked = cxgen("check", cwd=doors.parent.parent)
    assert (checked.returncode, sorted(looked_at)) == (0, sorted([*asked, "doors", "gates"]))
    assert checked.stdout.splitlines()[-1].startswith(f"{len(looked_at)} constructions, ")


def test_parameters_that_name_no_constructions_have_all_checked(doors):
    small.write_params(doors.parent.parent)
    project = Project(doors.parent.parent)
    assert _own(project, Params.read(project.params)) == []


def test_a_broken_shared_file_is_said_once(doors, cxgen):
    (doors.parent / "_shared.yaml").write_text("slots: 3\n", "utf-8")
    listed = cxgen("list", "--format", "json", cwd=doors.parent.parent)
    assert listed.stderr.splitlines() == ["left out: templates/_shared.yaml:1: slots: 3 is not of type 'object'"]
    checked = cxgen("check", "--format", "json", cwd=doors.parent.parent)
    assert [row["code"] for row in json.loads(checked.stdout)] == ["E000"]


def test_a_lookalike_of_another_construction_is_not_to_be_changed(mini, mini_lexicon):
    text = (mini / "templates/reach.yaml").read_text("utf-8").replace("name: reach\n", "name: again\n")
    path = mini / "templates/again.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(SchemaError, match="'wait' is the look-alike of 'reach'") as caught:
        load(path, mini_lexicon)
    assert (caught.value.file, caught.value.line) == (path, text.splitlines().index("lookalikes: [wait]") + 1)
    assert "add lookalike_of" not in caught.value.hint


def test_a_construction_of_another_family_says_which(doors, cxgen):
    edit(doors, "    kinds: [first-open,", "    config: minimal_pairs\n    kinds: [first-open,")
    result = cxgen("sample", "doors", cwd=doors.parent.parent)
    assert result.returncode == 2
    assert "add nli to a design's config, or ask for the family that it has: --family minimal_pairs" in result.stderr
    assert cxgen("sample", "doors", "--family", "minimal_pairs", cwd=doors.parent.parent).returncode == 0


def test_explain_says_which_config_gives_no_sets(doors, cxgen):
    edit(doors, "    kinds: [first-open, first-shut, second-open, second-shut]", "    kinds: [first-open, second-shut]")
    edit(doors, "    hypotheses: [first", "    config: [nli, minimal_pairs, nil]\n    hypotheses: [first")
    said = cxgen("explain", "doors", cwd=doors.parent.parent).stdout
    assert "  ! minimal_pairs: no minimal pair: two kinds must" in said
    assert "  ! nil: unknown config; there are nli, distinction, minimal_pairs" in said
    assert "  ! nli:" not in said  # its cells are listed one by one
    assert "! " in said.split("minimal_pairs: no")[0]


@pytest.mark.parametrize(
    ("name", "whose"), [("doors", "the construction itself"), ("gates", "in gates.yaml"), ("conative", "in conative.yaml")]
)
def test_an_inline_lookalike_has_a_name_of_its_own(doors, lexicon, name, whose):
    inline = f"lookalikes:\n  {name}:\n    title: T\n    form: F\n    meaning: M\n    sources: [s]\n    kinds: {{k: {{gloss: g}}}}\n"
    new("gates")
    line = edit(doors, "no_lookalike: ", inline + "no_lookalike: ") + 1
    with pytest.raises(SchemaError, match=f"the look-alike '{name}' is named like .*{whose}") as caught:
        load(doors, lexicon)
    assert (caught.value.file, caught.value.line) == (doors, line)
