"""Scores against hand calculations, predictions that are refused, baselines, and what the commands print."""

import io
import json
import math
import os
import shutil
import sys
from collections import defaultdict
from itertools import repeat

import numpy as np
import polars as pl
import pytest

from cxgen.build.preview import sample_items
from cxgen.build.tables import read_dropped
from cxgen.errors import CxgenError, DataError
from cxgen.evaluation.predictions import answers
from cxgen.evaluation.report import Evaluated, Part
from cxgen.evaluation.rows import further_tables
from cxgen.evaluation.scores import NO_QUESTIONS, answered, compared, first_sets, questions, scores, wug_differences
from cxgen.facade import evaluate, score
from cxgen.families import FAMILIES
from cxgen.families.scoring import Choices, Labels
from cxgen.measures.figures import Resampling, figure
from cxgen.project import Project
from cxgen.vocabulary import LABELS
from tests.conftest import ROOT, stored
from tests.test_recipes import written

DATA = ROOT / "tests/data/evaluate"
QUICK = Resampling(200)
SURE = dict(zip(LABELS, (0.7, 0.2, 0.1), strict=True))


def table(name):
    """Questions, by hand; dimensions that they lack are null."""
    rows = pl.read_csv(DATA / name, schema_overrides={"right": pl.Int8, **NO_QUESTIONS.schema})
    return pl.concat([rows.with_columns(like="config"), NO_QUESTIONS], how="diagonal")


@pytest.fixture(scope="module")
def asked():
    """Ten questions."""
    return table("questions.csv")


def scored(asked, path=DATA / "predictions.csv"):
    return answered(asked, answers(path, asked, dict))


def values(parts, name="accuracy"):
    return {value: part[name]["value"] for value, part in parts.items()}


# scores


def test_the_bundled_predictions_score_what_a_hand_calculation_gives(asked):
    got = scores(scored(asked), QUICK)
    # give: q03 to q06 right, 4 of 6; roll: q09, 1 of 4. Each construction counts alike.
    assert got["accuracy"]["value"] == round((4 / 6 + 1 / 4) / 2, 4)
    assert (got["items"], got["right"], got["undecided"], got["sets"], got["verbs"]) == (10, 5, 1, 3, 3)
    # Whole sets: of give s2 but not s1; of roll none.
    assert got["consistency"]["value"] == (1 / 2 + 0) / 2
    # Lures: of give q01, q02 taken, q05 not; of roll q08 taken, q10 not.
    assert got["capture"]["value"] == round((2 / 3 + 1 / 2) / 2, 4)
    # Neutral items with a lure: give q02 taken, q05 right; roll q08 taken, q10 the third label.
    assert got["excess"]["value"] == (1 / 2 + 0) / 2
    assert got["chance"] == 0.3333
    by = got["by"]
    assert set(by) == {"construction", "premise", "design", "band", "verb_role", "wording_held_out"}
    assert values(by["construction"]) == {"give": 0.6667, "roll": 0.25}
    assert by["premise"]["send"]["right"] == 2
    assert by["band"]["low"]["accuracy"]["value"] == round((1 / 3 + 1 / 4) / 2, 4)
    assert "capture" not in scores(scored(asked).filter(pl.col("lure").is_null()), QUICK)


@pytest.fixture(scope="module")
def pairs():
    """Pairs about participants, by hand: those of *give* (two a cell) and *roll* (one a cell) change places, those of *poke* do not."""
    return scored(table("pairs.csv"), DATA / "pairs-predictions.csv")


def test_the_bundled_pairs_score_what_a_hand_calculation_gives(pairs):
    got = scores(pairs, QUICK)
    # Right: give 9.5 of 16 (p12 is a tie, a guess between two), roll 4 of 8, poke 5 of 8. Each construction counts alike.
    assert (got["accuracy"]["value"], got["right"], got["undecided"]) == (round((9.5 / 16 + 4 / 8 + 5 / 8) / 3, 4), 18.5, 0)
    assert got["consistency"]["value"] == round((2.5 / 8 + 1 / 4 + 1 / 4) / 3, 4)
    by = {name: values(parts) for name, parts in got["by"].items()}
    assert by["side"] == {"give/A": 0.6875, "give/B": 0.5, "poke/A": 0.75, "poke/B": 0.5, "roll/A": 0.75, "roll/B": 0.25}
    assert by["variant"] == {"A": round((5.5 / 8 + 3 / 4 + 3 / 4) / 3, 4), "B": round((4 / 8 + 1 / 4 + 2 / 4) / 3, 4)}
    assert by["entity_type"] == {"humans": round((4 / 8 + 2 / 4 + 3 / 4) / 3, 4), "letters": round((5.5 / 8 + 2 / 4 + 2 / 4) / 3, 4)}
    assert by["switched"] == {"no": (6 / 8 + 2 / 4) / 2, "yes": round((3.5 / 8 + 2 / 4) / 2, 4)}
    # One of two premises right: give 4 of 7 (g06 has the tie), roll 2 of 4, poke 3 of 4. None right: give g04, roll g10.
    assert got["same_choice"]["value"] == round((4 / 7 + 2 / 4 + 3 / 4) / 3, 4)
    assert got["both_wrong"]["value"] == round((1 / 7 + 1 / 4 + 0) / 3, 4)
    assert "same_choice" not in got["by"]["switched"]["yes"]  # half a pair shows none


