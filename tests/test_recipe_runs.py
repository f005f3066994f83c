"""The recipes from end to end, on tiny random models: `make test-extras`."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cxgen.errors import CxgenError
from cxgen.facade import load
from cxgen.suites import SUITES
from cxgen.suites.cc_syntax import FEATURES
from cxgen.vocabulary import LABELS
from recipes import tiny
from recipes.finetune.regimes import run as finetune
from recipes.finetune.settings import DEFAULT, Lora, Settings, Training
from recipes.probe import settings as probe
from recipes.probe.layers import run as probe_run
from tests.conftest import ROOT

pytestmark = pytest.mark.hf
ALL = {"train.configs": ["nli", "distinction"], "evaluate.resamples": 0, "training.max_length": 160, "training.batch": 16}


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    tiny.write_masked(folder / "masked")
    tiny.write_causal(folder / "causal")
    return folder


@pytest.fixture
def chosen(models, mini_dataset, tmp_path, monkeypatch):
    """Settings for a run on the mini dataset, with changes."""
    monkeypatch.setenv("CXGEN_PROJECT", str(mini_dataset))

    def settings(regime, model="masked", **changes):
        wanted = {"model": str(models / model), "regime": regime, "output": str(tmp_path / "runs"), "train.most": 60, "training.epochs": 1}
        return Settings.read(DEFAULT, {**ALL, **wanted, **{name.replace("__", "."): value for name, value in changes.items()}})

    return settings


def answers(settings, part):
    return pl.read_ndjson(settings.folder / f"predictions/{part}.jsonl").sort("id")


@pytest.mark.parametrize("model", ["masked", "causal"])
def test_a_model_is_trained_answers_all_parts_and_is_not_trained_again(chosen, mini_dataset, cxgen, tmp_path, model):
    own = tmp_path / "cxnli.csv"
    own.write_text(
        "premise,hypothesis,label\nAnn reached the hill.,Ann was on the hill.,entailment\nAnn waited.,Ann was there.,neutral\n", "utf-8"
    )
    settings, told = chosen("shared", model, evaluate__files=[str(own)]), []
    reports = finetune(settings, told.append)
    assert {name: report["items"] for name, report in reports.items()} == {
        "nli": load("nli", "test", project=mini_dataset).height,
        "distinction": load("distinction", "test", project=mini_dataset).height,
        "cxnli": 2,
    }
    said = answers(settings, "nli")
    assert said.select(LABELS).sum_horizontal().to_list() == pytest.approx([1.0] * said.height, abs=1e-5)
    scored = cxgen("evaluate", settings.folder / "predictions/nli.jsonl", "--config", "nli", "--json", "--resamples", 0, cwd=mini_dataset)
    assert json.loads(scored.stdout)["configs"]["nli"]["accuracy"] == reports["nli"]["accuracy"]
    assert not (settings.folder / "checkpoints").exists()
    assert json.loads((settings.folder / "report.json").read_text("utf-8"))["parts"] == reports
    assert any(text.startswith("training ") for text in told)
    told.clear()
    assert finetune(settings, told.append) == reports
    assert told == [], "nothing was left to do"
    (settings.folder / "predictions/nli.jsonl").unlink()
    assert finetune(settings, told.append) == reports
    assert told == ["answering nli"]
    both = said.join(answers(settings, "nli"), on="id", suffix="_again")
    for label in LABELS:
        assert both[label].to_list() == pytest.approx(both[f"{label}_again"].to_list(), abs=2e-6), "the model was kept with its head"


def test_only_adapters_in_the_middle_and_the_head_are_trained(models):
    from recipes.finetune.model import build

    model, _ = build(str(models / "masked"), Lora(4, 8, 0.0, (1,), None), 2, seed=1)
    trained = {name for name, weight in model.named_parameters() if weight.requires_grad}
    assert {name.split(".lora_")[0].split("layer.")[1] for name in trained if "lora_" in name} == {
        "1.attention.self.query",
        "1.attention.self.value",
    }
    assert model.config.num_labels == 6
    with pytest.raises(CxgenError, match="no adapters for"):
        build(str(models / "masked"), Lora(4, 8, 0.0, "middle", ("nothing",)), 1, seed=1)


@pytest.mark.parametrize("model", ["masked", "causal"])
def test_text_beside_the_items_teaches_the_adapters_only(chosen, models, tmp_path, model):
    import torch

    from recipes.finetune.model import build
    from recipes.finetune.replay import replayed

    text = tmp_path / "books.txt"
    text.write_text("It had rained all day in the valley.\nNobody knew where the boat had gone.\n", "utf-8")
    settings = chosen("shared", model, replay__file=str(text), evaluate__configs=["nli"])
    trained, tokenizer = build(settings.model, settings.lora, 1, seed=1)
    replay = replayed(trained, tokenizer, settings.model, text.read_text("utf-8").splitlines(), settings.replay, 64)
    torch.manual_seed(1)
    replay(8, torch.device("cpu")).backward()
    moved = {name for name, weight in trained.named_parameters() if weight.grad is not None and weight.grad.abs().sum() > 0}
    assert moved, "the loss reaches what the classifier uses"
    assert all("lora_" in name for name in moved)
    finetune(settings, print)
    assert json.loads((settings.folder / "run.json").read_text("utf-8"))["replay"]["file"] == str(text)


def test_each_construction_has_a_head_of_its_own(models, tmp_path):
    """The same sentences, entailed in one construction and contradicted in the other: one head cannot, two can."""
    from recipes.finetune.model import build
    from recipes.finetune.training import Learner

    texts = [f"Ann ran to {place}." for place in ("Rome", "Bath", "York", "Oslo")]
    rows = pl.DataFrame(
        [
            {"premise": text, "hypothesis": "She was there.", "label": label, "target": target}
            for text in texts
            for target, label in (("a", 0), ("b", 2))
        ]
    )
    how = Training(10, 10, 1, 0.0, 0.05, 4, 1, 0.0, 0.0, 64)
    found = {}
    for heads in ({}, {"a": 0, "b": 1}):
        model, tokenizer = build(str(models / "masked"), Lora(4, 8, 0.0, "middle", None), max(1, len(heads)), seed=1)
        learner = Learner(model, tokenizer, heads, how, tmp_path / str(len(heads)), seed=1)
        learner.learn(rows, rows)
        found[len(heads)] = learner.answers(rows, 8).argmax(axis=1)
        if heads:
            stranger = learner.answers(rows.head(1).with_columns(target=pl.lit("c")), 8)
            each = [learner.answers(rows.head(1).with_columns(target=pl.lit(name)), 8) for name in "ab"]
            assert stranger == pytest.approx(np.mean(each, axis=0), abs=1e-5)
    assert (found[2] == rows["label"].to_numpy()).all()
    assert (found[0] == rows["label"].to_numpy()).mean() == 0.5


def test_an_interrupted_run_goes_on_at_the_last_whole_checkpoint(chosen, monkeypatch):
    from recipes.finetune import training

    whole = chosen("shared", training__epochs=2, seed=3)
    finetune(whole, print)
    metric, calls = training.Learner._metric, iter(range(100))

    def interrupting(self, rows):
        measured = metric(self, rows)

        def measure(said):
            if next(calls) == 2:
                raise KeyboardInterrupt
            return measured(said)

        return measure

    cut = chosen("shared", training__epochs=2, seed=3, output=str(whole.output) + "-cut")
    with monkeypatch.context() as patch:
        patch.setattr(training.Learner, "_metric", interrupting)
        with pytest.raises(KeyboardInterrupt):
            finetune(cut, print)
    found = sorted((cut.folder / "checkpoints").iterdir(), key=lambda path: int(path.name.rpartition("-")[2]))
    assert len(found) == 2
    half = found[-1].with_name("checkpoint-999")  # killed while it was written
    shutil.copytree(found[-1], half)
    (half / "trainer_state.json").unlink()
    resumed = []
    learn = training.Learner._last_checkpoint
    monkeypatch.setattr(training.Learner, "_last_checkpoint", lambda self: resumed.append(learn(self)) or resumed[-1])
    finetune(cut, print)
    assert resumed == [str(found[-1])]
    for label in LABELS:
        assert answers(cut, "nli")[label].to_list() == pytest.approx(answers(whole, "nli")[label].to_list(), abs=1e-4)


def test_examples_in_the_prompt_are_those_of_evaluate(chosen, mini_dataset, models, cxgen, tmp_path):
    settings = chosen("in-context", "causal", evaluate__configs=["nli"], prompting__shots=2)
    finetune(settings, print)
    given = ("--model", f"hf:{models / 'causal'}", "--shots", 2, "--config", "nli", "-o", tmp_path / "p.jsonl", "--resamples", 0)
    assert cxgen("evaluate", *given, cwd=mini_dataset).returncode == 0
    assert answers(settings, "nli").rows() == pl.read_ndjson(tmp_path / "p.jsonl").sort("id").rows()


@pytest.fixture
def probed(models, tmp_path, monkeypatch):
    """Settings for a probe of sentences in which the word *so* comes before *as*, or after it."""
    monkeypatch.chdir(tmp_path)
    rows = []
    for split, letters in (("train", "abcdefghij"), ("test", "klmnop")):
        for one in letters:
            for other in letters:
                for label, order in ((1, "so {} as {}"), (0, "as {} so {}")):
                    rows.append({"sentence": order.format(one, other), "label": label, "split": split, "pair": f"{one}{other}"})
    pl.DataFrame(rows).write_parquet(tmp_path / "s.parquet")

    def settings(**changes):
        wanted = {"model": str(models / "masked"), "data": "s.parquet", "curve.sizes": [16, 64, 5000]}
        return probe.Settings.read(probe.DEFAULT, {**wanted, **{name.replace("__", "."): value for name, value in changes.items()}})

    return settings


def test_every_layer_is_probed_and_words_alone_do_not_tell_order(probed):
    settings = probed(states__pooling="first")
    found = probe_run(settings)
    whole = {row["layer"]: row for row in found if row["what"] == "all"}
    assert list(whole) == ["words", "0", "1", "2"]
    assert (whole["words"]["accuracy"], whole["words"]["pairs"]) == (0.5, 0.0), "the same words"
    assert whole["0"]["accuracy"] == 0.5, "the embedding of [CLS] has seen nothing"
    assert whole["2"]["accuracy"] > 0.55, "even in a random model the first token has read the sentence"
    assert whole["2"]["items"] == 72
    sizes = [(row["size"], row["repeat"]) for row in found if row["what"] == "curve" and row["layer"] == "1"]
    assert sizes == [(16, 0), (16, 1), (16, 2), (64, 0), (64, 1), (64, 2)]


def test_the_published_sentences_are_probed_subset_by_subset(models, project, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    SUITES["cc_syntax"].rows(project, 1, {"general": 8, "per_value": 2}).write_parquet("s.parquet")
    changes = {"model": str(models / "masked"), "data": "s.parquet", "where": {"preset": "published"}, "curve.sizes": [8]}
    found = probe_run(probe.Settings.read(probe.DEFAULT, changes))
    words = {row["feature"]: row["accuracy"] for row in found if row["layer"] == "words" and row["value"] is None}
    assert words == dict.fromkeys(["", *FEATURES], 0.5), "instances and non-instances have the same words"
    lengths = [int(row["value"]) for row in found if (row["layer"], row["feature"]) == ("1", "length") and row["value"]]
    assert lengths == list(range(12, 57)), "every length is tested"


def test_a_run_is_kept_step_by_step(probed, monkeypatch):
    from recipes.probe import hidden, layers

    settings = probed()
    monkeypatch.setattr(hidden, "_CHUNK", 64)
    fit, count = layers.probed, iter(range(100))
    with monkeypatch.context() as patch:
        patch.setattr(layers, "probed", lambda *given: fit(*given) if next(count) < 9 else 1 / 0)
        with pytest.raises(ZeroDivisionError):
            probe_run(settings)
    assert len(list((settings.folder / "states").glob("*.npy"))) == -(-272 // 64)
    left = []
    with monkeypatch.context() as patch:
        patch.setattr(hidden, "_Encoder", None)  # not loaded again
        patch.setattr(layers, "probed", lambda *given: left.append(given[0]) or fit(*given))
        found = probe_run(settings)
    assert len(left) == 4 * 7 - 9, "a probe of all, and three of each size"
    assert json.loads((settings.folder / "report.json").read_text("utf-8"))["probes"] == found
    shutil.rmtree(settings.folder)
    assert probe_run(settings) == found, "the same again from nothing"


def test_vectors_are_those_of_the_sentence_alone(models, tmp_path):
    """Padding beside longer sentences changes nothing, and means leave out [CLS] and [SEP]."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    from recipes.probe.hidden import hidden_states

    sentences = ["so a as b", "so"]
    found = hidden_states(str(models / "masked"), sentences, probe.States("mean", 2, 64), tmp_path, "m")
    model, tokenizer = AutoModel.from_pretrained(models / "masked").eval(), AutoTokenizer.from_pretrained(models / "masked")
    for number, sentence in enumerate(sentences):
        with torch.no_grad():
            states = model(**tokenizer(sentence, return_tensors="pt"), output_hidden_states=True).hidden_states
        for layer, each in enumerate(states):
            expected = each[0, 1:-1].mean(dim=0)
            assert found[layer][number] == pytest.approx(expected.numpy(), abs=1e-5)


@pytest.mark.parametrize(("script", "model", "told"), [("cxnli.sh", "hf:{}", "cxnli 18"), ("cxmp.sh", "{}", "female 4")])
def test_the_script_of_a_paper_scores_a_model_on_its_data(models, cxgen, tmp_path, script, model, told):
    shutil.copytree(ROOT / "recipes/papers", tmp_path / "recipes/papers")
    few = {"n_per_construction": 24, "n_per_lookalike": 24, "constructions": "[resultative]"}
    params = (ROOT / "params.yaml").read_text("utf-8")
    for name, value in {**few, "sizes": "{cxmp: 64, cxnli: 60, minimal_pairs: 0}"}.items():
        params = re.sub(rf"^{name}: .*", f"{name}: {value}", params, flags=re.MULTILINE)
    (tmp_path / "params.yaml").write_text(params, "utf-8")
    assert cxgen("build", cwd=tmp_path).returncode == 0
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "SPLITS": "test", "PYTHONPATH": str(ROOT)}
    command = [str(tmp_path / "recipes/papers" / script), model.format(models / "causal")]
    said = subprocess.run(command, check=False, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert said.returncode == 0, said.stderr
    assert told in " ".join(said.stdout.split())
