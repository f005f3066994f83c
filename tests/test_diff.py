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
    table = sample_items(constructions["conative"], 1, 8, "nli").select(
        "id", "contrast_set", "construction", "label", "premise", "hypothesis"
    )
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
    assert f"{table.height - 4} the same; 2 labels differ" in result.stderr
    (row,), counted = (json.loads(cxgen("diff", old, new, *options, "--format", "json").stdout) for options in ([], ["--all"]))
    changed = {row["id"] for row in changes} & set(table["id"])
    sets = table.filter(pl.col("id").is_in(changed))["contrast_set"].n_unique()
    assert row == {"config": "nli", "items_old": table.height, "items_new": table.height} | {
        "sets_added": 0,
        "sets_removed": 0,
        "sets_changed": sets,
        "labels_differ": 2,
    }
    for item in (row for row in changes if row["change"] == "relabelled"):
        assert f"nli: {item['premise']} / {item['hypothesis']}: {item['old_label']}, now {item['new_label']}" in result.stderr
    for split, numbers in (("test", (table.height, table.height - 1, -1)), ("validation", (0, 1, 1))):
        assert tuple(sum(row[what] for row in counted if row["split"] == split) for what in ("old", "new", "difference")) == numbers


def test_pairs_are_counted_and_a_continuation_that_was_good_is_listed(cxgen, tmp_path, constructions):
    table = sample_items(constructions["conative"], 1, 8, "minimal_pairs")
    names = ["id", "contrast_set", "construction", "context", "diagnostic_good", "diagnostic_bad"]
    turned = table.rename({"diagnostic_good": "diagnostic_bad", "diagnostic_bad": "diagnostic_good"}).with_columns(
        id=pl.col("id").str.reverse()
    )
    for name, rows in (("old", table), ("new", pl.concat([table[2:].select(names), turned[:1].select(names)]))):
        (tmp_path / name / "minimal_pairs").mkdir(parents=True)
        rows.select(names).write_parquet(tmp_path / name / FILE.replace("nli", "minimal_pairs"))
    result = cxgen("diff", tmp_path / "old", tmp_path / "new")
    assert "1 added, 2 removed" in result.stderr
    assert "2 labels differ" in result.stderr
    first = table.row(0, named=True)
    assert f"minimal_pairs: {first['context']} / {first['diagnostic_good']}: good, now bad" in result.stderr
    assert len(result.stdout.splitlines()) == 2


@pytest.mark.parametrize("column", ["premise", "hypothesis"])
def test_another_text_under_the_same_id_is_a_change(cxgen, two, column):
    old, new, table = two
    table.with_columns(pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("Another one.")).otherwise(column).alias(column)).write_parquet(
        new / FILE
    )
    (new / "nli/validation-00000-of-00001.parquet").unlink()
    result = cxgen("diff", old, new, "--items", "--format", "json")
    assert [(row["change"], row["id"], row[column]) for row in json.loads(result.stdout)] == [("reworded", table["id"][0], "Another one.")]
    assert f"1 reworded, {table.height - 1} the same; 0 labels differ" in result.stderr
    assert json.loads(cxgen("diff", old, new, "--format", "json").stdout)[0]["sets_changed"] == 1


def test_labels_of_64_bits_as_the_hub_has_them_are_no_difference(cxgen, two):
    old, new, table = two
    table.with_columns(pl.col("label").cast(pl.Int64)).write_parquet(old / FILE)
    assert "2 labels differ" in cxgen("diff", old, new).stderr


def test_nothing_has_changed_between_a_dataset_and_itself(cxgen, two):
    for options, told in ((("--items", "--format", "json"), "[]\n"), (("--format", "csv"), "nli,{0},{0},0,0,0,0")):
        result = cxgen("diff", two[0], two[0], *options)
        assert (told.format(two[2].height) in result.stdout, f"{two[2].height} the same; 0 labels differ" in result.stderr) == (True, True)


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
