"""Runs of any size: shards are the same whoever makes them and when, nothing is said twice, and no run goes on as another one."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import signal
import subprocess
import time

import numpy as np
import polars as pl
import pytest

from cxgen.build import wug
from cxgen.build.params import Wug
from cxgen.build.pool import Here, executor
from cxgen.build.request import Request
from cxgen.build.samplers import items_of, samplers
from cxgen.build.survey import survey
from cxgen.build.wug import paired, substituted
from cxgen.errors import DataError
from cxgen.families import columns_of
from cxgen.project import Project
from cxgen.sampling import Wugs, letters
from cxgen.schema import polars_schema
from cxgen.stages import stream
from tests.conftest import COMMAND

REQUEST = stream.single(Request(seed=5), "nli", 900)
ROWS = 130  # of a shard
WUG = Wug(("verb", "content"), 0.3)
HERE = Here()


def begun(folder, out, request=REQUEST, resume=False, pool=HERE, wug=WUG):
    wanted = stream.Wanted(Project(folder), ["reach"], "nli", request, out, ROWS, wug)
    return stream.earlier(wanted, resume=resume) or stream.prepare(wanted, pool)


def files(out):
    return {path.relative_to(out): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def whole(mini_source, tmp_path_factory):
    """A run that nothing disturbed; read only."""
    out = tmp_path_factory.mktemp("whole")
    summary = stream.run(begun(mini_source, out), Here())
    return out, summary


def test_a_run_has_the_sets_that_are_wanted_and_no_premise_in_two(whole, reach):
    out, summary = whole
    rows = pl.read_parquet(out / "data/*/*.parquet")
    assert rows.schema == polars_schema(columns_of("nli"))
    assert rows.height == summary["rows"] == sum(entry["wanted"] * entry["rows of a set"] for entry in summary["sources"])
    assert rows.select("premise", "contrast_set").unique().height == rows["premise"].n_unique()
    assert summary["shards"] == summary["of"] > 6
    assert max(pl.scan_parquet(path).select(pl.len()).collect().item() for path in out.rglob("*.parquet")) <= ROWS
    made = {(each.design.name, each.split): each for each in samplers(reach, REQUEST)}
    for entry in summary["sources"]:
        source = made[entry["design"], entry["split"]]
        mine = rows.filter(design=entry["design"], split=entry["split"])
        drawn = items_of(source.draw(np.arange(entry["drawn"])))
        assert set(mine["id"]) <= set(drawn["id"])
        assert mine["contrast_set"].n_unique() == entry["kept"] == entry["wanted"]


def test_the_first_sets_of_every_source_are_said_with_pseudowords(whole, mini_source, reach, tmp_path):
    out, summary = whole
    rows, real = pl.read_parquet(out / "wug/*/*.parquet"), pl.read_parquet(out / "data/*/*.parquet")
    assert rows.schema == polars_schema(columns_of("nli_wug"))
    assert rows.height == summary["pseudowords"]["rows"] > 0
    assert summary["pseudowords"]["sets"] == sum(math.ceil(entry["kept"] * WUG.share) for entry in summary["sources"])
    mine = real.filter(pl.col("id").is_in(rows["source_id"].implode()))
    assert mine["contrast_set"].n_unique() == summary["pseudowords"]["sets"]
    assert not any(wug.violations(rows, mine).values())
    wugs = Wugs.load(Project(mini_source).snapshot)
    manifest = stream.Manifest.read(out)
    for shard in (each for each in manifest.shards if each.pseudowords):
        source = samplers(reach, REQUEST)[shard.source]
        sets = items_of(source.draw(manifest.kept(out, shard)))
        expected = paired(substituted(source, manifest.kept(out, shard), wugs, WUG.modes), sets.with_columns(acceptability=pl.lit("")))
        assert pl.read_parquet(out / shard.file)["id"].to_list() == expected["id"].to_list()
    plain = begun(mini_source, tmp_path, wug=None)
    assert "pseudowords" not in stream.run(plain, Here())
    assert {name: data for name, data in files(tmp_path).items() if name.parts[0] != "cxgen"} == {
        name: data for name, data in files(out).items() if name.parts[0] == "data"
    }


@pytest.mark.slow
def test_what_is_lacking_or_half_written_is_made_again_byte_for_byte(whole, mini_source, tmp_path):
    out = tmp_path / "out"
    plan = begun(mini_source, out)
    stream.run(plan, Here(), [1, 2, 3])
    first, second, third = (out / plan.manifest.shards[number].file for number in (1, 2, 3))
    first.write_bytes(first.read_bytes()[:-1])
    second.unlink()
    (third.parent / f".{third.name}.abc").write_text("half")
    before = third.stat().st_mtime_ns
    stream.run(begun(mini_source, out, resume=True), Here())
    assert files(out) == files(whole[0])
    assert third.stat().st_mtime_ns == before


def test_a_shard_alone_is_that_of_the_run(whole, mini, cxgen):
    done = cxgen("generate", "reach", "--n", "900", "--out", "alone", "--shard-rows", str(ROWS), "--shard", "2", cwd=mini)
    assert done.returncode == 0, done.stderr
    alone = list((mini / "alone").rglob("*.parquet"))
    assert len(alone) == 1
    again = cxgen("generate", "reach", "--n", "900", "--out", "alone", "--shard-rows", str(ROWS), "--shard", "999", cwd=mini)
    assert again.returncode == 2 and "there is no shard 999" in again.stderr


def test_a_run_is_not_continued_as_another(mini_source, tmp_path):
    begun(mini_source, tmp_path)
    with pytest.raises(DataError, match="this run is there already"):
        begun(mini_source, tmp_path)
    with pytest.raises(DataError, match="differs in seed"):
        begun(mini_source, tmp_path, dataclasses.replace(REQUEST, seed=6), resume=True)
    manifest = tmp_path / "cxgen/manifest.json"
    text = json.loads(manifest.read_text("utf-8"))
    (tmp_path / "cxgen/numbers.npz").write_bytes(b"others")
    with pytest.raises(DataError, match="not the file that the run has written"):
        stream.run(begun(mini_source, tmp_path, resume=True), Here())
    manifest.write_text(json.dumps({"run": text["run"]}), "utf-8")
    with pytest.raises(DataError, match="not the record of a run"):
        begun(mini_source, tmp_path, resume=True)


def test_options_of_streamed_runs_need_a_folder(mini, cxgen):
    done = cxgen("generate", "--n", "10", cwd=mini)
    assert (done.returncode, done.stdout) == (2, "") and "--out" in done.stderr
    wrong = cxgen("generate", "reach", "--out", "there", "--config", "nil", cwd=mini)
    assert wrong.returncode == 2 and "did you mean" in wrong.stderr
    none = cxgen("generate", "reach", "--out", "there", "--config", "distinction", "--wug", "verb", cwd=mini)
    assert none.returncode == 2 and "not said with pseudowords" in none.stderr and "nli, minimal_pairs" in none.stderr


def test_the_order_in_which_modes_are_named_makes_no_other_run(mini, cxgen):
    asked = ("generate", "reach", "--n", "60", "--out", "both")
    done = cxgen(*asked, "--wug", "content", "--wug", "verb", cwd=mini)
    assert done.returncode == 0, done.stderr
    assert "rows with pseudowords: both/wug" in done.stdout
    again = cxgen(*asked, "--wug", "verb", "--wug", "content", "--resume", cwd=mini)
    assert again.returncode == 0, again.stderr
    other = cxgen(*asked, "--wug", "verb", "--resume", cwd=mini)
    assert other.returncode == 2 and "differs in pseudowords" in other.stderr


def test_premises_with_the_same_letters_have_the_same_hash_and_no_others(reach):
    for source in samplers(reach, Request(seed=3)):
        block = source.draw(np.arange(400))
        both = pl.DataFrame({"text": block.render()["premise"], "hash": letters(block).T.reshape(-1)})
        assert both["text"].n_unique() == both["hash"].n_unique() == both.n_unique()


def test_a_survey_keeps_what_is_said_for_the_first_time(reach):
    made = [each for each in samplers(reach, REQUEST) if each.split != "train"]
    seen, expected = set(), []
    for source, found in zip(made, survey(made, [150] * len(made)), strict=True):
        premises = source.draw(np.arange(max(found.drawn, 1))).render()
        fresh = []
        for number, texts in premises.group_by("set_number", maintain_order=True).agg("premise").sort("set_number").iter_rows():
            if seen.isdisjoint(texts):
                fresh.append(number)
            seen.update(texts)
        expected.append(fresh[:150])
        if len(found.numbers) == 150:  # what was looked at beyond the last one is seen, too
            return assert_first(expected, found, source, fresh)
        assert found.numbers.tolist() == fresh
    return None


def assert_first(expected, found, source, fresh):
    assert found.numbers.tolist() == expected[-1] == fresh
    assert found.drawn == found.numbers[-1] + 1


def test_a_source_that_runs_dry_gives_what_it_has(reach):
    source = next(each for each in samplers(reach, REQUEST) if each.split == "dev")
    found = survey([source], [10_000_000])[0]
    assert 0 < len(found.numbers) < found.drawn < 10_000_000


def test_a_plan_does_not_depend_on_who_draws_first(mini_source, tmp_path):
    class Backwards:
        def map(self, function, jobs):
            return map(function, reversed(list(jobs)))

    request = stream.single(REQUEST, "nli", 300_000)  # some sources run dry, in several rounds
    plans = [begun(mini_source, tmp_path / name, request, pool=pool) for name, pool in (("here", HERE), ("backwards", Backwards()))]
    assert any(entry["kept"] < entry["wanted"] for entry in plans[0].manifest.sources)
    assert files(tmp_path / "here") == files(tmp_path / "backwards")


@pytest.mark.slow
def test_killed_and_continued_by_two_processes_it_is_the_same(whole, mini_source, mini, tmp_path):
    """The run is killed without warning when its first shards are there."""
    out = tmp_path / "out"
    asked = ("generate", "reach", "--n", "20000", "--wug", "verb", "--shard-rows", str(ROWS), "--out")
    command = [*COMMAND, *asked, str(out), "--workers", "2"]
    running = subprocess.Popen(command, cwd=mini, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list(out.glob("cxgen/shards/*.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    there = len(list(out.glob("cxgen/shards/*.json")))
    subprocess.run([*command, "--resume"], cwd=mini, check=True, capture_output=True)
    total = len(list(out.glob("cxgen/shards/*.json")))
    assert 0 < there < total
    undisturbed = tmp_path / "undisturbed"
    subprocess.run([*COMMAND, *asked, str(undisturbed), "--workers", "1"], cwd=mini, check=True, capture_output=True)
    assert files(out) == files(undisturbed)


@pytest.mark.slow
def test_two_processes_write_what_one_writes(whole, mini_source, tmp_path):
    with executor(2) as pool:
        stream.run(begun(mini_source, tmp_path, pool=pool), pool)
    assert files(tmp_path) == files(whole[0])
