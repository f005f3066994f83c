"""What needs torch, transformers, minicons, lm-evaluation-harness or inspect_ai: `make test-extras`. Models are random ones, made here."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from cxgen.errors import CxgenError
from cxgen.evaluation import likelihood
from cxgen.evaluation.exports import export
from cxgen.evaluation.likelihood import Measure, Unit, predictions
from cxgen.evaluation.report import Part
from cxgen.families import FAMILIES
from cxgen.project import Project
from recipes import tiny
from tests.conftest import stored

pytestmark = pytest.mark.hf
NLI, PAIRS = FAMILIES["nli"].scoring, FAMILIES["minimal_pairs"].scoring
ITEMS = [
    ("a", ("Ann ran in.", [" She was in the house.", " She was out."])),
    ("b", ("After dinner, Bob put the cup on the table.", [" Up.", " The cup was on the table, and the plate was not."])),
    ("c", ("Up", [" the hill", " a hill"])),
]
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    for name, value in OFFLINE.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def causal(tmp_path_factory):
    folder = tmp_path_factory.mktemp("causal")
    tiny.write_causal(folder)
    return str(folder)


@pytest.fixture(scope="module")
def masked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("masked")
    tiny.write_masked(folder)
    return str(folder)


def by_hand(folder, context, answer, *, text=False, mean=False):
    """The log probability of every byte of ``answer`` (or of all), one at a time."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    ids = [0, *tokenizer(context + answer)["input_ids"]]
    first = 1 if text else 1 + len(tokenizer(context)["input_ids"])
    values = []
    for place in range(first, len(ids)):
        with torch.no_grad():
            likely = torch.log_softmax(model(torch.tensor([ids[:place]])).logits[0, -1], -1)
        values.append(likely[ids[place]].item())
    return sum(values) / (len(values) if mean else 1)


@pytest.mark.parametrize("measure", [Measure.likelihood, Measure.normalised])
@pytest.mark.parametrize("unit", [Unit.answer, Unit.text])
def test_likelihoods_are_those_of_a_loop_over_tokens(causal, measure, unit):
    got = list(predictions(causal, ITEMS, PAIRS, measure=measure, unit=unit, batch=16))
    for row, (name, (context, answers)) in zip(got, ITEMS, strict=True):
        expected = [by_hand(causal, context, answer, text=unit is Unit.text, mean=measure is Measure.normalised) for answer in answers]
        assert row["id"] == name
        assert [row["good"], row["bad"]] == pytest.approx(expected, abs=1e-4)
        assert row["label"] == ("good" if expected[0] > expected[1] else "bad")
    for batch in (1, 4):
        for row, other in zip(predictions(causal, ITEMS, PAIRS, measure=measure, unit=unit, batch=batch), got, strict=True):
            assert row == pytest.approx(other, abs=1e-4)


def gaps(folder, text):
    """A function: the log probability of the token at a place of ``text`` where the tokens at some places are hidden."""
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    model, tokenizer = AutoModelForMaskedLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(text)["input_ids"]

    def likely(place, hidden):
        shown = [tokenizer.mask_token_id if number in hidden else token for number, token in enumerate(ids)]
        with torch.no_grad():
            return torch.log_softmax(model(torch.tensor([shown])).logits[0, place], -1)[ids[place]].item()

    return likely


def test_pseudo_log_likelihood_masks_what_follows_in_the_word(masked):
    """A word of one letter is masked alone; of two letters the second is hidden when the first is predicted, but in the original."""
    likely = gaps(masked, "a bc")  # [CLS] a b ##c [SEP]
    items = [("x", ("a", [" bc", " de"]))]
    (row,) = predictions(masked, items, PAIRS, measure=Measure.pll)
    assert row["good"] == pytest.approx(likely(2, (2, 3)) + likely(3, (3,)), abs=1e-4)
    (whole,) = predictions(masked, items, PAIRS, measure=Measure.pll, unit=Unit.text)
    assert whole["good"] < row["good"]
    (row,) = predictions(masked, items, PAIRS, measure=Measure.pll_original, unit=Unit.text)
    assert row["good"] == pytest.approx(sum(likely(place, (place,)) for place in (1, 2, 3)), abs=1e-4)


