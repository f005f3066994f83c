"""Models behind a server as answerers: prompts with examples and thoughts, what is asked, what is undecided, and the score of it."""

import json
import shutil

import polars as pl
import pytest

from cxgen import tables
from cxgen.asking import Prompt
from cxgen.errors import CxgenError, DataError
from cxgen.evaluation.model import Kept, as_continuations, chosen_examples, load_wording, read_examples, wordings
from cxgen.families import FAMILIES
from cxgen.project import Project
from cxgen.vocabulary import LABELS
from tests.conftest import ROOT, stored
from tests.llm_server import serving
from tests.test_evaluate import by_hand

PROJECT = Project(ROOT)
NLI, PAIRS = FAMILIES["nli"].scoring, FAMILIES["minimal_pairs"].scoring
SURE = {"id": "a", "premise": "Ann ran in.", "hypothesis": "Ann was in.", "label": 0}
PAIR = {"id": "a", "context": "Ann ran in.", "diagnostic_good": "She was in.", "diagnostic_bad": "She was out."}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-4711")


# prompts


@pytest.mark.parametrize(("task", "names", "verdicts"), [("answer", 8, set(LABELS)), ("choose", 5, {"first", "second"})])
def test_wordings_ask_for_every_answer_each_in_its_own_way(task, names, verdicts):
    scoring, item = (NLI, SURE) if task == "answer" else (PAIRS, PAIR)
    texts, asked = set(), set()
    for name in wordings(PROJECT, task):
        prompt, cloze = load_wording(PROJECT, task, name, continued=False)
        assert set(prompt.choices.values()) == verdicts
        asked.add(prompt.instructions)
        if name.startswith("variation"):
            with pytest.raises(CxgenError, match="for models behind a server"):
                load_wording(PROJECT, task, name)
            continue
        text, continuations = as_continuations(item, scoring, cloze, [])
        assert "Ann ran in." in text
        assert "{" not in text
        assert len(set(continuations)) == len(scoring.answers)
        texts.add(text)
    assert (len(asked), len(texts)) == (names, 4)  # models that continue texts are asked the same about whole pairs as about continuations


def test_whole_pairs_are_shown_as_two_texts_and_where_good_and_bad_change_places_in_one_order():
    prompt, cloze = load_wording(PROJECT, "choose", "pair")
    choices = []
    for number in range(20):
        texts = [f"She was in {number}.", "She was out."]
        for good, bad in (texts, texts[::-1]):
            item = PAIR | {"diagnostic_good": good, "diagnostic_bad": bad}
            shown = PAIRS.shown(item)
            choice = "A" if shown["whole_first"] == f"Ann ran in. {good}" else "B"
            assert {shown["whole_first"], shown["whole_second"]} == {f"Ann ran in. {text}" for text in texts}
            assert prompt.choices[choice] == PAIRS.verdict(item)
            choices.append(choice)
        assert choices[-2] != choices[-1]
    assert set(choices[::2]) == {"A", "B"}
    shown = as_continuations({**PAIR, "context": "Bob left."}, PAIRS, cloze, [PAIR])
    assert shown == ("Ann ran in. She was in.\n\nBob left.", [" She was in.", " She was out."])


def test_a_wording_of_ones_own_is_found_and_checked(mini):
    own = mini / "pipelines/prompts/answer-mine.yaml"
    own.parent.mkdir(parents=True)
    text = (ROOT / "pipelines/prompts/answer.yaml").read_text("utf-8")
    own.write_text(text, "utf-8")
    assert "mine" in wordings(Project(mini), "answer")
    for old, new, message in (
        ("{hypothesis}", "it", "hypothesis"),
        ("maybe: neutral", "maybe: neither", "neither"),
        ("  words:", "  wrds:", "words"),
    ):
        own.write_text(text.replace(old, new), "utf-8")
        with pytest.raises(CxgenError, match=message):
            load_wording(Project(mini), "answer", "mine")
    with pytest.raises(CxgenError, match="the wording pair is for pairs, not for premises and hypotheses"):
        load_wording(Project(mini), "answer", "pair")


