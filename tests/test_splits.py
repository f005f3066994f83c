"""Which split a verb is in, and that it stays there."""

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxgen.build.params import Params, read_splits
from cxgen.build.samplers import divided, items_of, samplers
from cxgen.constructicon import load_construction
from cxgen.errors import DataError
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.sampling import split_of, verb_pools
from cxgen.sampling.partition import joint_verbs
from cxgen.vocabulary import SPLITS, Role
from tests.conftest import ROOT, edit

HEAD = "construction\tverb\tsplit\n"
SHIPPED = Params.read(ROOT / "params.yaml").request


def test_every_shipped_verb_has_its_split_and_what_is_said_together_the_same(constructions):
    for name, construction in constructions.items():
        splits = SHIPPED.splits[name]
        assert set().union(*verb_pools(construction, "sliced")) <= splits.keys()
        assert all(len({splits[verb] for verb in group}) == 1 for group in joint_verbs(construction, "sliced"))


def test_no_clause_shows_a_verb_that_a_later_split_is_about(constructions):
    """*Mei rubbed the door bright and buffed the gate* is no training item where *buff* is a verb of test."""
    spared = 0
    for construction in constructions.values():
        made = samplers(construction, SHIPPED)
        about = {split: {verb for one in made if one.split == split for verb in verbs_of(one, construction.verb_slots)} for split in SPLITS}
        for one in made:
            others = {name for name in one.pools.candidates if construction.slots[name].role == Role.verb} - {*construction.verb_slots}
            shown = verbs_of(one, others)
            assert shown.isdisjoint(set().union(*(about[split] for split in SPLITS[SPLITS.index(one.split) + 1 :])))
            spared += len(shown & about["train"]) if one.split == "test" else 0
    assert spared  # what training is about may come up in test


def verbs_of(sampler, slots):
    lists = [rows for slot in slots for rows in sampler.pools.candidates.get(slot, ())]
    return {sampler.construction.lexicon.lemmas[row] for rows in lists for row in rows}


@given(st.data())
@settings(max_examples=30)
def test_a_new_verb_moves_no_other_one(reach, data):
    """Whatever part of the verbs was divided before, the others do not depend on each other."""
    request = replace(SHIPPED, splits={})
    whole = divided(reach, request)
    old = data.draw(st.sets(st.sampled_from(sorted(whole)), min_size=1))
    before = divided(reach, replace(request, splits={"reach": {verb: whole[verb] for verb in old}}))
    assert all(before[verb] == whole[verb] for verb in old)
    more = data.draw(st.sets(st.sampled_from(sorted(whole))))
    after = divided(reach, replace(request, splits={"reach": {verb: before[verb] for verb in old | more}}))
    assert after == before


def test_a_verb_more_changes_no_set_of_other_frames_splits(mini, cxgen):
    """The rows that `propose` writes hold every verb where it is drawn from."""
    (mini / "kept.tsv").write_text("construction\tverb\tsplit\n", "utf-8")
    (mini / "lexicons/splits.tsv").symlink_to(mini / "kept.tsv")
    assert cxgen("splits", "propose", cwd=mini).returncode == 0
    assert (mini / "lexicons/splits.tsv").is_symlink(), "what it names is written"
    text = (mini / "lexicons/splits.tsv").read_text("utf-8")
    construction = load_construction(Project(mini), "reach", Lexicon.of(Project(mini)))
    request = Params.read(mini / "params.yaml").request
    assert divided(construction, request) == divided(construction, replace(request, splits={})) == request.splits["reach"]
    assert cxgen("splits", "propose", cwd=mini).returncode == 0
    assert (mini / "lexicons/splits.tsv").read_text("utf-8") == text
    verb, split = next((verb, split) for verb, split in request.splits["reach"].items() if split == "train")
    edit(mini / "lexicons/splits.tsv", f"reach\t{verb}\t{split}", f"reach\t{verb}\ttest")
    for sampler in samplers(construction, Params.read(mini / "params.yaml").request):
        rows = {row for rows in sampler.pools.candidates["verb"] for row in rows}
        drawn = {construction.lexicon.lemmas[row] for row in rows}
        assert (verb in drawn) <= (sampler.split == "test")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("verb\tsplit\n", 1, "not a verb with its split"),
        ("reach\tgrope\ttrain\n", 1, "not a verb with its split"),
        (HEAD + "reach\tgrope\ttrain\nreach\tgrab\tdev\n", 3, "not a verb with its split"),
        (HEAD + "reach\tgrope\ttrain\nreach\tgrope\ttest\n", 3, "'grope' of reach is in two splits"),
    ],
)
def test_a_bad_row_is_named_with_its_line(tmp_path, text, line, message):
    (tmp_path / "lexicons").mkdir()
    (tmp_path / "lexicons/splits.tsv").write_text(text, "utf-8")
    with pytest.raises(DataError, match=message) as error:
        read_splits(tmp_path)
    assert error.value.line == line
    assert line > 1 or "the first line is construction<TAB>verb<TAB>split" in error.value.hint


