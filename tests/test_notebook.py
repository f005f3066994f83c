"""docs/quickstart.ipynb: its cells run, in order, and put out what is stored in it."""

import pytest

from tests import notebook
from tests.conftest import build_dataset, small_project


def test_the_cells_put_out_what_is_stored(monkeypatch):
    """Those that need no dataset."""
    monkeypatch.delenv("CXGEN_PROJECT", raising=False)
    cells = [cell for cell in notebook.cells() if notebook.DATASET not in cell["metadata"].get("tags", ())]
    for cell, put in zip(cells, notebook.outputs(cells, notebook.ROOT / "docs"), strict=True):
        assert put == cell["outputs"], f"`python -m tests.notebook` stores what is put out now by {''.join(cell['source'])[:200]}"


@pytest.mark.slow
def test_all_cells_run_with_a_dataset(tmp_path, monkeypatch):
    monkeypatch.delenv("CXGEN_PROJECT", raising=False)
    small_project(tmp_path, ["resultative", "let-alone"])
    build_dataset(tmp_path)
    cells = notebook.cells()
    for cell, put in zip(cells, notebook.outputs(cells, tmp_path), strict=True):
        assert len(put) == len(cell["outputs"])