def test_examples_come_from_train_with_every_answer_and_are_part_of_what_is_cached(mini_dataset):
    train = stored("nli", "train", project=mini_dataset)
    examples = chosen_examples(train, NLI, 3, seed=1)
    assert [example["id"] for example in examples] == [example["id"] for example in chosen_examples(train.reverse(), NLI, 3, seed=1)]
    assert {example["label"] for example in examples} == {0, 1, 2}
    assert {example["id"] for example in examples} <= set(train["id"])
    assert examples != chosen_examples(train, NLI, 3, seed=2)
    other = train.with_columns(pl.col("id") + "x", construction=pl.lit("wait"), contrast_of=pl.lit(None, pl.String))
    for seed in range(5):
        two = chosen_examples(pl.concat([train, other]), NLI, 2, seed)
        assert {example["id"].endswith("x") for example in two} == {True, False}, "each of another construction"
    bare, _ = load_wording(PROJECT, "answer", "plain")
    shots = [(NLI.shown(example), NLI.verdict(example)) for example in examples]
    shown = bare.shown(shots)
    lines = [json.loads(line) for line in shown.system.splitlines() if line.startswith('{"premise"')]
    choices = {verdict: choice for choice, verdict in bare.choices.items()}
    assert lines == [{"premise": e["premise"], "hypothesis": e["hypothesis"], "answer": choices[LABELS[e["label"]]]} for e in examples]
    hashes = {bare.hash, shown.hash, bare.shown(shots[:1]).hash, bare.shown([], 400).hash}
    assert len(hashes) == 4
    assert bare.shown([]) is bare


def test_examples_of_ones_own_are_read_strictly(tmp_path):
    path = tmp_path / "shots.jsonl"
    rows = [{"premise": "P.", "hypothesis": "H.", "label": label, "more": 1} for label in LABELS]
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert [example["label"] for example in read_examples(path, NLI, None)] == [0, 1, 2]
    assert len(read_examples(path, NLI, 1)) == 1
    with pytest.raises(DataError, match="has 3 examples"):
        read_examples(path, NLI, 4)
    with pytest.raises(DataError, match="examples of another kind"):
        read_examples(path, PAIRS, None)
    path.write_text("\n".join(json.dumps({**row, "hypothesis": f"H{n}."}) for n, row in enumerate(rows)), "utf-8")
    items = [{**SURE, "premise": "P."}, {**SURE, "premise": "P.", "hypothesis": "H1."}]
    with pytest.raises(DataError, match=r"shots\.jsonl:2: an example that is among the items"):
        read_examples(path, NLI, None, items)
    assert len(read_examples(path, NLI, 1, items)) == 1, "the others are not shown"


def test_no_item_stands_among_its_own_examples(mini_dataset, cxgen, tmp_path):
    rows = [{"premise": "P.", "hypothesis": f"H{n}.", "label": label} for n, label in enumerate(LABELS)]
    own = tmp_path / "own.jsonl"
    own.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    command = ("evaluate", "--model", "m", "--dry-run")
    told = cxgen(*command, "--items", own, "--examples", own, cwd=mini_dataset)
    assert (told.returncode, "own.jsonl:1: an example that is among the items" in told.stderr) == (2, True)
    told = cxgen(*command, "--config", "nli", "--split", "train", "--shots", 3, cwd=mini_dataset)
    assert (told.returncode, "takes its examples from train, which is scored" in told.stderr) == (2, True)


def test_what_a_model_of_this_machine_said_is_kept_line_by_line(tmp_path):
    path, items = tmp_path / "hf-m.jsonl", [("a", ("A.", [" x", " y"])), ("b", ("B.", [" x", " y"]))]
    assert Kept(path, "m").known(items) == {}
    Kept(path, "m").keep(items[0], {"id": "a", "label": "good"})
    path.write_bytes(path.read_bytes() + b'\xff\n["cut o')
    kept = Kept(path, "m")
    assert kept.known(items) == {"a": {"id": "a", "label": "good"}}
    kept.keep(items[1], {"id": "b", "label": "bad"})
    assert set(Kept(path, "m").known(items)) == {"a", "b"}
    assert Kept(path, "another model").known(items) == {}
    assert Kept(path, "m").known([("a", ("A.", [" x", " z"]))]) == {}


# a run


@pytest.fixture
def asked(mini_dataset, tmp_path):
    """A copy of mini with its dataset, the truth that the server tells (wrong for ids that begin with 0 to 3), and the right score."""
    folder = tmp_path / "project"
    shutil.copytree(mini_dataset, folder)
    prompt = Prompt.load(ROOT / "pipelines/prompts/answer.yaml", "answer")
    choices = {verdict: choice for choice, verdict in prompt.choices.items()}
    rows = stored("nli", "test", project=folder)
    answers, truth = {}, {}
    for name, premise, hypothesis, label in rows.select("id", "premise", "hypothesis", "label").iter_rows():
        answers[name] = LABELS[(label + (name[0] in "0123")) % 3]
        truth[f"{premise}|{hypothesis}|answer"] = choices[answers[name]]
    (tmp_path / "truth.json").write_text(json.dumps(truth), "utf-8")
    return folder, tmp_path / "truth.json", rows, answers


def arguments(url, *more):
    return ("evaluate", "--model", "org/m", "--base-url", url, "--config", "nli", "--resamples", 20, *more)


