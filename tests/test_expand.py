"""Entries that stand for several, and sentences made of clauses: what comes out, in which order, and where mistakes are reported."""

import re
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxgen.check import findings
from cxgen.constructicon.pattern import joined
from cxgen.constructicon.shared import Shared, expand
from cxgen.errors import CxgenError
from cxgen.project import Project
from tests.conftest import ROOT, edit
from tests.test_language import load

ORDERS = st.lists(st.sampled_from("abcdefg"), min_size=2, max_size=5, unique=True)
COLUMNS = st.lists(st.sampled_from(["one", "two", "three", "four"]), min_size=1, max_size=3, unique=True)


@given(COLUMNS, ORDERS, COLUMNS)
def test_steps_multiply_and_the_first_varies_slowest(first, order, last):
    raw = {"vary": [{"a": first}, {"rotate": order}, {"b": last}], "group": "<a>", "bind": {"x": "{<1>:<b>}"}}
    made = list(expand("<a>-<1>-<b>", raw, {}))
    turned = [order[-n:] + order[:-n] for n in range(len(order))]
    wanted = [(f"{a}-{turn[0]}-{b}", {"group": a, "bind": {"x": f"{{{turn[0]}:{b}}}"}}) for a, turn, b in product(first, turned, last)]
    assert made == wanted


def test_a_field_by_itself_is_its_value_whatever_that_is():
    raw = {"vary": {"n": ["x", "y"], "weight": [0.5, 2], "of": [["a", "b"], ["c"]]}, "weight": "<weight>", "kinds": "<of>"}
    assert dict(expand("<n>", raw, {})) == {"x": {"weight": 0.5, "kinds": ["a", "b"]}, "y": {"weight": 2, "kinds": ["c"]}}


@pytest.mark.parametrize(
    ("name", "raw", "message"),
    [
        ("<1>", {"rotate": "things"}, "no order 'things'"),
        ("<a>", {"vary": {"a": ["x", "y"], "b": ["z"]}}, "different numbers of values"),
    ],
)
def test_what_cannot_be_written_out_is_refused_in_words(name, raw, message):
    with pytest.raises(ValueError, match=message):
        list(expand(name, raw, {}))


@pytest.mark.parametrize("name", [name for name, (_, raw) in Shared.of(Project(ROOT)).entries["templates"].items() if "<also>" in raw])
def test_joined_clauses_have_one_root_and_all_their_words(name):
    shared = Shared.of(Project(ROOT))
    pattern = shared.entries["templates"][name][1]
    clauses = {"clause": "{agent} {verb:past} {thing}", "also": "{helper} {do:past} {other}"}
    if {"before", "after"} & set(re.findall(r"\w+", pattern.lower())):
        with pytest.raises(ValueError, match="would lose its subject"):
            joined(pattern, clauses, shared.joins)
        clauses["also"] = "{agent} {do:past} {other}"
    text = joined(pattern, clauses, shared.joins)
    assert text.count("=root}") == 1
    heads = re.findall(r"=(?:conj|advcl)>(\w+)", text)
    assert heads == [re.findall(r"\{(\w+):past=root", text)[0]]
    assert {"thing", "other", "verb", "do"} <= set(re.findall(r"\{(\w+)", text))


def test_of_two_bound_verbs_the_main_clause_has_the_root_and_each_its_subject():
    clauses = {"clause": "{agent} {@verb:past} {thing}", "also": "{agent} {@other:past} {thing}"}
    joins = {"and": "conjunct", "while": "time"}
    assert joined("<also> and <clause>.", clauses, joins) == (
        "{agent=nsubj>NEXT} {@other:past=root} {thing} and {@verb:past=conj>R} {thing}."
    )
    assert joined("<clause> while <also>.", clauses, joins) == (
        "{agent=nsubj>V} {@verb:past=root} {thing} while {agent=nsubj>NEXT} {@other:past=advcl>V} {thing}."
    )


@pytest.mark.parametrize(
    ("pattern", "message"), [("<claus>.", "no <claus>"), ("<clause> <also>.", "2 main"), ("After <bare>, <also>.", "no verb")]
)
def test_clauses_that_do_not_join_are_refused(pattern, message):
    with pytest.raises(ValueError, match=message):
        joined(pattern, {"clause": "{a} {v:past}", "also": "{b} {w:past}", "bare": "{a} {v}"}, {"after": "gerund"})


