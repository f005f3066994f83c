"""Minimal pairs about participants: their numbers, both orders, entity types, pseudowords; and that nothing else depends on them."""

from dataclasses import replace

import polars as pl
import pytest

from cxgen.build.params import Params, Request
from cxgen.build.preview import Wanted, sample_items, sampled
from cxgen.build.samplers import generate_items
from cxgen.constructicon.load import ENTITIES, VARIANTS
from cxgen.families import CONFIGS, FAMILIES
from cxgen.project import Project
from cxgen.sampling import Wugs
from cxgen.schema import TARGET
from tests.conftest import ROOT

PAIRS = FAMILIES["minimal_pairs"]
SWITCHING = [
    "caused-motion",
    "causative-with",
    "comparative-correlative",
    "conative",
    "ditransitive",
    "intransitive-motion",
    "let-alone",
    "resultative",
]
STILL = ["way-manner"]
SOME = ["conative", "ditransitive", "resultative", *STILL]
ONLY = dict.fromkeys(CONFIGS, 0)
FEW = Request({**ONLY, "minimal_pairs": 64}, seed=5, oversample=1)


@pytest.fixture(scope="module")
def some(constructions):
    """A few pairs of every cell of some constructions, as candidates."""
    return pl.concat([generate_items(constructions[name], FEW) for name in SOME], how="diagonal")


@pytest.mark.slow
@pytest.mark.parametrize(("config", "still"), [("minimal_pairs", STILL), ("cxmp", ["conative", *STILL])])
def test_every_cell_of_the_committed_configuration_has_300_pairs_and_the_page_says_so(constructions, config, still):
    shipped = Params.read(ROOT / "params.yaml").request
    request = replace(shipped, sizes={**ONLY, config: shipped.sizes[config]}, oversample=1)
    made = pl.concat([generate_items(constructions[name], request) for name in (*SWITCHING, *STILL)], how="diagonal")
    cells = made.group_by("variant", "entity_type", "switched", target=TARGET).len()
    assert set(cells["len"]) == {300}
    orders = {name: [False] if name in still else [False, True] for name in (*SWITCHING, *STILL)}
    expected = {(name, *cell, order) for name in orders for cell in _cells() for order in orders[name]}
    assert set(cells.select("target", "variant", "entity_type", "switched").rows()) == expected
    assert made.height == made["id"].n_unique() == 300 * len(expected)
    assert config == "cxmp" or made["context"].n_unique() == made.height
    assert set(FAMILIES[config].violations(made).values()) == {0}
    page = (ROOT / "docs/data.md").read_text("utf-8")
    for name, rows in made.group_by(TARGET.alias("target")).len().iter_rows():
        said = any(line.startswith(f"| {name} |") and f"{rows:,}" in line for line in page.splitlines())
        assert said or config == "cxmp", name  # of which the page has no numbers


def _cells():
    return [(variant, kind) for variant in VARIANTS for kind in ENTITIES]


def test_participants_change_places_and_the_continuations_their_parts(some):
    """Switched are the contexts in which the second participant stands first."""
    first, second = (some.filter((pl.col("switched") == order) & TARGET.is_in(SWITCHING)) for order in (False, True))
    pairs = first.join(second, on="pair_group", suffix="_2")
    assert pairs.height == first.height == second.height > 0
    for row in pairs.select("slots", "context", "context_2", "diagnostic_good", "diagnostic_bad_2").iter_rows(named=True):
        who, whom = ({slot["slot"]: slot["lemma"].lower() for slot in row["slots"]}[name] for name in ("who", "whom"))
        before, after = row["context"].lower(), row["context_2"].lower()
        assert before.find(who) < before.find(whom) and after.find(whom) < after.find(who)
        assert before.replace(who, "\x00").replace(whom, who).replace("\x00", whom) == after
        assert row["diagnostic_good"] == row["diagnostic_bad_2"]


def test_entity_types_say_what_the_participants_are(some):
    people = {"female": "top-female-names", "male": "top-male-names", "letters": "letter-names", "humans": "pair-people"}
    assert people == {kind: ENTITIES[kind] for kind in people}
    who = some.select("entity_type", slot=pl.col("slots")).explode("slot").unnest("slot").filter(pl.col("slot") == "who")
    letters = who.filter(pl.col("entity_type") == "letters")["lemma"]
    assert letters.str.contains("^Name [A-Z]$").all()
    assert who.filter(pl.col("entity_type") == "humans")["sense"].str.contains("%1:18:").all()
    assert not who.filter(pl.col("entity_type").is_in(["female", "male"]))["lemma"].str.contains(" ").any()


