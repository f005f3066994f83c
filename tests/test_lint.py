"""Every code fires on the fault it names, and only there."""

from __future__ import annotations

import dataclasses

import pytest

from cxgen.constructicon import load_construction
from cxgen.lint import CHECKS, lint
from cxgen.project import Project
from tests.conftest import edit

FAULTS = {
    "E101": ('  a-minute-ago: "A minute ago, {agent}', '  a-minute-ago: "A minute ago, {agents}'),
    "E102": ('"Last Sunday, {agent} {@verb:past}', '"Last Sunday, {agent} {@verb:pst}'),
    "E103": ("{@verb:past} at {target}{@rest}.", "{@verb:past} at {target}{@tail}."),
    "E104": ("kinds: [missed, made-contact, again", "kinds: [mised, made-contact, again"),
    "E105": ('excludes: ["touched(agent, target)"]', 'excludes: ["touchd(agent, target)"]'),
    "E201": ("  opener: {role: modifier, class: [times-front", "  opener: {role: modifier, class: [time-front"),
    "E202": ('entails: ["touched(agent, target)"]', 'entails: ["touched(agent, target)"]\n    excludes: ["touched(agent, target)"]'),
    "E203": ("claim: repeated(agent)", "claim: accompanied(target)"),
    "E204": ("claim: not repeated(agent)", "claim: repeated(agent)"),
    "W301": ("  opener: {role: modifier", "  extra: {role: agent, class: people}\n  opener: {role: modifier"),
    "W302": ('  last-sunday: "Last Sunday', '  again: "{agent} {@verb:past} at {target}{@rest}."\n  last-sunday: "Last Sunday'),
    "W306": ("  repeated: {gloss:", "  spare: {gloss: nothing}\n  repeated: {gloss:"),
}


@pytest.mark.parametrize("code", sorted(FAULTS))
def test_a_planted_fault_is_found_at_its_line(scratch, lexicon, code):
    old, new = FAULTS[code]
    edit(scratch / "templates/conative.yaml", old, new)
    construction = load_construction(Project(scratch), "conative", lexicon)
    found = list(lint(construction, lexicon))
    assert code in {finding.code for finding in found}
    assert all(finding.file.name == "conative.yaml" and finding.line > 1 and finding.hint for finding in found)


def test_w303_a_missing_look_alike(scratch, lexicon):
    edit(scratch / "templates/way-manner.yaml", "no_lookalike: ", "# ")
    found = list(lint(load_construction(Project(scratch), "way-manner", lexicon), lexicon))
    assert [finding.code for finding in found] == ["W303"]


def test_w304_and_w305_few_templates_and_an_unmentioned_noun(scratch, lexicon):
    path = scratch / "templates/conative.yaml"
    head, rest = path.read_text("utf-8").split("\ntemplates:")
    templates = '\ntemplates:\n  plain: "{agent} {@verb:past} at it{@rest}."\n'
    path.write_text(head + templates + "\nhypotheses:" + rest.split("\nhypotheses:")[1], "utf-8")
    found = {finding.code: finding for finding in lint(load_construction(Project(scratch), "conative", lexicon), lexicon)}
    assert "only 1 premise templates" in found["W304"].message
    assert "is about target" in found["W305"].message


def test_w307_a_mark_on_a_word_that_the_frame_has_not(constructions, lexicon):
    construction = constructions["conative"]
    frame = dataclasses.replace(construction.frames[0], marked=frozenset({"gate%1:06:00::"}))
    found = list(CHECKS["W307"](dataclasses.replace(construction, frames=(frame,)), lexicon))
    assert [finding.code for finding in found] == ["W307"]
    assert frame.name in found[0].message
    assert list(CHECKS["W307"](construction, lexicon)) == []


def test_every_check_is_tested_and_has_its_own_function():
    elsewhere = {"E106", "E107", "E206", "W308"}  # test_language
    assert set(CHECKS) - elsewhere == set(FAULTS) | {"W303", "W304", "W305", "W307"}
    assert len({check.__name__ for check in CHECKS.values()}) == len(CHECKS)


def test_a_repeated_key_is_an_error_at_its_line(scratch, cli):
    line = edit(scratch / "templates/conative.yaml", "schematicity: 4\n", "schematicity: 4\nschematicity: 5\n") + 1
    result = cli("lint", "conative", cwd=scratch)
    assert result.returncode == 2
    assert f"conative.yaml:{line}: not valid YAML: the key 'schematicity' occurs twice" in result.stderr