def test_the_biases_of_the_bundled_pairs_are_those_of_the_publication(pairs):
    """Oba and Sugawara 2026, section 5.2, step by step. Accuracies of the cells, original/switched:

    |              | give A      | give B      | roll A | roll B | poke A | poke B |
    | humans       | 1.0/0.5     | 0.5/0.0     | 1/1    | 0/0    | 1.0    | 0.5    |
    | letters      | 1.0/0.25    | 0.5/1.0     | 1/0    | 0/1    | 0.5    | 0.5    |
    """
    got = scores(pairs, QUICK)
    biases = {name: values({**got["by"]["entity_type"], "all": got}, name) for name in ("bias_i", "bias_ii")}
    # (i), of give and roll, as poke's participant cannot change places. Humans: give |1 - 0.5| and |0.5 - 0|, mean 0.5; roll 0 and 0.
    # Letters: give |1 - 0.25| and |0.5 - 1|, mean 0.625; roll |1 - 0| and |0 - 1|, mean 1.
    assert biases["bias_i"] == {"humans": 0.25, "letters": 0.8125, "all": 0.5312}  # (0.5 + 0) / 2, (0.625 + 1) / 2, their mean
    # (ii), both orders together. Humans: give |0.75 - 0.25| = 0.5, roll |1 - 0| = 1, poke |1 - 0.5| = 0.5.
    # Letters: give |0.625 - 0.75| = 0.125, roll |0.5 - 0.5| = 0, poke |0.5 - 0.5| = 0.
    assert biases["bias_ii"] == {"humans": 0.6667, "letters": 0.0417, "all": 0.3542}  # 2 / 3, 0.125 / 3, their mean
    assert {**got["bias_i"], "guesser": 0.0} == {"value": 0.5312, "low": None, "high": None, "guesser": 0.0}
    assert 0.4 < got["bias_i"]["guesser"] < 0.6, "two to four pairs a cell"
    # One side has the first bias only: give (0.5 + 0.75) / 2, roll (0 + 1) / 2. One order has neither.
    assert (got["by"]["variant"]["A"]["bias_i"]["value"], "bias_ii" in got["by"]["variant"]["A"]) == (0.5625, False)
    assert not {"bias_i", "bias_ii"} & set(got["by"]["switched"]["yes"])
    assert "bias_i" not in got["by"]["construction"]["poke"]


def test_what_pseudowords_cost_is_counted_pair_by_pair():
    base = {"construction": "give", "cluster": "hand", "contrast_set": "s"}
    rows = [{**base, "id": f"r{n}", "config": "nli", "mode": None, "source_id": None, "hit": float(n < 3)} for n in range(4)]
    broken = {"config": "nli_wug", **base}
    rows = [{**row, "other": "a user's column"} for row in rows]
    rows += [{**broken, "id": f"w{n}", "mode": "verb" if n < 2 else "nouns", "source_id": f"r{n}", "hit": float(n == 0)} for n in (0, 1, 3)]
    got = wug_differences(pl.DataFrame(rows, infer_schema_length=None), QUICK)["nli_wug"]
    # r0, r1 right and r3 wrong with real words; of the pseudowords' w0 only is right.
    assert values(got, "difference") == {"all": round(1 / 3 - 2 / 3, 4), "nouns": 0, "verb": -0.5}
    assert wug_differences(pl.DataFrame(rows[1:]), QUICK) == {}, "not on a part of the real items"


def test_verbs_are_resampled_not_items():
    """Fifty items each of a verb that is always right and of one that never is: two observations, not a hundred."""
    rows = pl.DataFrame({"construction": ["a"] * 100, "cluster": ["x"] * 50 + ["y"] * 50, "value": [1] * 50 + [0] * 50})
    assert figure(rows, QUICK) == {"value": 0.5, "low": 0.0, "high": 1.0}
    got = figure(rows.with_columns(cluster=pl.int_range(100).cast(pl.String)), QUICK)
    assert 0.38 < got["low"] < 0.45
    assert 0.55 < got["high"] < 0.62
    assert figure(rows.filter(pl.col("cluster") == "x"), QUICK) == {"value": 1.0, "low": None, "high": None}, "one verb has no spread"
    alike = pl.DataFrame({"construction": "a", "cluster": ["x", "x", "y", "y"], "value": [1.0, 0.0, 0.0, 1.0]})
    assert figure(alike, QUICK) == {"value": 0.5, "low": None, "high": None}, "nor have verbs with the same share"


def test_two_answerers_are_compared_item_by_item(asked):
    first = scored(asked)
    right = asked.select("id", answers=pl.concat_list("right"))
    got = compared(answered(asked, right), first, QUICK)
    assert (got["only_first"], got["only_second"]) == (5, 0)
    assert got["p"] == 2 * 0.5**5  # McNemar's test is exact
    assert compared(answered(asked, right).with_columns(other=pl.lit("a user's column")), first, QUICK) == got
    assert got["accuracy"]["value"] == round((2 / 6 + 3 / 4) / 2, 4)
    assert got["consistency"]["value"] == (1 / 2 + 1) / 2
    guesses = scored(asked, asked.select("id", **dict.fromkeys(LABELS, pl.lit(1 / 3))))
    between = compared(guesses, first, QUICK)
    assert (guesses["hit"].unique().to_list(), between["only_first"], between["only_second"]) == ([1 / 3], 2, 3), "5 / 3 and 10 / 3"
    assert scores(guesses, QUICK)["capture"]["value"] == 0.3333
    same = compared(first, first, QUICK)
    assert (same["accuracy"], same["p"]) == ({"value": 0.0, "low": None, "high": None}, 1)


