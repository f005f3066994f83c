"""The recipes as far as they need no torch: settings, tables that users bring, what is drawn and held apart, and the heads' arithmetic."""

import json

import numpy as np
import polars as pl
import pytest

from cxgen.cli.app import run as run_command
from cxgen.errors import CxgenError
from cxgen.facade import load
from cxgen.measures.figures import Resampling
from cxgen.project import Project
from recipes.finetune.items import answered_parts, learned_from
from recipes.finetune.model import layers, probabilities
from recipes.finetune.replay import beside, passages
from recipes.finetune.report import errors, reported, rows
from recipes.finetune.run import app as finetune_app
from recipes.probe import settings as probe
from recipes.probe.probing import drawn, held_apart, tasks
from recipes.probe.sentences import read_sentences, with_length
from recipes.shared import require_same_run


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("regime: share", "c.yaml:1: regime: 'share' is not one of ['shared', 'heads', 'in-context']"),
        ("seed: 1\nlora:\n  rank: 4", "c.yaml:3: lora: unexpected key 'rank'"),
        ("training: {epochs: 0}", "c.yaml:1: training.epochs: 0 is less than the minimum of 1"),
        ("replay: {share: 1}", "c.yaml:1: replay.share: 1 is greater than or equal to the maximum of 1"),
        ("seed: 2", "no model is named"),
    ],
)
def test_settings_that_are_none_are_told_in_a_line(tmp_path, monkeypatch, capsys, text, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.yaml").write_text(text, "utf-8")
    assert run_command(["--config", "c.yaml"], finetune_app, "finetune") == 2
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith(f"cxgen: {message}")
    assert len(said) == 2, "the message and a hint"


def test_a_folder_holds_one_run(tmp_path):
    require_same_run(tmp_path / "a", {"seed": 1, "lora": ()})  # which ended before it had made anything
    require_same_run(tmp_path / "a", {"seed": 1, "lora": (1, 2)})
    (tmp_path / "a/answers.jsonl").touch()
    require_same_run(tmp_path / "a", {"seed": 1, "lora": (1, 2)})
    with pytest.raises(CxgenError, match="another run: different seed"):
        require_same_run(tmp_path / "a", {"seed": 2, "lora": (1, 2)})
    (tmp_path / "b").mkdir()
    (tmp_path / "b/thesis.tex").touch()
    with pytest.raises(CxgenError, match="not empty, and holds no run"):
        require_same_run(tmp_path / "b", {"seed": 1})


def test_the_middle_is_12_to_20_of_32():
    for depth, middle in {1: [0], 2: [0, 1], 4: [1, 2], 12: [4, 5, 6, 7], 32: [*range(12, 21)]}.items():
        assert layers("middle", depth, "m") == middle
    with pytest.raises(CxgenError, match="has the layers 0 to 1"):
        layers((0, 2), 2, "m")


def test_few_items_are_whole_sets_and_the_same_ones(mini_dataset):
    project = Project(mini_dataset)
    every = learned_from(project, ["nli"], "train", None)
    sizes = load("nli", "train", project=mini_dataset).group_by("contrast_set").agg("id")
    few = learned_from(project, ["nli"], "train", 30)
    assert 0 < few.height <= 30 < every.height
    kept = [name for ids in sizes["id"].to_list() if set(ids) & set(few["id"]) for name in ids]
    assert sorted(kept) == sorted(few["id"])
    assert set(few["id"]) < set(learned_from(project, ["nli"], "train", 60)["id"])


def test_what_is_wrong_is_told_by_construction(mini_dataset, tmp_path):
    rows = [
        {"premise": f"P{n // 2}.", "hypothesis": f"H{n}.", "label": label, "construction": "way" if n < 4 else None}
        for n, label in enumerate("021012")
    ]
    part = answered_parts(Project(mini_dataset), [], [written(tmp_path / "cxnli.jsonl", rows)])["cxnli"]
    said = pl.DataFrame({"id": part.items["cxnli"]["id"], "label": list("021212")})
    missed = {"premise": "P1.", "hypothesis": "H3.", "right": "entailment", "said": "contradiction"}
    wrong = errors(part, part.answers(said))
    assert wrong == {"other": {"wrong": 0.0, "items": []}, "way": {"wrong": 0.25, "items": [missed]}}


def test_tables_of_ones_own_are_answered_beside_the_dataset(mini_dataset, tmp_path):
    row = {"premise": "P.", "hypothesis": "H.", "label": "E"}
    parts = answered_parts(Project(mini_dataset), ["nli"], [written(tmp_path / "cxnli.jsonl", [row])])
    assert {name: len(part.questions) for name, part in parts.items()} == {
        "nli": len(load("nli", "test", project=mini_dataset)),
        "cxnli": 1,
    }
    for name, own, message in (("nli", row, "another part is called"), ("t", {"good": "A.", "bad": "B."}, "has pairs of sentences")):
        with pytest.raises(CxgenError, match=message):
            answered_parts(Project(mini_dataset), ["nli"], [written(tmp_path / f"{name}.jsonl", [own])])


def test_a_run_is_held_against_another_in_one_line(mini_dataset, tmp_path):
    items = [{"premise": f"P{n}.", "hypothesis": "H.", "label": n % 3} for n in range(6)]
    part = answered_parts(Project(mini_dataset), [], [written(tmp_path / "cxnli.jsonl", items)])["cxnli"]
    tuned, before = (part.answers(pl.DataFrame({"id": part.items["cxnli"]["id"], "label": list(said)})) for said in ("012010", "000000"))
    found, *_ = rows({"cxnli": reported("tuned", part, tuned, Resampling(0), ("untrained", before))})
    assert (found["accuracy"], found["baseline"], found["gain"], found["p"]) == (0.8333, 0.3333, 0.5, "0.25")


def test_text_is_a_third_of_what_is_learned_at_once(tmp_path):
    assert [beside(items, 0.33) for items in (1, 2, 32)] == [1, 1, 16]
    (tmp_path / "books.txt").write_text("It rained.\n\n  He left. \n", "utf-8")
    assert passages(tmp_path / "books.txt") == ["It rained.", "He left."]
    (tmp_path / "books.txt").write_text("\n", "utf-8")
    with pytest.raises(CxgenError, match="has no text"):
        passages(tmp_path / "books.txt")


def test_an_item_is_answered_by_its_head_and_a_strangers_by_the_mean():
    logits = np.log(np.array([[0.7, 0.2, 0.1, 0.1, 0.1, 0.8]] * 3))
    found = probabilities(logits, np.array([0, 1, -1]))
    assert found == pytest.approx(np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.4, 0.15, 0.45]]))


