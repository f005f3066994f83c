"""Pseudowords in place of content words: what is replaced, what stays, and which labels survive."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass

import polars as pl
import pytest

from cxgen import layout
from cxgen.build import wug
from cxgen.build.params import Request
from cxgen.build.samplers import generate_items, samplers
from cxgen.build.tables import table_file
from cxgen.build.wug import changed_sets, wug_items
from cxgen.constructicon import Construction
from cxgen.errors import DataError
from cxgen.families import columns_of
from cxgen.project import Project
from cxgen.pseudowords import load
from cxgen.pseudowords.inventory import VARIANTS
from cxgen.sampling import INVENTORY, Wugs, broken_slots
from cxgen.schema import read_yaml
from cxgen.semantics import label_matrix
from cxgen.vocabulary import INFLECTIONS as FORMS
from cxgen.vocabulary import MODES, SPLITS
from tests.conftest import ROOT, edit, sampled

REQUEST = Request({"nli": 120, "distinction": 0, "minimal_pairs": 0}, seed=5)


@dataclass(frozen=True)
class Made:
    """Real items and pseudoword items of some constructions, paired by cell."""

    wugs: Wugs
    constructions: dict[str, Construction]
    tables: dict[str, pl.DataFrame]

    @classmethod
    def of(cls, folder, constructions):
        wugs, tables = Wugs.load(Project(folder).snapshot), {}
        for name, construction in constructions.items():
            real = generate_items(construction, REQUEST)
            made = wug_items(samplers(construction, REQUEST), wugs, tuple(MODES), real).drop("source_id", "acceptability")
            cell = ["design", "split", "set_number", "kind", "rule"]
            tables[name] = made.join(real.select(*cell, pl.exclude(cell).name.suffix("_real")), on=cell, how="left")
        return cls(wugs, constructions, tables)


def nli(construction):
    return [design for design in construction.designs.values() if "nli" in design.configs]


@pytest.fixture(scope="module")
def mini_made(mini_source, reach):
    return Made.of(mini_source, {"reach": reach})


@pytest.fixture(scope="module")
def shipped_made(project, constructions, shared):
    """A sample of the constructions, made once for all test processes."""
    constructions = {name: constructions[name] for name in sampled(constructions, 2)}

    def build(folder):
        for name, table in Made.of(ROOT, constructions).tables.items():
            table.write_parquet(folder / f"{name}.parquet")

    folder = shared("shipped-substituted", build)
    tables = {name: pl.read_parquet(folder / f"{name}.parquet") for name in constructions}
    return Made(Wugs.load(project.snapshot), constructions, tables)


@pytest.fixture(scope="module", params=["mini", pytest.param("shipped", marks=pytest.mark.slow)])
def made(request):
    """The same must hold of the tests' own construction and of what is shipped."""
    return request.getfixturevalue(f"{request.param}_made")


def left(construction, mode):
    """Design of nli -> its label matrix, with the words of the mode replaced."""
    broken = broken_slots(construction, mode)
    return {design.name: label_matrix(construction, design, broken) for design in nli(construction)}


def test_most_labels_of_what_is_shipped_rest_on_form_alone(constructions):
    """With other verbs, nouns and adjectives, most of the sets of every construction keep all their labels."""
    for name, construction in constructions.items():
        kept = {True: 0.0, False: 0.0}
        for design in nli(construction):
            kept[left(construction, "content")[design.name] == label_matrix(construction, design)] += design.weight
        assert kept[True] >= 0.8 * sum(kept.values()), name


def test_a_hypothesis_stays_where_all_three_labels_are_left(made):
    for name, table in made.tables.items():
        for mode in MODES:
            wanted = {
                (design, rule)
                for design, matrix in left(made.constructions[name], mode).items()
                for rule in next(iter(matrix.values()))
                if {row[rule] for row in matrix.values()} == {0, 1, 2} and _replaces(made.constructions[name], design, mode)
            }
            rows = table.filter(pl.col("mode") == mode)
            assert set(rows.select("design", "rule").unique().rows()) == wanted, (name, mode)


def _replaces(construction, design, mode):
    return bool(broken_slots(construction, mode) & set(construction.design_slots(construction.designs[design])))


