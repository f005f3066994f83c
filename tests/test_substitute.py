"""Pseudowords in place of content words: which words change, and which labels survive."""

import json
import re
from collections import Counter
from dataclasses import replace

import polars as pl
import pytest

from cxgen import layout
from cxgen.build import wug
from cxgen.build.params import Request
from cxgen.build.samplers import generate_items, samplers
from cxgen.build.wug import changed_sets, wug_items
from cxgen.errors import DataError
from cxgen.families import columns_of
from cxgen.project import Project
from cxgen.sampling import INVENTORY, Wugs, broken_slots
from cxgen.semantics import label_matrix
from cxgen.vocabulary import INFLECTIONS as FORMS
from cxgen.vocabulary import MODES
from tests.conftest import edit, stored

REQUEST = Request({"nli": 120, "distinction": 0, "minimal_pairs": 0}, seed=5)


@pytest.fixture(scope="module")
def wugs(mini_source):
    return Wugs.load(Project(mini_source).snapshot)


@pytest.fixture(scope="module")
def made(wugs, reach):
    """Pseudoword items of the tests' own construction beside the real ones, cell by cell."""
    real = generate_items(reach, REQUEST)
    items = wug_items(samplers(reach, REQUEST), wugs, tuple(MODES), real).drop("source_id", "verb_role")
    cell = ["design", "split", "set_number", "kind", "rule"]
    return items.join(real.select(*cell, pl.exclude(cell).name.suffix("_real")), on=cell, how="left")


def nli(construction):
    return [design for design in construction.designs.values() if "nli" in design.configs]