def test_flips_and_calibrated_accuracy_are_what_a_hand_calculation_gives():
    """Two base items. In the first, what is expected anyway (S5) outweighs the answer; the second is right before and after. Of S7 there
    are two examples, whose mean is that of probabilities: 0.1 and 0.4005, where that of logarithms says the reverse."""
    numbers = {  # scenario -> scores of both words, item by item; the first word is right in S1, S2 and S4, the second in S3
        "S1": [(-2.0, -1.0), (-1.0, -3.0)],
        "S2": [(-2.0, -1.5), (-3.0, -1.0)],  # the second decision flips
        "S3": [(-2.0, -1.0), (-3.0, -1.0)],  # the second one flips, as it should; the first does not
        "S4": [(-2.0, -2.0), (-1.0, -2.0)],  # a tie is no decision
        "S5": [(-4.0, -1.0), (-1.0, -1.0)],  # S1 - S5: (2, 0) and (0, -2): both right
        "S6": [(-2.0, -1.0), (-1.0, -4.0)],  # S1 - S6: (0, 0), a tie, half right, and (0, 1), wrong
        "S7": [(math.log(0.1), math.log(0.8)), (-1.0, -1.0), (math.log(0.1), math.log(0.001)), (-1.0, -1.0)],
    }
    right = {"S1": 0, "S2": 0, "S3": 1, "S4": 0}
    rows = [
        {"id": f"{name}-{item}", "scenario": name, "contrast_set": f"set{item % 2}", "right": right.get(name), "first": one, "second": two}
        for name, both in numbers.items()
        for item, (one, two) in enumerate(both)
    ]
    names = {name: pl.lit("cc_semantics") for name in ("config", "like", "construction")}
    known = pl.DataFrame(rows, schema_overrides={"right": pl.Int8}).with_columns(**names, cluster="contrast_set")
    asked = pl.concat([known, NO_QUESTIONS], how="diagonal")
    given = asked.select("id", "first", "second", label=pl.lit(None, dtype=pl.String))
    labels = answers(given, asked.select("id", "config", "like"), dict)
    got = scores(answered(asked.drop("first", "second"), labels), QUICK)
    assert (got["items"], got["right"], got["undecided"], got["chance"]) == (8, 4.5, 0, 0.5)
    assert values(got["by"]["scenario"]) == {"S1": 0.5, "S2": 0, "S3": 1, "S4": 0.75}
    more = got["scenarios"]
    assert (values(more["flips"], "-"), more["should_flip"]) == ({"S2": 0.5, "S3": 0.5, "S4": 0.0}, {"S2": 0.0, "S3": 1.0, "S4": 0.0})
    assert {name: part["value"] for name, part in more["accuracy"]["S1"].items()} == {"-": 0.5, "S5": 1.0, "S6": 0.25, "S7": 1.0}
    assert values({name: more["flips"][name] for name in ("S2", "S3")}, "S5") == {"S2": 0.5, "S3": 0.5}
    assert values({name: more["accuracy"][name] for name in ("S2", "S3")}, "S5") == {"S2": 0.5, "S3": 0.5}
    printed = [table for table in further_tables({"wug": {}, "against": None, "configs": {"cc_semantics": got}}) if table]
    assert [[row[name] for row in table] for name, table in zip(("accuracy", "flips"), printed, strict=True)] == [
        ["S1", "S2", "S3", "S4"],
        ["S2", "S3", "S4"],
    ]
    assert {"-", "S5", "S6", "S7"} < set(printed[0][0])
    named = labels.with_columns(numbers=pl.lit(None, dtype=pl.List(pl.Float64)))
    without = scores(answered(asked.drop("first", "second"), named), QUICK)["scenarios"]["flips"]["S2"]
    assert without == {"-": more["flips"]["S2"]["-"], "S5": None, "S6": None, "S7": None}


# questions


def test_a_set_is_resampled_as_a_whole_under_its_commonest_real_verb(mini_dataset):
    real, wug = stored("nli", "test", project=mini_dataset), stored("nli_wug", "test", project=mini_dataset)
    got = questions(real, "nli")
    assert got.group_by("contrast_set").agg(pl.col("cluster").n_unique())["cluster"].max() == 1
    assert set(got["cluster"]) <= set(real["verb"])
    verbs = dict(zip(real["id"], got["cluster"], strict=True))
    broken = questions(wug, "nli_wug", real)
    assert broken.height
    assert all(verbs[source] == cluster for source, cluster in broken.select("source_id", "cluster").iter_rows())
    known = {slot["lemma"]: slot["band"] for slots in real["slots"] for slot in slots if slot["role"] == "verb"}
    assert dict(zip(real["verb"], got["band"], strict=True)).items() <= known.items()


@pytest.mark.parametrize("family", FAMILIES)
def test_what_a_model_is_shown_says_what_is_right_in_both_orders(constructions, family):
    scoring = FAMILIES[family].scoring
    rows = sample_items(constructions["let-alone"], 1, 20, family).with_columns(scoring.right().alias("right"))
    verdicts = set()
    for item in rows.iter_rows(named=True):
        verdict = scoring.verdict(item)
        verdicts.add(verdict)
        assert scoring.meant(item, verdict) == item["right"]
        if isinstance(scoring, Choices):
            assert scoring.shown(item)[verdict] == item["diagnostic_good"]
    assert verdicts == ({"first", "second"} if isinstance(scoring, Choices) else set(LABELS))


