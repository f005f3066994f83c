"""Models as judges of the candidates: after the rules, killed and resumed, frozen and replayed, bounded, and discreet."""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from types import SimpleNamespace

import polars as pl
import pytest

from cxgen import layout
from cxgen.asking import Consultation, Limits, judge
from cxgen.asking.consult import shown_of
from cxgen.asking.judge import as_table, merge
from cxgen.build import run
from cxgen.build.params import Params
from cxgen.cli import main
from cxgen.errors import DataError
from cxgen.vocabulary import Judge
from tests.conftest import edit, small_project
from tests.llm_server import serving
from tests.test_asking import SECRET

pytestmark = pytest.mark.server
COMMAND = [sys.executable, "-c", "from cxgen.cli import main; main()"]
REPLAY = Consultation(backend=Judge.replay)
MADE = (layout.VERDICTS, layout.UNDECIDED, layout.metric("judge"), layout.metric("models"))


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """A small project with candidates."""
    root = tmp_path_factory.mktemp("project")
    project, params = small_project(root, ["conative"], n_per_construction=60, n_per_lookalike=24, sizes={"minimal_pairs": 0})
    run.generate(project, params)
    return project


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)


@pytest.fixture
def whole(generated, tmp_path):
    """A copy with all candidates, enough for a dataset."""
    shutil.copytree(generated.root, tmp_path / "p")
    return type(generated)(tmp_path / "p")


@pytest.fixture
def here(whole):
    """A copy with the candidates of a few sets."""
    keep(whole, 120)
    return whole


@pytest.fixture
def cxgen(monkeypatch, capsys):
    """The command line in this process."""

    def run(project, *words):
        monkeypatch.chdir(project.root)
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setattr(sys, "argv", ["cxgen", *words])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        return SimpleNamespace(code=ended.value.code or 0, **dict(zip(("out", "err"), capsys.readouterr(), strict=True)))

    return run


def candidates(project):
    return pl.read_parquet(project.root / layout.CANDIDATES)


def keep(project, number):
    candidates(project).head(number).write_parquet(project.root / layout.CANDIDATES)


def verdicts(project):
    return pl.read_parquet(project.root / layout.VERDICTS)


def by(url, *tasks, models=("m",), limits=None, **more):
    """Models at ``url``."""
    found = limits or Limits(concurrency=16)
    return Consultation(backend=more.pop("backend", Judge.openai), models=models, tasks=tasks, base_url=url, limits=found, **more)


def words(url, *more):
    return ["judge", "--backend", "openai", "--model", "m", "--base-url", url, "--task", "label", *more]


def lines(log):
    return log.read_text().count("\n") if log.exists() else 0


# what is asked


def test_items_that_are_no_pairs_are_asked_about_as_premises_only():
    items = pl.DataFrame({"id": ["a", "b"], "premise_id": ["p", "q"], "construction": "x", "premise": "P.", "hypothesis": ["H.", None]})
    items = items.with_columns(label=pl.Series([0, None], dtype=pl.Int8))
    shown = shown_of(items, [], ("acceptability", "label"))
    assert {task: list(things) for task, things in shown.items()} == {"acceptability": ["p", "q"], "label": ["a"]}
    assert shown_of(items.drop("hypothesis", "label"), [], ("label",)) == {"label": {}}
    merged = merge(items, as_table(()), ("acceptability", "label"))
    assert merged["premise_verdict"].to_list() == ["undecided", "undecided"]
    assert merged["pair_verdict"].to_list() == ["undecided", "appropriate"]


def test_the_rules_alone_ask_nobody_and_say_so(here):
    judged = judge.run(here)
    assert (judged.outcomes, judged.undecided) == ([], {})
    assert json.loads((here.root / layout.metric("models")).read_text()) == {"agreement": {}, "counts": {}, "judges": [], "prompts": {}}
    assert (here.root / layout.UNDECIDED).read_text().strip() == ""
    assert not (here.root / layout.ANSWERS).exists()


# kept, frozen, replayed


