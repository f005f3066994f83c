"""What `cxgen export lm-eval` and `cxgen export inspect` write. The harnesses themselves run it in `test_extras`."""

import json

import polars as pl
import pytest
import yaml

from cxgen.build.preview import sample_items
from cxgen.evaluate.exports import Exported, export, inspect, lm_eval
from cxgen.evaluate.report import Part
from cxgen.facade import load
from cxgen.families import FAMILIES
from cxgen.project import Project
from cxgen.vocabulary import LABELS


class Loader(yaml.SafeLoader):
    """The harness's YAML."""


Loader.add_constructor("!function", lambda loader, node: f"function {node.value}")


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def tasks(folder):
    return {path.stem: yaml.load(path.read_text("utf-8"), Loader) for path in folder.glob("*.yaml")}


@pytest.fixture(scope="module")
def exported(mini_dataset, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lm-eval") / "tasks"
    return folder, export("lm_eval", Project(mini_dataset), Part(("nli", "distinction")), folder)


def test_there_is_a_task_per_construction_and_a_group_of_means(exported):
    folder, groups = exported
    found = tasks(folder)
    assert groups == ["cxgen_nli", "cxgen_distinction", "cxgen"]
    assert set(found) == {"cxgen_nli_reach", "cxgen_distinction_reach", "_cxgen_nli", "_cxgen_distinction", "_cxgen"}
    assert found["_cxgen"]["task"] == groups[:2]
    assert found["_cxgen_nli"]["task"] == ["cxgen_nli_reach"]
    assert all(not measure["weight_by_size"] for measure in found["_cxgen"]["aggregate_metric_list"])
    task = found["cxgen_nli_reach"]
    assert (task["custom_dataset"], task["output_type"]) == ("function cxgen_data.load", "multiple_choice")
    assert "{{premise}}" in task["doc_to_text"]
    assert "{{hypothesis}}" in task["doc_to_text"]
    assert "custom_dataset: !function" in (folder / "cxgen_nli_reach.yaml").read_text("utf-8")


def test_the_items_are_those_of_the_split_and_the_examples_those_of_train(exported, mini_dataset):
    folder, _ = exported
    for config in ("nli", "distinction"):
        rows = {row["id"]: row for row in load(config, "test", project=mini_dataset).iter_rows(named=True)}
        items = lines(folder / f"data/{config}-items.jsonl")
        assert {item["id"] for item in items} == set(rows)
        assert all(item["answer"] == rows[item["id"]]["label"] and item["hypothesis"] == rows[item["id"]]["hypothesis"] for item in items)
        assert {tuple(item["choices"]) for item in items} == {("Yes", "Maybe", "No")}
        examples = lines(folder / f"data/{config}-examples.jsonl")
        assert {example["id"] for example in examples} <= set(load(config, "train", project=mini_dataset)["id"])
        assert sorted(example["answer"] for example in examples) == [0] * 4 + [1] * 4 + [2] * 4


def test_continuations_are_not_always_right_first(constructions):
    rows = sample_items(constructions["let-alone"], 1, 20, "minimal_pairs").with_columns(target=pl.lit("let-alone")).to_dicts()
    pairs = Exported("minimal_pairs", FAMILIES["minimal_pairs"].scoring, rows, rows[:3], ("{context}", {}))
    good = {row["id"]: row["diagnostic_good"] for row in rows}
    for harness in (lm_eval, inspect):
        _, texts = harness([pairs], "1")
        items = [json.loads(line) for line in texts["data/minimal_pairs-items.jsonl"].splitlines()]
        assert all(item["choices"][item["answer"]] == good[item["id"]] for item in items)
        assert {item["answer"] for item in items} == {0, 1}
        assert texts.get("data/minimal_pairs-examples.jsonl", "").count("\n") == (3 if harness is lm_eval else 0)


def test_questions_for_inspect_give_nothing_away(mini_dataset, tmp_path):
    assert export("inspect", Project(mini_dataset), Part(("nli",)), tmp_path / "new") == ["nli"]
    items = lines(tmp_path / "new/data/nli-items.jsonl")
    rows = {row["id"]: row for row in load("nli", "test", project=mini_dataset).iter_rows(named=True)}
    assert set(items[0]) == {"construction", "id", "contrast_set", "question", "choices", "answer"}
    assert all(rows[item["id"]]["premise"] in item["question"] and rows[item["id"]]["hypothesis"] in item["question"] for item in items)
    assert {(tuple(item["choices"]), LABELS[item["answer"]] == LABELS[rows[item["id"]]["label"]]) for item in items} == {
        (("It is true as well.", "It may be true or false.", "It is false."), True)
    }
    compile((tmp_path / "new/cxgen_tasks.py").read_text("utf-8"), "cxgen_tasks.py", "exec")


def test_the_commands_refuse_what_they_would_mix(mini_dataset, tmp_path, cxgen):
    assert "inspect  A folder with a task" in cxgen("export", "--help", cwd=mini_dataset).stdout
    result = cxgen("export", "lm-eval", tmp_path / "tasks", "--config", "nli", cwd=mini_dataset)
    assert (result.returncode, "cxgen_nli, cxgen: " in result.stdout) == (0, True), result.stderr
    for command in ("lm-eval", "inspect"):
        result = cxgen("export", command, tmp_path / "tasks", cwd=mini_dataset)
        assert (result.returncode, "there is something already" in result.stderr) == (2, True)
    result = cxgen("export", "lm-eval", tmp_path / "other", "--config", "nil", cwd=mini_dataset)
    assert (result.returncode, (tmp_path / "other").exists()) == (2, False)
    result = cxgen("export", "lm-eval", tmp_path / "other", "--wording", "quizz", cwd=mini_dataset)
    assert (result.returncode, "did you mean quiz" in result.stderr) == (2, True)
