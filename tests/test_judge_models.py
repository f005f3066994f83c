"""`cxgen judge` with models: killed and resumed, frozen and replayed, bounded, and discreet."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter

import polars as pl
import pytest

from tests.conftest import ROOT, edit
from tests.llm_server import serving
from tests.test_llm import SECRET

COMMAND = [sys.executable, "-c", "from cxgen.cli import main; main()"]


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """A small project with candidates."""
    root = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "params.yaml", root)
    edit(root / "params.yaml", "n_per_construction: 4000", "n_per_construction: 120")
    edit(root / "params.yaml", "n_per_lookalike: 1200", "n_per_lookalike: 24")
    edit(root / "params.yaml", "constructions: all", "constructions: [conative]")
    edit(root / "params.yaml", "oversample: 1.15", "oversample: 4")
    assert cxgen(root, "generate").returncode == 0
    return root


@pytest.fixture
def here(generated, tmp_path):
    shutil.copytree(generated, tmp_path / "p")
    return tmp_path / "p"


def cxgen(root, *words, **more):
    environment = {**os.environ, "OPENAI_API_KEY": SECRET, **more}
    return subprocess.run([*COMMAND, *words], cwd=root, capture_output=True, text=True, env=environment, check=False)


def ask(url, *words):
    return ["judge", "--backend", "openai", "--model", "m", "--base-url", url, "--concurrency", "16", *words]


def lines(log):
    return log.read_text().count("\n") if log.exists() else 0


def test_killed_ten_times_it_ends_the_same_and_pays_for_nothing_twice(here, tmp_path):
    shutil.copytree(here, tmp_path / "whole")
    log = tmp_path / "log"
    words = ("--task", "label", "--items-per-request", "4", "--export")
    with serving(latency=0.04, log=str(log)) as url:
        whole = cxgen(tmp_path / "whole", *ask(url, *words))
        assert whole.returncode == 0, whole.stderr
        ideal = log.read_text().count("answered")
        log.unlink()
    chance = random.Random(11)
    with serving(latency=0.04, log=str(log)) as url:
        for _ in range(10):
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": {**os.environ, "OPENAI_API_KEY": SECRET}}
            process = subprocess.Popen([*COMMAND, *ask(url, *words)], cwd=here, **quiet)
            seen, deadline = lines(log), time.monotonic() + 30
            while lines(log) < seen + 5 and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(chance.uniform(0.0, 0.3))
            process.send_signal(signal.SIGKILL)
            process.wait()
        last = cxgen(here, *ask(url, *words))
        assert last.returncode == 0, last.stderr
    requests = Counter(log.read_text().splitlines())
    assert len(requests) == ideal
    # Only what was in flight at a kill may come twice.
    assert sum(requests.values()) <= ideal + 10 * 16
    assert sum(requests.values()) > ideal
    columns = ["item", "task", "value", "call"]
    one, other = (pl.read_parquet(root / "pipelines/judgments.parquet").select(columns) for root in (here, tmp_path / "whole"))
    assert one.equals(other)
    assert (here / "outputs/work/verdicts.parquet").read_bytes() == (tmp_path / "whole/outputs/work/verdicts.parquet").read_bytes()


def test_ctrl_c_loses_nothing_and_says_so(here, tmp_path):
    log = tmp_path / "log"
    with serving(latency=0.1, log=str(log)) as url:
        words = ask(url, "--task", "label", "--items-per-request", "5")
        process = subprocess.Popen(
            [*COMMAND, *words],
            cwd=here,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OPENAI_API_KEY": SECRET},
        )
        deadline = time.monotonic() + 30
        while lines(log) < 20 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 130, said
        assert "interrupted" in said
        assert "Traceback" not in said
        assert not (here / "outputs/work/verdicts.parquet").exists()
        answered = lines(log)
        again = cxgen(here, *words)
    assert again.returncode == 0, again.stderr
    assert lines(log) <= -(-pl.read_parquet(here / "outputs/work/candidates.parquet").height // 5) + 16
    assert answered < lines(log)


def test_a_clone_without_a_key_replays_the_run_byte_for_byte(here, tmp_path):
    items = pl.read_parquet(here / "outputs/work/candidates.parquet")
    truth = {f"{p}|{h}": "ENC"[label] for p, h, label in items.select("premise", "hypothesis", "label").iter_rows()}
    (tmp_path / "truth.json").write_text(json.dumps(truth), "utf-8")
    with serving(truth=str(tmp_path / "truth.json")) as url:
        recorded = cxgen(here, *ask(url, "--export"))
    assert recorded.returncode == 0, recorded.stderr
    assert cxgen(here, "split").returncode == 0
    clone = tmp_path / "clone"
    shutil.copytree(here, clone, ignore=shutil.ignore_patterns(".cxgen", "outputs"))
    edit(clone / "params.yaml", "backend: rules", "backend: replay")
    for stage in ("generate", "judge", "split"):
        result = cxgen(clone, stage, OPENAI_API_KEY="")
        assert result.returncode == 0, result.stderr
    made = {path.relative_to(here): path.read_bytes() for path in sorted((here / "outputs").rglob("*")) if path.is_file()}
    assert {path: (clone / path).read_bytes() for path in made} == made
    rejected = pl.read_parquet(clone / "outputs/dataset/rejected/rejected-00000-of-00001.parquet")
    assert rejected["pair_reason"].str.contains("the model reads").any()
    assert rejected["premise_reason"].str.contains("the model finds it unacceptable").any()


def test_a_changed_prompt_is_not_answered_by_old_judgments(here):
    with serving() as url:
        assert cxgen(here, *ask(url, "--task", "label", "--export")).returncode == 0
    prompts = here / "pipelines/prompts"
    shutil.copytree(ROOT / "pipelines/prompts", prompts)
    edit(prompts / "label.yaml", "Each item stands alone.", "Each item is by itself.")
    result = cxgen(here, "judge", "--backend", "replay", "--task", "label")
    assert result.returncode == 2
    assert "made with another prompt" in result.stderr
    assert "label.yaml" in result.stderr


def test_undecided_items_are_listed_and_kept_out_unless_asked_for(here):
    with serving(status=[422, "x", "no"]) as url:
        result = cxgen(here, *ask(url, "--task", "label", "--max-failures", "1"))
    assert result.returncode == 0, result.stderr
    listed = [json.loads(line) for line in (here / "outputs/work/undecided.jsonl").read_text().splitlines()]
    assert {entry["reason"] for entry in listed} == {"the server refuses the request (422)"}
    verdicts = pl.read_parquet(here / "outputs/work/verdicts.parquet")
    assert set(verdicts["pair_verdict"]) == {"undecided"}
    assert len(listed) == verdicts.height
    short = cxgen(here, "split")
    assert short.returncode == 2
    assert "0 were accepted" in short.stderr
    edit(here / "params.yaml", "keep_undecided: false", "keep_undecided: true")
    assert cxgen(here, "split").returncode == 0


def test_a_dry_run_sends_nothing_and_tells_the_price(here, tmp_path):
    log = tmp_path / "log"
    with serving(log=str(log)) as url:
        words = ask(url, "--dry-run", "--task", "label", "--price-in", "1", "--price-out", "2", "--format", "json")
        before = json.loads(cxgen(here, *words).stdout)[0]
        assert not log.exists() or not log.read_text()
        assert cxgen(here, *ask(url, "--task", "label")).returncode == 0
        after = json.loads(cxgen(here, *words).stdout)[0]
    items = pl.read_parquet(here / "outputs/work/candidates.parquet").height
    assert (before["items"], before["calls"], before["cached calls"]) == (items, -(-items // 10), 0)
    assert before["cost at most"] > 0
    assert (after["calls"], after["cost at most"]) == (0, 0)


def test_a_bound_ends_the_run_with_what_there_is(here):
    with serving() as url:
        result = cxgen(here, *ask(url, "--task", "label", "--max-requests", "5", "--export"))
        assert result.returncode == 1
        assert "stopped by --max-requests 5" in result.stderr
        assert pl.read_parquet(here / "pipelines/judgments.parquet").height == 50
        assert cxgen(here, *ask(url, "--task", "label")).returncode == 0


def test_neither_key_nor_path_gets_into_a_file_or_a_message(here):
    with serving(status=[401, "invalid_api_key", f"Incorrect API key provided: {SECRET}"]) as url:
        refused = cxgen(here, *ask(url, "--task", "label"))
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
    with serving() as url:
        result = cxgen(here, *ask(url, "--task", "label", "--export"))
    assert result.returncode == 0
    for text in (refused.stderr, result.stderr, result.stdout):
        assert SECRET not in text
    for path in here.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert SECRET.encode() not in data, path
            if path.suffix in {".json", ".jsonl", ".parquet", ".sqlite"}:
                assert str(here).encode() not in data, path


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--backend", "openai"], "no model is named"),
        (["--backend", "openai", "--model", "m", "--task", "labels"], "did you mean label"),
        (["--backend", "openai", "--model", "m", "--max-cost", "1"], "needs prices"),
        (["--backend", "replay"], "no such table"),
    ],
)
def test_bad_requests_are_refused_with_their_mend(here, words, part):
    result = cxgen(here, "judge", *words)
    assert result.returncode == 2
    assert part in result.stderr
    assert "Traceback" not in result.stderr


def test_without_a_key_a_remote_server_is_not_asked(here):
    result = cxgen(here, "judge", "--backend", "openai", "--model", "m", "--base-url", "https://models.invalid/v1", OPENAI_API_KEY="")
    assert result.returncode == 2
    assert "OPENAI_API_KEY is not set" in result.stderr


def test_two_models_vote_and_their_agreement_is_reported(here):
    with serving() as url:
        result = cxgen(here, *ask(url, "--model", "n", "--task", "appropriateness"))
    assert result.returncode == 0, result.stderr
    report = json.loads((here / "outputs/metrics/models.json").read_text())
    assert report["judges"] == ["m", "n"]
    found = report["agreement"]["appropriateness"]
    assert (found["judges"], found["agreement"], found["alpha"]) == (2, 1.0, 1.0)


def test_words_for_a_slot_are_proposed_with_what_the_lexicon_knows(here):
    with serving() as url:
        words = ("--slot", "target", "--model", "m", "--base-url", url, "--n", "5", "--format", "json")
        result = cxgen(here, "ask", "fill", "conative", *words)
        assert result.returncode == 0, result.stderr
        rows = json.loads(result.stdout)
        wrong = cxgen(here, "ask", "fill", "conative", "--slot", "targets", "--model", "m", "--base-url", url)
    assert len(rows) == 5
    assert all(row["sentence"].count("_____") == 1 and " at " in row["sentence"] for row in rows)
    assert {row["in_lexicon"] for row in rows} == {False}
    assert wrong.returncode == 2
    assert "did you mean target" in wrong.stderr


def test_a_model_is_given_seed_words_for_sentences_of_its_own(here):
    with serving() as url:
        result = cxgen(here, "ask", "premise", "caused-motion", "--model", "m", "--base-url", url, "--n", "4", "--format", "json")
    assert result.returncode == 0, result.stderr
    rows = json.loads(result.stdout)
    assert len(rows) == 4
    assert all(len(row["words"].split(", ")) >= 2 for row in rows)
    assert not any(row["words_used"] for row in rows)  # this server's model says anything


def test_batches_give_what_single_calls_give(here, tmp_path):
    shutil.copytree(here, tmp_path / "single")
    with serving() as url:
        assert cxgen(tmp_path / "single", *ask(url, "--task", "label")).returncode == 0
        words = ("judge", "--backend", "openai-batch", "--model", "m", "--base-url", url, "--task", "label", "--poll", "0.2")
        result = cxgen(here, *words)
    assert result.returncode == 0, result.stderr
    verdicts = "outputs/work/verdicts.parquet"
    assert (here / verdicts).read_bytes() == (tmp_path / "single" / verdicts).read_bytes()


def test_a_run_ends_with_a_table_of_what_it_took(here):
    with serving(faults={"500": 0.1}, seed=5) as url:
        result = cxgen(here, *ask(url, "--task", "label", "--format", "json"), COLUMNS="200")
    assert result.returncode == 0
    assert {row["construction"] for row in json.loads(result.stdout)} == {"conative", "intransitive-at"}
    items = pl.read_parquet(here / "outputs/work/candidates.parquet").height
    header, row, *_ = result.stderr.splitlines()
    assert header.split()[:6] == ["model", "task", "decided", "cached", "undecided", "requests"]
    assert row.split()[:5] == ["m", "label", str(items), "0", "0"]
    assert "server error (500)" in row
