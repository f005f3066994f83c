"""The template language: shared parts, groups, both polarities, look-alikes in the file, and what the linter says of mistakes in them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxgen.build.preview import sample_items
from cxgen.check import findings, require_sound
from cxgen.constructicon import load_construction
from cxgen.errors import CxgenError
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.semantics import label_matrix, solve, unbalanced
from tests.conftest import edit


def load(path):
    project = Project(path.parent.parent)
    return load_construction(project, path.stem, Lexicon.of(project))


def codes(path):
    return {finding.code: finding for finding in findings(load(path))}


def test_what_new_writes_is_sound_and_samples_at_once(doors):
    construction = load(doors)
    assert list(findings(construction)) == []
    [matrix] = (label_matrix(construction, design) for design in construction.designs.values())
    assert ["".join("ENC"[label] for label in row.values()) for row in matrix.values()] == ["ECNN", "CENN", "NNEC", "NNCE"]
    assert sample_items(construction, 1, 3)["premise"].n_unique() == 12
    assert "NAME" not in doors.read_text("utf-8")


@pytest.mark.parametrize("name", ["Doors", "", "two words", "../doors", "doors", "conative"])
def test_new_refuses_bad_names_and_overwrites_nothing(doors, name):
    from cxgen.cli.begin import new

    before = doors.read_text("utf-8")
    with pytest.raises(CxgenError):
        new(name)
    assert doors.read_text("utf-8") == before
    assert [path.name for path in doors.parent.iterdir()] == ["doors.yaml"]


def test_shared_entries_are_taken_in_by_name_and_own_keys_win(doors):
    edit(doors, "  bare: shared", "  bare: {shared: true, only: [first-open]}\n  again: {shared: last-night, except: [first-open]}")
    construction = load(doors)
    assert construction.slots["agent"].classes == ("everyday-people", "names")
    assert list(construction.templates)[:2] == ["bare", "again"]
    assert [kind for kind in construction.kinds if construction.templates["bare"].applies(kind)] == ["first-open"]
    assert construction.templates["again"].pattern == "Last night, {@clause}."
    assert not construction.templates["again"].applies("first-open")


def test_a_projects_own_shared_file_wins_and_a_mistake_in_it_is_reported_there(doors):
    shared = doors.parent / "_shared.yaml"
    shared.write_text('templates:\n  last-night: "In the night, {@clause}."\n  at-dawn: "At dawn, {agnt} {@what}."\n', "utf-8")
    edit(doors, "  bare: shared", "  bare: shared\n  at-dawn: shared")
    templates = load(doors).templates
    assert templates["last-night"].pattern == "In the night, {@clause}."
    assert templates["remember"].pattern == "I remember that {@clause}."
    found = codes(doors)["E101"]
    assert (found.file, found.line) == (shared, 3)
    shared.write_text("templates:\n  at-dawn: {patern: x}\n", "utf-8")
    with pytest.raises(CxgenError) as caught:
        load(doors)
    assert (caught.value.file, caught.value.line) == (shared, 2)
    shared.write_text('templates: {at-dawn: "At dawn, {agnt} {@what}."}\n', "utf-8")
    line = edit(doors, "  at-dawn: shared", "  at-dawn: {shared: true, only: [first-open]}")
    found = codes(doors)["E101"]
    assert (found.file, found.line, "templates/_shared.yaml" in found.hint) == (doors, line, True)


def test_groups_stand_for_their_kinds(doors):
    edit(doors, "kinds: [first-open, first-shut, second-open", "kinds: [firsts, second-open")
    edit(doors, "\nbind:\n", "\ngroups: {firsts: [first-open, first-shut]}\n\nbind:\n")
    edit(doors, "  bare: shared", "  bare: {shared: true, only: [firsts]}")
    construction = load(doors)
    assert construction.designs["open-or-shut"].kinds == ("first-open", "first-shut", "second-open", "second-shut")
    assert [kind for kind in construction.kinds if construction.templates["bare"].applies(kind)] == ["first-open", "first-shut"]
    edit(doors, "{firsts: [first-open", "{first-open: [first-shut], firsts: [first-open")
    assert "a kind and a group" in codes(doors)["E101"].message


def test_yes_and_no_make_two_rules_of_opposite_polarity(doors):
    edit(doors, "    claim: open(second)", "    claim: not open(second)\n    opposite: second-is-not-shut")
    edit(doors, "not-second-is-open]", "second-is-not-shut]")
    rules = load(doors).rules
    assert {name for name, rule in rules.items() if rule.polarity} == {"first-is-open", "second-is-not-shut"}
    assert rules["not-first-is-open"].wordings == ("Afterwards, {first} was closed.", "{first} was closed after that.")


LOOKALIKE = """
lookalikes:
  depicting:
    title: Depictive
    form: "NP[agent] V NP[theme] AP[state]"
    meaning: The thing is in the state all along.
    sources: ["Made for this test"]
    slots: {find: {role: verb, frame: true}}
    kinds:
      found-open: {gloss: it was open already, bind: {verb: find, what: "{find:past} {first} open and cleaned {second}"}}
