"""`cxgen diff`: what changed between two datasets."""

import json
from collections import Counter

import polars as pl
import pytest

from cxgen.build.preview import sample_items

FILE = "nli/test-00000-of-00001.parquet"


@pytest.fixture
def two(tmp_path, constructions):
    """Some items, and a copy with one gone, one new, two relabelled and one in another split."""
    table = sample_items(constructions["conative"], 1, 8, "nli").select("id", "construction", "label", "premise", "hypothesis")
    for name in ("old", "new"):
        (tmp_path / name / "nli").mkdir(parents=True)
    table.write_parquet(tmp_path / "old" / FILE)
    new = table[1:]
    turned = pl.when(pl.int_range(pl.len()).is_in([3, 4])).then((pl.col("label") + 1) % 3).otherwise("label")
    new = pl.concat([new.with_columns(turned.cast(pl.Int8).alias("label")), new[:1].with_columns(id=pl.lit("0123456789abcdef"))])
    new[:1].write_parquet(tmp_path / "new/nli/validation-00000-of-00001.parquet")
    new[1:].write_parquet(tmp_path / "new" / FILE)
    return tmp_path / "old", tmp_path / "new", table


def test_every_kind_of_change_is_found_by_id_and_counted_where_it_is(cxgen, two):
    old, new, table = two
    result = cxgen("diff", old, new, "--items", "--format", "json")
    changes = json.loads(result.stdout)
    assert Counter(row["change"] for row in changes) == {"added": 1, "removed": 1, "relabelled": 2, "moved": 1}
    gone = next(row for row in changes if row["change"] == "removed")
    assert (gone["id"], gone["new_label"]) == (table["id"][0], None)
    assert f"{table.height - 4} the same" in result.stderr
    rows, every = (json.loads(cxgen("diff", old, new, *options, "--format", "json").stdout) for options in ([], ["--all"]))
    assert [row for row in every if row["difference"]] == [row for row in rows if row["difference"]]
    sides = {(row["config"], row[f"{side}_split"], row["construction"], row[f"{side}_label"]) for row in changes for side in ("old", "new")}
    assert {tuple(row.values())[:4] for row in rows} == {side for side in sides if None not in side}


def test_nothing_has_changed_between_a_dataset_and_itself(cxgen, two):
    for form, told in (("json", "[]\n"), ("csv", "config,split,construction,label,old,new,difference\n")):
        result = cxgen("diff", two[0], two[0], "--format", form)
        assert (result.stdout, f"{two[2].height} the same" in result.stderr) == (told, True)


def test_a_folder_without_a_dataset_is_named(cxgen, tmp_path):
    (tmp_path / "file").touch()
    for name, said in ((".", "no dataset in it"), ("nowhere", "no such folder"), ("file", "not a folder")):
        result = cxgen("diff", tmp_path / name, tmp_path)
        assert result.returncode == 2
        assert said in result.stderr


def test_without_a_connection_the_hint_is_about_the_connection(cli, tmp_path):
    env = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    result = cli("diff", "me/constructions@v1", str(tmp_path), **env)
    assert result.returncode == 2
    assert "the Hub cannot be reached\n  hint: check the connection" in result.stderr
