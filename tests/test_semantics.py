"""Labels: the exact matrices of every design, and what follows from which relation."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxgen.constructicon import Atom, Facts
from cxgen.semantics import Inconsistency, label_matrix, misread_labels, solve, truth
from tests.conftest import ROOT

SQUARE = ("ECNN", "CENN", "NNEC", "NNCE")
MATRICES = json.loads((ROOT / "tests/data/matrices.json").read_text("utf-8"))["designs"]


@pytest.mark.parametrize("name", MATRICES)
def test_every_design_has_its_matrix(constructions, name):
    construction = constructions[name]
    found = {
        design.name: ["".join("ENC"[label] for label in row.values()) for row in label_matrix(construction, design).values()]
        for design in construction.designs.values()
    }
    assert found == MATRICES[name]


def test_every_shipped_design_has_a_balanced_selection(constructions):
    for construction in constructions.values():
        for design in construction.designs.values():
            assert solve(label_matrix(construction, design), 1), (construction.name, design.name)


def test_the_matrix_of_a_square(reach):
    """Rows and columns in the order of the design: what is said to be so, is not so, or is left open."""
    found = label_matrix(reach, reach.designs["outcome"])
    assert {kind: "".join("ENC"[label] for label in row.values()) for kind, row in found.items()} == {
        "missed": "ECNN",
        "caught": "CENN",
        "twice": "NNEC",
        "once": "NNCE",
    }


def test_a_misreading_labels_the_claims_that_its_facts_decide(reach):
    design, kind = reach.designs["waiting"], "wait/in-company"
    assert misread_labels(reach, design, kind) == {"without": 2, "with": 0}
    assert misread_labels(reach, design, "missed") == {}


def test_a_misreading_stays_where_the_words_that_facts_rest_on_are_gone(reach):
    resting = dataclasses.replace(reach.kinds["wait/in-company"], rests_on=("stay",))
    changed = dataclasses.replace(reach, kinds={**reach.kinds, resting.name: resting})
    broken = frozenset({"stay"})
    assert set(label_matrix(changed, reach.designs["waiting"], broken)[resting.name].values()) == {1}
    assert misread_labels(changed, reach.designs["waiting"], resting.name, broken) == {"without": 2, "with": 0}


def test_a_misreading_wins_over_what_holds(reach):
    atom = Atom("accompanied", ("agent",))
    kind = dataclasses.replace(reach.kinds["wait/alone"], misread=Facts(entails=(atom,)))
    changed = dataclasses.replace(reach, kinds={**reach.kinds, kind.name: kind})
    real = label_matrix(changed, reach.designs["waiting"])[kind.name]
    misread = misread_labels(changed, reach.designs["waiting"], kind.name)
    assert misread and all(label == 2 - real[rule] for rule, label in misread.items())
    twice = dataclasses.replace(kind, misread=Facts(entails=(atom,), excludes=(atom,)))
    with pytest.raises(Inconsistency):
        misread_labels(dataclasses.replace(changed, kinds={**reach.kinds, kind.name: twice}), reach.designs["waiting"], kind.name)


def test_a_lexical_relation_does_not_outlive_its_words(constructions):
    construction = constructions["resultative"]
    design = construction.designs["property"]
    broken = label_matrix(construction, design, frozenset({"result"}))
    assert broken["completely"]["no-trace"] == 1
    assert broken["almost"]["trace"] == 1
    assert broken["other-completely"]["no-trace-other"] == 0


def test_a_change_concerns_a_property_and_its_complement_alike(constructions):
    construction = constructions["resultative"]
    known = truth(construction.kinds["achieved"], construction)
    assert known[Atom("changed", ("patient", "opposite"))] is True
    assert known[Atom("has", ("patient", "opposite"))] is False
    assert truth(construction.kinds["depictive/state"], construction)[Atom("changed", ("patient", "opposite"))] is False


def test_an_asymmetric_predicate_excludes_its_converse(constructions):
    construction = constructions["let-alone"]
    known = truth(construction.kinds["third-last"], construction)
    assert known == {
        Atom("harder", ("third", "thing")): True,
        Atom("harder", ("third", "second")): True,
        Atom("harder", ("thing", "third")): False,
        Atom("harder", ("second", "third")): False,
    }


def test_contradictory_facts_are_found(reach):
    both = (Atom("got", ("agent", "target")),)
    with pytest.raises(Inconsistency, match=r"got\(agent, target\)"):
        truth(dataclasses.replace(reach.kinds["caught"], excludes=both), reach)


def test_contraries_contradict(reach):
    predicates = {**reach.predicates, "got": dataclasses.replace(reach.predicates["got"], contrary="lost")}
    construction = dataclasses.replace(reach, predicates={**predicates, "lost": dataclasses.replace(reach.predicates["got"], contrary="")})
    assert truth(construction.kinds["caught"], construction)[Atom("lost", ("agent", "target"))] is False
    both = (*reach.kinds["caught"].entails, Atom("lost", ("agent", "target")))
    with pytest.raises(Inconsistency, match=r"(got|lost)\(agent, target\)"):
        truth(dataclasses.replace(reach.kinds["caught"], entails=both), construction)


@given(st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=1, max_size=4))
def test_every_selection_is_balanced(rows):
    matrix = {f"k{i}": {f"h{j}": label for j, label in enumerate(row)} for i, row in enumerate(rows)}
    for selection in solve(matrix):
        assert all(matrix[cell.kind][cell.rule] == cell.label for cell in selection)
        assert Counter((cell.kind, cell.label) for cell in selection) == Counter({(k, x): 1 for k in matrix for x in range(3)})
        counts = Counter((cell.rule, cell.label) for cell in selection)
        assert all(len({counts[rule, x] for x in range(3)}) == 1 for rule in {cell.rule for cell in selection})


def test_the_solver_misses_no_selection_of_the_square():
    matrix = {f"k{i}": {f"h{j}": "ENC".index(x) for j, x in enumerate(row)} for i, row in enumerate(SQUARE)}
    assert len(solve(matrix)) == 4
    assert solve({"k": {"h": 0, "i": 1, "j": 2}}) == []