def test_a_new_verb_goes_where_those_go_that_it_is_said_with(constructions):
    construction, known = constructions["let-alone"], SHIPPED.splits["let-alone"]
    groups = [sorted(group) for group in joint_verbs(construction, "sliced")]
    small = [group for group in groups if len(group) > 1 and known[group[0]] != "train"]
    assert small
    for group in small:
        others = {verb: split for verb, split in known.items() if verb != group[0]}
        assert divided(construction, replace(SHIPPED, splits={"let-alone": others}))[group[0]] == known[group[0]]


def test_a_verb_by_itself_goes_by_hash_in_the_shares_unless_it_has_a_split():
    verbs = [f"v{number}" for number in range(2000)]
    counts = Counter(split_of(verb, {}, SHIPPED.shares, 1, "reach") for verb in verbs)
    assert {split: count / len(verbs) for split, count in counts.items()} == pytest.approx(SHIPPED.shares, abs=0.02)
    known = dict.fromkeys(verbs, "validation")
    assert {split_of(verb, known, SHIPPED.shares, 1, "reach") for verb in verbs} == {"validation"}


FEW = "ask | claw | feel | fish | go | jump | run | swim"
NOW = '  now: "Just now, {agent} {@verb:past} for {target}{@rest}."\n'
TABLE, TEMPLATE = "lexicons/scenes/reach.tsv", "templates/reach.yaml"
# What is added (a construction: see tests/test_dataset.py) -> what is written for what in which file, and by which column and value the
# sets are told that may change: those that get it, and of a verb those of its scene.
ADDED = {
    "verb": (TABLE, f"{FEW}\t@animals", f"{FEW} | dive\t@animals", ("frame", "reach-animals")),
    "scene": (TABLE, "reach-animals", "pool\toutcome\t@people\tdive\t@animals\nreach-animals", ("frame", "pool")),
    "wording": (TEMPLATE, '{agent} was without {target}."', '{agent} was without {target}.", "{agent} lost {target}."', ("wording", None)),
    "template": (TEMPLATE, "\nhypotheses:", f"{NOW}\nhypotheses:", ("template", "now")),
}


@pytest.mark.parametrize("what", ADDED)
def test_a_project_that_grows_moves_no_verb_and_changes_no_other_set(mini, what):
    (mini / TABLE).write_text((mini / TABLE).read_text("utf-8").replace("@reach-verbs", FEW), "utf-8")
    request = replace(Params.read(mini / "params.yaml").request, splits={})

    def made():
        """The verbs' splits, and some sets of every design, config and split."""
        construction = load_construction(Project(mini), "reach", Lexicon.of(Project(mini)))
        splits = divided(construction, request)
        known = replace(request, splits={"reach": splits})
        items = pl.concat([items_of(each.draw(np.arange(100))) for each in samplers(construction, known)], how="diagonal")
        return splits, dict(items.group_by("config", "design", "split", "set_number", maintain_order=True))

    before, old = made()
    request = replace(request, splits={"reach": before})
    file, old_text, new_text, (column, value) = ADDED[what]
    edit(mini / file, old_text, new_text)
    after, new = made()
    assert {verb: after[verb] for verb in before} == before
    assert after.keys() - before.keys() == ({"dive"} if what in {"verb", "scene"} else set())
    changed = [key for key, rows in old.items() if not new[key].equals(rows)]
    assert 0 < len(changed) < len(old) / 2
    for key in changed:
        if what == "wording":
            assert "lost" in " ".join(new[key]["hypothesis"])
        else:
            assert value in {*new[key][column], *(old[key][column] if what == "verb" else ())}
