"""Labels: what follows from which fact, and that every design of what is shipped can be balanced."""

import dataclasses
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxgen.constructicon.model import Atom, Facts, Predicate, Rule, Template
from cxgen.families import family_of
from cxgen.families.turns import NEEDS, _premises, cells, summed, turns
from cxgen.sampling.pools import design_pools
from cxgen.semantics import Inconsistency, label_matrix, misread_labels, solve, truth


def test_every_shipped_design_gives_what_its_configs_need(constructions):
    for construction in constructions.values():
        for design in construction.designs.values():
            assert [family_of(config).unsound(construction, design, config) for config in design.configs] == [""] * len(design.configs)


def test_the_matrix_of_a_square_and_its_selections(reach):
    """Rows and columns in the order of the design: what is said to be so, is not so, or is left open."""
    matrix = label_matrix(reach, reach.designs["outcome"])
    letters = {kind: "".join("ENC"[label] for label in row.values()) for kind, row in matrix.items()}
    assert letters == {"missed": "ECNN", "caught": "CENN", "twice": "NNEC", "once": "NNCE"}
    assert len(solve(matrix)) == 4
    assert solve({"k": {"h": 0, "i": 1, "j": 2}}) == []


def test_a_claim_that_a_kind_leaves_unasked_is_in_no_set(reach):
    """Neither polarity is asked of its premises; of the others' it is."""
    design = reach.designs["outcome"]
    whole = label_matrix(reach, design)
    kinds = {
        kind: dataclasses.replace(reach.kinds[kind], unasked=tuple(reach.kinds[rule].entails))
        for kind, rule in (("missed", "twice"), ("caught", "twice"), ("twice", "caught"), ("once", "caught"))
    }
    changed = dataclasses.replace(reach, kinds={**reach.kinds, **kinds})
    matrix = label_matrix(changed, design)
    for kind, row in whole.items():
        gone = {rule for rule in row if reach.rules[rule].claim in kinds[kind].unasked}
        assert gone and matrix[kind] == {rule: label for rule, label in row.items() if rule not in gone}
    assert solve(whole) and not solve(matrix), "nothing is left that is open"
    assert set(turns(changed, design)["missed"]) == set(matrix["missed"])


def test_a_misreading_labels_what_its_facts_decide_whatever_holds(reach):
    design, atom = reach.designs["waiting"], Atom("accompanied", ("agent",))
    assert misread_labels(reach, design, "missed") == {}
    resting = dataclasses.replace(reach.kinds["wait/in-company"], rests_on=("stay",))
    wrong = dataclasses.replace(reach.kinds["wait/alone"], misread=Facts(entails=(atom,)))
    changed = dataclasses.replace(reach, kinds={**reach.kinds, resting.name: resting, wrong.name: wrong})
    assert misread_labels(changed, design, resting.name) == {"without": 2, "with": 0}
    assert set(label_matrix(changed, design, frozenset({"stay"}))[resting.name].values()) == {1}
    real, misread = label_matrix(changed, design)[wrong.name], misread_labels(changed, design, wrong.name)
    assert misread and all(label == 2 - real[rule] for rule, label in misread.items())
    twice = dataclasses.replace(wrong, misread=Facts(entails=(atom,), excludes=(atom,)))
    with pytest.raises(Inconsistency):
        misread_labels(dataclasses.replace(changed, kinds={**reach.kinds, wrong.name: twice}), design, wrong.name)


def test_order_excludes_its_converse(reach):
    fact, other = (Atom("harder", args) for args in (("agent", "target"), ("target", "agent")))
    changed = dataclasses.replace(reach, predicates={"harder": Predicate("harder", "x is harder than y", asymmetric=True)})
    assert truth(dataclasses.replace(reach.kinds["caught"], entails=(fact,), excludes=()), changed) == {fact: True, other: False}


def test_contraries_contradict(reach):
    got = reach.predicates["got"]
    predicates = {"got": dataclasses.replace(got, contrary="lost"), "lost": dataclasses.replace(got, name="lost", contrary="")}
    construction = dataclasses.replace(reach, predicates=reach.predicates | predicates)
    got, lost = (Atom(name, ("agent", "target")) for name in ("got", "lost"))
    for fact, other in ((got, lost), (lost, got)):  # whichever of the two names the other one
        assert truth(dataclasses.replace(reach.kinds["caught"], entails=(fact,)), construction) == {fact: True, other: False}
    both = (*reach.kinds["caught"].entails, lost)
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


# what items need


def needs(construction, design, *columns):
    own = cells(construction, family_of("nli")).filter(design=design)
    return {(row["kind"], row["rule"]): tuple(row[name] for name in columns) for row in own.iter_rows(named=True)}