@pytest.mark.slow
def test_killed_five_times_it_ends_the_same_and_pays_for_nothing_twice(whole, tmp_path):
    keep(whole, 480)
    shutil.copytree(whole.root, tmp_path / "undisturbed")
    undisturbed, log = type(whole)(tmp_path / "undisturbed"), tmp_path / "log"
    with serving(latency=0.08, log=str(log)) as url:
        judge.run(undisturbed, None, by(url, "label", per_request=1, export=True))
        ideal = lines(log)
        log.unlink()
    chance = random.Random(11)
    with serving(latency=0.08, log=str(log)) as url:
        command = [*COMMAND, *words(url, "--concurrency", "16", "--items-per-request", "1", "--export")]
        for _ in range(5):
            with subprocess.Popen(command, cwd=whole.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                seen, deadline = lines(log), time.monotonic() + 30
                while lines(log) < seen + 5 and process.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.01)
                time.sleep(chance.uniform(0.0, 0.15))
                assert process.poll() is None  # else nothing was killed
                process.send_signal(signal.SIGKILL)
        judge.run(whole, None, by(url, "label", per_request=1, export=True))
    requests = Counter(log.read_text().splitlines())
    assert len(requests) == ideal
    # Only what was in flight at a kill may come twice.
    assert ideal < requests.total() <= ideal + 5 * 16
    columns = ["item", "task", "value", "call"]
    one, other = (pl.read_parquet(project.root / layout.JUDGMENTS).select(columns) for project in (whole, undisturbed))
    assert one.equals(other)
    assert verdicts(whole).equals(verdicts(undisturbed))


@pytest.mark.slow
def test_ctrl_c_loses_nothing_and_says_so(here, tmp_path):
    log = tmp_path / "log"
    with serving(latency=0.1, log=str(log)) as url:
        command = [*COMMAND, *words(url, "--items-per-request", "1", "--concurrency", "4")]
        with subprocess.Popen(command, cwd=here.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            deadline = time.monotonic() + 30
            while lines(log) < 20 and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=30)
        assert process.returncode == 130, said
        assert "interrupted" in said
        assert "Traceback" not in said
        assert not (here.root / layout.VERDICTS).exists()
        answered = lines(log)
        judge.run(here, None, by(url, "label", per_request=1))
    assert answered < lines(log) <= candidates(here).height + 4


@pytest.mark.slow
def test_a_clone_without_a_key_replays_the_run_byte_for_byte(whole, tmp_path, monkeypatch):
    items = candidates(whole)
    truth = {f"{p}|{h}|label": "ENC"[label] for p, h, label in items.select("premise", "hypothesis", "label").iter_rows()}
    first, last = items.row(0, named=True), items.row(-1, named=True)
    truth |= {f"{first['premise']}|{first['hypothesis']}|label": "ENC"[first["label"] - 1], f"{last['premise']}|verdict": "unacceptable"}
    (tmp_path / "truth.json").write_text(json.dumps(truth), "utf-8")
    with serving(truth=str(tmp_path / "truth.json")) as url:
        judge.run(whole, None, by(url, export=True, per_request=40))
    run.build(whole, Params.read(whole.params), judged=True)
    clone = type(whole)(tmp_path / "clone")
    shutil.copytree(whole.root, clone.root, ignore=shutil.ignore_patterns(".cxgen", "outputs"))
    edit(clone.root / "params.yaml", "backend: rules", "backend: replay")
    monkeypatch.delenv("OPENAI_API_KEY")
    params = Params.read(clone.params)
    run.generate(clone, params)
    judge.run(clone, params)
    run.build(clone, params, judged=True)
    made = {path.relative_to(whole.root): path.read_bytes() for path in sorted((whole.root / "outputs").rglob("*")) if path.is_file()}
    assert {path: (clone.root / path).read_bytes() for path in made} == made
    rejected = pl.read_parquet(clone.root / "outputs/dataset/rejected/rejected-00000-of-00001.parquet")
    reasons = dict(rejected.select("id", pl.concat_str("premise_reason", "pair_reason")).iter_rows())
    assert "the model reads" in reasons[first["id"]]
    assert reasons[last["id"]] == "acceptability: the model finds it unacceptable"


def test_a_replay_with_undecided_judgments_of_two_models_is_the_same_too(here, tmp_path):
    first = candidates(here)["id"][0]
    marked = pl.when(pl.col("id") == first).then(pl.format("REFUSE: {}", "hypothesis")).otherwise("hypothesis")
    table = candidates(here).with_columns(hypothesis=marked)
    table.write_parquet(here.root / layout.CANDIDATES)
    with serving() as url:
        once = judge.run(here, None, by(url, "label", models=("z", "a"), export=True))
    files = [here.root / path for path in MADE]
    made = [path.read_bytes() for path in files]
    again = judge.run(here, None, Consultation(Judge.replay, tasks=("label",)))
    assert [path.read_bytes() for path in files] == made
    assert again.undecided == once.undecided
    assert once.undecided["refused"] > 0
    report = json.loads((here.root / layout.metric("models")).read_text())
    assert report["judges"] == ["a", "z"]
    assert {name: report["agreement"]["label"][name] for name in ("judges", "agreement", "alpha")} == {
        "judges": 2,
        "agreement": 1.0,
        "alpha": 1.0,
    }


