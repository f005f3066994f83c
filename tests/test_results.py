"""The figures of real models that are published are those of the committed predictions."""

import json

import pytest

from cxgen.project import Project
from cxgen.version import DATA_VERSION
from recipes.results.table import RESULTS, pages, results
from tests.conftest import ROOT


def test_the_page_of_results_says_what_the_figures_say():
    for path, text in pages(ROOT).items():
        assert path.read_text("utf-8") == text, f"{path.name}: run python -m recipes.results.table"


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / "outputs/dataset/nli").is_dir(), reason="scores items of the built dataset: make dataset")
@pytest.mark.skipif(
    json.loads((ROOT / RESULTS).read_text("utf-8"))["data_version"] != DATA_VERSION,
    reason="the answers are about an earlier version of the data",
)
def test_the_figures_are_those_of_the_committed_predictions(monkeypatch):
    monkeypatch.setenv("CXGEN_PROJECT", str(ROOT))
    assert (ROOT / RESULTS).read_text("utf-8") == results(Project(ROOT)), "run python -m recipes.results.table"
