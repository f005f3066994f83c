"""The Python interface: its examples, and that importing it costs nothing."""

import doctest
import subprocess
import sys

import pytest

import cxgen
from cxgen import facade
from cxgen.errors import CxgenError, UnknownNameError
from tests.conftest import edit


@pytest.mark.parametrize("module", [cxgen, facade])
def test_the_examples_are_true(module):
    result = doctest.testmod(module)
    assert result.attempted and not result.failed


def test_importing_loads_nothing_heavy():
    code = "import sys, cxgen; print(*sys.modules)"
    loaded = set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())
    assert not loaded & {"polars", "numpy", "yaml", "spacy", "typer"}


def test_a_sample_has_as_many_premises_as_asked_for_and_the_columns_of_its_family():
    entry = cxgen.Constructicon()["let-alone"]
    nli, pairs = entry.sample(7), entry.sample(7, family="minimal_pairs")
    assert nli["premise"].n_unique() == 7
    assert {"premise", "hypothesis", "label"} <= set(nli.columns)
    assert pairs["context"].n_unique() == 7
    assert {"diagnostic_good", "diagnostic_bad"} <= set(pairs.columns) and "label" not in pairs.columns


def test_functions_and_methods_say_the_same(mini):
    entry = cxgen.Constructicon(mini)["reach"]
    assert cxgen.sample("reach", 3, seed=2, project=mini).equals(entry.sample(3, seed=2))
    assert cxgen.explain("reach", wug="verb", project=mini).equals(entry.explain("verb"))
    assert entry.cells()["design"].unique().sort().to_list() == ["outcome", "waiting"]
    assert cxgen.constructions(mini) == list(cxgen.Constructicon(mini))
    assert entry.check() == []
    edit(mini / "templates/reach.yaml", '  plain: "{agent}', '  plain: "{agnt}')
    assert "E101" in {finding.code for finding in cxgen.Constructicon(mini)["reach"].check()}


@pytest.mark.parametrize(
    "call",
    [
        lambda: cxgen.sample("resultativ"),
        lambda: cxgen.sample("resultative", family="nlu"),
        lambda: cxgen.sample("resultative", wug="nuons"),
        lambda: cxgen.explain("resultative", wug="nuons"),
        lambda: cxgen.load("nli", "tset"),
        lambda: cxgen.load("nlu"),
    ],
)
def test_wrong_names_are_refused_with_the_nearest(call):
    with pytest.raises(UnknownNameError) as failure:
        call()
    assert "did you mean" in failure.value.hint


def test_errors_say_where_and_what_to_do(tmp_path, mini):
    with pytest.raises(cxgen.CxgenError, match=r"test-00000-of-00001\.parquet: no such table\n  hint: run"):
        cxgen.load("minimal_pairs", "test", project=tmp_path)
    edit(mini / "templates/reach.yaml", "hypotheses: [without, with, company", "hypotheses: [witout, with, company")
    with pytest.raises(CxgenError, match=r"reach\.yaml:.*witout"):
        cxgen.explain("reach", project=mini)