"""


def test_a_file_can_hold_its_look_alike(doors):
    edit(doors, "\npredicates:", LOOKALIKE + "\npredicates:")
    construction = load(doors)
    assert construction.lookalikes == ("depicting",)
    assert construction.kinds["depicting/found-open"].verb == "find"
    assert [document.data["title"] for document in construction.documents] == ["Doors", "Depictive"]
    line = edit(doors, "{gloss: it was open already,", '{gloss: it was open already, entails: ["opn(first)"],')
    assert codes(doors)["E101"].line == line


MISTAKES = [  # what is written in place of what, and what the error says at that line
    ("  last-week: shared", "  last-weak: shared", "'last-weak'"),
    ("  second-is-open:\n    claim", "  not-first-is-open:\n    claim", "two hypotheses are named 'not-first-is-open'"),
    ("\npredicates:", LOOKALIKE.replace("    slots: {find:", "    slotts: {find:") + "\npredicates:", "slotts"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_what_cannot_be_read_is_refused_with_its_line(doors, old, new, message):
    line = edit(doors, old, new)
    with pytest.raises(CxgenError, match=message) as caught:
        load(doors)
    assert caught.value.file == doors
    assert line <= caught.value.line <= line + 8


KICK = "doors\topen-or-shut\tkick | push | shove | bang | nudge | knock | ease\tdoor | gate | hatch"
SHUT = '"cleaned {first} and {verb:past} {second} shut, not open"'
FAULTS = [  # code, what is written in place of what, what the message or hint names
    ("E106", f"thing\n{KICK}\n", f"thing\tthng\n{KICK}\tdoor\n", "'thng'"),
    ("E107", 'entails: ["open(second)"]', 'entails: ["open(second, agent)"]', "2 arguments"),
    ("E101", "handles\topen-or-shut", "handles\topen-or-shot", "'open-or-shot'"),
    ("E102", "{verb:past} {first} open", "{verb:past {first} open", "stray brace"),
    ("E102", "{@what}", "{@waht}", "did you mean what?"),
    ("E102", SHUT, SHUT.replace("cleaned", "{@what}"), "say there what what stands for"),
    ("E204", 'excludes: ["open(second)"]', "entails: []", "'second-shut' has no hypothesis labelled entailment or contradiction"),
    ("E206", SHUT, SHUT.replace("shut, not open", "open, not shut"), "says in"),
    ("W303", "no_lookalike: ", "# none: ", "no look-alike"),
    ("W305", SHUT, SHUT.replace("{second}", "it"), "is about second, which"),
    ("W308", SHUT, SHUT.replace("cleaned", "never cleaned"), "second-shut"),
]


def test_a_label_that_rests_on_an_unseen_opposite_is_told(doors):
    shipped, own = Project.find().template_file("comparative-correlative"), doors.parent / "comparative-correlative.yaml"
    own.write_text(shipped.read_text("utf-8").replace("rests_on: [property, other], ", ""), "utf-8")
    assert sum(finding.code == "W307" for finding in findings(load(own))) == 4


@pytest.mark.parametrize(("code", "old", "new", "named"), FAULTS)
def test_a_planted_fault_is_found_once_at_its_line(doors, code, old, new, named):
    path = doors.parent.parent / "lexicons/scenes/doors.tsv" if "\t" in old else doors
    line = edit(path, old, new)
    construction = load(doors)
    found = next(finding for finding in findings(construction) if finding.code == code)
    assert named in f"{found.message} {found.hint}"
    assert found.file == path
    if code in {"E101", "E107"}:
        assert found.line == line
    if code == "E102":
        assert [finding.code for finding in findings(construction)].count(code) == 1
    if code == "E206":  # before anything is made
        with pytest.raises(CxgenError, match="E206"):
            require_sound(construction)


def test_explain_says_of_an_unsound_design_which_kind_lacks_which_label(doors, capsys):
    from cxgen.cli.explore import explain
    from cxgen.cli.output import Format

    edit(doors, "first-shut, second-open, second-shut]", "first-shut, second-open]")
    explain("doors", form=Format.table)
    out = capsys.readouterr().out
    assert "no kind contradicts hypothesis 'second-is-open'" in out
    assert "kind 'first-open' has no hypothesis labelled neutral" in out


def matrices(kinds, rules):
    rows = st.lists(st.lists(st.integers(0, 2), min_size=rules, max_size=rules), min_size=kinds, max_size=kinds)
    return rows.map(lambda rows: {f"k{i}": {f"h{j}": label for j, label in enumerate(row)} for i, row in enumerate(rows)})


@given(st.integers(1, 5).flatmap(lambda kinds: st.integers(1, 5).flatmap(lambda rules: matrices(kinds, rules))))
def test_a_matrix_has_reasons_exactly_if_it_has_no_selection(matrix):
    if solve(matrix):
        assert not any("no hypothesis labelled" in reason and "once" not in reason for reason in unbalanced(matrix))
    else:
        assert unbalanced(matrix)


@settings(deadline=None)
@given(matrices(4, 4), st.integers(1, 6))
def test_a_cut_takes_one_selection_from_each_stretch_of_all(matrix, most):
    every = solve(matrix, 10**6)
    some = solve(matrix, most)
    assert len(some) == min(most, len(every))
    places = [every.index(selection) for selection in some]
    edges = [len(every) * number // len(some) for number in range(len(some) + 1)] if some else [0]
    assert all(start <= place < stop for place, start, stop in zip(places, edges, edges[1:], strict=False))


def test_a_design_too_large_to_count_is_refused_not_waited_for(monkeypatch):
    monkeypatch.setattr("cxgen.semantics.LARGEST", 500)
    with pytest.raises(CxgenError, match="too large"):
        solve({f"k{i}": {f"h{j}": (i + j) % 3 for j in range(9)} for i in range(9)})
