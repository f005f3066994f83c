"""The Python interface: its examples, and that importing it costs nothing."""

import doctest
import subprocess
import sys
from html import escape

import polars as pl
import pytest

import cxgen
from cxgen import facade
from cxgen.display import COLOURS
from cxgen.errors import CxgenError, UnknownNameError
from cxgen.vocabulary import LABELS
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
    assert nli.columns[:3] == ["premise", "hypothesis", "label"]
    assert pairs["context"].n_unique() == 7
    assert pairs.columns[:3] == ["context", "diagnostic_good", "diagnostic_bad"] and "label" not in pairs.columns


def test_the_finished_dataset_reads_like_a_sample(mini_dataset):
    rows = cxgen.load("distinction", project=mini_dataset)
    assert rows.columns[:3] == ["premise", "hypothesis", "label"]
    assert set(rows["label"]) == set(LABELS) and set(rows["target_label"].drop_nulls()) < set(LABELS)
    with pytest.raises(UnknownNameError, match="natural, nli, nli_wug"):
        cxgen.load("q", project=mini_dataset)


def test_items_show_whole_sentences_and_a_set_is_a_grid(mini_dataset):
    rows = cxgen.load("nli", project=mini_dataset).with_columns(pl.col("premise") + " <&>")
    one = rows.filter(contrast_set=rows["contrast_set"][0])
    grid, table, text = cxgen.show(one)._repr_html_(), cxgen.show(rows)._repr_html_(), repr(cxgen.show(rows))
    assert grid.count("<tr>") == one["premise"].n_unique() + 1 and grid.count("<th") == one["hypothesis"].n_unique() + 1
    assert grid.count("</span>") == one.height
    assert table.count("<tr>") == 101 and f"... {rows.height - 100} more" in table, "the first hundred"
    assert escape(one["premise"][0]) in grid and escape(one["premise"][0]) in table
    premise, hypothesis, label = one.select("premise", "hypothesis", "label").row(0)
    assert text.startswith(f"{premise}\n  {label.ljust(13)} {hypothesis}\n") and text.count(premise) == 1
    assert repr(cxgen.show(rows.with_columns(pl.col("label").replace_strict({name: n for n, name in enumerate(LABELS)})))) == text
    assert "  good          " in repr(cxgen.show(cxgen.sample("let-alone", 1, family="minimal_pairs")))
    with pytest.raises(CxgenError, match="no table of items"):
        cxgen.show(rows.select("id"))


@pytest.mark.parametrize("colour", COLOURS.values())
def test_labels_can_be_read_on_their_colours(colour):
    """Black on it: contrast of 4.5 at least, by the formula of WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    assert (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) / 0.05 >= 4.5


FORKING = """
import multiprocessing, cxgen
entry = cxgen.Constructicon()["reach"]
def ask(call): return CALLS[call]().height
CALLS = [lambda: entry.sample(1), lambda: entry.explain(), lambda: cxgen.sample("reach", 1), lambda: cxgen.load("nli")]
with multiprocessing.get_context("fork").Pool(1) as pool:
    print(pool.apply_async(ask, [0]).get(60))
ask(0)
with multiprocessing.get_context("fork").Pool(1) as pool:
    for call in range(4):
        try:
            pool.apply_async(ask, [call]).get(60)
        except cxgen.CxgenError as error:
            print(error.message)
print(ask(0))
"""


def test_a_fork_of_a_process_that_has_used_it_is_refused_where_it_would_hang(mini):
    done = subprocess.run([sys.executable, "-c", FORKING], cwd=mini, capture_output=True, text=True, check=True, timeout=300)
    first, *others, last = done.stdout.splitlines()
    assert (first, last) == ("3", "3")
    assert [line.startswith("this process was forked from one that has used cxgen") for line in others] == [True] * 4


def test_help_has_the_functions():
    assert {"sample", "show", "load", "score"} <= set(dir(cxgen))


def test_functions_and_methods_say_the_same(mini):
    entry = cxgen.Constructicon(mini)["reach"]
    assert cxgen.sample("reach", 3, seed=2, project=mini).equals(entry.sample(3, seed=2))
    assert cxgen.explain("reach", wug="verb", project=mini).equals(entry.explain("verb"))
    assert entry.cells()["design"].unique().sort().to_list() == ["outcome", "waiting"]
    assert cxgen.constructions(mini) == list(cxgen.Constructicon(mini))
    with pytest.raises(CxgenError, match="not a folder"):
        cxgen.constructions(mini / "nowhere")
    for none in (0, 10**10, 10**400, "3"):
        with pytest.raises(CxgenError, match="n is"):
            entry.sample(none)
    for none in (None, 1.5, "1"):
        with pytest.raises(CxgenError, match="seed is"):
            entry.sample(1, seed=none)
    assert entry.check() == []
    edit(mini / "templates/reach.yaml", '  plain: "{agent}', '  plain: "{agnt}')
    assert "E101" in {finding.code for finding in cxgen.Constructicon(mini)["reach"].check()}
    (mini / "templates/reach.yaml").rename(mini / "templates/reach.yml")
    with pytest.raises(CxgenError, match=r"call its file templates/reach\.yaml, not \.yml"):
        cxgen.explain("reach", project=mini)


@pytest.mark.parametrize(
    "call",
    [
        lambda: cxgen.sample("resultative", family="nlu"),
        lambda: cxgen.sample("resultative", wug="nuons"),
        lambda: cxgen.explain("resultative", wug="nuons"),
        lambda: cxgen.load("nli", "tset"),
    ],
)
def test_wrong_names_are_refused_with_the_nearest(call):
    with pytest.raises(UnknownNameError) as failure:
        call()
    assert "did you mean" in failure.value.hint


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cxgen.Constructicon(5), "project is of type int"),
        (lambda: cxgen.score({"id": []}), "predictions is of type dict"),
        (lambda: cxgen.score(pl.LazyFrame()), "predictions is of type LazyFrame"),
        (lambda: cxgen.evaluate(list, items=3), "items is of type int"),
        (lambda: cxgen.show([1, 2]), "no table of items: of type list"),
    ],
)
def test_what_is_of_another_type_is_refused(call, message):
    with pytest.raises(CxgenError, match=message):
        call()


def test_errors_say_where_and_what_to_do(tmp_path, mini):
    with pytest.raises(cxgen.CxgenError, match=r"test-00000-of-00001\.parquet: no such table\n  hint: run `cxgen build` first"):
        cxgen.load("minimal_pairs", "test", project=tmp_path)
    edit(mini / "templates/reach.yaml", "hypotheses: [without, with, company", "hypotheses: [witout, with, company")
    with pytest.raises(CxgenError, match=r"reach\.yaml:.*witout"):
        cxgen.explain("reach", project=mini)
