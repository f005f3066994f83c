"""What exports for harnesses write (these run it in `test_extras`); a new export is a function."""

import json

import polars as pl
import pytest
import yaml

from cxgen.build.params import Params
from cxgen.build.preview import sample_items
from cxgen.evaluation.exports import HARNESSES, Exported, export, inspect, lm_eval
from cxgen.evaluation.report import Part
from cxgen.families import FAMILIES
from cxgen.project import Project
from tests.conftest import stored


class Loader(yaml.SafeLoader):
    """The harness's YAML."""


Loader.add_constructor("!function", lambda loader, node: f"function {node.value}")


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


@pytest.fixture(scope="module")
def exported(mini_dataset, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lm-eval") / "tasks"
    return folder, export("lm_eval", Project(mini_dataset), Part(("nli", "distinction")), folder)


def test_there_is_a_task_per_construction_and_a_group_of_means(exported, mini_dataset):
    folder, groups = exported
    got = {path.stem: yaml.load(path.read_text("utf-8"), Loader) for path in folder.glob("*.yaml")}
    assert groups == ["cxgen_nli", "cxgen_distinction", "cxgen"]
    assert set(got) == {"cxgen_nli_reach", "cxgen_distinction_reach", "_cxgen_nli", "_cxgen_distinction", "_cxgen"}
    assert got["_cxgen"]["task"] == groups[:2]
    assert got["_cxgen_nli"]["task"] == ["cxgen_nli_reach"]
    assert "aggregate_metric_list" not in got["_cxgen"]  # of configs with other chances
    task = got["cxgen_nli_reach"]
    assert (task["custom_dataset"], task["output_type"]) == ("function cxgen_data.load", "multiple_choice")
    assert task["metadata"] == {"version": Params.read(Project(mini_dataset).params).publish.version}
    assert "{{premise}}" in task["doc_to_text"]
    assert "{{hypothesis}}" in task["doc_to_text"]
    assert "custom_dataset: !function" in (folder / "cxgen_nli_reach.yaml").read_text("utf-8")


def test_the_items_are_those_of_the_split_and_the_examples_those_of_train(exported, mini_dataset):
    folder, _ = exported
    for config in ("nli", "distinction"):
        rows = {row["id"]: row for row in stored(config, "test", project=mini_dataset).iter_rows(named=True)}
        items = lines(folder / f"data/{config}-items.jsonl")
        assert {item["id"] for item in items} == set(rows)
        assert all(item["answer"] == rows[item["id"]]["label"] and item["hypothesis"] == rows[item["id"]]["hypothesis"] for item in items)
        assert {tuple(item["choices"]) for item in items} == {("Yes", "Maybe", "No")}
        examples = lines(folder / f"data/{config}-examples.jsonl")
        assert {example["id"] for example in examples} <= set(stored(config, "train", project=mini_dataset)["id"])
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
    rows = {row["id"]: row for row in stored("nli", "test", project=mini_dataset).iter_rows(named=True)}
    assert set(items[0]) == {"construction", "id", "contrast_set", "question", "choices", "answer"}
    for item in items:
        row = rows[item["id"]]
        assert row["premise"] in item["question"] and row["hypothesis"] in item["question"]
        assert item["choices"] == ["It is true as well.", "It may be true or false.", "It is false."]
        assert item["answer"] == row["label"]
    compile((tmp_path / "new/cxgen_tasks.py").read_text("utf-8"), "cxgen_tasks.py", "exec")


def test_the_commands_refuse_what_they_would_mix(mini_dataset, tmp_path, cxgen):
    assert "inspect  A folder with a task" in cxgen("export", "--help", cwd=mini_dataset).stdout
    result = cxgen("export", "lm-eval", tmp_path / "tasks", "--config", "nli", cwd=mini_dataset)
    assert (result.returncode, "cxgen_nli, cxgen: " in result.stdout) == (0, True), result.stderr
    for arguments, message in (
        (("lm-eval", tmp_path / "tasks"), "there is something already"),
        (("inspect", tmp_path / "tasks"), "there is something already"),
        (("lm-eval", tmp_path / "other", "--config", "nil"), "did you mean nli"),
        (("lm-eval", tmp_path / "other", "--wording", "quizz"), "did you mean quiz"),
    ):
        result = cxgen("export", *arguments, cwd=mini_dataset)
        assert (result.returncode, message in result.stderr) == (2, True)
    assert not (tmp_path / "other").exists()


def test_an_export_that_fails_leaves_nothing_in_the_way_of_the_next(mini_dataset, tmp_path, monkeypatch):
    def full(exported, version):
        return [], {"a.txt": "whole", "a.txt/b.txt": "a file is no folder"}

    monkeypatch.setitem(HARNESSES, "full", full)
    (tmp_path / "made").mkdir()
    for folder in (tmp_path / "made", tmp_path / "new"):
        with pytest.raises(OSError, match=r"exists|directory"):
            export("full", Project(mini_dataset), Part(("nli",)), folder)
    assert [path.name for path in tmp_path.rglob("*")] == ["made"]


def test_an_empty_folder_is_filled_not_replaced(mini_dataset, tmp_path):
    before = tmp_path.stat().st_ino
    export("inspect", Project(mini_dataset), Part(("nli",)), tmp_path)
    assert tmp_path.stat().st_ino == before
    assert (tmp_path / "data/nli-items.jsonl").is_file() and not list(tmp_path.glob(".*"))
