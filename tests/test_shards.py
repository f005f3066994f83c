"""Runs of any size: shards are the same whoever makes them and when, no premise occurs twice, and what is wrong in a run is found."""

import dataclasses
import hashlib
import json
import math
import os
import shutil
import signal
import subprocess
import time

import numpy as np
import polars as pl
import pytest

from cxgen.build import audit, wug
from cxgen.build.params import Request, Wug
from cxgen.build.pool import HERE, Executor, cluster, executor
from cxgen.build.samplers import Run, items_of, samplers
from cxgen.build.shards import Wanted, earlier, make_plan, make_shards, read_plan, sets_of, single
from cxgen.errors import DataError
from cxgen.families import columns_of
from cxgen.files import locked
from cxgen.project import Project
from cxgen.sampling import Wugs
from cxgen.schema import polars_schema
from cxgen.vocabulary import SPLITS
from tests.conftest import COMMAND
from tests.conftest import edit as edit_text

REQUEST = single(Request(seed=5), "nli", 480)
ROWS = 130  # of a shard
WUG = Wug(("verb", "content"), 0.3)
OTHERS = "files with other rows than their plan gives"


def wanted(folder, out, request=REQUEST, wug=WUG):
    return Wanted(Run(Project(folder), request), ("reach",), "nli", out, ROWS, wug)


def made(asked, pool=HERE, only=()):
    """Begin the run, or go on with it."""
    return make_shards(asked, earlier(asked, resume=True) or make_plan(asked, pool), pool, only)


