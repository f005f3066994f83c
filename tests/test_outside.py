"""Items that a user brings: read or refused, put to models, scored beside the dataset; several predictions side by side."""

import json

import polars as pl
import pytest

from cxgen.cli.output import Format
from cxgen.errors import CxgenError
from cxgen.evaluation.model import consult
from cxgen.evaluation.outside import read_items
from cxgen.evaluation.report import Evaluated, Part
from cxgen.evaluation.rows import steps
from cxgen.facade import evaluate, score
from cxgen.families import FAMILIES
from cxgen.measures.figures import Resampling
from cxgen.project import Project
from cxgen.tables import write_rows
from tests.llm_server import serving
from tests.test_recipes import written

LABELS = ["Entailment", "c", "1", "0", "N", "contradiction"]
NLI = [
    {
        "premise": f"P{n // 2}.",
        "hypothesis": f"H, {n}.",
        "label": label,
        "construction": "way" if n < 4 else None,
        "web": "no" if n else "yes",
        "scenario": f"S{n % 2 + 1}",
    }
    for n, label in enumerate(LABELS)
]
BLIMP = [{"sentence_good": f"Ann runs {n}.", "sentence_bad": f"Ann run {n}.", "UID": "ab"[n % 2], "pairID": n} for n in range(4)]


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-4711")


@pytest.fixture
def tables(tmp_path):
    return [written(tmp_path / "cxnli.jsonl", NLI), written(tmp_path / "blimp.jsonl", BLIMP)]


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_a_table_of_any_kind_says_the_same(tmp_path, tables, ending):
    for path in tables:
        like, rows = read_items(path, ["UID"])
        write_rows(pl.read_ndjson(path), path.with_suffix(f".{ending}"))
        other, again = read_items(path.with_suffix(f".{ending}"), ["UID"])
        assert (other, again.to_dicts()) == (like, rows.to_dicts())


def test_a_table_is_scored_as_a_hand_calculation_does(mini_dataset, tables):
    part = Evaluated.read(Project(mini_dataset), Part(), tables, ["web", "UID"])
    answers = dict(zip(part.questions["id"], ["0", "2", "1", "2", "1", "2", "good", "bad", "good", "undecided"], strict=True))
    found = part.report("m", part.answers(pl.DataFrame([*answers.items()], schema=["id", "label"], orient="row")), Resampling(20))[
        "configs"
    ]
    nli, pairs = found["cxnli"], found["blimp"]
    assert (nli["right"], nli["accuracy"]["value"], nli["chance"]) == (5, 0.875, 0.3333), "the mean over constructions: 3 of 4, 2 of 2"
    assert nli["consistency"]["value"] == 0.75, "premises with all their hypotheses right: one of two of way, the one of other"
    assert {name: part["items"] for name, part in nli["by"]["web"].items()} == {"no": 5, "yes": 1}
    assert ("scenario" in nli["by"], "scenarios" in nli) == (True, False), "those of cc_semantics have a table of their own"
    assert (pairs["accuracy"]["value"], pairs["undecided"], pairs["chance"], pairs["verbs"]) == (0.5, 1, 0.5, 4)
    assert pairs["by"]["UID"]["a"]["accuracy"]["value"] == 1
    good = evaluate(lambda items: ["first"] * len(items), items=tables[1], by="UID", project=mini_dataset, resamples=0)
    assert (good["items"], good["chance"], set(good["by"])) == (4, 0.5, {"construction", "UID"})
    told = pl.DataFrame([row for row in answers.items() if row[1] in {"good", "bad", "undecided"}], schema=["id", "label"], orient="row")
    assert score(told, items=tables[1], project=mini_dataset, resamples=0)["right"] == pairs["right"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "premise,hypothesis,label,label\nA.,B.,E,E\n", "a.csv:1: columns come more than once: 'label'"),
        ("a.csv", "premise,hypothesis,label\nA.,B.,E,E\n", "a.csv:2: 4 cells, and the header has 3"),
        (
            "a.csv",
            'premise,hypothesis,label\nA.,B.,E\n\n"A\nb.",B.,maybe\n',
            "a.csv:5: 1 rows have a label that is none, this one first: 'maybe'",
        ),
        ("a.csv", "premise,hypothesis,label\n", "a.csv: has no rows"),
        ("a.tsv", "premise\thypothesis\tlabel\nA.\tB.\t0\nA.\t\t0\n", "a.tsv:3: 1 rows have no hypothesis"),
        ("a.jsonl", '{"premise": "A.", "label": 0}', "a.jsonl: has the columns premise, label"),
        ("a.jsonl", '{"good": "A.", "sentence_good": "A.", "bad": "B."}', "has the columns good, sentence_good, bad"),
        ("a.jsonl", '{"good": "A.", "bad": "B."}\n\n{"good": "A.", "bad": "A."}', "a.jsonl:3: 1 rows have the same sentence twice"),
        ("a.jsonl", '{"good": ["A."], "bad": "B."}', "the column good holds no texts"),
        ("a.jsonl", '{"good": "A.", "bad": "B.", "id": 1}\n{"good": "B.", "bad": "A.", "id": 1}', "a.jsonl:1: 2 rows share their id"),
    ],
)
def test_what_is_no_table_of_items_is_told_by_its_line(tmp_path, cxgen, name, text, message):
    (tmp_path / name).write_text(text, "utf-8")
    result = cxgen("evaluate", "--model", "m", "--items", name, "--dry-run", cwd=tmp_path)
    assert (result.returncode, message in result.stderr, "columns: premise" in result.stderr) == (2, True, True), result.stderr


