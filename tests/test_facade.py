"""The Python interface: its examples, and that importing it costs nothing."""

from __future__ import annotations

import doctest
import subprocess
import sys

import polars as pl
import pytest

import cxgen
from cxgen import facade
from cxgen.errors import CxgenError, UnknownNameError
from tests.conftest import edit


@pytest.mark.parametrize("module", [cxgen, facade])
def test_the_examples_are_true(module):
    found = doctest.testmod(module)
    assert found.attempted and not found.failed


def test_importing_loads_nothing_heavy():
    code = "import sys, cxgen; print(*sys.modules)"
    loaded = set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())
    assert not loaded & {"polars", "numpy", "yaml", "spacy", "typer"}


def test_a_sample_has_as_many_premises_as_asked_for_and_the_columns_of_its_family():
    nli = cxgen.sample("let-alone", n=7)
    pairs = cxgen.sample("let-alone", n=7, family="minimal_pairs")
    assert nli["premise"].n_unique() == 7
    assert {"premise", "hypothesis", "label"} <= set(nli.columns)
    assert pairs["context"].n_unique() == 7
    assert {"diagnostic_good", "diagnostic_bad"} <= set(pairs.columns) and "label" not in pairs.columns


def test_pseudowords_replace_the_words_of_the_mode_only(mini):
    plain, wug = cxgen.sample("reach", n=8, project=mini), cxgen.sample("reach", n=8, wug="verb", project=mini)
    assert set(plain["verb"]).isdisjoint(wug["verb"])


def test_the_matrix_is_long(mini):
    matrix = cxgen.explain("reach", project=mini)
    assert matrix.filter(pl.col("kind") == "missed").height
    assert set(matrix["label"]) == {"entailment", "neutral", "contradiction"}


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


def test_a_dataset_that_was_never_made_says_what_to_run(tmp_path):
    with pytest.raises(CxgenError, match="no such table"):
        cxgen.load("nli", project=tmp_path)


def test_no_module_takes_the_place_of_a_function():
    import cxgen.curate.pseudowords
    import cxgen.stages.package

    assert all(callable(getattr(cxgen, name)) for name in cxgen.__all__ if name != "__version__")


@pytest.mark.parametrize("call", [lambda: cxgen.sample("conative", n=0), lambda: cxgen.wug("flower", n=0)])
def test_less_than_one_is_refused(call):
    with pytest.raises(CxgenError, match="n is 0"):
        call()


def test_errors_say_where_and_what_to_do(tmp_path):
    with pytest.raises(cxgen.CxgenError, match=r"test-00000-of-00001\.parquet: no such table\n  hint: run"):
        cxgen.load("minimal_pairs", "test", project=tmp_path)


def test_an_unsound_file_is_an_error_with_its_place_not_a_key_error(mini):
    edit(mini / "templates/reach.yaml", "hypotheses: [without, with, company", "hypotheses: [witout, with, company")
    with pytest.raises(CxgenError, match=r"reach\.yaml:.*witout"):
        cxgen.explain("reach", project=mini)
