"""Suites: a grammar read off by number and recognised, pairs with the same words, what follows from correlatives, and the stages."""

import json
import re
from itertools import pairwise, product

import polars as pl
import pytest
import yaml

from cxgen import layout
from cxgen.build import run as stage
from cxgen.build.params import Params
from cxgen.build.tables import read_tables, require_unchanged
from cxgen.errors import CxgenError, DataError
from cxgen.evaluation.exports import export
from cxgen.evaluation.report import Part
from cxgen.facade import sample
from cxgen.project import Project
from cxgen.schema import Document, read_json
from cxgen.suites import SUITES
from cxgen.suites.cc_semantics import follows
from cxgen.suites.cc_syntax import FEATURES
from cxgen.suites.cc_syntax import _Sets as Sets
from cxgen.suites.grammar import PRESETS, PUBLISHED, ROLES, Grammar, Language
from tests.conftest import ROOT, edit, stored
from tests.mini import write_params

SYNTAX, SEMANTICS = SUITES["cc_syntax"], SUITES["cc_semantics"]
FEW = {"cc_syntax": {"general": 40, "per_value": 2}, "cc_semantics": {"draws": 1}}
SOURCE = Document(ROOT / "params.yaml", {}, "")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project folder of its own with few rows of every suite, and the metric."""
    folder = tmp_path_factory.mktemp("suites")
    write_params(folder, suites=FEW)
    found = Project(folder)
    return found, stage.build_suites(found, Params.read(found.params))


@pytest.fixture(scope="module")
def tables(made):
    project, _ = made
    return {name: stored(name, project=project.root) for name in SUITES}


def test_every_number_is_another_sentence_and_the_numbers_are_all_that_the_library_generates():
    from nltk.grammar import CFG
    from nltk.parse.generate import generate

    rules = "S -> A 'the' B | B\nA -> 'one' | 'one' ',' B | \nB -> C C | C"
    language = Language(rules, {"C": ["x", "y z", ""]}, SOURCE)
    counts = language.counts("S")
    said = [" ".join(language.text("S", n, number)) for n, count in counts.items() for number in range(count)]
    whole = CFG.fromstring(rules + "\nC -> 'x' | 'y' 'z' | ")
    assert sorted(said) == sorted(" ".join(words) for words in generate(whole))
    for text in said:
        assert language.recognised(text, ["S"]) == "S"


RULES = {
    "S -> 'a' S | 'b'": "S leads back to itself: S -> S",
    "S -> A 'a'": "nothing says what A is",
    "S => 'a'": "rules that cannot be read",
}


def test_rules_that_say_nothing_are_refused_with_their_line(tmp_path):
    path = tmp_path / "grammar.yaml"
    for rules, what in RULES.items():
        text = f"name: x\nrules: |\n  {rules}\n"
        with pytest.raises(DataError, match=what) as caught:
            Language(rules, {}, Document(path, yaml.safe_load(text), text)).counts("S")
        assert (caught.value.file, caught.value.line, caught.value.hint != "") == (path, 2, True)


SENTENCES = {
    "The flatter and louder the eighteen deer box under the sun ; the worse the twenty pigs call": "instance",
    "The later the ten mice choke , and then you said that I think that this is always true the wider the six men slam": "instance",
    "People have told me that the lower and wider two shake the dogs without a pause ; the better nine throw the girls .": "non-instance",
    "The weaker twelve date the foxes, and by the way, they say that this is always true, the slower twenty beat the deer": "non-instance",
    "Sometimes the twelve weaker the foxes date , the slower twenty the sheep beat .": "scrambled",
    "The longer two help the cats, the harder ten push the dogs.": "non-instance",
    "The longer the two cats wait, the harder the ten dogs fight.": "instance",
    "the deeper the forty whales dive the quieter the seven sailors sing": "instance",
    "The two longer the cats wait, the harder ten the dogs fight.": "scrambled",
    "Everyone knows that the longer cats the two wait, the harder dogs the ten fight.": "scrambled",
    "The longer the two cats wait.": "",
    "The longer the two gnus wait, the harder the ten dogs fight.": "",
}


def test_the_grammar_says_what_a_sentence_is_and_takes_unknown_words_for_what_they_look_like(project, cxgen, tmp_path):
    grammar, file = Grammar(project), tmp_path / "sentences.txt"
    file.write_text("\n\n".join(SENTENCES), "utf-8")
    told = cxgen("recognise", "--file", file, "--format", "jsonl")
    assert [json.loads(line)["is"] for line in told.stdout.splitlines()] == list(SENTENCES.values())
    assert told.returncode == 1
    assert "The longer the two cats wait. (its words are in no order of the grammars)" in told.stderr
    assert "the harder the ten dogs fight. (unknown words: gnus)" in told.stderr
    text = "The braver the two gnus prowl, the harder the 17 dogs fight."
    assert (grammar.recognises(text), grammar.recognises(text, any_words=True)) == ("", "instance")


@pytest.mark.parametrize("side", ["train", "test"])
def test_what_the_published_grammar_says_is_read_back_with_its_class(project, side):
    grammar = Grammar(project, PUBLISHED)
    rows = list(Sets(grammar, side, 7).draw(340))  # of three sentences each
    assert len({row["sentence"] for row in rows}) == 1020
    assert [grammar.recognises(row["sentence"]) for row in rows] == [ROLES[row["label"]] for row in rows]
    texts = " ".join(row["sentence"] for row in rows)
    for part in (" ; ", " and I want to add ", " under the ", " without a pause ", "It is ", " 's", "er and "):
        assert (part in texts) == (part != " 's"), part


def test_sentences_that_are_many_are_drawn_from_all(project):
    """Of more sentences than a double has digits for, the last word is still any one, and so is the order of a half."""
    rows = list(Sets(Grammar(project, "wide"), "test", 1).draw(600))
    scrambled = [row["sentence"].split() for row in rows if row["label"] == 2]
    assert {row["derivation"] % 8 for row in rows} == set(range(8))
    assert len({row["order"] // 10 % 5 for row in rows}) == len({row["order"] % 5 for row in rows}) == 5
    assert any(after == "the" and word.endswith("er") for words in scrambled for word, after in pairwise(words))


OWN = {  # changes of the file -> the preset's sentences, or what is wrong
    ("lexicon:", "unused:"): "unexpected key 'unused'",
    ("INSTANCE -> START HALF MIDDLE HALF END", "INSTANCE -> START HALF MIDDLE HALF END | HALF 'and' HALF"): "",
    ("INSTANCE -> START HALF MIDDLE HALF END", "INSTANCE -> START HALF END"): "an instance without two halves HALF",
    (
        "HALF -> 'the' ADV 'the' NUM NOUN VERB",
        "HALF -> 'the' ADV 'the' NUM NOUN VERB | 'the' ADV 'the' NOUN VERB",
    ): "no non-instance order of",
    ("ADV: {slot: comp, form: lemma}\n", "\n"): "",
    ("START HALF MIDDLE HALF END", "START HALF MIDDLE HALF END VERB"): "no preset wide",
}


@pytest.mark.parametrize("change", OWN)
def test_a_grammar_of_ones_own_is_drawn_from_or_refused_with_its_line(scratch, change):
    path = scratch / "templates/grammars/comparative-correlative.yaml"
    edit(path, *change)
    if OWN[change]:
        with pytest.raises(CxgenError, match=OWN[change]) as caught:
            SYNTAX.sample(Project(scratch), 1, 6)
        assert (caught.value.file, caught.value.line is not None) == (path, True)
    else:
        assert SYNTAX.sample(Project(scratch), 1, 6).height == 18


def test_without_words_of_the_lexicon_there_is_no_second_vocabulary(scratch):
    path = scratch / "templates/grammars/comparative-correlative.yaml"
    path.write_text(path.read_text("utf-8").split("\nlexicon:")[0], "utf-8")
    assert set(SYNTAX.sample(Project(scratch), 1, 6)["preset"]) == {"small", "published"}


def test_features_are_those_of_the_sentences(tables):
    rows = tables["cc_syntax"].filter(pl.col("label") == 1, pl.col("preset") != "wide")
    for row in rows.iter_rows(named=True):
        words = re.findall(r"[\w-]+", row["sentence"].lower())
        halves = [place for place, word in enumerate(words) if word == "the" and any(is_half(words[place + 1 : place + n]) for n in (3, 5))]
        found = {"length": len(words), "start": halves[0], "second_start": halves[1], "distance": halves[1] - halves[0]}
        assert len(halves) == 2
        assert found == {name: row[name] for name in FEATURES}
        assert row["subset"] == "general" or row["value"] == found[row["subset"]]


def is_half(words):
    """Whether these follow the first article of a half: a comparative, or two of them, and another article."""
    compared = [word == "worse" or word.endswith("er") for word in words]
    return words[-1:] == ["the"] and (compared[:-1] == [True] or (words[1] == "and" and compared[:-1] == [True, False, True]))


def test_train_has_the_lowest_quarter_of_a_feature_and_test_all_of_it(tables):
    for (preset, subset), own in tables["cc_syntax"].drop_nulls("value").group_by("preset", "subset"):
        train, test = (own.filter(split=split)["value"] for split in ("train", "test"))
        assert (train.min(), test.min()) == (own["value"].min(),) * 2, (preset, subset)
        assert train.max() <= own["value"].min() + (own["value"].max() - own["value"].min()) / 4 < test.max()


def test_another_seed_gives_other_sentences_and_the_same_one_the_same(project, tables):
    sizes = FEW["cc_syntax"]
    seed = Params.read(project.params).request.seed
    assert SYNTAX.rows(project, seed, sizes).sort("id").equals(tables["cc_syntax"].sort("id"))
    other = set(SYNTAX.rows(project, seed + 1, sizes)["sentence"])
    assert len(other & set(tables["cc_syntax"]["sentence"])) < len(other) / 100


def edited(rows, index, **values):
    """``rows`` with one row changed."""
    here = pl.int_range(pl.len()) == index
    return rows.with_columns(
        pl.when(here).then(pl.lit(value)).otherwise(name).cast(rows.schema[name]).alias(name) for name, value in values.items()
    )


def test_the_audit_of_pairs_finds_what_is_wrong(project, tables):
    rows = tables["cc_syntax"]
    assert not any(SYNTAX.violations(project, rows).values())
    index = rows.with_row_index().filter(preset="small", subset="start", label=1, split="test", value=9)["index"][0]
    train = pl.col("split") == "train"
    wrong = {
        "sets with different words": edited(rows, index, sentence="The cat sat."),
        "sets that are none": edited(rows, index, label=0),
        "sentences without the value of their subset": edited(rows, index, length=99, start=99, second_start=99, distance=99),
        "sets in two splits": edited(rows, index, split="train"),
        "repeated ids": edited(edited(rows, index, id="again"), index + 1, id="again"),
        "words in train and test": rows.with_columns(
            sentence=pl.when(train).then(pl.col("sentence").str.replace("longer", "sooner")).otherwise("sentence")
        ),
        "values in the wrong split": edited(rows, index, split="train"),
        "values with unequal classes": edited(rows, index, value=8),
    }
    for rule, table in wrong.items():
        assert SYNTAX.violations(project, table)[rule] > 0, rule


def test_what_follows_is_the_product_of_the_signs():
    """The two properties rise together, or not; x has more, or less; y has the reverse."""
    for sign, known in product((1, -1), repeat=2):
        facts, comparison = [("a", "b", sign)], ("x", "y", "a", known)
        assert follows(facts, comparison, "x", "y", "b") == sign * known
        assert follows(facts, comparison, "y", "x", "b") == -sign * known
        assert follows([], comparison, "x", "y", "b") == follows(facts, ("x", "y", "c", known), "x", "y", "b") == 0


def test_the_scenarios_of_a_base_item(tables):
    rows = tables["cc_semantics"].filter(given="wealth", then="loudness")
    base = rows.filter(pl.col("text").str.starts_with("The richer you are, the louder"), scenario="S1").row(0, named=True)
    every = rows.filter(contrast_set=base["contrast_set"])
    found = {row["scenario"]: row for row in every.filter(example=0).iter_rows(named=True)}
    x, y = (re.findall(r"\. (\w+) is richer than (\w+)\.", base["text"]))[0]
    z, w = re.findall(r"^(\w+) is richer than (\w+)\.", found["S5"]["text"])[0]
    up, down = "The richer you are, the louder you are.", "The poorer you are, the quieter you are."
    mixed = "The richer you are, the quieter you are. The poorer you are, the louder you are."
    known, gap = f"{x} is richer than {y}.", f"Therefore, {x} is [MASK] than {y}."
    other = f"Therefore, {z} is [MASK] than {w}."
    assert {name: found[name]["text"] for name in found if name != "S7"} == {
        "S1": f"{up} {down} {known} {gap}",
        "S2": f"{down} {up} {known} {gap}",
        "S3": f"{mixed} {known} {gap}",
        "S4": f"{up} {down} {y} is richer than {x}. Therefore, {y} is [MASK] than {x}.",
        "S5": f"{z} is richer than {w}. {other}",
        "S6": f"{up} {down} {known} {other}",
    }
    assert len({x, y, z, w}) == 4
    assert "richer" not in found["S7"]["text"].replace(up, "")
    assert [found[name]["answer"] for name in sorted(found)] == [0, 0, 1, 0, None, None, None]
    examples = every.group_by("scenario").agg(pl.col("text").n_unique()).sort("scenario")["text"].to_list()
    assert examples == [1, 1, 1, 1, 5, 5, 5]
    for row in every.iter_rows(named=True):
        assert (row["first"], row["second"]) == ("louder", "quieter")
        assert row["text"][row["mask_start"] :].startswith("[MASK]")
        assert row["text"].split()[row["mask_word"]] == "[MASK]"


def test_the_audit_of_scenarios_finds_what_is_wrong(project, tables):
    rows = tables["cc_semantics"]
    assert not any(SEMANTICS.violations(project, rows).values())
    index = rows.with_row_index().filter(scenario="S2", answer=0, first="faster")["index"][0]
    changes = {
        "answers that the facts do not give": {"answer": 1},
        "gaps that are elsewhere": {"mask_start": 0},
        "items with other words than their base item": {"first": "slower"},
        "items without their base item": {"base_id": "x"},
    }
    for rule, change in changes.items():
        assert SEMANTICS.violations(project, edited(rows, index, **change))[rule] > 0, rule


def test_what_the_stage_wrote_is_read_back_counted_and_held_against_its_hashes(made):
    project, report = made
    found = read_tables(project)
    sizes = {"cc_syntax": [3 * (3 * 40 + (20 + 31) * 2), 3 * (3 * 40 + (70 + 116) * 2)], "cc_semantics": [30 * 4 * 19, 182 * 4 * 19]}
    assert {name: [found[name, split].height for split in ("train", "test")] for name in SUITES} == sizes
    metric = read_json(project.root / layout.metric("suites"), "metrics", "suites")
    assert metric["suites"] == json.loads(json.dumps(report["suites"]))
    require_unchanged(project, found, {"suites": metric})
    key = ("cc_semantics", "test")
    with pytest.raises(DataError, match="not what the pipeline wrote: cc_semantics/test"):
        require_unchanged(project, {**found, key: found[key][1:]}, {"suites": metric})


def test_sizes_that_cannot_be_are_told_in_one_line(cxgen, tmp_path):
    for suite, sizes, what in (
        ("cc_syntax", {"general": 0}, "suites.cc_syntax.general"),
        ("cc_synta", {}, "unexpected key 'cc_synta'"),
        ("cc_semantics", {"draws": 99}, "yaml:31: 33 names"),
        ("cc_semantics", {"wordings": 9}, "yaml:20: 3 wordings"),
    ):
        write_params(tmp_path, suites={**FEW, suite: sizes})
        result = cxgen("suites", cwd=tmp_path)
        assert (result.returncode, what in result.stderr, "Traceback" in result.stderr) == (2, True, False), what


@pytest.mark.slow
def test_sample_shows_pairs_and_scenarios(cxgen):
    told = cxgen("sample", "comparative-correlative", "--family", "cc_syntax", "--n", "4", "--format", "jsonl")
    rows = [json.loads(line) for line in told.stdout.splitlines()]
    assert [row["label"] for row in rows] == [1, 0, 2] * 4
    assert {row["preset"] for row in rows} == set(PRESETS)
    told = cxgen("sample", "comparative-correlative", "--family", "cc_semantics", "--n", "2")
    assert told.stdout.count("[MASK]") == 14
    assert sample("comparative-correlative", 2, family="cc_semantics").height == 38
    told = cxgen("sample", "resultative", "--family", "cc_syntax")
    assert (told.returncode, told.stderr.splitlines()[0]) == (2, "cxgen: resultative has no suite cc_syntax")


def test_suites_are_scored_where_they_are_asked_for(cxgen, made, tables, tmp_path):
    project, _ = made
    rows = tables["cc_syntax"].filter(pl.col("split") == "test")
    file = tmp_path / "all-instances.jsonl"
    rows.select("id", label=pl.lit("instance")).write_ndjson(file)
    told = cxgen("evaluate", file, "--config", "cc_syntax", "--by", "value", "--format", "jsonl", cwd=project.root)
    found = [json.loads(line) for line in told.stdout.splitlines()]
    assert found[0]["accuracy"] == 0.3333
    assert {row["part"]: row["items"] for row in found[1:]}["value length 19"] == 12
    told = cxgen("evaluate", "--model", "m", "--base-url", "http://127.0.0.1:9", "--config", "cc_syntax", cwd=project.root)
    assert told.returncode == 2
    assert "cxgen: sentences for classifiers, which are put to no model" in told.stderr.splitlines()


def test_lm_eval_gets_the_scenarios_that_have_an_answer(made, tables, tmp_path):
    project, _ = made
    assert export("lm_eval", project, Part(("cc_semantics",)), tmp_path / "tasks") == ["cxgen_cc_semantics", "cxgen"]
    task = (tmp_path / "tasks/cxgen_cc_semantics_comparative_correlative.yaml").read_text("utf-8")
    assert "doc_to_text: '{{context}}'" in task
    items = [json.loads(line) for line in (tmp_path / "tasks/data/cc_semantics-items.jsonl").read_text("utf-8").splitlines()]
    rows = {row["id"]: row for row in tables["cc_semantics"].iter_rows(named=True)}
    assert {rows[item["id"]]["scenario"] for item in items} == {"S1", "S2", "S3", "S4"}
    for item in items:
        row = rows[item["id"]]
        right = row[("first", "second")[row["answer"]]]
        assert (item["context"], item["choices"][item["answer"]]) == (row["context"], f"{row['before']}{right}{row['after']}")
    with pytest.raises(CxgenError, match="put to no model"):
        export("lm_eval", project, Part(("cc_syntax",)), tmp_path / "none")
