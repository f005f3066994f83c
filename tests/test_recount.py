"""A finished run is counted again: what holds in it is told, and every kind of damage is found where it is."""

from __future__ import annotations

import json
import shutil

import polars as pl
import pytest

from cxgen.build.params import Wug
from cxgen.build.pool import Here, executor
from cxgen.build.request import Request
from cxgen.errors import DataError
from cxgen.project import Project
from cxgen.stages import recount, stream

HERE = Here()


@pytest.fixture(scope="module")
def whole(mini_source, tmp_path_factory):
    """A sound run; read only."""
    out = tmp_path_factory.mktemp("whole")
    request = stream.single(Request(seed=5), "nli", 1_200)
    wanted = stream.Wanted(Project(mini_source), ["reach"], "nli", request, out, 130, Wug(("verb", "content"), 0.5))
    stream.run(stream.prepare(wanted, HERE), HERE)
    return out


@pytest.fixture
def run(whole, tmp_path):
    """A copy to damage."""
    return shutil.copytree(whole, tmp_path / "run")


def shards(folder, split, *, pseudowords=False):
    """(number, file) of the shards of a split, those of one source after another."""
    listed = enumerate(stream.Manifest.read(folder).shards)
    return [(number, folder / each.file) for number, each in listed if each.pseudowords == pseudowords and each.file.split("/")[1] == split]


def rewrite(folder, number, file, rows):
    """Put ``rows`` in place of a shard's, as if its record were of them."""
    rows.write_parquet(file)
    record = folder / f"cxgen/shards/{number:06d}.json"
    record.write_text(json.dumps(json.loads(record.read_text("utf-8")) | {"bytes": file.stat().st_size, "rows": rows.height}), "utf-8")


def edit(folder, split, change, *, pseudowords=False):
    """Change the rows of a split's first shard; its file."""
    number, file = shards(folder, split, pseudowords=pseudowords)[0]
    rewrite(folder, number, file, change(pl.read_parquet(file)))
    return file


def first(column, value):
    """Give the first row another ``value`` of ``column``."""
    at = pl.int_range(pl.len()) == 0
    return lambda rows: rows.with_columns(pl.when(at).then(value).otherwise(column).alias(column))


def test_a_sound_run_is_counted_whole(whole):
    found = recount.audit(whole, HERE)
    rows, wugs = pl.read_parquet(whole / "data/*/*.parquet"), pl.read_parquet(whole / "wug/*/*.parquet")
    assert (found["rows"], found["sets"]) == (rows.height, rows["contrast_set"].n_unique())
    assert set(found["violations"].values()) == {0}
    assert {recount.SHARED, recount.TWICE, "items without a source", "held-out wordings in train or dev"} <= found["violations"].keys()
    for part in found["parts"]:
        mine = rows.filter(split=part["split"])
        assert (part["rows"], part["verbs"]) == (mine.height, mine["verb"].n_unique())
        assert part["rows with pseudowords"] == wugs.filter(split=part["split"]).height > 0
    with executor(2) as pool:
        assert recount.audit(whole, pool) == found


@pytest.mark.parametrize(
    ("split", "change", "pseudowords", "told"),
    [
        ("dev", first("label", (pl.col("label") + 1) % 3), False, "premises without one hypothesis per label: 1"),
        ("test", first("split", pl.lit("dev")), False, "rows of another split: 1"),
        ("train", first("construction", pl.lit("other")), False, "rows of another construction: 1"),
        ("train", first("id", pl.col("id").last()), False, "repeated ids: 1"),
        ("test", first("source_id", pl.lit("0" * 16)), True, "items without a source: 1"),
        ("dev", first("label", (pl.col("label") + 1) % 3), True, "hypothesis x split with unequal labels: 1"),
    ],
)
def test_a_fault_within_a_shard_is_told_with_its_file(run, split, change, pseudowords, told):
    file = edit(run, split, change, pseudowords=pseudowords)
    with pytest.raises(DataError, match=told) as failed:
        recount.audit(run, HERE)
    assert failed.value.file == file
    assert "--resume" in failed.value.hint


def test_a_verb_in_two_splits_is_found(run):
    taken = pl.read_parquet(shards(run, "train")[0][1])["verb"][0]
    edit(run, "test", lambda rows: rows.with_columns(verb=pl.lit(taken)))
    with pytest.raises(DataError, match=f"{recount.SHARED}: 1"):
        recount.audit(run, HERE)


def test_a_premise_in_two_shards_is_found(run):
    """Also by processes that do not see the other shard."""
    (_, one), (number, other) = shards(run, "train")[:2]
    rows = pl.read_parquet(one)
    rewrite(run, number, other, rows.with_columns(contrast_set=pl.col("contrast_set").str.reverse()))
    premises = rows["premise"].n_unique()
    with executor(2) as pool, pytest.raises(DataError, match=f"{recount.TWICE}: {premises}"):
        recount.audit(run, pool)


def test_what_is_held_out_elsewhere_is_found(run):
    """One wording of train is said to be held out in test."""
    rule, wording = pl.read_parquet(shards(run, "train")[0][1]).select("rule", "wording").row(0)
    said = pl.col("rule") == rule

    def held(rows):
        return rows.with_columns(
            wording=pl.when(said).then(pl.lit(wording)).otherwise("wording"), wording_held_out=said | pl.col("wording_held_out")
        )

    number, file = next(each for each in shards(run, "test") if pl.read_parquet(each[1]).filter(said).height)
    rewrite(run, number, file, held(pl.read_parquet(file)))
    with pytest.raises(DataError, match="held-out wordings in train or dev"):
        recount.audit(run, HERE)


def test_only_a_whole_run_is_counted(run, tmp_path, mini, cxgen):
    with pytest.raises(DataError, match="no run is there"):
        recount.audit(tmp_path, HERE)
    stray = run / "data/train/more.parquet"
    shutil.copy(shards(run, "train")[0][1], stray)
    with pytest.raises(DataError, match="no shard of the run"):
        recount.audit(run, HERE)
    stray.unlink()
    (run / "cxgen/shards/000001.json").unlink()
    done = cxgen("audit", str(run), cwd=mini)
    assert done.returncode == 2 and "shards are there" in done.stderr and "--resume" in done.stderr


def test_the_command_gives_a_row_per_construction_and_split(whole, mini, cxgen):
    done = cxgen("audit", str(whole), "--workers", "1", "--format", "json", cwd=mini)
    assert done.returncode == 0, done.stderr
    assert [row["split"] for row in json.loads(done.stdout)] == ["train", "dev", "test"]
    assert "rules hold" in done.stderr


def test_a_damaged_shard_is_told_with_its_file(run):
    _, file = shards(run, "dev")[0]
    file.write_bytes(b"x" * file.stat().st_size)
    with pytest.raises(DataError, match="not a readable parquet file") as failed:
        recount.audit(run, HERE)
    assert failed.value.file == file
