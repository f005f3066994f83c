"""The figures of real models that are published are those of the committed predictions."""

import pytest

from cxgen.project import Project
from recipes.results.table import RESULTS, pages, results
from tests.conftest import ROOT


def test_the_page_of_results_says_what_the_figures_say():
    for path, text in pages(ROOT).items():
        assert path.read_text("utf-8") == text, f"{path.name}: run python -m recipes.results.table"


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / "outputs/dataset/nli").is_dir(), reason="scores items of the built dataset: make dataset")
def test_the_figures_are_those_of_the_committed_predictions(monkeypatch):
    monkeypatch.setenv("CXGEN_PROJECT", str(ROOT))
    assert (ROOT / RESULTS).read_text("utf-8") == results(Project(ROOT)), "run python -m recipes.results.table"