def test_just_the_words_in_which_answers_differ_are_compared(causal, masked):
    """A masked model sees what is after them; a model that continues texts does not."""
    items = [("x", ("a", [" b c d e", " b f d e"])), ("y", ("a", [" c", " f"]))]
    (row, _) = predictions(masked, items, PAIRS, measure=Measure.pll, unit=Unit.word)
    assert row["good"] == pytest.approx(gaps(masked, "a b c d e")(3, (3,)), abs=1e-4)
    for row, before in zip(predictions(causal, items, PAIRS, unit=Unit.word), ("a b", "a"), strict=True):
        assert [row["good"], row["bad"]] == pytest.approx([by_hand(causal, before, answer) for answer in (" c", " f")], abs=1e-4)


@pytest.mark.parametrize("measure", [Measure.likelihood, Measure.pll])
def test_what_a_model_cannot_read_is_told(causal, masked, tmp_path, measure):
    folder = causal if measure is Measure.likelihood else masked
    with pytest.raises(CxgenError, match="tokens, and the model takes"):
        list(predictions(folder, [("x", ("long " * 800, [" a", " b"]))], PAIRS, measure=measure))
    with pytest.raises(CxgenError, match="no model at"):
        list(predictions(str(tmp_path), ITEMS, PAIRS, measure=measure))


def test_models_whose_answers_would_be_random_are_refused(masked, tmp_path):
    """One that fills gaps is no model that continues texts; an encoder's layer that says which word is likely would be made up."""
    from transformers import AutoTokenizer, BertForMaskedLM, BertModel, GPT2Config, GPT2Model

    bert, gpt, bare, cut = (tmp_path / name for name in ("bert", "gpt", "bare", "cut"))
    BertForMaskedLM.from_pretrained(masked).save_pretrained(bare)  # as a checkpoint of training often is: without a tokenizer
    shutil.copytree(masked, cut)
    (cut / "model.safetensors").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    BertModel.from_pretrained(masked).save_pretrained(bert)
    config = GPT2Config(vocab_size=99, n_positions=64, n_embd=8, n_layer=1, n_head=1, tie_word_embeddings=False)
    GPT2Model(config).save_pretrained(gpt)
    for folder in (bert, gpt):
        AutoTokenizer.from_pretrained(masked).save_pretrained(folder)
    for folder, measure, message in (
        (masked, Measure.likelihood, "fills gaps, and --measure likelihood is for others\n  hint: --measure pll or pll_original"),
        (bert, Measure.pll, "has no cls.predictions.bias"),
        (gpt, Measure.likelihood, "has no lm_head.weight"),
        (bare, Measure.pll, "no tokenizer that knows a word"),
        (cut, Measure.pll, "no model at"),
    ):
        with pytest.raises(CxgenError, match=message):
            list(predictions(str(folder), ITEMS, PAIRS, measure=measure))


@pytest.fixture
def classifier(masked, tmp_path):
    """A function: a random classifier whose outputs are called like this."""
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    def made(names):
        folder = tmp_path / "-".join(names)
        config = BertConfig.from_pretrained(masked, num_labels=len(names), id2label=dict(enumerate(names)))
        BertForSequenceClassification(config).save_pretrained(folder)
        AutoTokenizer.from_pretrained(masked).save_pretrained(folder)
        return str(folder)

    return made