def test_names_that_mean_two_things_are_refused(mini_dataset, tmp_path):
    twice = {"good": "A.", "bad": "B.", "id": "x"}
    first, second = (written(tmp_path / f"{name}.jsonl", [twice]) for name in "ab")
    for configs, paths, by, message in (
        ((), [first, first], (), "something else is called 'a'"),
        ((), [first, second], (), "a and b share ids: x"),
        (("nli",), [written(tmp_path / "nli.jsonl", [twice])], (), "something else is called 'nli'"),
        ((), [first], ("UIDs",), "unknown dimension 'UIDs'"),
        ((), [first], ("group",), "unknown dimension 'group'\n  hint: the name group is taken"),
        ((), [first], ("diagnostic_good",), "the name diagnostic_good is taken"),
    ):
        with pytest.raises(CxgenError, match=message):
            Evaluated.read(Project(mini_dataset), Part(configs), paths, by)


@pytest.mark.parametrize("name", ["majority", "word-pairs"])
def test_baselines_that_learnt_from_the_dataset_answer_items_of_ones_own(mini_dataset, cxgen, tmp_path, tables, name):
    command = ("evaluate", "--baseline", name, "--config", "nli", "-o", tmp_path / "p.jsonl", "--resamples", 0, "--json")
    both, alone = (json.loads(cxgen(*command, *more, cwd=mini_dataset).stdout)["configs"] for more in (("--items", tables[0]), ()))
    assert (both.pop("cxnli")["items"], both) == (len(NLI), alone)


@pytest.mark.server
def test_a_server_is_asked_about_items_of_ones_own_and_never_sees_their_names(tmp_path, cxgen, monkeypatch):
    """The server's model says 2 to the item whose right answer is 1, and is right otherwise."""
    rows = [{"id": f"neutral-{n}", **row, "label": label} for n, (row, label) in enumerate(zip(NLI, (0, 2, 1, 0, 1, 2), strict=True))]
    truth = {f"{row['premise']}|{row['hypothesis']}|answer": str(row["label"] if n != 2 else 2) for n, row in enumerate(rows)}
    written(tmp_path / "cxnli.jsonl", rows)
    written(tmp_path / "shots.jsonl", [{"premise": "Up.", "hypothesis": "Down.", "label": "C"}])
    (tmp_path / "truth.json").write_text(json.dumps(truth), "utf-8")
    seen, ask = [], consult.ask
    monkeypatch.setattr(consult, "ask", lambda asked, prompts, shown: seen.append((prompts, shown)) or ask(asked, prompts, shown))
    with serving(truth=str(tmp_path / "truth.json")) as url:
        options = ("--wording", "variation-1", "--examples", "shots.jsonl", "--think", "--wrong", "wrong.csv", "--format", "json")
        result = cxgen("evaluate", "--model", "m", "--base-url", url, "--items", "cxnli.jsonl", *options, "-o", "p.jsonl", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)[0] | {"config": "cxnli", "items": 6, "accuracy": 0.875} == json.loads(result.stdout)[0]
    ((prompts, shown),) = seen
    assert '{"premise": "Up.", "hypothesis": "Down.", "answer": "2"}' in prompts["cxnli"].system
    assert prompts["cxnli"].thinks
    assert "neutral" not in json.dumps(shown)
    assert sorted(pl.read_ndjson(tmp_path / "p.jsonl")["id"]) == [row["id"] for row in rows]
    (wrong,) = pl.read_csv(tmp_path / "wrong.csv").to_dicts()
    assert wrong == {
        **{"name": "p", "config": "cxnli", "construction": "way", "id": "neutral-2", "premise": "P1.", "hypothesis": "H, 2."},
        **{"label": "neutral", "answer": "contradiction"},
    }


