"""Every code fires on the fault it names, and only there."""

from __future__ import annotations

import json

import pytest

from cxgen.check import CHECKS, TREES, lint, require_sound
from cxgen.constructicon import load_construction
from cxgen.project import Project
from tests.conftest import edit

# Faults planted in the tests' own construction: code -> what stands there, what is put there.
FAULTS = {
    "E101": ('  this-afternoon: "This afternoon, {agent}', '  this-afternoon: "This afternoon, {agents}'),
    "E102": ('"Last night, {agent} {@verb:past}', '"Last night, {agent} {@verb:pst}'),
    "E103": ("{@verb:past} for {target}{@rest}.", "{@verb:past} for {target}{@tail}."),
    "E104": ("kinds: [missed, caught, twice", "kinds: [mised, caught, twice"),
    "E105": ('excludes: ["got(agent, target)"]', 'excludes: ["gott(agent, target)"]'),
    "E108": ("  opener: {role: modifier, class: times", "  opener: {role: modifier, related: {near: opener}"),
    "E109": ("  verb: {role: verb, frame: true", "  verb: {role: verb, optional: 0.5, frame: true"),
    "E111": (
        "\nframes:\n",
        "\nnatural:\n  outcome:\n    tells: somebody tries\n    slots: {agent: who, target: what}\n"
        "    kinds: {missed: no, caught: yes, twice: two}\n    says: [for]\n\nframes:\n",
    ),
    "E201": ("  opener: {role: modifier, class: times", "  opener: {role: modifier, class: time"),
    "E202": ('entails: ["got(agent, target)"]', 'entails: ["got(agent, target)"]\n    excludes: ["got(agent, target)"]'),
    "E203": ("claim: repeated(agent)", "claim: accompanied(target)"),
    "E204": ("claim: not repeated(agent)", "claim: repeated(agent)"),
    "E207": ("agent: people, verb: reach-verbs, target: animals", "agent: people, verb: reach-verbs, target: [animals, people]"),
    "E208": ('"{agent} did get {target}."', '"{agent} {verb:past} for {target}."'),
    "W301": ("  opener: {role: modifier", "  extra: {role: agent, class: people}\n  opener: {role: modifier"),
    "W302": ('  last-night: "Last night', '  again: "{agent} {@verb:past} for {target}{@rest}."\n  last-night: "Last night'),
    "W303": ("lookalikes: [wait]", "# no look-alike"),
    "W306": ("  repeated: {gloss:", "  spare: {gloss: nothing}\n  repeated: {gloss:"),
}


def findings(folder, lexicon):
    return list(lint(load_construction(Project(folder), "reach", lexicon)))


def test_the_tests_own_construction_is_clean(mini, mini_lexicon):
    assert findings(mini, mini_lexicon) == []


def without_lookalike(text):
    """The construction without its look-alike's design, so that only the note about it is missing."""
    head, designs = text.split("\n  waiting:")
    kept = head + "\n" + designs[designs.index("\nframes:") :]
    for part in ("company", "no-company"):
        start = kept.index(f"\n  {part}:\n")
        kept = kept[:start] + kept[kept.index("]\n", start) + 1 :]
    kept = kept.replace('  accompanied: {gloss: "x had company"}\n', "")
    return kept.replace("design: [outcome, waiting]", "design: outcome").replace(", stay: wait-verbs, companion: companions", "")


@pytest.mark.parametrize("code", sorted(FAULTS))
def test_a_planted_fault_is_found_at_its_line(mini, mini_lexicon, code):
    path = mini / "templates/reach.yaml"
    if code == "W303":
        path.write_text(without_lookalike(path.read_text("utf-8")), "utf-8")
    edit(path, *FAULTS[code])
    found = findings(mini, mini_lexicon)
    assert code in {finding.code for finding in found}
    assert code.startswith("E") or {finding.code for finding in found} == {code}
    assert all(finding.file.name == "reach.yaml" and finding.line > 1 and finding.hint for finding in found)


def test_w305_an_unmentioned_noun(mini, mini_lexicon):
    path = mini / "templates/reach.yaml"
    head, rest = path.read_text("utf-8").split("\ntemplates:")
    templates = '\ntemplates:\n  plain: "{agent} {@verb:past} for it{@rest}."\n'
    path.write_text(head + templates + "\nhypotheses:" + rest.split("\nhypotheses:")[1], "utf-8")
    found = {finding.code: finding for finding in findings(mini, mini_lexicon)}
    assert "is about target" in found["W305"].message


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ('    misread: {entails: ["got(agent, target)"]}\n', "", "W309", "wait/in-company"),
        (
            '{entails: ["got(agent, target)"]}',
            '{entails: ["got(agent, target)"], excludes: ["got(agent, target)"]}',
            "E202",
            "if it is misread",
        ),
        ('{entails: ["got(agent, target)"]}', '{entails: ["gott(agent, target)"]}', "E105", "gott"),
        ("    misread: {", '    unasked: ["gott(agent, target)"]\n    misread: {', "E105", "gott"),
        ("    misread: {", '    unasked: ["got(target, agent)"]\n    misread: {', "W306", "no hypothesis claims got(target, agent)"),
        ('{entails: ["got(agent, target)"]}', '{entails: ["got(agent, targt)"]}', "E101", "targt"),
    ],
)
def test_a_look_alike_s_misreading_is_checked(mini, mini_lexicon, old, new, code, said):
    edit(mini / "templates/wait.yaml", old, new)
    found = next(finding for finding in findings(mini, mini_lexicon) if finding.code == code)
    assert said in found.message
    assert found.file.name == "wait.yaml"
    assert found.line > 12


def test_every_check_is_tested_and_has_its_own_function():
    elsewhere = {"E106", "E107", "E206", "W308"}  # test_language
    assert set(CHECKS) - elsewhere == set(FAULTS) | {"W305", "W309"}
    assert len({check.__name__ for check in CHECKS.values()}) == len(CHECKS)


def test_a_repeated_key_is_an_error_at_its_line(mini, cxgen):
    line = edit(mini / "templates/reach.yaml", "schematicity: 1\n", "schematicity: 1\nschematicity: 5\n") + 1
    result = cxgen("check", "reach", cwd=mini)
    assert result.returncode == 2
    assert f"reach.yaml:{line}: the key 'schematicity' occurs twice" in result.stderr


def test_of_what_is_shipped_only_names_are_looked_at_before_a_preview(mini, mini_lexicon, monkeypatch):
    reach = load_construction(Project(mini), "reach", mini_lexicon)
    skipped = []
    monkeypatch.setattr("cxgen.check.core.lint", lambda _, skip: skipped.append(skip) or [])
    require_sound(reach)
    monkeypatch.setattr("cxgen.check.core.shipped_folder", lambda: mini)
    require_sound(reach)
    own, shipped = skipped
    assert "E204" not in own
    assert {"E202", "E204", "W301"} <= shipped
    assert "E101" not in own | shipped


def test_codes_can_be_listed_with_what_they_find(cxgen):
    listed = json.loads(cxgen("check", "--codes", "--format", "json").stdout)
    assert {row["code"] for row in listed} == {"E000", "E110", *CHECKS, *TREES}
    assert all(row["finds"] for row in listed)