def test_labels_stay_balanced_and_only_what_is_balanced_stays(made):
    for name, table in made.tables.items():
        assert table["premise_real"].null_count() == 0
        counts = table.group_by("mode", "set_number", "design", "split", "rule").agg(
            *((pl.col("label") == x).sum().alias(str(x)) for x in range(3))
        )
        assert counts.filter((pl.col("0") != pl.col("1")) | (pl.col("0") != pl.col("2"))).height == 0, name
        assert table.select("premise", "hypothesis").is_unique().all()
        assert table["id"].is_unique().all()


def test_a_label_never_changes_but_to_neutral(made):
    """A pseudoword takes meaning away; it adds none."""
    for table in made.tables.values():
        changed = table.filter(pl.col("label") != pl.col("label_real"))
        assert set(changed["label"]) <= {1}


def words(text):
    return re.findall(r"[A-Za-z'-]+", text)


def test_only_the_words_of_the_mode_are_replaced(made):
    """A token that changes belongs to a replaced lexeme; what is closed-class, a name, or of another part of speech stays."""
    for name, table in made.tables.items():
        lexicon = made.constructions[name].lexicon
        pos = {row[:2]: row[2] for row in lexicon.table.select("lemma", "sense", "pos").iter_rows()}
        for row in table.unique("premise_id", maintain_order=True)[::7].iter_rows(named=True):
            real, wug = row["slots_real"], row["slots"]
            assert [slot["slot"] for slot in real] == [slot["slot"] for slot in wug]
            for before, after in zip(real, wug, strict=True):
                replaced = pos[before["lemma"], before["sense"]] in MODES[row["mode"]]
                assert (before["lemma"] != after["lemma"]) == replaced
                assert (after["sense"] is None, after["zipf"] is None) == (
                    (True, True) if replaced else (before["sense"] is None, before["zipf"] is None)
                )
            gone = Counter(words(row["premise_real"])) - Counter(words(row["premise"]))
            lemmas = [slot["lemma"] for slot in real if pos[slot["lemma"], slot["sense"]] in MODES[row["mode"]]]
            forms = {form.lower() for lemma in lemmas for form in forms_of(lexicon, lemma)}
            assert all(token.lower().removesuffix("'s") in forms | {"a", "an"} for token in gone), (row["premise_real"], row["premise"])


def forms_of(lexicon, lemma):
    rows = lexicon.table.filter(pl.col("lemma") == lemma)
    columns = ("lemma", "plural", "third", "ing", "past", "participle", "comparative", "superlative")
    return {word for name in columns for text in rows[name].drop_nulls() for word in words(text)}


def test_a_lexeme_has_one_pseudoword_within_a_set_and_no_other_lexeme_has_it(made):
    for table in made.tables.values():
        long = table.select("mode", "contrast_set", real="slots_real", wug="slots").explode("real", "wug").unique()
        long = long.filter(pl.col("real").struct.field("lemma") != pl.col("wug").struct.field("lemma"))
        pairs = long.select(
            "mode",
            "contrast_set",
            lemma=pl.col("real").struct.field("lemma") + "/" + pl.col("real").struct.field("sense").fill_null(""),
            pseudoword=pl.col("wug").struct.field("lemma"),
        ).unique()
        assert pairs.group_by("mode", "contrast_set", "lemma").len()["len"].max() == 1
        assert pairs.group_by("mode", "contrast_set", "pseudoword").len()["len"].max() == 1


def test_hypotheses_hold_the_pseudowords_of_their_premises(mini_made):
    rows = mini_made.tables["reach"].filter((pl.col("mode") == "content") & (pl.col("rule") == "with"))
    assert rows.height
    for row in rows.iter_rows(named=True):
        target = next(slot["lemma"] for slot in row["slots"] if slot["slot"] == "target")
        assert f" {target}." in row["hypothesis"]


def test_forms_are_regular_and_articles_follow_the_spelling(made):
    nouns = [table.filter(pl.col("mode") == "nouns") for table in made.tables.values()]
    text = " ".join(text for table in nouns for side in ("premise", "hypothesis") for text in table[side])
    lemmas = {slot["lemma"] for table in nouns for slots in table["slots"] for slot in slots}
    articles = [(article, word) for article, word in re.findall(r"\b(an?) ([a-z]+)", text) if word in lemmas]
    assert articles
    assert all((article == "an") == (word[0] in "aeio") for article, word in articles if word[0] != "u")