def test_two_continuations_are_scored_by_any_numbers(tmp_path):
    asked = pl.DataFrame(
        {"id": ["a", "b", "c"], "config": "minimal_pairs", "like": "minimal_pairs", "right": [0, 0, 0]}, schema_overrides={"right": pl.Int8}
    )
    rows = [{"id": "a", "good": -12.5, "bad": -13}, {"id": "b", "good": -20, "bad": -3.5}, {"id": "c", "good": -1, "bad": -1}]
    assert scored(asked, written(tmp_path / "p.jsonl", rows))["hit"].to_list() == [1, 0, 0.5]
    names = [{"id": "a", "label": "good"}, {"id": "b", "label": "bad"}, {"id": "c", "label": "undecided"}]
    assert scored(asked, written(tmp_path / "p.jsonl", names))["hit"].to_list() == [True, False, False]
    with pytest.raises(DataError, match=r"1 labels are none of good, bad, undecided: neutral \(minimal_pairs\)"):
        scored(asked, written(tmp_path / "p.jsonl", [*names[1:], {"id": "a", "label": "neutral"}]))


def test_braces_in_an_item_stay_braces():
    item = {"premise": "A {hypothesis} and {x}.", "hypothesis": "B.", "label": 0}
    assert Labels().continuations(item, "{premise} / {hypothesis} {y}", dict.fromkeys(LABELS, "w"))[0] == "A {hypothesis} and {x}. / B. {y}"


# predictions


def good(asked):
    return [{"id": name, "label": LABELS[right]} for name, right in asked.select("id", "right").iter_rows()]


def first(**changes):
    return lambda rows: [{**rows[0], **changes}, *rows[1:]]


def numbers(**changes):
    return lambda rows: [{"id": row["id"], **SURE, **changes} for row in rows]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[2:], "2 items have no prediction: q01, q02"),
        (lambda rows: [*rows, {"id": "zz", "label": "neutral"}], "1 ids are not among the items of this dataset: zz"),
        (lambda rows: [*rows, {"id": "z\u202e\n\x1b[31m", "label": "neutral"}], r"items of this dataset: z\\u202e\\n\\x1b\[31m"),
        (lambda rows: [*rows, *rows[:4]], "4 ids come more than once: q01, q02, q03, ..."),
        (first(label="maybe"), "1 labels are none of entailment, neutral, contradiction, undecided: maybe"),
        (first(label=3), "1 labels are none of .*: 3"),
        (first(label=None), "1 items have neither label nor the numbers .*: q01"),
        (first(id=None), "1 rows without an id; 1 items have no prediction: q01"),
        (numbers(neutral=float("nan")), r"10 items have a number that is none .*: q01, q02, q03, \.\.\."),
        (numbers(neutral="x"), "10 items have a number that is none"),
        (numbers(neutral=0.5), "10 items have probabilities that are negative or do not sum"),
        (numbers(entailment=1.2, neutral=-0.1, contradiction=-0.1), "10 items have prob"),
        (lambda rows: [{**row, **SURE} for row in rows], "7 items have a label that is not the one with the largest number"),
        (lambda rows: [{"id": row["id"], "entailment": 1.0} for row in rows], "10 items have neither label nor the numbers"),
    ],
)
def test_predictions_that_are_not_of_all_items_are_refused_with_counts(asked, tmp_path, change, message):
    path = written(tmp_path / "p.jsonl", change(good(asked)))
    with pytest.raises(DataError, match=message):
        answers(path, asked, dict)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("p.jsonl", '{"id": "q01", "label": ["neutral"]}\n', "the column label holds no texts"),
        ("p.jsonl", "", "has no column id, but none at all"),
        ("p.csv", "item,label\nq01,neutral\n", "has no column id, but item, label"),
        ("p.parquet", "no parquet", "not a readable .parquet file"),
        ("p.txt", "", "unknown kind of file '.txt'"),
    ],
)
def test_files_that_are_no_predictions_are_told_in_a_line(asked, tmp_path, name, text, message):
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(CxgenError) as caught:
        answers(tmp_path / name, asked, dict)
    assert message in str(caught.value)


def test_labels_positions_and_probabilities_in_all_three_formats_say_the_same(asked, tmp_path):
    rows = pl.DataFrame(good(asked))
    position = pl.col("label").replace_strict({name: number for number, name in enumerate(LABELS)}, return_dtype=pl.Int8)
    sure = [pl.when(pl.col("label") == name).then(0.334).otherwise(0.333).alias(name) for name in LABELS]
    rows.write_parquet(tmp_path / "names.parquet")
    rows.with_columns(position).write_parquet(tmp_path / "positions.parquet")
    rows.with_columns(pl.col("label").cast(pl.Categorical)).write_parquet(tmp_path / "categories.parquet")
    rows.with_columns(position).write_csv(tmp_path / "positions.csv")
    rows.with_columns(pl.col("label").str.to_uppercase() + " ").write_csv(tmp_path / "capitals.csv")
    rows.with_columns(neutral=pl.lit("one of three alone")).write_csv(tmp_path / "column.csv")
    rows.select("id", *sure).write_csv(tmp_path / "numbers.csv")
    rows.select("id", *sure, premise=pl.lit("not read")).write_ndjson(tmp_path / "numbers.jsonl")
    files = sorted(tmp_path.iterdir())
    assert len(files) == 8
    for path in files:
        assert answers(path, asked, dict)["answers"].list.get(0).to_list() == asked["right"].to_list(), path.name


