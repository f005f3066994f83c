"""The families: what every one of them must keep, and what the facts make of a minimal pair."""

from dataclasses import replace
from itertools import combinations

import polars as pl
import pytest

from cxgen.build.params import Request
from cxgen.build.samplers import generate_items
from cxgen.errors import SchemaError, UnknownNameError
from cxgen.families import FAMILIES, columns_of, family_of, wug_config
from cxgen.families.minimal_pairs import MINIMAL_PAIRS
from cxgen.measures.figures import Figures, Gates, measured
from cxgen.sampling.draws import same_templates_and_slots
from cxgen.schema import conform
from cxgen.schema.columns import LINEAGE, MATERIAL
from cxgen.semantics import label_matrix
from cxgen.vocabulary import CONTRADICTION, ENTAILMENT


@pytest.fixture(scope="module")
def made(constructions):
    """Items of every family, as candidates."""
    request = Request({"nli": 240, "distinction": 120, "minimal_pairs": 120, "cxnli": 120, "cxmp": 192}, seed=5, oversample=1)
    return pl.concat([generate_items(constructions[name], request) for name in ("resultative", "intransitive-motion")], how="diagonal")


@pytest.mark.parametrize("family", FAMILIES)
def test_what_a_family_makes_breaks_none_of_its_rules_and_has_no_fault(made, family):
    chosen = FAMILIES[family]
    rows = made.filter(pl.col("config").is_in(list(chosen.configs)))
    assert set(chosen.violations(rows).values()) == {0}
    assert set(rows.select(fault=chosen.fault())["fault"]) == {""}
    assert rows["id"].n_unique() == rows.height
    assert any(chosen.violations(rows.slice(1)).values())
    for config in chosen.configs:
        own = conform(rows.filter(config=config), columns_of(config))
        assert own.height
        assert not [column.name for column in (*LINEAGE, *MATERIAL) if not column.null and own[column.name].null_count()]


def test_every_continuation_is_entailed_by_its_context_and_contradicted_by_the_other(made, constructions):
    rows = made.filter(pl.col("config") == "minimal_pairs")
    for name, mine in rows.group_by(pl.coalesce("contrast_of", "construction")):
        item = constructions[name[0]]
        for row in mine.iter_rows(named=True):
            design = item.designs[row["design"]]
            labels, says = label_matrix(item, design)[row["kind"]], {item.rules[name].says: name for name in design.rules}
            assert labels[says[row["claim_good"]]] == ENTAILMENT
            assert labels[says[row["claim_bad"]]] == CONTRADICTION
    groups = rows.group_by("pair_group").agg("context", "diagnostic_good", "diagnostic_bad")
    for contexts, good, bad in groups.select("context", "diagnostic_good", "diagnostic_bad").iter_rows():
        assert len(set(contexts)) == 2
        assert good == bad[::-1]


def test_the_contexts_of_a_pair_have_the_same_words_in_the_same_template(made):
    groups = made.filter(pl.col("config") == "minimal_pairs").group_by("pair_group")
    words = pl.col("slots").list.eval(pl.element().struct.field("lemma")).list.sort().list.join(" ")
    assert groups.agg(same=(words.n_unique() == 1) & (pl.col("template").n_unique() == 1))["same"].all()


def test_kinds_of_different_templates_or_slots_are_no_minimal_pair(reach):
    design = reach.designs["outcome"]
    assert ("missed", "caught") in MINIMAL_PAIRS.pairings(reach, design)
    only = {**reach.templates, "plain": replace(reach.templates["plain"], excepted=("missed",))}
    changed = replace(reach, templates=only)
    assert not same_templates_and_slots(changed, ("missed", "caught"))
    assert not any("missed" in pair for pair in MINIMAL_PAIRS.pairings(changed, design))


def test_configs_belong_to_one_family_and_wug_configs_to_that_of_their_source():
    assert all(not set(a.configs) & set(b.configs) for a, b in combinations(FAMILIES.values(), 2))
    assert family_of(wug_config("nli")) is family_of("nli")
    with pytest.raises(UnknownNameError):
        family_of("nlu")


def test_a_broken_gate_says_which_measure_where_and_by_how_much():
    from cxgen.report.baselines import broken

    good = measured(Figures(0.33, {"nli": {"conative": 0.34}}, {"nli": 0.33}), Gates(overall=0.4, construction=0.5))
    bad = measured(
        Figures(0.5, {"nli": {"conative": 0.34, "let-alone": 0.7}}, {"nli": 0.6}), Gates(overall=0.4, config=0.65, construction=0.5)
    )
    over_all, worst = broken({"nli": {"misparse": bad, "word_pairs": good}})
    assert all(part in over_all for part in ("misparse", "0.5", "at most 0.4", "taking them for the target", "hint: say under `misread`"))
    assert all(part in worst for part in ("misparse", "0.7", "let-alone", "at most 0.5"))


def test_a_design_whose_kinds_do_not_count_for_its_config_is_refused(reach):
    design = replace(reach.designs["outcome"], configs=("distinction",))
    assert "look-alike" in FAMILIES["nli"].unsound(reach, design, "distinction")
    with pytest.raises(SchemaError, match="no kind counts for distinction"):
        generate_items(replace(reach, designs={"outcome": design}), Request({"distinction": 60}))