def frozen(project, url, number=None):
    """Label judgments, frozen, of the first candidates only."""
    judge.run(project, None, by(url, "label", export=True))
    path = project.root / layout.JUDGMENTS
    table, first = pl.read_parquet(path), candidates(project)["id"].head(number or 10**9)
    table.filter(pl.col("item").is_in(first.implode())).write_parquet(path)
    for name in MADE:
        (project.root / name).write_text("as it was")


def test_a_replay_that_decides_nothing_is_refused_and_changes_nothing(here, cxgen):
    with serving() as url:
        frozen(here, url)
    path = here.root / layout.JUDGMENTS
    table = pl.read_parquet(path)
    cases = {
        "of 0 frozen judgments": table.clear(),
        f"{table.height} answer 'label', {table.height} of them with the prompt as it is": table.with_columns(item="x" + pl.col("item")),
        "0 answer 'label'": table.with_columns(task=pl.lit("acceptability"), value=pl.lit("extended")),
        "0 answer 'label' by n": table,
        f"{table.height} answer 'label', 0 of them with the prompt as it is": table.with_columns(prompt=pl.lit("0")),
    }
    for part, judgments in cases.items():
        judgments.write_parquet(path)
        model = ["--model", "n"] if " by n" in part else []
        result = cxgen(here, "judge", "--backend", "replay", "--task", "label", *model)
        assert result.code == 2
        assert part in result.err
        assert result.err.count("\n") == 2  # what is wrong, and what to do
    for name in MADE:
        assert (here.root / name).read_text() == "as it was"
    path.unlink()
    with pytest.raises(DataError, match="no such table"):
        judge.run(here, None, REPLAY)


def test_a_replay_of_a_part_says_what_it_does_not_decide_and_why(here, cxgen):
    with serving() as url:
        frozen(here, url, 40)
    result, missing = cxgen(here, "judge", "--backend", "replay", "--task", "label"), candidates(here).height - 40
    assert result.code == 0
    assert f"{missing} undecided (no frozen judgment: {missing})" in result.err
    listed = [json.loads(line) for line in (here.root / layout.UNDECIDED).read_text().splitlines()]
    assert [entry["reason"] for entry in listed] == ["no frozen judgment"] * missing
    assert verdicts(here)["pair_verdict"].to_list().count("undecided") == missing
    assert json.loads((here.root / layout.metric("models")).read_text())["judges"] == ["m"]


# bounds, and what is told


@pytest.mark.slow
def test_undecided_items_are_listed_and_kept_out_unless_asked_for(whole):
    with serving(status=[422, "x", "no"]) as url:
        judge.run(whole, None, by(url, "label", limits=Limits(max_failures=1.0)))
    listed = [json.loads(line) for line in (whole.root / layout.UNDECIDED).read_text().splitlines()]
    assert {entry["reason"] for entry in listed} == {"the server refuses the request (422)"}
    assert set(verdicts(whole)["pair_verdict"]) == {"undecided"}
    assert len(listed) == verdicts(whole).height
    with pytest.raises(DataError, match="0 were accepted"):
        run.build(whole, Params.read(whole.params), judged=True)
    edit(whole.root / "params.yaml", "keep_undecided: false", "keep_undecided: true")
    assert run.build(whole, Params.read(whole.params), judged=True)


def test_a_dry_run_sends_nothing_and_tells_the_price(here, cxgen, tmp_path):
    log = tmp_path / "log"
    with serving(log=str(log)) as url:
        more = ("--dry-run", "--price-in", "1", "--price-out", "2", "--format", "json")
        before = json.loads(cxgen(here, *words(url, *more)).out)[0]
        assert not lines(log)
        assert not (here.root / layout.VERDICTS).exists()
        judge.run(here, None, by(url, "label"))
        after = json.loads(cxgen(here, *words(url, *more)).out)[0]
    assert (before["items"], before["calls"], before["cached items"]) == (120, 12, 0)
    assert before["cost at most"] > 0
    assert (after["calls"], after["cost at most"]) == (0, 0)


def test_every_option_reaches_the_run(here, monkeypatch, cxgen):
    given = {}
    monkeypatch.setattr(judge, "questions", lambda project, params, asked: given.update(asked=asked) or (Consultation(), {}, {}))
    bounds = {"rpm": 3, "tpm": 4, "tries": 5, "timeout": 6, "deadline": 7, "max-requests": 8, "max-tokens": 9, "max-cost": 10}
    others = {"price-in": 11, "price-out": 12, "max-failures": 0.5, "concurrency": 13, "items-per-request": 14, "poll": 15, "cache": "c.db"}
    options = [text for name, value in {**bounds, **others, "model": "n"}.items() for text in (f"--{name}", str(value))]
    assert cxgen(here, *words("http://x", *options, "--export", "--dry-run")).code == 0
    limits = Limits(13, 3.0, 4.0, 5, 6.0, 7.0, 8, 9, 10.0, 11.0, 12.0, 0.5)
    cache = here.root / "c.db"
    assert given["asked"] == Consultation(Judge.openai, ("m", "n"), ("label",), "http://x", 14, limits, cache, poll=15.0, export=True)


