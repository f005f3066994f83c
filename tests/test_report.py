"""How broad premises are, by sentences whose figures are known by hand; and the tables for `dvc plots`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from cxgen import layout
from cxgen.report.variety import breadth, broken, reach, shape, skeleton, texture
from tests.conftest import ROOT

GOOD = {"bigrams": 0.9, "skeletons": 0.95, "sd": 4.0, "first": 0.2, "joined": 0.2, "mould": 0.1}
WIDE = {"verbs": 200, "verbs in test": 40, "top five verbs": 0.1, "largest scene": 0.01, "largest filler": 0.01}
NAMES = ("giveaways", "items", "shapes", "verbs")


def premise(text, verb="leave", split="train", **fillers):
    slots = [{"role": role, "lemma": lemma} for role, lemma in fillers.items()]
    return {"premise": text, "template": "plain", "verb": verb, "split": split, "slots": slots}


@pytest.mark.parametrize(
    ("text", "adjunct", "expected"),
    [
        ("Last night, Ann left.", "", "time/none"),
        ("Ann, who was late, left.", "", "none/none"),
        ("Just before dawn Ann left.", "just before dawn", "PP/none"),
        ("When the bell rang, Ann left slowly.", "slowly", "clause/adverb"),
        ("Ann left before dawn.", "before dawn", "none/PP"),
    ],
)
def test_adjuncts_are_told_by_their_first_words_and_by_their_places(text, adjunct, expected):
    assert shape(premise(text, **{"modifier": adjunct} if adjunct else {})) == f"plain/{expected}"


def test_breadth_counts_each_premise_once():
    rows = [
        *[premise("Ann hid.", "hide", agent="Ann")] * 2,
        premise("Ann ran to bed.", "run", "test", agent="Ann", goal="bed"),
        premise("Bo ran from bed to bath.", "run", "test", agent="Bo", source="bed", goal="bath"),
        premise("At noon, Cy froze solid.", "freeze", "validation", agent="Cy", modifier="at noon", result="solid"),
    ]
    counted = breadth(pl.DataFrame(rows))
    assert counted.pop("fillers")["agent"] == {"lemma": "Ann", "share": 0.5}
    assert counted == {
        "shapes": 2,
        "largest shape": 0.75,
        "place pairs": 1,
        "results": 1,
        "largest result": 1.0,
    }


def test_reach_counts_verbs_scenes_and_fillers():
    rows = [
        *[premise("Ann hid.", "hide", agent="Ann") | {"frame": "home"}] * 2,
        premise("Ann ran to bed.", "run", "test", agent="Ann", goal="bed") | {"frame": "home"},
        premise("Bo hummed to bed.", "hum", "test", agent="Bo", goal="bed") | {"frame": "night"},
        premise("Cy sat.", "sit", agent="Cy") | {"frame": "day"},
    ]
    found = reach(pl.DataFrame(rows))
    assert tuple(found.values()) == (4, 2, 3, 1.0, 0.6, 0.5, "Ann (agent)")  # of goals all are *bed*: no choice
    ours = {name: {"premises": 400, "texture": GOOD, "reach": found} for name in ("reflexive-resultative", "resultative")}
    ours["like"] = {"reach": found, "lookalike": True}
    told = list(broken(ours))
    assert [line.partition(" is ")[0] for line in told if line.startswith("verbs is")] == ["verbs"] * 2
    assert any(line.startswith("verbs of look-alikes is 4 in like") for line in told)
    assert any(line.startswith("largest scene is 0.6") for line in told)


def test_texture_is_that_of_a_premise_a_set():
    """Of two premises of a set one counts; hypotheses count item by item."""
    assert skeleton("After that, the old gate wasn't open.") == "after that the X wasn't X"
    said = {"a": "Ann hid.", "b": "Ann ran home and slept.", "c": "At noon, the pond froze.", "d": "The pond froze."}
    rows = [{"contrast_set": name, "premise": text, "hypothesis": "Ann left."} for name, text in said.items()]
    rows += [{**rows[0], "hypothesis": "Ann left the pond."}, {**rows[0], "premise": "Ann sat.", "hypothesis": "Bo left."}]
    assert texture(pl.DataFrame(rows), 1) == {
        "bigrams": round(9 / 11, 4),
        "skeletons": 1.0,
        "length": 3.75,
        "sd": 1.299,
        "first": 1.0,
        "joined": 0.25,
        "mould": round(5 / 6, 4),
    }


def test_what_is_monotonous_is_named_with_the_worst_construction():
    good = {"premises": 400, "texture": GOOD, "reach": WIDE}
    bad = {**good, "texture": {**GOOD, "sd": 2.0, "joined": 0.8}}
    assert list(broken({"conative": good, "depictive": {}})) == []
    assert list(broken({"conative": good, "resultative": bad})) == [
        "sd is 2.0 in resultative (nli); gate: at least 3.5 in each construction",
        "joined is 0.5 over all (most: resultative 0.8); gate: at most 0.4",
    ]
    small = {"conative": {**bad, "premises": 399}, "one-of-my-own": bad, "depictive": {}, "like": {"reach": {}, "lookalike": True}}
    assert list(broken(small)) == []


@pytest.fixture
def measured(tmp_path):
    """A project folder with the shipped metrics and pipeline."""
    (tmp_path / "params.yaml").touch()
    shutil.copytree(ROOT / layout.METRICS, tmp_path / layout.METRICS)
    shutil.copy(ROOT / layout.PIPELINE, tmp_path)
    return tmp_path


def test_plotted_figures_are_those_of_the_metrics(measured, cxgen):
    result = cxgen("report", "plots", "--format", "json", cwd=measured)
    plots = {name: json.loads((measured / layout.PLOTS / f"{name}.json").read_text("utf-8")) for name in NAMES}
    assert {row["file"]: row["rows"] for row in json.loads(result.stdout)} == {
        f"outputs/plots/{name}.json": len(rows) for name, rows in plots.items()
    }
    metrics = ("splits", "variety", "baselines")
    splits, variety, baselines = (json.loads((measured / layout.metric(name)).read_text("utf-8")) for name in metrics)
    shown = {name: next(row[name] for row in plots[name] if row["construction"] == "conative") for name in ("items", "verbs", "shapes")}
    conative = splits["constructions"]["conative"]
    assert shown["items"] == sum(counts["all"] for counts in conative["items"].values())
    assert shown["verbs"] == sum(conative["verbs"].values())
    assert shown["shapes"] == variety["conative"]["breadth"]["shapes"]
    giveaways = {row["measure"]: row for row in plots["giveaways"]}
    measure = baselines["nli"]["hypothesis_only"]
    assert giveaways["nli: hypothesis_only"]["figure"] == measure["overall"]
    assert giveaways["nli: hypothesis_only"]["gate"] == measure["gates"]["overall"]
    assert not [name for name in giveaways if name.endswith(("turn_rate", "misparse"))]  # minima: the higher, the better


@pytest.mark.parametrize(
    ("metric", "content", "message"),
    [
        ("splits", "{}", "splits.json: not as it should be: KeyError 'constructions'"),
        ("baselines", "{}", "baselines.json: has nothing to plot"),
        ("variety", None, "variety.json: cannot read"),
    ],
)
def test_metrics_that_are_none_are_refused(measured, cxgen, metric, content, message):
    path = measured / layout.metric(metric)
    path.unlink() if content is None else path.write_text(content)
    result = cxgen("report", "plots", cwd=measured)
    assert result.returncode == 2
    assert message in result.stderr
    assert not (measured / layout.PLOTS).exists()


@pytest.mark.slow
def test_dvc_draws_every_plot_without_a_network(measured, cxgen):
    cxgen("report", "plots", cwd=measured)
    shutil.copytree(ROOT / ".dvc/plots", measured / ".dvc/plots")
    (measured / ".dvc/config").write_text("[core]\n    no_scm = true\n")
    closed = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:1") | {"DVC_NO_ANALYTICS": "1"}
    dvc = [str(Path(sys.executable).with_name("dvc")), "plots", "show"]
    options = {"cwd": measured, "env": {**os.environ, **closed}, "capture_output": True, "text": True}
    shown = json.loads(subprocess.run([*dvc, "--json"], check=True, **options).stdout)
    assert not shown.get("errors")
    drawn = {name: plots[0]["content"] for name, plots in shown["data"].items()}
    axes = {"Give-aways": "figure", "Items": "items", "Verbs": "verbs", "Shapes": "shapes"}
    assert {name: plot["encoding"]["x"]["field"] for name, plot in drawn.items()} == axes
    for name, x in axes.items():
        assert all(isinstance(row[x], int | float) for row in drawn[name]["data"]["values"])
    subprocess.run([*dvc, "-o", "page"], check=True, **options)
    assert "Items per construction" in (measured / "page/index.html").read_text("utf-8")