def test_a_classifier_is_asked_by_its_head(classifier, mini_dataset, cxgen, tmp_path):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder, path = classifier(["CONTRADICTION", "ENTAILMENT", "NEUTRAL"]), tmp_path / "p.jsonl"
    command = ("evaluate", "--model", f"hf:{folder}", "--config", "nli", "--limit", 15, "--resamples", 20)
    dry = cxgen(*command, "-o", path, "--dry-run", "--format", "json", cwd=mini_dataset)
    assert dry.returncode == 0, dry.stderr
    (told,) = json.loads(dry.stdout)
    assert 0 <= told.pop("minutes") < 2
    assert told == {"config": "nli", "items": 12, "answered before": 0, "texts": 12}
    result = cxgen(*command, "-o", path, "--json", cwd=mini_dataset)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["configs"]["nli"]["items"] == 12
    for cache, before in (("kept.jsonl", 0), ("kept.jsonl", 12)):  # where one says, not beside it
        again = cxgen(*command, "-o", path, "--cache", tmp_path / cache, cwd=mini_dataset)
        assert ((tmp_path / cache).is_file(), "kept: 12 of 12 are answered" in again.stderr) == (True, before > 0)
    model, tokenizer = AutoModelForSequenceClassification.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    for row in stored("nli", "test", project=mini_dataset).join(pl.read_ndjson(path), on="id").iter_rows(named=True):
        with torch.no_grad():
            expected = model(**tokenizer(row["premise"], row["hypothesis"], return_tensors="pt")).logits.softmax(-1)[0].tolist()
        assert [row[name] for name in ("contradiction", "entailment", "neutral")] == pytest.approx(expected, abs=1e-4)
    bare, two = classifier(["LABEL_0", "LABEL_1", "LABEL_2"]), classifier(["entailment", "not_entailment"])
    for model, more, message in (
        (bare, (), "3 outputs, here called label_0, label_1, label_2"),
        (bare, ("--labels", "neutral,entailment,contradiction"), ""),
        (two, (), "2 outputs, here called entailment, not_entailment"),
        (two, ("--labels", "neutral,entailment,contradiction"), "2 outputs, here called neutral, entailment, contradiction"),
        (folder, ("--shots", 1), "which gets premise and hypothesis and no more"),
        (folder, ("--items", tmp_path / "pairs.jsonl"), "which pairs do not have"),
    ):
        (tmp_path / "pairs.jsonl").write_text('{"good": "Ann runs.", "bad": "Ann run."}\n', "utf-8")
        result = cxgen(*command[:2], f"hf:{model}", *command[3:], *more, "-o", tmp_path / "q.jsonl", cwd=mini_dataset)
        assert (result.returncode, message in result.stderr) == (2 if message else 0, True), result.stderr


def test_a_model_without_a_head_for_labels_is_no_classifier(causal, mini_dataset, cxgen):
    for more, message in (
        (("--measure", "head"), "continues texts, and --measure head is for others\n  hint: --measure likelihood or normalised"),
        (("--labels", "neutral,entailment,contradiction"), "continues texts, and --labels is for classifiers"),
    ):
        result = cxgen("evaluate", "--model", f"hf:{causal}", "--config", "nli", *more, cwd=mini_dataset)
        assert (result.returncode, message in result.stderr) == (2, True), result.stderr


def test_a_model_of_this_machine_is_scored_goes_on_where_it_was_and_is_not_asked_again(causal, mini_dataset, cxgen, tmp_path, monkeypatch):
    mini_dataset = shutil.copytree(mini_dataset, tmp_path / "project")
    command = ("evaluate", "--model", f"hf:{causal}", "--config", "nli", "--shots", 1, "--wording", "told", "--json")
    path = mini_dataset / "outputs/predictions" / f"{Path(causal).name}-told-1-shot-likelihood-nli.jsonl"
    ask, count = likelihood.predictions, iter(range(100))
    with monkeypatch.context() as patch:  # interrupted after ten items
        patch.setattr(likelihood, "predictions", lambda *args, **more: (row for row in ask(*args, **more) if next(count) < 10 or 1 / 0))
        with pytest.raises(ZeroDivisionError):
            cxgen(*command, cwd=mini_dataset)
    assert not path.exists()
    left = []
    monkeypatch.setattr(likelihood, "predictions", lambda path, items, *args, **more: left.extend(items) or ask(path, items, *args, **more))
    result = cxgen(*command, "--resamples", 20, cwd=mini_dataset)
    assert result.returncode == 0, result.stderr
    for more in ((), ("--limit", 15)):  # the same again, and a part
        assert cxgen(*command, *more, "--resamples", 20, cwd=mini_dataset).returncode == 0
    assert len(left) == stored("nli", "test", project=mini_dataset).height - 10
    rows = stored("nli", "test", project=mini_dataset)
    answers = pl.read_ndjson(path)
    assert set(answers["id"]) == set(rows["id"])
    report = json.loads(result.stdout)["configs"]["nli"]
    both = rows.join(answers, on="id", suffix="_given")
    names = ["entailment", "neutral", "contradiction"]
    right = sum(names[label] == answer for label, answer in both.select("label", "label_given").iter_rows())
    assert (report["items"], report["right"]) == (rows.height, right)


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory):
    """A project with few scenarios."""
    from cxgen.build.params import Params
    from cxgen.build.run import build_suites
    from tests.mini import write_params

    folder = tmp_path_factory.mktemp("scenarios")
    write_params(folder, suites={"cc_syntax": {"general": 2, "per_value": 1}, "cc_semantics": {"draws": 1}})
    build_suites(Project(folder), Params.read(folder / "params.yaml"))
    return folder