def test_the_datasets_own_rows_are_no_predictions(asked, mini_dataset, tmp_path):
    """Who adds a column to them leaves the right answers under ``label``."""
    stored("nli", "test", project=mini_dataset).with_columns(prediction=pl.lit("neutral")).drop("slots").write_csv(tmp_path / "p.csv")
    with pytest.raises(DataError, match="label is the right answer, not a prediction"):
        answers(tmp_path / "p.csv", asked, dict)


# the commands


def by_hand(rows, given):
    """Accuracy and consistency of labels or of numbers (by id), by loops and dictionaries."""
    items, sets = defaultdict(list), defaultdict(lambda: defaultdict(list))
    for row in rows.iter_rows(named=True):
        target = row["contrast_of"] or row["construction"]
        own, right = given[row["id"]], LABELS[row["label"]]
        best = [own] if isinstance(own, str) else [name for name in LABELS if own[name] == max(own[name] for name in LABELS)]
        hit = (right in best) / len(best)
        items[target].append(hit)
        sets[target][row["contrast_set"]].append(hit)
    accuracy = sum(sum(hits) / len(hits) for hits in items.values()) / len(items)
    whole = sum(sum(map(math.prod, own.values())) / len(own) for own in sets.values()) / len(sets)
    return round(accuracy, 4), round(whole, 4)


@pytest.fixture
def some_wrong(mini_dataset, tmp_path):
    """Predictions of mini's nli test items, wrong for the items whose id begins with a digit under 4."""
    rows = stored("nli", "test", project=mini_dataset)
    labels = {name: LABELS[(label + (name[0] in "0123")) % 3] for name, label in rows.select("id", "label").iter_rows()}
    return rows, labels, written(tmp_path / "p.jsonl", [{"id": name, "label": label} for name, label in labels.items()])


def test_a_file_is_scored_as_a_hand_calculation_does_by_command_and_in_python(mini_dataset, cxgen, some_wrong):
    rows, labels, path = some_wrong
    result = cxgen("evaluate", path, "--config", "nli", "--json", "--resamples", 20, cwd=mini_dataset)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    got = report["configs"]["nli"]
    assert (got["accuracy"]["value"], got["consistency"]["value"]) == by_hand(rows, labels)
    assert 0 < got["accuracy"]["value"] < 1
    assert got["items"] == rows.height
    assert (report["name"], report["splits"], list(report["configs"])) == ("p", ["test"], ["nli"])
    table = score(pl.DataFrame(list(labels.items()), schema=["id", "label"], orient="row"), project=mini_dataset, resamples=20)
    assert table == got == score(path, project=mini_dataset, resamples=20)
    with pytest.raises(DataError, match="1 items have no prediction"):
        score(pl.read_ndjson(path)[1:], project=mini_dataset)


def test_of_a_larger_file_the_part_that_is_scored_is_taken(mini_dataset, cxgen, some_wrong, monkeypatch):
    _, labels, path = some_wrong
    more = stored("distinction", "test", project=mini_dataset)["id"]
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": name, "label": "neutral"}) + "\n" for name in more)
    result = cxgen("evaluate", path, "--config", "nli", "--limit", 15, "--row", "--format", "json", "--resamples", 20, cwd=mini_dataset)
    assert result.returncode == 0, result.stderr
    left = len(labels) - 12 + len(more)
    assert f"{left} predictions of other items are left out (--config distinction --split test" in result.stderr
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    piped = cxgen("evaluate", "-", "--config", "nli", "--limit", 15, "--row", "--format", "json", "--resamples", 20, cwd=mini_dataset)
    assert json.loads(piped.stdout) == [json.loads(result.stdout)[0] | {"name": "stdin"}]


def test_a_function_is_scored_as_a_file_is(mini_dataset, cxgen):
    rows = stored("nli", "test", project=mini_dataset)
    right = {(row["premise"], row["hypothesis"]): row["label"] for row in rows.iter_rows(named=True)}
    seen = []

    def predict(items):
        seen.append(len(items))
        assert all(set(item) == {"premise", "hypothesis"} for item in items)
        return [right[item["premise"], item["hypothesis"]] for item in items]

    def piped(n):  # as pipelines give all scores, the best first
        return [{"label": LABELS[i].upper(), "score": 0.8 if i == n else 0.1} for i in (n, (n + 1) % 3, (n + 2) % 3)]

    whole = (int, LABELS.__getitem__, lambda n: piped(n)[0], lambda n: piped(n)[:1], piped, lambda n: [n == i for i in range(3)])
    for change in (*whole, np.int8, np.eye(3).__getitem__):
        told = evaluate(lambda items: map(change, predict(items)), project=mini_dataset, resamples=20, batch=5, by="verb_role")  # noqa: B023
        assert told["accuracy"] == {"value": 1.0, "low": None, "high": None}
    assert max(seen) == 5
    assert json.loads(json.dumps(told)) == told
    assert "1.000" in repr(told)
    assert told._repr_html_().startswith("<pre>")

    for bad, message in (
        (lambda items: [0], "gave 1 answers to"),
        (lambda items: 3, "gave 0 answers to"),
        (lambda items: repeat(0), "answers to"),
        (lambda items: ["no"] * len(items), "'no', which is no answer"),
        (lambda items: [True] * len(items), "True, which is no answer"),
        (lambda items: [[0.1, 0.2]] * len(items), "no answer"),
        (lambda items: [[0.1, 0.2, "x"]] * len(items), "no answer"),
        (lambda items: [0, *[[1, 0, 0]] * (len(items) - 1)], "names for some items"),
        (lambda items: [[1, 1, 1]] * len(items), "do not sum to 1"),
        (lambda items: [{0.1, 0.2, 0.7}] * len(items), "no answer"),  # in no order
    ):
        with pytest.raises(CxgenError, match=message):
            evaluate(bad, project=mini_dataset)
    with pytest.warns(UserWarning, match=r"12 items have no one largest number: each counts as a guess"):
        got = evaluate(lambda items: [[0.4, 0.4, 0.2]] * len(items), project=mini_dataset, limit=12)
    assert (got["accuracy"]["value"], got["undecided"]) == (0.3333, 0)
    for odd in ({"batch": 0}, {"limit": 0}, {"limit": 1.5}, {"resamples": -1}, {"split": None}):
        with pytest.raises(CxgenError, match=f"{next(iter(odd))} (is )?{next(iter(odd.values()))}"):
            evaluate(predict, project=mini_dataset, **odd)
    with pytest.raises(CxgenError, match="one name of a config at a time"):
        evaluate(predict, ["nli"], project=mini_dataset)