def test_words_decide_what_no_other_reading_of_them_changes_and_a_look_alike_needs_its_construction_to_be_told(reach):
    """*Entirely in vain* is in no other premise; who waits for the rope would have it or not if waiting were reaching."""
    assert set(needs(reach, "outcome", *NEEDS).values()) == {(0.0, 0.0, 1.0)}
    found = needs(reach, "waiting", "label", "turns_on", *NEEDS)
    misread = {cell for cell, (_, reading, *_) in found.items() if reading == "misreading"}
    assert misread == {(kind, rule) for kind in ("wait/in-company", "wait/alone") for rule in ("with", "without")}
    assert {found[cell] for cell in misread} == {("neutral", "misreading", 1.0, 0.0, 0.0)}
    assert {found[cell][1:] for cell in found.keys() - misread} == {("words", 0.0, 0.0, 1.0)}
    totals = summed(cells(reach, family_of("nli")), "config").rows_by_key("config", named=True, unique=True)
    assert totals["distinction"]["construction"] == pytest.approx(2 / 12) and totals["nli"]["words"] == 1


@pytest.mark.parametrize("join", ["and", "while", "because", ", so", "although"])
def test_a_clause_of_another_event_is_one_whatever_joins_it(reach, join):
    (name,) = (template.name for template in reach.templates_for("missed") if template.name == "plain")
    joined = dataclasses.replace(reach.templates[name], pattern=f"{{agent}} {{@verb:past}} for {{target}} {join} everybody else slept.")
    changed = dataclasses.replace(reach, templates={name: joined})
    ((first, second),) = _premises(changed, "missed")
    assert ({"agent", "target"} <= first.keys(), "'sleep'" in second) == (True, True)


def test_a_verb_that_holds_the_meaning_is_needed_in_the_place_of_the_construction(reach):
    """Failure and success said with the same words; of the two scenes, drawn by their verbs, one names all of its verbs."""
    success = dataclasses.replace(reach.kinds["missed"], bindings={"rest": " up with great success"})
    first, second = reach.frames
    lemmas = [reach.lexicon.lemmas[row] for row in reach.lexicon.resolve("reach-verbs").ids]
    scenes = (dataclasses.replace(first, entails_alone=frozenset(lemmas)), second)
    changed = dataclasses.replace(reach, kinds={**reach.kinds, "missed": success}, frames=scenes)
    found = needs(changed, "outcome", "label", "turns_on", *NEEDS)
    share = design_pools(changed, changed.designs["outcome"], {}, None).weights[0]
    for kind, other, labels in (("missed", "caught", "EC"), ("caught", "missed", "CE")):
        for rule, letter in zip(("without", "with"), labels, strict=True):
            label, reading, *shares = found[kind, rule]
            assert (label[0].upper(), reading) == (letter, other)
            assert shares == pytest.approx([1 - share, share, 0])
        assert found[kind, "repeated"] == ("neutral", "words", 0, 0, 1)


def test_what_a_foil_clause_mentions_is_open_on_any_reading(reach):
    """*Al lunged for the rope in vain and waited for Bo*: whether the rope is got is said of it, and nothing of Bo."""
    claims = {name: Atom("got", ("agent", name)) for name in ("target", "companion")}
    kinds, rules = {}, {}
    for (name, claim), other in zip(claims.items(), ("companion", "target"), strict=True):
        for holds, how in ((True, "in the end"), (False, "in vain")):
            facts = {"entails": (claim,) * holds, "excludes": (claim,) * (not holds)}
            binds = {"goal": f"{{{name}}}", "how": how, "rest": f"{{{other}}}"}
            kinds[f"{name}-{holds}"] = dataclasses.replace(reach.kinds["once"], name=f"{name}-{holds}", bindings=binds, **facts)
            rules[f"{name}-{holds}"] = Rule(f"{name}-{holds}", claim, holds, ("{agent} got {target} or {companion}.",))
    pattern = "{agent} {@verb:past} for {@goal} {@how} and {stay:past} for {@rest}."
    design = dataclasses.replace(reach.designs["waiting"], kinds=tuple(kinds), rules=tuple(rules), configs=("nli",))
    templates = {"plain": Template("plain", pattern)}
    changed = dataclasses.replace(reach, kinds=kinds, rules=rules, templates=templates, designs={design.name: design})
    found = needs(changed, design.name, "label", *NEEDS)
    assert len(found) == 16
    assert set(found.values()) == {("neutral", 0, 0, 1), ("entailment", 1, 0, 0), ("contradiction", 1, 0, 0)}


def test_of_let_alone_every_item_needs_the_construction(constructions):
    """Which is harder is said by order alone, of the unranked two as well."""
    (shares,) = set(needs(constructions["let-alone"], "scales", *NEEDS).values())
    assert shares == (1.0, 0.0, 0.0)