def test_models_fill_the_gaps_of_scenarios(scenarios, causal, masked, cxgen, tmp_path):
    rows = stored("cc_semantics", "train", project=scenarios)
    for number, (folder, measure) in enumerate(((causal, "likelihood"), (masked, "pll"))):
        path = tmp_path / f"{number}.jsonl"
        options = ("--config", "cc_semantics", "--split", "train", "--measure", measure, "--unit", "word", "--batch", "64")
        options += ("--resamples", "0", "-o", path, "--json")
        result = cxgen("evaluate", "--model", f"hf:{folder}", *options, cwd=scenarios)
        assert result.returncode == 0, result.stderr
        report = json.loads(result.stdout)["configs"]["cc_semantics"]
        answers = rows.join(pl.read_ndjson(path).select("id", one="first", two="second"), on="id")
        mean = answers.filter(scenario="S5").group_by("contrast_set").agg(pl.col("one", "two").exp().mean().log().name.suffix("_5"))
        base = answers.filter(scenario="S1").join(mean, on="contrast_set")
        first = (base["one"] - base["one_5"]) > (base["two"] - base["two_5"])
        right = first == (base["answer"] == 0)
        assert report["scenarios"]["accuracy"]["S1"]["S5"]["value"] == pytest.approx(right.mean(), abs=0.005), "ties aside"
        assert report["items"] == answers["answer"].drop_nulls().len()


# harnesses


def test_lm_eval_runs_what_was_exported_from_anywhere(mini_dataset, tmp_path):
    export("lm_eval", Project(mini_dataset), Part(("nli", "distinction")), tmp_path / "tasks")
    (tmp_path / "tasks").rename(tmp_path / "moved")
    (tmp_path / "elsewhere").mkdir()
    command = [sys.executable, "-m", "lm_eval", "run", "--include_path", "../moved", "--tasks", "cxgen", "--model", "dummy"]
    ran = subprocess.run(
        [*command, "--num_fewshot", "2", "--output_path", "out", "--log_samples"],
        cwd=tmp_path / "elsewhere",
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **OFFLINE},
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    (path,) = (tmp_path / "elsewhere/out").rglob("results_*.json")
    got = json.loads(path.read_text("utf-8"))
    assert {"cxgen", "cxgen_nli", "cxgen_nli_reach", "cxgen_distinction_reach"} <= set(got["results"])
    assert got["n-samples"]["cxgen_nli_reach"]["effective"] == stored("nli", "test", project=mini_dataset).height
    (samples,) = (tmp_path / "elsewhere/out").rglob("samples_cxgen_nli_reach*.jsonl")
    first = json.loads(samples.read_text("utf-8").splitlines()[0])
    assert first["doc"]["id"] in set(stored("nli", "test", project=mini_dataset)["id"])
    asked = first["arguments"]["gen_args_0"]
    assert asked["arg_0"].count("Yes, maybe or no:") == 3, "two examples and the item"
    assert asked["arg_1"] == " Yes"


def test_inspect_runs_what_was_exported(mini_dataset, tmp_path, monkeypatch):
    import tiktoken
    from inspect_ai import eval as run
    from inspect_ai.model import ModelOutput, get_model

    class Bytes:
        """The mock counts tokens with an encoding that it would download."""

        def encode(self, text, **_):
            return list(text.encode())

    monkeypatch.setattr(tiktoken, "get_encoding", lambda _: Bytes())
    export("inspect", Project(mini_dataset), Part(("nli",)), tmp_path / "tasks")
    monkeypatch.chdir(tmp_path)
    model = get_model("mockllm/model", custom_outputs=lambda *_: ModelOutput.from_content("mockllm/model", "ANSWER: B"))
    (log,) = run(str(Path("tasks/cxgen_tasks.py")), model=model, task_args={"config": "nli"}, log_dir=str(tmp_path / "log"), display="none")
    assert log.status == "success", log.error
    rows = stored("nli", "test", project=mini_dataset)
    assert log.results.completed_samples == rows.height
    values = {name: metric.value for score in log.results.scores for name, metric in score.metrics.items()}
    assert values["reach"] == pytest.approx((rows["label"] == 1).mean()), "B is neutral"