def pairs(count, split, feature=None, values=("1",)):
    return [
        {**row, "label": label, "sentence": f"{'ab'[label]} {split} {number} {feature}", "pair": f"{split}{number}{value}{feature}"}
        for number in range(count)
        for value in values
        for row in [{"split": split, "feature": feature, "value": value}]
        for label in (0, 1)
    ]


@pytest.fixture
def sentences(tmp_path):
    def read(rows, **where):
        return read_sentences(str(written(tmp_path / "s.jsonl", rows)), where).with_columns(state=pl.lit(0, dtype=pl.Int64))

    return read


def test_a_table_of_sentences_may_be_the_datasets_own(sentences):
    rows = [
        {"sentence": "A.", "label": 1, "split": "train", "preset": "small", "subset": "general", "value": None, "contrast_set": "x"},
        {"sentence": "B.", "label": 0, "split": "train", "preset": "small", "subset": "start", "value": 3, "contrast_set": "x"},
        {"sentence": "C.", "label": 0, "split": "test", "preset": "wide", "subset": "general", "value": None, "contrast_set": "y"},
    ]
    expected = [("A.", "train", 1, None, None, "x"), ("B.", "train", 0, "start", "3", "x")]
    assert sentences(rows, preset="small").select("sentence", "split", "label", "feature", "value", "pair").rows() == expected
    with pytest.raises(CxgenError, match="no row has preset tiny"):
        sentences(rows, preset="tiny")


def test_a_draw_has_whole_pairs_and_both_labels_alike():
    train = pl.DataFrame(pairs(12, "train"))
    found = drawn(train, 9, 1, 0)
    assert (found.height, found["label"].mean(), set(found["pair"].value_counts()["count"])) == (8, 0.5, {2})
    assert found["pair"].to_list() == drawn(train.reverse(), 9, 1, 0)["pair"].to_list()


def test_train_has_the_low_end_of_a_feature_and_test_all_values(sentences):
    values = [str(value) for value in (2, 10, 3, 4, 5, 6, 7, 8)]
    task = held_apart(sentences([*pairs(2, "train", "start", values), *pairs(1, "test", "start", values)]), "start", 0.25)
    assert set(task.train["value"]) == {"2", "3", "4"}, "by number, not by letter: a quarter of the range from 2 to 10"
    assert set(task.test["value"]) == set(values)
    task = held_apart(sentences([*pairs(2, "train", "kind", "dacb"), *pairs(1, "test", "kind", "bd")]), "kind", 0.34)
    assert (set(task.train["value"]), set(task.test["value"])) == ({"a", "b"}, {"b", "d"})


def test_scrambled_sentences_are_left_out(sentences):
    rows = [{"sentence": name, "label": label, "split": "train"} for name, label in zip("abcd", ("1", "0", "2", "scrambled"), strict=True)]
    assert sentences(rows)["sentence"].to_list() == ["a", "b"]


def test_tasks_are_whole_curve_and_features(sentences):
    rows = with_length(sentences([*pairs(20, "train"), *pairs(3, "test"), *pairs(4, "train", "start"), *pairs(4, "test", "start", ["2"])]))
    curve, controlled = probe.Curve((4, 16, 4096), 2), probe.Controlled(0.25, length=True)
    rows = rows.with_columns(value=pl.when(pl.col("feature") == "words in all").then(pl.col("split")).otherwise("value"))
    found = tasks(rows, curve, controlled, 1)
    curves = [f"curve//{size}/{repeat}" for size in (4, 16) for repeat in (0, 1)]
    assert [task.key for task in found] == ["all//0/0", *curves, "controlled/start/0/0", "controlled/words in all/0/0"]
    assert found[0].train.height == 40
    assert found[1].train["sentence"].to_list() != found[2].train["sentence"].to_list()
    with pytest.raises(CxgenError, match="test part of the sentences has 0 sentences"):
        tasks(sentences(pairs(20, "train")), curve, controlled, 1)