@pytest.mark.server
@pytest.mark.parametrize("more", [(), pytest.param(("--shots", 3, "--think", "--items-per-request", 4), marks=pytest.mark.slow)])
def test_a_model_is_asked_scored_and_not_asked_again(asked, cxgen, tmp_path, more):
    folder, truth, rows, answers = asked
    with serving(truth=str(truth), log=str(tmp_path / "log")) as url:
        dry = cxgen(*arguments(url, *more, "--dry-run", "--format", "jsonl"), cwd=folder)
        assert json.loads(dry.stdout)["items"] == rows.height
        assert "cost at most" not in json.loads(dry.stdout), "no price is known"
        assert not (tmp_path / "log").read_text("utf-8") and not (folder / ".cxgen").exists()
        result = cxgen(*arguments(url, *more, "--json"), cwd=folder)
        assert result.returncode == 0, result.stderr
        calls = len((tmp_path / "log").read_text("utf-8").splitlines())
        again = cxgen(*arguments(url, *more, "--json"), cwd=folder)
        assert len((tmp_path / "log").read_text("utf-8").splitlines()) == calls == (-(-rows.height // 4) if more else rows.height)
    got = json.loads(result.stdout)["configs"]["nli"]
    assert (got["accuracy"]["value"], got["consistency"]["value"]) == by_hand(rows, answers)
    assert again.stdout == result.stdout
    (path,) = (folder / "outputs/predictions").iterdir()
    assert path.name == ("org-m-3-shot-thinking-nli.jsonl" if more else "org-m-nli.jsonl")
    assert pl.read_ndjson(path).sort("id").rows() == sorted(answers.items())


@pytest.mark.server
@pytest.mark.parametrize(("more", "which", "calls"), [((), "the first 20", 60), (("--limit", 12), "12", 36)])
def test_a_model_of_which_no_answer_can_be_used_is_not_asked_on_and_asked_anew_when_it_is_mended(
    asked, cxgen, tmp_path, more, which, calls
):
    folder, truth, rows, answers = asked
    (tmp_path / "odd.json").write_text(json.dumps(dict.fromkeys(json.loads(truth.read_text("utf-8")), "hm")), "utf-8")
    with serving(truth=str(tmp_path / "odd.json"), log=str(tmp_path / "log")) as url:
        result = cxgen(*arguments(url, *more), cwd=folder)
    told = (
        f"none of {which} answers of org/m (answer) can be used: not a possible answer: ",
        '"answer": "hm"}]}',
        "yes, maybe, no; ",
        "--think",
    )
    assert (result.returncode, [text in result.stderr for text in told]) == (2, [True] * 4), result.stderr
    assert len((tmp_path / "log").read_text("utf-8").splitlines()) == calls < 3 * rows.height, "three tries each, nobody else is asked"
    with serving(truth=str(truth)) as url:
        result = cxgen(*arguments(url, "--json"), cwd=folder)
    assert json.loads(result.stdout)["configs"]["nli"]["accuracy"]["value"] == by_hand(rows, answers)[0]


@pytest.mark.slow
@pytest.mark.server
def test_a_run_that_a_bound_ends_is_not_scored(asked, cxgen):
    folder, truth, _, _ = asked
    with serving(truth=str(truth)) as url:
        result = cxgen(*arguments(url, "--max-requests", 5), cwd=folder)
        assert (result.returncode, result.stdout) == (1, "")
        assert "stopped by --max-requests 5; what was answered is kept, nothing is scored" in result.stderr
        assert not (folder / "outputs/predictions").exists()


def test_a_log_has_a_line_a_minute_that_says_how_long_it_takes(monkeypatch, capsys):
    monkeypatch.setattr(tables, "_FIRST_LINE", 0.0)
    times = iter([0.0, 1800.0, 1860.0, 1920.0, 1980.0, 2040.0])  # half an hour until the first one is there, then a minute each
    monkeypatch.setattr(tables.time, "monotonic", lambda: next(times))
    assert list(tables.track("cdefg", "nli", 7, before=2)) == [*"cdefg"]
    assert capsys.readouterr().err.splitlines() == [
        "nli: going on: 2 of 7 are answered",
        "nli: 5 of 7, about 2 minutes left",
        "nli: 6 of 7, a minute or less left",
    ]
    times = iter([0.0, *[100.0] * 5, *[110.0] * 5, *[120.0] * 5])  # the first of a batch has cost the time of all of it
    assert len(list(tables.track(range(15), "nli", 100))) == 15
    assert capsys.readouterr().err.splitlines() == ["nli: 11 of 100, about 3 minutes left"]
    times = iter([0.0, *(number / 10 for number in range(1, 16))])  # one after the other, no batches
    assert len(list(tables.track(range(15), "nli", 1_500))) == 15
    assert capsys.readouterr().err.splitlines() == ["nli: 11 of 1,500, about 2 minutes left"]
