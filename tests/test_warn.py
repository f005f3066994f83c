"""Warnings about datasets that are sound and yet not what was meant."""

from __future__ import annotations

import math

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from cxgen.build.warn import FEW, warnings

SPLITS = {"train": 14, "dev": 3, "test": 3}


def items(verbs=20, oversample=1.0, lookalike=""):
    """Contrast sets of 20, three rows for each of two premises; with a look-alike the second premise is its."""
    rows = []
    for split, count in SPLITS.items():
        for n in range(math.ceil(count * oversample)):
            for kind in range(2):
                name, of = (lookalike, "target") if lookalike and kind else ("target", None)
                row = {"construction": name, "contrast_of": of, "split": split, "contrast_set": f"{split}{n}"}
                config = "distinction" if lookalike else "nli"
                rows += [{**row, "config": config, "design": "d", "verb": f"{split}{n % verbs}"}] * 3
    return pl.DataFrame(rows, schema_overrides={"contrast_of": pl.String})


def said(table, wanted, oversample=1.0):
    return [line for line in warnings(table, wanted.__getitem__, oversample) if "asked for" in line]


def test_few_verbs_are_told_with_their_names():
    (dev, test) = warnings(items(verbs=1), lambda _: 10**6)
    assert dev.startswith("target: a single dev verb (dev0)")
    assert test.startswith("target: a single test verb (test0)")
    assert [line.split(":")[1] for line in warnings(items(verbs=2), lambda _: 10**6)] == [
        " only 2 dev verbs (dev0, dev1)",
        " only 2 test verbs (test0, test1)",
    ]
    many = items().with_columns(verb=pl.int_range(pl.len()).cast(pl.String))
    assert FEW <= 18
    assert list(warnings(many, lambda _: 10**6)) == []


def test_sizes_that_were_not_asked_for_are_told():
    assert said(items(), {"nli": 120}) == []
    assert said(items(), {"nli": 81}) == []
    (line,) = said(items(), {"nli": 30})
    assert line.startswith("target: 120 items in nli, though 30 were asked for")


def test_of_a_look_alike_s_sets_its_own_items_are_counted():
    table = items(lookalike="wait")
    assert said(table, {"distinction": 60}) == []
    (line,) = said(table, {"distinction": 20})
    assert line.startswith("wait: 60 items in distinction")


@given(st.integers(100, 300))
def test_candidates_are_counted_as_what_will_be_kept(percent):
    oversample = percent / 100
    (line,) = said(items(oversample=oversample), {"nli": 30}, oversample)
    assert line.startswith("target: 120 items")
