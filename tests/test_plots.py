"""Tables for `dvc plots`, and what DVC makes of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cxgen import layout
from tests.conftest import ROOT

NAMES = ("giveaways", "items", "shapes", "verbs")


@pytest.fixture
def measured(tmp_path):
    """A project folder with the shipped metrics and pipeline."""
    (tmp_path / "params.yaml").touch()
    shutil.copytree(ROOT / layout.METRICS, tmp_path / layout.METRICS)
    shutil.copy(ROOT / layout.PIPELINE, tmp_path)
    return tmp_path


def rows(folder, name):
    return json.loads((folder / layout.PLOTS / f"{name}.json").read_text("utf-8"))


def test_figures_are_those_of_the_metrics(measured, cxgen):
    result = cxgen("report", "plots", "--format", "json", cwd=measured)
    assert {row["file"]: row["rows"] for row in json.loads(result.stdout)} == {
        f"outputs/plots/{name}.json": len(rows(measured, name)) for name in NAMES
    }
    splits, variety, baselines = (
        json.loads((measured / layout.metric(name)).read_text("utf-8")) for name in ("splits", "variety", "baselines")
    )
    conative = splits["constructions"]["conative"]
    assert {row["construction"]: row["items"] for row in rows(measured, "items")}["conative"] == sum(
        counts["all"] for counts in conative["items"].values()
    )
    assert {row["construction"]: row["verbs"] for row in rows(measured, "verbs")}["conative"] == sum(conative["verbs"].values())
    assert {row["construction"]: row["shapes"] for row in rows(measured, "shapes")}["conative"] == variety["conative"]["breadth"]["shapes"]
    found = {row["measure"]: row for row in rows(measured, "giveaways")}
    hypothesis_only = baselines["nli"]["hypothesis_only"]
    assert found["nli: hypothesis_only"]["figure"] == hypothesis_only["overall"]
    assert found["nli: hypothesis_only"]["gate"] == hypothesis_only["gates"]["overall"]
    assert not [name for name in found if name.endswith(("turn_rate", "misparse"))]  # minima: the higher, the better


@pytest.mark.parametrize(
    ("metric", "content", "message"),
    [
        ("splits", "{}", "splits.json: not as it should be: KeyError 'constructions'"),
        ("baselines", "{}", "baselines.json: has nothing to plot"),
        ("variety", "[", "variety.json:"),
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
    dvc = [str(Path(sys.executable).with_name("dvc"))]
    closed = {"http_proxy": "http://127.0.0.1:1", "https_proxy": "http://127.0.0.1:1", "DVC_NO_ANALYTICS": "1"}
    environment = {**os.environ, **closed}
    (measured / ".dvc/config").write_text("[core]\n    no_scm = true\n")
    told = subprocess.run([*dvc, "plots", "show", "--json"], cwd=measured, env=environment, capture_output=True, text=True, check=True)
    found = json.loads(told.stdout)
    assert not found.get("errors")
    drawn = {name: plots[0]["content"] for name, plots in found["data"].items()}
    assert set(drawn) == {"Give-aways", "Items", "Verbs", "Shapes"}
    for name, x in (("Give-aways", "figure"), ("Items", "items"), ("Verbs", "verbs"), ("Shapes", "shapes")):
        assert drawn[name]["encoding"]["x"]["field"] == x
        assert all(isinstance(row[x], int | float) for row in drawn[name]["data"]["values"])
    subprocess.run([*dvc, "plots", "show", "-o", "page"], cwd=measured, env=environment, capture_output=True, check=True)
    assert "Items per construction" in (measured / "page/index.html").read_text("utf-8")