@pytest.mark.parametrize(
    ("command", "given", "message"),
    [
        (("evaluate", "-", "--config", "nli"), '{"id": "x", "label": "neutral"}\n'.encode("utf-16"), ":1: not UTF-8 text"),
        (("evaluate", "-", "--config", "nli"), b'\xef\xbb\xbf{"id": "x", "label": "neutral"}\n3\n', ":2: not a JSON object"),
        (("recognise",), "The more".encode("utf-16"), ":1: not UTF-8 text"),
        (("recognise",), b" \n", ": there is no sentence"),
    ],
    ids=["UTF-16", "number", "sentences", "no sentence"],
)
def test_the_standard_input_is_read_as_a_file_is(mini_dataset, cxgen, monkeypatch, command, given, message):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    result = cxgen(*command, cwd=mini_dataset)
    assert (result.returncode, result.stderr.startswith(f"cxgen: /dev/stdin{message}")) == (2, True)


def test_what_was_asked_for_twice_is_named_once(mini_dataset, cxgen, tmp_path):
    project = shutil.copytree(mini_dataset, tmp_path / "project")
    told = cxgen("evaluate", "--baseline", "majority", *["--config", "nli", "--split", "test"] * 2, "--resamples", 0, cwd=project)
    assert [path.name for path in (project / "outputs/predictions").iterdir()] == ["majority-nli.jsonl"]
    assert "no intervals" not in told.stderr
    told = cxgen("evaluate", "--baseline", "majority", "--config", "nli", "--limit", 12, cwd=project)
    assert "they resample verbs" in told.stderr, told.stderr
    told = cxgen("evaluate", "--baseline", "majority", "--baseline", "word-pairs", "--config", "nli", "--limit", 12, "--row", cwd=project)
    assert ("majority-nli-limit12" in told.stdout, "word-pairs-nli-limit12" in told.stdout) == (True, True), told


def test_what_is_scored_must_be_said(mini_dataset, cxgen, some_wrong, tmp_path):
    _, labels, path = some_wrong
    cxgen("evaluate", "--baseline", "majority", "--limit", 15, "--resamples", 0, "-o", tmp_path / "few.jsonl", cwd=mini_dataset)
    few = pl.read_ndjson(tmp_path / "few.jsonl")
    written(tmp_path / "nli.jsonl", few.filter(pl.col("id").is_in(list(labels))).to_dicts())
    written(tmp_path / "old.jsonl", few.with_columns(id="old" + pl.col("id")).to_dicts())
    for arguments, messages in (
        ((tmp_path / "few.jsonl",), ("items have no prediction", "the file is about --limit ")),
        ((tmp_path / "nli.jsonl",), ("the file is about --config nli --split test --limit 12: score it with the same",)),
        ((tmp_path / "nli.jsonl", "--config", "nli"), ("the file is about --limit 12: score it with the same",)),
        ((tmp_path / "old.jsonl",), ("another version of the dataset? This one is",)),
        ((path,), ("items have no prediction", "the file is about --config nli --split test")),
        ((path, "--config", "nli", "--split", "validation"), ("items have no prediction", "the file is about --config nli --split test")),
        ((path, "--config", "nlu"), ("did you mean nli",)),
        ((), ("nothing to score",)),
        ((path, "--baseline", "majority", "--name", "m"), ("several things to score, and one name",)),
        (("--baseline", "majorty"), ("did you mean majority",)),
        ((path, "--items", path, "--split", "test"), ("--split is for the dataset",)),
    ):
        result = cxgen("evaluate", *arguments, cwd=mini_dataset)
        assert (result.returncode, result.stdout) == (2, "")
        assert all(message in result.stderr for message in messages), result.stderr