def test_the_shipped_files_say_no_pattern_twice():
    """Up to the names of slots, but for wordings of one entry and lines that name others (designs)."""
    for path in sorted((ROOT / "templates").glob("*.yaml")):
        lines = re.findall(r'^ +(?:- |[a-z<>0-9-]+: )("[^"]*\{[^"]*\.")$', path.read_text("utf-8"), flags=re.MULTILINE)
        alike = Counter(re.sub(r"\{[^}]*\}|<[^>]*>", "_", line) for line in lines if line.count(" ") > 3)
        assert {line: count for line, count in alike.items() if count > 2} == {}, path.name


# ---------------------------------------------------------------- in a file

KINDS = """
kinds:
  <1>-<way>:
    rotate: [first, second]
    vary: {way: [open, shut], not: ["", "not "]}
    group: all
    gloss: "{<1>} comes to be <way>"
    bind: {what: "{verb:past} {<1>} <way> and cleaned {<2>}"}
    entails: ["<not>open(<1>)"]

bind:
"""


@pytest.fixture
def doors(doors):
    """The file that `cxgen new` writes, its kinds as one entry."""
    doors.write_text(re.sub(r"\nkinds:\n.*\nbind:\n", lambda _: KINDS, doors.read_text("utf-8"), flags=re.DOTALL), "utf-8")
    edit(doors, "kinds: [first-open, first-shut, second-open, second-shut]", "kinds: [all]")
    return doors


def test_kinds_facts_groups_and_designs_come_out_as_if_written_one_by_one(doors):
    construction = load(doors)
    assert construction.designs["open-or-shut"].kinds == ("first-open", "first-shut", "second-open", "second-shut")
    shut = construction.kinds["second-shut"]
    assert (str(shut.excludes[0]), shut.entails) == ("open(second)", ())
    assert shut.bindings["what"] == "{verb:past} {second} shut and cleaned {first}"
    assert not [finding for finding in findings(construction) if finding.code.startswith("E")]


def test_one_name_says_several_shared_templates_but_for_a_sentence_of_ones_own(doors):
    edit(doors, "  remember: shared", '  all: {say: [times, last: plain], clause: "{agent} {@what}"}')
    said = [template.name for template in load(doors).templates_for("first-open")]
    assert said[-4:] == ["one-day", "not-long-ago", "finally", "last"]
    edit(doors, "\ntemplates:", '\nsentences: {times: "Twice, <clause>."}\n\ntemplates:')
    assert [template.name for template in load(doors).templates_for("first-open")][-2:] == ["times", "last"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    rotate: [first, second]", "    rotate: firsts", "no order 'firsts'"),
        ('{way: [open, shut], not: ["", "not "]}', '{way: [open, shut], nt: ["", "not "]}', "there is no <not>"),
        ("vary: {way: [open, shut],", 'vary: {way: [open, "Shut up"],', "is no name"),
        ("  remember: shared", '  all: {say: [mine: times], clause: "{agent} {@what}"}', "'times' stands for several templates"),
        ("  remember: shared", '  first-open, second-open: {say: [plian], clause: "{agent} {@what}"}', "'plian'"),
        ("  remember: shared", '  all: {odd: "<clause> <clause>."}', "2 main clauses|no verb"),
        (
            "  first-is-open:\n    claim: open(first)\n    yes: [",
            "  first-is-open:\n    with: {x: first}\n    claim: open(<x>)\n    yes: ['<x>.', ",
            "<x> says 'first', the name of a slot",
        ),
    ],
)
def test_a_mistake_in_an_entry_is_reported_at_its_line(doors, old, new, message):
    line = edit(doors, old, new)
    with pytest.raises(CxgenError, match=message) as caught:
        load(doors)
    start = 1 + doors.read_text("utf-8").splitlines().index("  <1>-<way>:")
    assert caught.value.file == doors
    assert caught.value.line in {line, start}


def test_a_list_that_is_filled_in_where_text_belongs_is_told(doors):
    edit(doors, 'not: ["", "not "]}', 'not: ["", [x]]}')
    with pytest.raises(CxgenError, match=r"entails.*does not match"):
        load(doors)