def files(out):
    return {path.relative_to(out): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def whole(mini_source, tmp_path_factory):
    """A run that nothing disturbed; read only."""
    out = tmp_path_factory.mktemp("whole")
    return out, made(wanted(mini_source, out))


# what is made


def test_a_run_has_the_sets_that_are_wanted_and_no_premise_in_two(whole, reach):
    out, summary = whole
    rows = pl.read_parquet(out / "data/*/*.parquet")
    assert rows.schema == polars_schema(columns_of("nli"))
    assert rows.height == summary["rows"] == sum(entry["wanted"] * entry["rows of a set"] for entry in summary["sources"])
    assert rows.select("premise", "contrast_set").unique().height == rows["premise"].n_unique()
    assert summary["shards"] == summary["of"] > 6
    assert max(pl.scan_parquet(path).select(pl.len()).collect().item() for path in out.glob("data/*/*.parquet")) <= ROWS
    by_place = {(each.design.name, each.split): each for each in samplers(reach, REQUEST)}
    for entry in summary["sources"]:
        own = rows.filter(design=entry["design"], split=entry["split"])
        drawn = items_of(by_place[entry["design"], entry["split"]].draw(np.arange(entry["drawn"])))
        assert set(own["id"]) <= set(drawn["id"])
        assert own["contrast_set"].n_unique() == entry["kept"] == entry["wanted"]


def test_a_set_is_kept_if_its_premises_are_all_new(mini_source, reach, tmp_path):
    """Whether what came before was kept, or not."""
    asked = wanted(mini_source, tmp_path, single(REQUEST, "nli", 9_000), wug=None)
    plan, seen, fresh = make_plan(asked, HERE), set(), []
    draws = samplers(reach, asked.run.request)[0].draw(np.arange(plan["sources"][0]["drawn"]))
    for at, premises in enumerate(draws.texts.to_numpy().reshape(-1, len(draws)).T.tolist()):
        fresh += [at] if seen.isdisjoint(premises) and len(set(premises)) == len(premises) else []
        seen.update(premises)
    kept = [sets_of(tmp_path, at) for at, shard in enumerate(plan["shards"]) if shard["sampler"] == 0]
    assert np.concatenate(kept).tolist() == fresh[: plan["sources"][0]["kept"]]
    assert plan["sources"][0]["kept"] < len(draws)


def test_the_first_sets_are_made_with_pseudowords_as_a_build_makes_them(whole, mini_source, reach):
    out, summary = whole
    rows, real = pl.read_parquet(out / "wug/*/*.parquet"), pl.read_parquet(out / "data/*/*.parquet")
    assert rows.schema == polars_schema(columns_of("nli_wug"))
    assert rows.height == summary["pseudowords"]["rows"] > 0
    assert summary["pseudowords"]["sets"] == sum(math.ceil(entry["kept"] * WUG.share) for entry in summary["sources"])
    assert not any(wug.violations(rows, real.filter(pl.col("id").is_in(rows["source_id"].implode()))).values())
    wugs = Wugs.load(Project(mini_source).snapshot)
    for number, shard in enumerate(read_plan(out)["shards"]):
        if shard["pseudowords"]:
            sampler, numbers = samplers(reach, REQUEST)[shard["sampler"]], sets_of(out, number)
            expected = wug.paired(wug.substituted(sampler, numbers, wugs, WUG.modes), items_of(sampler.draw(numbers)))
            assert pl.read_parquet(out / shard["file"])["id"].to_list() == expected["id"].to_list()


def test_a_source_that_runs_dry_gives_what_it_has(mini, tmp_path):
    edit_text(mini / "lexicons/scenes/reach.tsv", "@people | @names\t@reach-verbs\t@things", "@names\t@reach-verbs\tball")
    edit_text(mini / "lexicons/scenes/reach.tsv", "@people\t@reach-verbs\t@animals", "@names\t@reach-verbs\tball")
    plan = make_plan(wanted(mini, tmp_path / "out", single(REQUEST, "nli", 40_000), wug=None), HERE)
    assert any(0 < entry["kept"] < entry["wanted"] for entry in plan["sources"])


# whoever makes it, and when


def test_what_is_lacking_damaged_or_half_written_is_made_again_byte_for_byte(whole, mini_source, tmp_path):
    asked = wanted(mini_source, tmp_path / "out")
    made(asked, only=[1, 2, 3, 4])
    first, second, third, fourth = (asked.folder / read_plan(asked.folder)["shards"][number]["file"] for number in (1, 2, 3, 4))
    first.write_bytes(first.read_bytes()[:-1])
    second.unlink()
    (third.parent / f".{third.name}.0123abcd").write_text("half")
    data = bytearray(fourth.read_bytes())
    data[len(data) // 2] ^= 1
    fourth.write_bytes(data)
    before = third.stat().st_mtime_ns
    made(asked)
    assert files(asked.folder) == files(whole[0])
    assert third.stat().st_mtime_ns == before


@pytest.mark.slow
def test_killed_and_continued_by_two_processes_it_is_the_same(mini, tmp_path):
    """The run is killed without warning when its first shards are there."""
    out, undisturbed = tmp_path / "out", tmp_path / "undisturbed"
    asked = ("generate", "reach", "--n", "8000", "--wug", "verb", "--shard-rows", str(ROWS), "--out")
    command = [*COMMAND, *asked, str(out), "--workers", "2"]
    running = subprocess.Popen(command, cwd=mini, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list(out.glob("cxgen/shards/*.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    there = len(list(out.glob("cxgen/shards/*.json")))
    subprocess.run([*command, "--resume"], cwd=mini, check=True, capture_output=True)
    assert 0 < there < len(list(out.glob("cxgen/shards/*.json")))
    subprocess.run([*COMMAND, *asked, str(undisturbed), "--workers", "1"], cwd=mini, check=True, capture_output=True)
    assert files(out) == files(undisturbed)


def test_a_run_is_not_continued_as_another(mini_source, tmp_path):
    asked = wanted(mini_source, tmp_path)
    make_plan(asked, HERE)
    with pytest.raises(DataError, match="this run is there already"):
        earlier(asked, resume=False)
    divided = {"reach": {"grab": "test"}}  # as the project's table divides its verbs
    for changes, fault in (({"seed": 6}, "seed"), ({"splits": divided}, "verbs"), ({"judged": True}, "judged")):
        with pytest.raises(DataError, match=f"differs in {fault}"):
            earlier(wanted(mini_source, tmp_path, dataclasses.replace(REQUEST, **changes)), resume=True)
    sets = tmp_path / "cxgen/sets.parquet"
    sets.unlink()
    with pytest.raises(DataError, match="not the sets of a run"):
        made(asked)
    for write in (lambda file: file.write_bytes(b"others"), pl.DataFrame({"set": [1]}).write_parquet):
        write(sets)
        for recorded in (False, True):
            if recorded:
                digest = hashlib.sha256(sets.read_bytes()).hexdigest()
                change_json(tmp_path / "cxgen/manifest.json", lambda plan, digest=digest: plan | {"sets": digest})
            with pytest.raises(DataError, match="not the sets of a run"):
                made(asked)
    (tmp_path / "cxgen/manifest.json").write_text('{"asked": {}}', "utf-8")
    with pytest.raises(DataError, match="manifest: lacks"):
        made(asked)


@pytest.mark.parametrize("name", ["data/train/reach.outcome-00000.parquet", "wug/x.parquet", "cxgen/shards/000000.json", "cxgen/x.py"])
def test_what_is_there_without_a_plan_is_left_as_it_is(mini_source, tmp_path, name):
    asked = wanted(mini_source, tmp_path)
    for begun in ("cxgen/run.lock", "cxgen/sets.parquet", "cxgen/.manifest.json.0"):  # of a run that ended while it was planned
        (tmp_path / begun).parent.mkdir(exist_ok=True)
        (tmp_path / begun).touch()
    assert earlier(asked, resume=False) is None
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("mine")
    for resume in (False, True):
        with pytest.raises(DataError, match="something already, and no plan"):
            earlier(asked, resume=resume)


def test_one_run_at_a_time_writes_to_a_folder(mini, cxgen):
    asked = ("generate", "reach", "--n", "60", "--out", "there")
    with locked(mini / "there/cxgen/run", "tests"):
        done = cxgen(*asked, "--resume", cwd=mini)
        assert (done.returncode, list((mini / "there").glob("*"))) == (2, [mini / "there/cxgen"])
        assert "another run writes to this folder" in done.stderr
    assert cxgen(*asked, cwd=mini).returncode == 0
    with locked(mini / "there/cxgen/run", "tests"):
        assert cxgen(*asked, "--shard", "1", cwd=mini).returncode == 0
    (mini / "there/cxgen/run.lock").unlink()
    os.mkfifo(mini / "there/cxgen/run.lock")
    assert "run.lock: not a regular file" in cxgen(*asked, "--resume", cwd=mini).stderr


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("--n 10", ["--out"]),
        ("reach --out there --config nil", ["did you mean"]),
        ("reach --out there --config distinction --wug verb", ["have no pseudowords", "nli, minimal_pairs"]),
        ("reach --n 60 --out there --shard 999", ["there is no shard 999"]),
        ("reach --n 60 --out a\udcff", ["the folder's name is not UTF-8: 'a\\udcff'"]),
        ("reach --n 60 --out there --config cxmp", ["no design of reach is for cxmp", "cxgen explain"]),
    ],
)
def test_options_that_do_not_go_together_are_refused(mini, cxgen, words, parts):
    done = cxgen("generate", *words.split(), cwd=mini)
    assert done.returncode == 2
    assert all(part in done.stderr for part in parts)


@pytest.mark.ray
def test_a_cluster_writes_what_one_process_writes(whole, mini_source, tmp_path):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        with cluster(2) as pool:
            made(wanted(mini_source, tmp_path), pool)
            assert files(tmp_path) == files(whole[0])
            (tmp_path / read_plan(tmp_path)["shards"][0]["file"]).unlink()
            (tmp_path / "cxgen/sets.parquet").write_bytes(b"others")
            with pytest.raises(DataError, match="not the sets of a run"):
                made(wanted(mini_source, tmp_path), pool)
    finally:
        ray.shutdown()


# counted again


@pytest.fixture(scope="module")
def mini_run(mini_source):
    """Whose words and labels a run's are compared with."""
    return Run(Project(mini_source), REQUEST)


@pytest.fixture
def run(whole, tmp_path):
    """A copy to damage."""
    return shutil.copytree(whole[0], tmp_path / "run")


def shards(folder, *splits, pseudowords=False):
    """(number, file) of the shards of ``splits``."""
    listed = [(number, folder / shard["file"], shard["pseudowords"]) for number, shard in enumerate(read_plan(folder)["shards"])]
    return [(number, file) for number, file, wug in listed if wug == pseudowords and file.parent.name in splits]


def rewrite(folder, number, file, rows):
    """Put ``rows`` in place of a shard's, as if its record were of them."""
    rows.write_parquet(file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    facts = {"bytes": file.stat().st_size, "rows": rows.height, "sha256": digest, "sets": rows["contrast_set"].n_unique()}
    change_json(folder / f"cxgen/shards/{number:06d}.json", lambda record: record | facts)


def change_json(path, change):
    """Write what ``change`` makes of a JSON file."""
    path.write_text(json.dumps(change(json.loads(path.read_text("utf-8")))), "utf-8")


def edit(folder, split, change):
    """Change the rows of a split's first shard; its file."""
    number, file = shards(folder, split)[0]
    rewrite(folder, number, file, change(pl.read_parquet(file)))
    return file


def first(column, value):
    """Give the first row another ``value`` of ``column``."""
    at = pl.int_range(pl.len()) == 0
    return lambda rows: rows.with_columns(pl.when(at).then(value).otherwise(column).alias(column))


def everywhere(column, text):
    """Put another text in place of one, wherever this one stands."""
    return lambda rows: rows.with_columns(pl.col(column).replace({rows[column][0]: text}))


def test_a_sound_run_is_counted_whole(whole, mini, cxgen, mini_run):
    out, _ = whole
    result = audit.audit_run(mini_run, out, HERE)
    rows, wugs = pl.read_parquet(out / "data/*/*.parquet"), pl.read_parquet(out / "wug/*/*.parquet")
    assert (result["rows"], result["sets"]) == (rows.height, rows["contrast_set"].n_unique())
    assert set(result["violations"].values()) == {0}
    assert {audit.SHARED, audit.TWICE, "held-out wordings in train or validation"} <= result["violations"].keys()
    for part in result["parts"]:
        own = rows.filter(split=part["split"])
        assert (part["rows"], part["verbs"]) == (own.height, own["verb"].n_unique())
        assert part["rows with pseudowords"] == wugs.filter(split=part["split"]).height > 0
    done = cxgen("audit", str(out), "--workers", "1", "--format", "json", cwd=mini)
    assert json.loads(done.stdout) == result["parts"]
    assert "rules hold" in done.stderr


class Heard(Executor):
    """This process, which remembers what came of each shard."""

    def map(self, function, jobs):
        self.tallies = list(map(function, jobs))
        return iter(self.tallies)


TURNED = (pl.col("label") + 1) % 3
FAULTS = [  # what becomes of a shard's rows, whether of one with pseudowords, and the rule that is broken once
    (first("label", TURNED), False, "premises without one hypothesis per label"),
    (first("id", pl.col("id").last()), False, "repeated ids"),
    (lambda rows: rows.reverse(), False, OTHERS),
    (first("slots", None), False, OTHERS),
    (everywhere("verb", "anything"), False, OTHERS),
    (lambda rows: pl.concat([rows, rows.head(1)]), False, OTHERS),
    (first("label", TURNED), True, "hypothesis x split with unequal labels"),
    (everywhere("hypothesis", "Anything goes."), True, OTHERS),
    (lambda rows: rows.filter(pl.col("contrast_set") != rows["contrast_set"][0]), True, OTHERS),
    (lambda rows: rows.clear(), True, OTHERS),
]


@pytest.mark.parametrize("faults", [FAULTS[::2], FAULTS[1::2]])
def test_faults_within_shards_are_told_with_the_file_of_the_first(run, mini_run, faults):
    """Each in a shard of its own."""
    free = {kind: iter(shards(run, *SPLITS, pseudowords=kind)) for kind in (False, True)}
    broken, heard = {}, Heard()
    for change, pseudowords, rule in faults:
        number, file = next(free[pseudowords])
        rewrite(run, number, file, change(pl.read_parquet(file)))
        broken[number] = (file, rule)
    with pytest.raises(DataError) as failed:
        audit.audit_run(mini_run, run, heard)
    assert {tally["number"] for tally in heard.tallies if any(tally["faults"].values())} == broken.keys()
    assert [heard.tallies[number]["faults"][rule] for number, (_, rule) in broken.items()] == [1] * len(broken)
    assert all(rule in failed.value.message for _, rule in broken.values())
    assert failed.value.file == broken[min(broken)][0]
    assert "--resume" in failed.value.hint


def test_a_manifest_that_has_a_shard_twice_makes_no_shard_anew(run):
    """The second one has no sets of its own: it would be written over the first, empty."""
    path = run / "cxgen/manifest.json"
    plan = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**plan, "shards": [*plan["shards"], plan["shards"][0]]}))
    with pytest.raises(DataError, match="has a shard twice"):
        read_plan(run)


def test_a_verb_in_two_splits_is_found(run, mini_run):
    taken = pl.read_parquet(shards(run, "train")[0][1])["verb"][0]
    edit(run, "test", lambda rows: rows.with_columns(verb=pl.lit(taken)))
    with pytest.raises(DataError, match=f"{audit.SHARED}: 1"):
        audit.audit_run(mini_run, run, HERE)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_premise_in_two_shards_is_found(run, mini_run, workers):
    (_, one), (number, other) = shards(run, "train")[:2]
    rows = pl.read_parquet(one)
    rewrite(run, number, other, rows.with_columns(contrast_set=pl.col("contrast_set").str.reverse()))
    with executor(workers) as pool, pytest.raises(DataError, match=f"{audit.TWICE}: {rows['premise'].n_unique()}"):
        audit.audit_run(mini_run, run, pool)


@pytest.mark.parametrize("change", [lambda rows: rows.with_columns(pl.col("label").cast(pl.Int64)), lambda rows: rows.drop("slots")])
def test_a_shard_with_other_columns_is_told(run, mini_run, change):
    file = edit(run, "train", change)
    with pytest.raises(DataError, match=r"label is Int64|lacks the columns slots") as failed:
        audit.audit_run(mini_run, run, HERE)
    assert failed.value.file == file


def test_what_is_held_out_elsewhere_is_found(run, mini_run):
    """One wording of train is marked as held out in test."""
    rule, wording = pl.read_parquet(shards(run, "train")[0][1]).select("rule", "wording").row(0)
    same = pl.col("rule") == rule
    number, file = next(each for each in shards(run, "test") if pl.read_parquet(each[1]).filter(same).height)
    words = pl.when(same).then(pl.lit(wording)).otherwise("wording")
    rewrite(run, number, file, pl.read_parquet(file).with_columns(wording=words, wording_held_out=same | pl.col("wording_held_out")))
    with pytest.raises(DataError, match="held-out wordings in train or validation"):
        audit.audit_run(mini_run, run, HERE)


def test_a_set_that_is_left_out_evenly_and_bytes_that_nobody_recorded_are_found(run, mini_run):
    edit(run, "train", lambda rows: rows.filter(pl.col("contrast_set") != rows["contrast_set"][0]))
    with pytest.raises(DataError, match=OTHERS):
        audit.audit_run(mini_run, run, HERE)
    change_json(run / "cxgen/shards/000002.json", lambda record: record | {"sha256": "0" * 64})
    change_json(run / "cxgen/shards/000003.json", lambda record: record | {"sets": record["sets"] + 2})
    with pytest.raises(DataError, match="files that are not as recorded: 3; "):
        audit.audit_run(mini_run, run, HERE)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"pseudowords": None}, "not the plan of a run"),
        ({"pseudowords": {"modes": ["content"], "share": WUG.share}}, OTHERS),
        ({"pseudowords": {"modes": list(WUG.modes), "share": 0.9}}, "contrast sets that are lacking"),
        ({"seed": 6}, OTHERS),
        ({"n": 960}, "asks for other sets than were planned"),
        ({"seed": None}, "seed"),
        ({"judged": ["reach"]}, "nothing of reach has been judged"),
        ({"verbs": {"reach": "0"}}, "it differs from this project in verbs"),
    ],
)
def test_a_run_that_was_asked_for_otherwise_is_refused(run, mini_run, changes, fault):
    change_json(run / "cxgen/manifest.json", lambda plan: plan | {"asked": plan["asked"] | changes})
    with pytest.raises(DataError, match=fault):
        audit.audit_run(mini_run, run, HERE)


@pytest.mark.parametrize("left", [0, 1])
def test_a_plan_with_fewer_pseudowords_is_refused(run, mini_source, mini_run, left):
    """Of the last shard there is no set, or one, and shard and record are made for it."""
    number, shard = len(read_plan(run)["shards"]) - 1, read_plan(run)["shards"][-1]
    assert shard["pseudowords"] and len(sets_of(run, number)) > 1
    sets = pl.read_parquet(run / "cxgen/sets.parquet")
    sets.filter((pl.col("shard") < number) | (pl.int_range(pl.len()).over("shard") < left)).write_parquet(run / "cxgen/sets.parquet")
    digest = hashlib.sha256((run / "cxgen/sets.parquet").read_bytes()).hexdigest()
    change_json(run / "cxgen/manifest.json", lambda plan: plan | {"sets": digest, "shards": plan["shards"][: number + left]})
    (run / shard["file"]).unlink()
    (run / f"cxgen/shards/{number:06d}.json").unlink()
    made(wanted(mini_source, run))
    with pytest.raises(DataError, match="contrast sets that are lacking: "):
        audit.audit_run(mini_run, run, HERE)


def test_a_run_of_other_words_is_not_counted_with_these(run, mini):
    edit_text(mini / "templates/reach.yaml", "waiting", "waitin")
    with pytest.raises(DataError, match="it differs from this project in templates and words"):
        audit.audit_run(Run(Project(mini), REQUEST), run, HERE)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda plan: None, "not of type 'object'"),
        (lambda plan: plan | {"asked": None}, "asked"),
        (lambda plan: plan | {"sources": None}, "sources"),
        (lambda plan: plan | {"shards": []}, "shards"),
        (lambda plan: plan | {"sets": "0"}, "not the sets of a run"),
        (lambda plan: with_shard(plan, file="../x.parquet"), "does not match"),
        (lambda plan: with_shard(plan, file="data/train/../../x.a-00000.parquet"), "does not match"),
        (lambda plan: with_shard(plan, file="data/test/reach.waiting-00000.parquet"), "of another sampler"),
        (lambda plan: with_shard(plan, sampler=99), "of another sampler"),
        (lambda plan: with_shard(plan, sampler="a"), "sampler"),
    ],
)
def test_a_plan_that_is_none_is_refused_and_nothing_is_written_elsewhere(run, mini_source, change, fault):
    (run / "data/train/reach.outcome-00000.parquet").unlink()  # so that its shard is made
    change_json(run / "cxgen/manifest.json", change)
    with pytest.raises(DataError, match=fault):
        made(wanted(mini_source, run))
    assert not list(run.parent.glob("*.parquet")) + list(run.glob("*.parquet"))


def test_records_that_are_none_count_as_missing(run, whole, mini_source):
    change_json(run / "cxgen/shards/000000.json", lambda record: [])
    change_json(run / "cxgen/shards/000001.json", lambda record: record | {"rows": "x"})
    change_json(run / "cxgen/shards/000002.json", lambda record: {name: record[name] for name in ("file", "bytes", "sha256")})
    change_json(run / "cxgen/shards/000003.json", lambda record: record | {"rows": 1})
    change_json(run / "cxgen/shards/000004.json", lambda record: record | {"file": "data/train/other.parquet"})
    made(wanted(mini_source, run))
    assert files(run) == files(whole[0])


PIPES = [("data/train/reach.outcome-00000.parquet", "not a regular"), ("cxgen/sets.parquet", "not the sets")]


@pytest.mark.parametrize(("name", "fault"), PIPES)
def test_a_pipe_in_place_of_a_file_of_the_run_is_not_waited_for(run, mini_source, name, fault):
    (run / name).unlink()
    os.mkfifo(run / name)
    with pytest.raises(DataError, match=fault):
        made(wanted(mini_source, run))


def with_shard(plan, **changes):
    return plan | {"shards": [plan["shards"][0] | changes, *plan["shards"][1:]]}


def test_only_a_whole_run_without_other_files_is_counted(run, mini_run, tmp_path, mini, cxgen):
    with pytest.raises(DataError, match="no run is there"):
        audit.audit_run(mini_run, tmp_path, HERE)
    stray, (_, file) = run / "data/train/more.parquet", shards(run, "validation")[0]
    shutil.copy(shards(run, "train")[0][1], stray)
    with pytest.raises(DataError, match="no shard of the run"):
        audit.audit_run(mini_run, run, HERE)
    stray.unlink()
    file.write_bytes(b"x" * file.stat().st_size)
    with pytest.raises(DataError, match="not a readable parquet file") as failed:
        audit.audit_run(mini_run, run, HERE)
    assert failed.value.file == file
    record = run / "cxgen/shards/000001.json"
    lacking = json.loads(record.read_text())["file"]
    record.unlink()
    done = cxgen("audit", str(run), cwd=mini)
    assert done.returncode == 2 and f"{lacking}: " in done.stderr and "shards are there" in done.stderr and "--resume" in done.stderr