def test_pseudowords_take_the_first_sets_of_every_design_and_split(reach):
    items = generate_items(reach, REQUEST)
    chosen = wug.sources(items, "nli", 0.25)
    for (design, split), rows in items.filter(config="nli").group_by("design", "split"):
        sets = rows["contrast_set"].unique(maintain_order=True)
        first = sets.head(-(-len(sets) // 4)).to_list()
        assert chosen.filter(design=design, split=split)["set_number"].n_unique() == len(first)
        numbers = rows.filter(pl.col("contrast_set").is_in(first))["set_number"].unique().to_list()
        assert {*chosen.filter(design=design, split=split)["set_number"]} == {*numbers}


def test_most_labels_of_what_is_shipped_rest_on_form_alone(constructions):
    """With other verbs, nouns and adjectives, most of the sets of every construction keep all their labels; of the conative, in which who
    got hit rests on the verb, most labels stay."""
    for name, construction in constructions.items():
        kept, labels, whole, broken = 0.0, 0.0, 0.0, broken_slots(construction, "content")
        for design in nli(construction):
            matrix, other = label_matrix(construction, design), label_matrix(construction, design, broken)
            same = [other[kind][rule] == label for kind, row in matrix.items() for rule, label in row.items()]
            kept, labels = kept + design.weight * all(same), labels + design.weight * sum(same) / len(same)
            whole += design.weight
        assert (labels if name == "conative" else kept) >= 0.7 * whole, name


def test_a_hypothesis_stays_where_all_three_labels_are_left(made, reach):
    for mode in MODES:
        wanted = set()
        for design in nli(reach):
            broken = broken_slots(reach, mode)
            matrix = label_matrix(reach, design, broken).values()
            if broken & set(reach.design_slots(design)):
                wanted |= {(design.name, rule) for rule in next(iter(matrix)) if {row[rule] for row in matrix} == {0, 1, 2}}
        assert set(made.filter(mode=mode).select("design", "rule").unique().rows()) == wanted, mode


def test_labels_stay_balanced_and_none_changes_but_to_neutral(made):
    """A pseudoword takes meaning away; it adds none."""
    assert made["premise_real"].null_count() == 0
    keys = ("mode", "set_number", "design", "split", "rule")
    counts = made.group_by(keys).agg(*((pl.col("label") == x).sum().alias(str(x)) for x in range(3)))
    assert counts.filter((pl.col("0") != pl.col("1")) | (pl.col("0") != pl.col("2"))).height == 0
    assert made.select("premise", "hypothesis").is_unique().all()
    assert made["id"].is_unique().all()
    assert set(made.filter(pl.col("label") != pl.col("label_real"))["label"]) <= {1}


def test_what_rests_on_a_word_is_open_in_the_modes_that_replace_it(wugs, reach):
    """And in no other one."""
    kinds = {name: replace(kind, rests_on=("agent",)) for name, kind in reach.kinds.items()}
    resting = replace(reach, kinds=kinds)
    made = wug_items(samplers(resting, REQUEST), wugs, ("verb", "nouns"), generate_items(reach, REQUEST))
    assert made.filter(mode="verb").height
    assert not made.filter(mode="nouns").height


def words(text):
    return re.findall(r"[A-Za-z'-]+", text)


def test_only_the_words_of_the_mode_are_replaced(made, mini_lexicon):
    """A token that changes belongs to a replaced lexeme; what is closed-class, a name, or of another part of speech stays."""
    pos = {row[:2]: row[2] for row in mini_lexicon.table.select("lemma", "sense", "pos").iter_rows()}
    forms = {
        row[0]: {word for text in row if text for word in words(text)} for row in mini_lexicon.table.select("lemma", *FORMS).iter_rows()
    }
    for row in made.unique("premise_id", maintain_order=True)[::7].iter_rows(named=True):
        assert [slot["slot"] for slot in row["slots_real"]] == [slot["slot"] for slot in row["slots"]]
        allowed = {"a", "an"}
        for before, after in zip(row["slots_real"], row["slots"], strict=True):
            replaced = pos[before["lemma"], before["sense"]] in MODES[row["mode"]]
            assert (before["lemma"] != after["lemma"]) == replaced
            assert (after["sense"], after["zipf"]) == ((None, None) if replaced else (before["sense"], before["zipf"]))
            allowed |= {form.lower() for form in forms[before["lemma"]]} if replaced else set()
        gone = Counter(words(row["premise_real"])) - Counter(words(row["premise"]))
        assert all(token.lower().removesuffix("'s") in allowed for token in gone), (row["premise_real"], row["premise"])


def test_a_lexeme_has_one_pseudoword_within_a_set_and_others_in_other_sets(made):
    long = made.select("mode", "contrast_set", real="slots_real", wug="slots").explode("real", "wug").unique()
    lemma, word = (pl.col(name).struct.field("lemma") for name in ("real", "wug"))
    pairs = long.filter(lemma != word).select("mode", "contrast_set", lemma=lemma, word=word).unique()
    assert pairs.group_by("mode", "contrast_set", "lemma").len()["len"].max() == 1
    assert pairs.group_by("mode", "contrast_set", "word").len()["len"].max() == 1
    assert pairs.group_by("lemma").agg(pl.col("word").n_unique())["word"].max() > 1
    assert pairs.group_by("word").agg(pl.col("lemma").n_unique())["lemma"].max() == 1


def test_hypotheses_hold_the_pseudowords_of_their_premises_and_articles_follow_the_spelling(made):
    rows = made.filter(mode="content", rule="with")
    assert rows.height
    for row in rows.iter_rows(named=True):
        target = next(slot["lemma"] for slot in row["slots"] if slot["slot"] == "target")
        assert f" {target}." in row["hypothesis"]
    nouns = made.filter(mode="nouns")
    lemmas = {slot["lemma"] for slots in nouns["slots"] for slot in slots}
    text = " ".join(text for side in ("premise", "hypothesis") for text in nouns[side])
    articles = [(article, word) for article, word in re.findall(r"\b(an?) ([a-z]+)", text) if word in lemmas]
    assert articles
    assert all((article == "an") == (word[0] in "aeio") for article, word in articles if word[0] != "u")


def test_every_open_class_lexeme_has_pseudowords_and_none_is_shared(project, lexicon):
    table = Wugs.load(project.snapshot).table
    assert set(table["key"]) == set(lexicon.table.filter(pl.col("pos").is_in(MODES["content"]))["key"])
    assert table.group_by("key").len()["len"].mean() > 1.4
    assert table["lemma"].is_unique().all()
    assert table["lemma"].str.len_chars().is_between(4, 9).all()
    forms = table.select(pl.concat_list("lemma", *FORMS).list.unique().alias("forms")).explode("forms").drop_nulls()["forms"]
    assert forms.filter(~forms.str.contains(" ")).is_unique().all()


# --- the stage and the commands


def test_every_item_is_paired_with_a_real_one_of_its_split(mini_dataset):
    data, real = (stored(config, project=mini_dataset) for config in ("nli_wug", "nli"))
    assert tuple(data.columns) == tuple(column.name for column in columns_of("nli_wug"))
    pairs = data.join(real, left_on="source_id", right_on="id", how="left", suffix="_real")
    for name in ("split", "kind", "rule", "wording", "template", "construction", "verb_role", "claim"):
        assert pairs[name].equals(pairs[f"{name}_real"]), name
    assert (pairs["premise"] != pairs["premise_real"]).all()
    metric = json.loads((mini_dataset / layout.metric("wug")).read_text("utf-8"))
    assert set(metric["violations"].values()) == {0}
    sets = real.filter(construction="reach").group_by("design", "split").agg(pl.col("contrast_set").n_unique())
    content = pairs.filter(construction="reach", mode="content")
    shares = content.group_by("design", "split").agg(n=pl.col("contrast_set_real").n_unique()).join(sets, on=["design", "split"])
    assert shares.filter(pl.col("n") != (pl.col("contrast_set") * 0.5).ceil()).height == 0


def test_what_is_wrong_is_counted(mini_dataset):
    data, real = (stored(config, project=mini_dataset) for config in ("nli_wug", "nli"))
    assert set(wug.violations(data, real).values()) == {0}
    moved = data.with_columns(split=pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("other")).otherwise("split"))
    assert wug.violations(moved, real)["items in another split than their source"] == 3
    assert wug.violations(data[1:], real)["hypothesis x split with unequal labels"] == 1
    assert wug.violations(pl.concat([data, data[:2]]), real)["repeated ids"] == 2
    assert wug.violations(data, real[900:])["items without a source"] > 0


def test_sample_and_explain_take_a_mode(cxgen, mini):
    command = ("sample", "reach", "--wug", "verb", "--n", "8", "--format", "jsonl")
    rows = [json.loads(line) for line in cxgen(*command, cwd=mini).stdout.splitlines()]
    assert {row["label"] for row in rows} == {"entailment", "neutral", "contradiction"}
    assert all(slot["sense"] is None for row in rows for slot in row["slots"] if slot["role"] == "verb")
    assert cxgen("sample", "reach", "--wug", "vowels", cwd=mini).returncode == 2
    edit(mini / "templates/reach.yaml", 'entails: ["got(agent, target)"]', 'entails: ["got(agent, target)"]\n    rests_on: [verb]')
    out = cxgen("explain", "reach", "--wug", "content", cwd=mini).stdout
    assert any(line.split()[:5] == ["caught", "N(C)", "N(E)", "N", "N"] for line in out.splitlines())
    for fact in ('excludes: ["got(agent, target)"]', 'entails: ["repeated(agent)"]', 'excludes: ["repeated(agent)"]'):
        edit(mini / "templates/reach.yaml", fact, f"{fact}\n    rests_on: [verb]")
    for fact in ('entails: ["accompanied(agent)"]', 'excludes: ["accompanied(agent)"]'):
        edit(mini / "templates/wait.yaml", fact, f"{fact}\n    rests_on: [stay]")
    result = cxgen("sample", "reach", "--wug", "content", cwd=mini)
    assert result.returncode == 2
    assert "nothing survives the substitution 'content'" in result.stderr
    assert "cxgen explain reach --wug content" in result.stderr


def test_a_word_without_a_pseudoword_is_named(wugs, mini_lexicon, tmp_path):
    few = Wugs(wugs.table.filter(pl.col("key") != "swim%v"))
    with pytest.raises(DataError, match="'swim' has no pseudoword"):
        few.in_place(mini_lexicon, "verb", 0)
    with pytest.raises(DataError, match=r"pseudowords\.parquet") as caught:
        Wugs.load(tmp_path)
    assert caught.value.file.name == INVENTORY


def test_sets_in_which_nothing_is_replaced_or_that_another_mode_has_already_are_left_out():
    real = pl.DataFrame({"premise": ["Ann ran.", "Bo ran."]})
    rows = [
        ("nouns", "nli", "s1", "Ann ran."),
        ("nouns", "nli", "s1", "Dax ran."),
        ("verb", "nli", "s2", "Ann gorped."),
        ("content", "nli", "s2", "Ann gorped."),
        ("content", "nli", "s3", "Dax gorped."),
    ]
    items = pl.DataFrame(rows, schema=["mode", "config", "contrast_set", "premise"], orient="row")
    assert changed_sets(items, real).rows() == [rows[2], rows[4]]