def test_a_limit_takes_whole_sets_of_every_construction_and_a_smaller_one_a_part_of_them(mini_dataset, cxgen, tmp_path):
    project, rows = Project(mini_dataset), stored("nli", "test", project=mini_dataset)
    sizes, whole, taken = dict(rows.group_by("contrast_set").len().iter_rows()), set(rows["id"]), []
    for limit in (36, 30, 15):
        part = Evaluated.read(project, Part(("nli", "nli_wug"), limit=limit))
        own = part.items["nli"]
        assert dict(own.group_by("contrast_set").len().iter_rows()).items() <= sizes.items(), "whole sets"
        assert limit - max(sizes.values()) < own.height <= limit
        assert set(part.questions["config"]) == {"nli", "nli_wug"}
        taken.append(set(own["id"]))
    assert whole == taken[0] > taken[1] > taken[2]
    doubled = questions(rows, "nli").with_columns(contrast_set="id", construction=pl.Series([*"ab" * rows.height][: rows.height]))
    assert first_sets(doubled, 9)["construction"].value_counts()["count"].sort().to_list() == [4, 5]
    folder = shutil.copytree(mini_dataset, tmp_path / "project")
    result = cxgen("evaluate", "--baseline", "majority", "--config", "nli", "--limit", 15, "--row", "--format", "json", cwd=folder)
    assert f"a part (--limit 15): {len(taken[2])} items of nli" in result.stderr
    assert json.loads(result.stdout)[0]["limit"] == 15
    path = folder / "outputs/predictions/majority-nli-limit15.jsonl"
    assert set(pl.read_ndjson(path)["id"]) == taken[2]
    path.unlink()
    result = cxgen("evaluate", "--baseline", "majority", "--config", "nli", "--limit", 1, cwd=mini_dataset)
    assert (result.returncode, "less than the first contrast set of nli" in result.stderr) == (2, True)


@pytest.mark.parametrize("name", ["majority", "word-pairs", pytest.param("hypothesis-only", marks=pytest.mark.slow)])
def test_baselines_are_written_and_scored_on_everything(mini_dataset, cxgen, tmp_path, name):
    path = tmp_path / "baseline.jsonl"
    result = cxgen("evaluate", "--baseline", name, "-o", path, "--resamples", 20, "--row", "--format", "json", cwd=mini_dataset)
    assert result.returncode == 0, result.stderr
    (row,) = json.loads(result.stdout)
    assert row["name"] == "baseline"
    given = {row["id"]: row.get("label", row) for row in map(json.loads, path.read_text("utf-8").splitlines())}
    for config in ("nli", "distinction", "nli_wug"):
        assert (row[config], row[f"{config} sets"]) == by_hand(stored(config, "test", project=mini_dataset), given)
    if name != "word-pairs":
        assert (row["nli"], row["nli sets"], row["nli_wug - real"]) == (0.3333, 0, 0)
    again = cxgen("evaluate", path, "--resamples", 20, "--row", "--format", "json", cwd=mini_dataset)
    assert again.stdout == result.stdout


def test_samples_that_lm_eval_logs_are_predictions(mini_dataset, cxgen, tmp_path):
    """Labels by their place; of two continuations the item says which comes first."""
    rows = stored("nli", "test", project=mini_dataset).select("id", "label").rows()
    logged = [{"doc": {"id": name, "answer": label}, "filtered_resps": [["-2.5", "x"]] * 2 + [["-1.0", "x"]]} for name, label in rows]
    third = cxgen("evaluate", written(tmp_path / "nli.jsonl", logged), "--config", "nli", "--json", cwd=mini_dataset)
    assert json.loads(third.stdout)["configs"]["nli"]["accuracy"]["value"] == 0.3333, third.stderr
    for odd in ([["NaN", "x"]] * 3, [["inf", "x"], *[["-1.0", "x"]] * 2], [["-1.0", "x"], ["?", "x"], ["-2.0", "x"]], [["-1.0", "x"]], []):
        written(tmp_path / "nli.jsonl", [*logged[2:], *({**row, "filtered_resps": odd} for row in logged[:2])])
        told = cxgen("evaluate", tmp_path / "nli.jsonl", "--config", "nli", cwd=mini_dataset)
        lacking = f"2 samples lack a finite number for each answer: {rows[0][0]}, {rows[1][0]}"
        assert (told.returncode, lacking in told.stderr) == (2, True), told.stderr
    questions = table("pairs.csv")
    logged = [
        {"doc": {"id": name, "answer": at % 2}, "filtered_resps": [["-2.5", "x"], ["-1.0", "x"]]} for at, name in enumerate(questions["id"])
    ]
    told = answers(written(tmp_path / "pairs.jsonl", logged), questions, dict)
    assert told["answers"].list.get(0).to_list() == [1, 0] * (questions.height // 2), (
        "the second of the two shown, which is the good one of every second pair"
    )


def test_files_are_told_apart_by_their_endings_and_none_is_scored_twice(mini_dataset, cxgen, some_wrong, tmp_path):
    _, _, path = some_wrong
    for ending, write in ((".jsonl", pl.DataFrame.write_ndjson), (".csv", pl.DataFrame.write_csv)):
        write(pl.read_ndjson(path).select("id", "label"), tmp_path / f"own{ending}")
    both = (tmp_path / "own.jsonl", tmp_path / "own.csv")
    result = cxgen("evaluate", *both, "--config", "nli", "--json", cwd=mini_dataset)
    assert [report["name"] for report in json.loads(result.stdout)] == [*map(str, both)], result.stderr
    for again in (both[0], os.path.relpath(both[0], mini_dataset)):
        result = cxgen("evaluate", both[0], again, "--config", "nli", cwd=mini_dataset)
        assert (result.returncode, "named twice" in result.stderr) == (2, True)
    (tmp_path / "foreign.jsonl").write_text('{"doc": {"id": "a", "question": "?"}, "filtered_resps": ["yes"]}\n', "utf-8")
    result = cxgen("evaluate", tmp_path / "foreign.jsonl", "--config", "nli", cwd=mini_dataset)
    assert (result.returncode, "samples of lm-eval that are no answers to these items" in result.stderr) == (2, True)