def test_who_goes_for_a_thing_may_have_missed_it_and_who_gets_it_has_not(some):
    mine = some.filter(TARGET == "conative", pl.col("entity_type") == "female")
    misser, hitter = (mine["context"].str.extract(pattern) for pattern in (r"^(\w+)", r"and then (\w+)"))
    for who, whom, good, bad, claim in zip(misser, hitter, *mine.select("diagnostic_good", "diagnostic_bad", "claim_good"), strict=True):
        missed = claim.startswith("unsettled")
        assert (who if missed else whom) in good and (whom if missed else who) in bad and ("missed" in good) == missed


def test_what_would_give_the_answer_away_is_a_violation(some):
    assert set(PAIRS.violations(some).values()) == {0}
    word = some.with_columns(diagnostic_good=pl.col("diagnostic_good").str.replace("It was", "Surely it was"))
    assert PAIRS.violations(word)["words that are not equally often in good and bad continuations"] > 0
    cell = (TARGET == "resultative") & pl.col("switched") & (pl.col("variant") == "A") & (pl.col("entity_type") == "male")
    assert PAIRS.violations(some.filter(~cell))["cells of another size than others"] == some["split"].n_unique()
    fewer = some.filter(~cell | (pl.col("split") != "train") | (pl.col("context") != some.filter(cell)["context"][0]))
    assert PAIRS.violations(fewer)["cells of another size than others"] == 1


def with_pseudowords(construction, mode):
    wanted = Wanted(6 * 2 * len(_cells()), "minimal_pairs", 3, wugs=Wugs.load(Project(ROOT).snapshot), mode=mode)
    return pl.concat(sampled(construction, wanted))


@pytest.mark.parametrize(
    "name",
    ["caused-motion", *(pytest.param(name, marks=pytest.mark.slow) for name in ("intransitive-motion", "ditransitive", "resultative"))],
)
def test_pairs_survive_pseudowords_for_all_content_words(constructions, name):
    items = with_pseudowords(constructions[name], "content")
    assert items.group_by("variant", "entity_type").len()["len"].to_list() == [6 * 2] * len(_cells())
    assert {what: PAIRS.violations(items)[what] for what in PAIRS.survives} == dict.fromkeys(PAIRS.survives, 0)
    verbs = items.select(pl.col("slots")).explode("slots").unnest("slots").filter(pl.col("slot") == "deed")
    assert verbs["sense"].null_count() == verbs.height > 0


def test_scenes_name_the_designs_of_pairs_not_what_is_made_of_them(scratch, cxgen):
    """`pairs-female` is drawn with names whatever a cell says: scenes of its own would be something else under that name."""
    table = scratch / "lexicons/scenes/caused-motion.tsv"
    table.parent.mkdir(parents=True)
    for name, message in (("pairs-female", "design 'pairs-female' is made of 'pairs'"), ("pears", "unknown design 'pears'")):
        table.write_text(f"id\tdesigns\tdeed:verb\tspot\twords\nmp-own\t{name}\tpush\tpool\tinto=into | in=in\n")
        told = cxgen("check", "caused-motion", cwd=scratch)
        assert (told.returncode, message in told.stdout + told.stderr) == (2, True), told
        assert "pairs" in (told.stdout + told.stderr).partition("hint:")[2]
        assert "pairs-male" not in told.stdout


@pytest.mark.parametrize("name", ["conative", pytest.param("causative-with", marks=pytest.mark.slow)])
def test_what_rests_on_the_verb_does_not_survive_without_it(constructions, name):
    assert with_pseudowords(constructions[name], "nouns").height
    with pytest.raises(Exception, match="nothing survives"):
        with_pseudowords(constructions[name], "verb")


AGENTS = {"caused-motion": "displacer", "causative-with": "filler", "ditransitive": "gave", "resultative": "maker"}


@pytest.mark.parametrize(("name", "claim"), AGENTS.items())
def test_side_a_asks_about_the_agent(constructions, name, claim):
    """As in CxMP's table 1; let-alone's A asks what is harder, intransitive motion's who moved."""
    items = sample_items(constructions[name], 3, 6, "minimal_pairs")
    said = {side: set(rows["claim_good"].str.split("(").list.first()) for (side,), rows in items.group_by("variant")}
    assert said["A"] == {claim}
    assert claim not in said["B"]