def test_sentences_without_a_context_are_put_as_whole_texts(tmp_path, cxgen, tables):
    scoring, (_, rows) = FAMILIES["minimal_pairs"].scoring, read_items(tables[1])
    item = rows.row(0, named=True)
    assert scoring.continuations(item, "{context}", {}) == ("", ["Ann runs 0.", "Ann run 0."])
    assert {scoring.shown(item)["whole_first"], scoring.shown(item)["whole_second"]} == {"Ann runs 0.", "Ann run 0."}
    command = ("evaluate", "--model", "m", "--items", tables[1], "--dry-run")
    assert "--wording pair shows whole texts" in cxgen(*command, cwd=tmp_path).stderr
    assert cxgen(*command, "--wording", "pair", cwd=tmp_path).returncode == 0


def test_names_of_checkpoints_are_sorted_by_their_last_number():
    names = ["m-7b-step2k", "m-7b-step100", "m-13b-step100", "gpt", "x-1.5B", "x-300M", "word-pairs-3", "y-limit80", "y-limit250"]
    assert steps(names) == {
        **{"m-7b-step2k": ("m-7b-step#", 2000), "m-7b-step100": ("m-7b-step#", 100), "m-13b-step100": ("m-13b-step#", 100)},
        **{"gpt": ("gpt", None), "x-1.5B": ("x-#", 1_500_000_000), "x-300M": ("x-#", 300_000_000), "word-pairs-3": ("word-pairs-3", None)},
        **{name: (name, None) for name in ("y-limit80", "y-limit250")},  # parts of the data, no checkpoints
    }


def test_predictions_stand_side_by_side_by_step_with_what_they_gained(mini_dataset, cxgen, tmp_path, tables):
    """Three checkpoints, right about the dataset; of four pairs of one's own the first gets two right, the second one, the last all."""
    part = Evaluated.read(Project(mini_dataset), Part(("nli",)), tables[1:])
    right = part.questions.select("id", label="right")
    for step, wrong in (("2k", 0), ("500", 2), ("1000", 3)):
        last = pl.int_range(pl.len()) >= pl.len() - wrong
        written(tmp_path / f"step{step}.jsonl", right.with_columns(pl.when(last).then(1).otherwise("label").alias("label")).to_dicts())
    files = [tmp_path / f"step{step}.jsonl" for step in ("2k", "500", "1000")]
    arguments = ("evaluate", *files, "--config", "nli", "--items", tables[1], "--against", files[1], "--resamples", 0)
    rows = json.loads(cxgen(*arguments, "--format", Format.json, cwd=mini_dataset).stdout)
    assert [(row["step"], row["config"], row["part"]) for row in rows] == [
        (step, config, "all") for config in ("nli", "blimp") for step in (500, 1000, 2000)
    ]
    assert [row["accuracy"] for row in rows] == [1, 1, 1, 0.5, 0.25, 1]
    assert [row["less step500"] for row in rows] == [0, 0, 0, 0, -0.25, 0.5]
    whole = json.loads(cxgen(*arguments, "--json", cwd=mini_dataset).stdout)
    assert [report["name"] for report in whole] == ["step2k", "step500", "step1000"]
