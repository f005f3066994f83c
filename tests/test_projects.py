"""Projects of one's own, in a folder without DVC: their words, their pipeline, whatever configs they have."""

import json
import os
import shutil

import polars as pl
import pytest
import yaml

from cxgen import layout
from cxgen.vocabulary import SPLITS
from tests import mini as small
from tests.conftest import stored

# In this order.
COMMANDS = ("build", "check --output outputs/metrics/lint.json", "report baselines", "report variety", "report reading", "package")


def only_pairs(folder):
    """The mini project with one design, of minimal pairs."""
    small.write_project(folder, sizes={"minimal_pairs": 60}, baselines={"folds": 2})
    path = folder / "templates/reach.yaml"
    data = yaml.safe_load(path.read_text("utf-8"))
    data["designs"] = {"success": {"config": "minimal_pairs", "kinds": ["missed", "caught"], "hypotheses": ["without", "with"]}}
    data["hypotheses"] = {name: data["hypotheses"][name] for name in ("without", "with")}
    data["kinds"] = {name: data["kinds"][name] for name in ("missed", "caught")}
    data["predicates"] = {"got": data["predicates"]["got"]}
    del data["lookalikes"]
    data["no_lookalike"] = "none is needed here"
    table = folder / "lexicons/scenes/reach.tsv"
    text = table.read_text("utf-8").replace("outcome | waiting", "success").replace("\toutcome\t", "\tsuccess\t")
    table.write_text(text.replace("\tstay:verb\tcompanion", "").replace("\t@wait-verbs\t@companions", ""), "utf-8")
    path.write_text(yaml.safe_dump(data, sort_keys=False), "utf-8")
    (folder / "templates/wait.yaml").unlink()


def test_a_construction_of_which_nothing_would_be_built_is_told(tmp_path, cxgen):
    only_pairs(tmp_path)
    small.write_params(tmp_path, constructions=["reach"], sizes={"minimal_pairs": 0}, publish=small.OWN)
    told = cxgen("build", cwd=tmp_path)
    assert (told.returncode, "reach.yaml: no design of reach is for a config that is built" in told.stderr) == (2, True), told


def test_a_build_without_suites_leaves_their_folder_and_counts_verbs_by_config(tmp_path, cxgen):
    """DVC ends where a folder that dvc.yaml names is not there."""
    small.write_project(tmp_path)
    built = cxgen("build", "--json", cwd=tmp_path)
    assert all((tmp_path / folder).is_dir() for folder in (layout.DATASET, layout.WUG, layout.NATURAL, layout.SUITES)), built.stderr
    for row in (row for row in json.loads(built.stdout) if "test verbs" in row):
        rows = stored(row["config"], "test", project=tmp_path).filter(construction=row["construction"])
        assert row["test verbs"] == rows["verb"].n_unique()


@pytest.mark.slow
def test_a_project_of_minimal_pairs_alone_gets_to_its_end(tmp_path, cxgen):
    """What an earlier run with other designs left is not taken for a part of it."""
    only_pairs(pairs := tmp_path)
    old = pairs / layout.table("nli", "train")
    old.parent.mkdir(parents=True)
    old.write_bytes(b"old")
    for command in COMMANDS:
        # the shipped templates do not go with the mini lexicon
        result = cxgen(*command.replace("check ", "check reach ").split(), cwd=pairs)
        assert result.returncode == 0, (command, result.stderr)
    assert {name for name, _ in hub_tables(pairs)} == {"minimal_pairs"}
    made = pl.concat([hub_tables(pairs)["minimal_pairs", split] for split in SPLITS])
    assert made.equals(stored("minimal_pairs", project=pairs))
    assert made.height >= 60
    head, prose = (pairs / layout.HUB / "README.md").read_text("utf-8").removeprefix("---\n").split("---\n", 1)
    metadata = yaml.safe_load(head)
    assert "task_ids" not in metadata
    assert "nli" not in metadata["tags"]
    for word in ("entailment", "hypothesis", "Results"):
        assert word not in prose, word
    assert "diagnostic_good" in prose


def hub_tables(folder):
    return {(path.parent.name, layout.split_of(path)): pl.read_parquet(path) for path in (folder / layout.HUB).glob("*/*.parquet")}


def test_all_metrics_that_a_package_lacks_are_told_at_once_with_what_makes_them(mini_dataset, mini, cxgen):
    shutil.copytree(mini_dataset / "outputs", mini / "outputs")
    result = cxgen("package", cwd=mini)
    assert result.returncode == 2
    message, hint = result.stderr.strip().splitlines()
    for name in ("lint", "baselines", "variety", "reading"):
        assert f"{name}.json" in message
    assert "splits.json" not in message
    found = [hint.index(f"`cxgen {command}`") for command in COMMANDS[1:-1]]
    assert found == sorted(found)
    assert "dvc" not in hint
    (mini / "dvc.yaml").write_text("stages: {}\n")
    assert "dvc repro" in cxgen("package", cwd=mini).stderr


def test_a_folder_whose_name_is_no_text_is_refused(mini, cxgen):
    odd = mini.rename(mini.with_name(os.fsdecode(b"a\xff")))
    refused = cxgen("build", cwd=odd)
    assert (refused.returncode, "the folder's name is not UTF-8" in refused.stderr) == (2, True)


def test_a_relation_to_an_unknown_word_is_told_with_file_and_line(mini, cxgen):
    (mini / "lexicons/snapshot").rename(mini / "snapshot")  # what is left adds to the shipped lexicon
    path = mini / "lexicons/classes/mine.yaml"
    path.parent.mkdir()
    path.write_text('classes: {}\nproperties:\n  - sense: "frobby%3:00:00::"\n    contrary: ["dry%3:00:01::"]\n')
    result = cxgen("explain", "conative", cwd=mini)
    assert result.returncode == 2
    assert "mine.yaml:3: frobby%3:00:00:: is not in the lexicon" in result.stderr