def test_sets_differ_in_their_pseudowords(made):
    """The same verb stands for different pseudowords in different sets."""
    assert made.wugs.table["variant"].n_unique() > 1
    several = 0
    for table in made.tables.values():
        rows = table.filter(pl.col("mode") == "verb")
        several += (rows.group_by("verb_real").agg(pl.col("verb").n_unique())["verb"].max() or 0) > 1
        assert (rows.group_by("verb").agg(pl.col("verb_real").n_unique())["verb_real"].max() or 1) == 1
    assert several


def test_every_open_class_lexeme_has_pseudowords_and_none_is_shared(project, lexicon):
    wugs = Wugs.load(project.snapshot)
    content = lexicon.table.filter(pl.col("pos").is_in(MODES["content"]))["key"]
    assert wugs.table["variant"].n_unique() == VARIANTS
    assert set(wugs.table["key"]) == set(content)
    assert wugs.table.group_by("key").len()["len"].mean() > 1.4
    assert wugs.table["lemma"].is_unique().all()
    forms = wugs.table.select(pl.concat_list("lemma", *FORMS).list.unique().alias("forms")).explode("forms").drop_nulls()["forms"]
    single = forms.filter(~forms.str.contains(" "))
    known = load(Project(ROOT))
    assert single.is_unique().all()
    assert known.refused.isdisjoint(single)
    assert known.rare.keys().isdisjoint(wugs.table["lemma"])
    assert set(read_yaml(ROOT / "lexicons" / "wug.yaml", "wug").data["refused"]).isdisjoint(wugs.table["lemma"])
    assert wugs.table["lemma"].str.len_chars().is_between(4, 9).all()


# --- the stage and the commands


@pytest.fixture
def built(mini_dataset):
    return mini_dataset


def read(folder):
    files = sorted((folder / layout.WUG / "nli_wug").glob("*.parquet"))
    return pl.concat([pl.read_parquet(path) for path in files])


def test_every_item_is_paired_with_a_real_one_of_its_split(built):
    folder, found = built, json.loads((built / layout.metric("wug")).read_text("utf-8"))
    data = read(folder)
    assert tuple(data.columns) == tuple(column.name for column in columns_of("nli_wug"))
    real = pl.concat([pl.read_parquet(table_file(Project(folder), "nli", name)) for name in SPLITS])
    pairs = data.join(real, left_on="source_id", right_on="id", how="left", suffix="_real")
    for name in ("split", "kind", "rule", "wording", "template", "construction", "acceptability", "claim"):
        assert pairs[name].equals(pairs[f"{name}_real"]), name
    assert (pairs["premise"] != pairs["premise_real"]).all()
    assert set(found["violations"].values()) == {0}
    sets = real.filter(pl.col("construction") == "reach").group_by("design", "split").agg(pl.col("contrast_set").n_unique())
    verb = pairs.filter((pl.col("construction") == "reach") & (pl.col("mode") == "content"))
    shares = verb.group_by("design", "split").agg(n=pl.col("contrast_set_real").n_unique()).join(sets, on=["design", "split"])
    assert shares.filter(pl.col("n") != (pl.col("contrast_set") * 0.5).ceil()).height == 0


def test_what_is_wrong_is_counted(built):
    folder = built
    data = read(folder)
    sources = pl.concat([pl.read_parquet(table_file(Project(folder), "nli", name)) for name in SPLITS])
    assert set(wug.violations(data, sources).values()) == {0}
    moved = data.with_columns(split=pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("other")).otherwise("split"))
    assert wug.violations(moved, sources)["items in another split than their source"] == 3
    assert wug.violations(data[1:], sources)["hypothesis x split with unequal labels"] == 1
    assert wug.violations(pl.concat([data, data[:2]]), sources)["repeated ids"] == 2
    assert wug.violations(data, sources[900:])["items without a source"] > 0


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


def test_a_word_without_a_pseudoword_is_named(mini_source, mini_lexicon, tmp_path):
    wugs = Wugs.load(Project(mini_source).snapshot)
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
