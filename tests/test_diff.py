"""`cxgen diff`: what changed between two datasets."""

from __future__ import annotations

import json

import polars as pl
import pytest

from cxgen.generate import sample_items

FILE = "nli/test-00000-of-00001.parquet"


@pytest.fixture
def two(tmp_path, constructions, lexicon):
    """Some items, and a copy with one gone, one new, two relabelled and one in another split."""
    table = sample_items(constructions["conative"], lexicon, 1, 8).select("id", "construction", "label", "premise", "hypothesis")
    for name in ("old", "new"):
        (tmp_path / name / "nli").mkdir(parents=True)
    table.write_parquet(tmp_path / "old" / FILE)
    new = table[1:]
    turned = pl.when(pl.int_range(pl.len()).is_in([3, 4])).then((pl.col("label") + 1) % 3).otherwise("label")
    new = pl.concat([new.with_columns(turned.cast(pl.Int8).alias("label")), new[:1].with_columns(id=pl.lit("0123456789abcdef"))])
    new[:1].write_parquet(tmp_path / "new/nli/dev-00000-of-00001.parquet")
    new[1:].write_parquet(tmp_path / "new" / FILE)
    return tmp_path / "old", tmp_path / "new", table


def test_every_kind_of_change_is_found_by_id(cli, two):
    old, new, table = two
    result = cli("diff", str(old), str(new), "--items", "--format", "json")
    assert result.returncode == 0, result.stderr
    changes = json.loads(result.stdout)
    assert {kind: sum(row["change"] == kind for row in changes) for kind in ("added", "removed", "relabelled", "moved")} == {
        "added": 1,
        "removed": 1,
        "relabelled": 2,
        "moved": 1,
    }
    gone = next(row for row in changes if row["change"] == "removed")
    assert (gone["id"], gone["new_label"]) == (table["id"][0], None)
    assert f"{table.height - 4} the same" in result.stderr


def test_counts_are_given_per_construction_and_label(cli, two):
    old, new, table = two
    rows = json.loads(cli("diff", str(old), str(new), "--format", "json").stdout)
    assert sum(row["old"] for row in rows) == sum(row["new"] for row in rows) == table.height
    assert sum(row["new"] for row in rows if row["split"] == "dev") == 1
    assert all(row["difference"] == row["new"] - row["old"] for row in rows)


def test_a_dataset_is_the_same_as_itself(cli, two):
    result = cli("diff", str(two[0]), str(two[0]), "--items", "--format", "json")
    assert json.loads(result.stdout) == []


def test_a_folder_without_a_dataset_is_named(cli, tmp_path):
    result = cli("diff", str(tmp_path), str(tmp_path))
    assert result.returncode == 2
    assert "no dataset in it" in result.stderr