def test_a_bound_ends_the_run_with_what_there_is(here, cxgen):
    with serving() as url:
        result = cxgen(here, *words(url, "--max-requests", "5", "--export"))
        assert (result.code, "stopped by --max-requests 5" in result.err) == (1, True)
        assert "not asked: --max-requests 5: 70" in result.err
        assert pl.read_parquet(here.root / layout.JUDGMENTS).height == 50
        assert not judge.run(here, None, by(url, "label")).undecided


def test_neither_key_nor_path_gets_into_a_file_or_a_message(here, cxgen):
    with serving(status=[401, "invalid_api_key", f"Incorrect API key provided: {SECRET}"]) as url:
        refused = cxgen(here, *words(url))
    with serving() as url:
        result = cxgen(here, *words(url, "--export"))
    assert (refused.code, result.code) == (2, 0)
    assert not any(SECRET in text for text in (refused.err, result.err, result.out))
    for path in here.root.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert SECRET.encode() not in data, path
            if path.suffix in {".json", ".jsonl", ".parquet"}:
                assert str(here.root).encode() not in data, path


@pytest.mark.parametrize(
    ("more", "part"),
    [
        (["--backend", "openai", "--model", "m", "--base-url", "localhost:1/v1"], "no address of a server"),
        (["--backend", "openai"], "no model is named"),
        (["--backend", "openai", "--model", "m", "--task", "labels"], "did you mean label"),
        (["--backend", "openai", "--model", "m", "--max-cost", "1"], "needs prices"),
        (["--backend", "replay"], "no such table"),
    ],
)
def test_bad_requests_are_refused_with_a_hint(here, cxgen, more, part):
    result = cxgen(here, "judge", *more)
    assert result.code == 2
    assert part in result.err


def test_missing_packages_are_named_with_the_extra_that_has_them(here, monkeypatch):
    monkeypatch.setitem(sys.modules, "krippendorff", None)
    with pytest.raises(DataError, match="krippendorff") as caught:
        judge.run(here, None, by("http://127.0.0.1:1/v1", "label"))
    assert "'.[llm]'" in caught.value.hint


def test_a_run_ends_with_a_table_of_what_it_took(here, cxgen):
    with serving(faults={"500": 0.2}, seed=5) as url:
        result = cxgen(here, *words(url, "--format", "json"))
    assert result.code == 0
    rows = json.loads(result.out)
    assert {row["construction"] for row in rows} <= {"conative", "transitive", "intransitive-at"}
    assert {"prototypical", "undecided", "appropriate"} < set(rows[0])
    header, row, *_ = result.err.splitlines()
    assert header.split()[:6] == ["model", "task", "decided", "cached", "undecided", "requests"]
    assert row.split()[:5] == ["m", "label", "120", "0", "0"]
    assert "server error (500)" in row


# through files


def test_whoever_answers_a_file_of_requests_judges(here, cxgen, tmp_path):
    keep(here, 12)
    out, told = tmp_path / "ask.jsonl", tmp_path / "told.jsonl"
    judging = ["judge", "--backend", "file", "--model", "ann", "--task", "label", "--requests", str(out)]
    assert "2 requests" in cxgen(here, *judging).err
    left, *others = candidates(here).select("id", "label").rows()
    with told.open("w") as file:
        for line in map(json.loads, out.read_text("utf-8").splitlines()):
            items = [json.loads(text) for text in line["body"]["messages"][1]["content"].splitlines() if text.startswith("{")]
            entries = [{"id": item["id"], "label": "N"} for item in items if item["id"] != left[0]]
            file.write(json.dumps({"custom_id": line["custom_id"], "content": {"answers": entries}}) + "\n")
    result = cxgen(here, *judging, "--replies", str(told), "--items-per-request", "5")  # other groups than were written
    expected = {name: "appropriate" if label == 1 else "inappropriate" for name, label in others}
    assert dict(verdicts(here).select("id", "pair_verdict").iter_rows()) == {left[0]: "undecided", **expected}
    assert (result.code, "1 undecided" in result.err) == (0, True)
    assert "2 models, 1 files of replies" in cxgen(here, *judging, "--model", "ben", "--replies", str(told)).err