def test_predictions_that_are_written_by_default_replace_nothing_that_is_read_or_written_beside_them(mini_dataset, cxgen, tmp_path):
    project = shutil.copytree(mini_dataset, tmp_path / "project")
    path = project / "outputs/predictions/majority-nli.jsonl"
    own, asked = ("--baseline", "majority"), ("--model", "majority", "--base-url", "http://localhost:1/v1")
    cxgen("evaluate", *own, "--config", "nli", cwd=project)
    before = path.read_text("utf-8")
    (tmp_path / "link.jsonl").symlink_to(path)
    for given in (
        *((*own, path), (*own, "outputs/../outputs/predictions/majority-nli.jsonl"), (*own, tmp_path / "link.jsonl")),
        *((*own, "--against", path), (*own, "--wrong", path), (*own, "--hard", path), (*own, "--drop", path)),
        *((*asked, "--cache", path), (*asked, "--dry-run", "--against", path), (*asked, *own)),
    ):
        result = cxgen("evaluate", *given, "--config", "nli", cwd=project)
        assert (result.returncode, "would overwrite what is read or written" in result.stderr) == (2, True), (given, result.stderr)
    assert path.read_text("utf-8") == before


def test_a_config_without_items_is_left_out_unless_it_is_asked_for(mini_dataset, cxgen, tmp_path):
    """As where all facts rest on the words that pseudowords replace."""
    folder = shutil.copytree(mini_dataset, tmp_path / "project")
    for path in (folder / "outputs/wug").rglob("*.parquet"):
        pl.read_parquet(path).clear().write_parquet(path)
    every = cxgen("evaluate", "--baseline", "majority", "--row", "--format", "json", cwd=folder)
    assert (every.returncode, "nli_wug" in every.stdout) == (0, False), every.stderr
    asked = cxgen("evaluate", "--baseline", "majority", "--config", "nli_wug", cwd=folder)
    assert (asked.returncode, "nli_wug has no items in test" in asked.stderr) == (2, True)


def test_predictions_are_compared_and_printed(mini_dataset, cxgen, some_wrong, tmp_path):
    rows, labels, path = some_wrong
    right = written(tmp_path / "r.jsonl", good(rows.rename({"label": "right"})))
    arguments = ("evaluate", right, "--config", "nli", "--against", path, "--resamples", 50)
    report = json.loads(cxgen(*arguments, "--json", cwd=mini_dataset).stdout)
    wrong = sum(name[0] in "0123" for name in labels)
    got = report["against"]["configs"]["nli"]
    assert (report["against"]["name"], got["only_first"], got["only_second"]) == ("p", wrong, 0)
    assert got["accuracy"]["value"] == pytest.approx(1 - by_hand(rows, labels)[0], abs=1e-4)
    printed = cxgen(*arguments, "--by", "wording_held_out", cwd=mini_dataset, COLUMNS="200")
    assert "nli: wording_held_out" in printed.stdout, printed.stderr
    assert "nli     36     1.000     1.000  0.333" in printed.stdout
    assert max(map(len, printed.stdout.splitlines())) <= 80
    assert "less" in printed.stdout
    lines = cxgen(*arguments, "--format", "jsonl", cwd=mini_dataset).stdout.splitlines()
    assert json.loads(lines[0]) | {"accuracy": 1.0, "consistency": 1.0, "items": rows.height} == json.loads(lines[0])
    result = cxgen(*arguments, "--by", "wording", cwd=mini_dataset)
    assert (result.returncode, "did you mean wording_held_out" in result.stderr) == (2, True)


def test_sets_that_a_model_solves_are_left_out_whole(mini_dataset, cxgen, tmp_path):
    rows = stored("nli", "test", project=mini_dataset)
    hard = sorted(set(rows["contrast_set"]))[::3]
    wrong = set(rows.filter(pl.col("contrast_set").is_in(hard)).unique("contrast_set", keep="first", maintain_order=True)["id"])
    said = [{"id": name, "label": LABELS[(label + (name in wrong)) % 3]} for name, label in rows.select("id", "label").iter_rows()]
    given = ("--config", "nli", "--resamples", 0, "--drop", tmp_path / "dropped.csv", "--hard", tmp_path / "hard.parquet")
    for added in (len(set(rows["contrast_set"])) - len(hard), 0):
        result = cxgen("evaluate", written(tmp_path / "p.jsonl", said), *given, cwd=mini_dataset)
        assert f"{added} contrast sets added" in result.stderr
    dropped = read_dropped(tmp_path / "dropped.csv")
    assert {*dropped, *hard} == set(rows["contrast_set"])
    assert next(iter(dropped.values())) == f"p answers all of its {rows.height // len({*dropped, *hard})} items right"
    left = pl.read_parquet(tmp_path / "hard.parquet")
    assert left.equals(rows.filter(pl.col("contrast_set").is_in(hard)))
    assert left["label"].value_counts()["count"].n_unique() == 1  # as balanced as before
