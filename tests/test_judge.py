"""The rule judge rejects what it should, with the reason, and nothing else."""

from __future__ import annotations

import polars as pl
import pytest

from cxgen.constructicon import load_construction
from cxgen.judge import judge_items
from cxgen.project import Project

WIPING = """\
name: wiping
title: Wiping
form: "NP V NP AP"
meaning: The agent's action makes the patient clean or dry.
schematicity: 9
sources: ["made up for the tests"]
no_lookalike: a test
predicates: {has: {gloss: "x has property y at the end"}}
slots:
  agent: {role: agent, class: everyday-people}
  verb: {role: verb, frame: true}
  patient: {role: patient, frame: true}
  result: {role: result, frame: true}
kinds:
  achieved: {gloss: it comes to be so, entails: ["has(patient, result)"]}
templates: {plain: "{agent} {verb:past} {patient} {result}."}
hypotheses: {has: {claim: "has(patient, result)", wordings: ["Afterwards, {patient} was {result}."]}}
designs: {one: {kinds: [achieved], hypotheses: [has]}}
frames:
  - name: tops
    design: one
    entails_alone: [wipe, dry]
    slots:
      verb: ["wipe%2:35:00::", "dry%2:30:00::"]
      patient: ["counter%1:06:00::", "window%1:06:00::"]
      result: ["clean%3:00:01::", "dry%3:00:01::"]
"""
GOOD = {"premise": "The neighbor wiped the counter clean.", "hypothesis": "Afterwards, the counter was no longer dirty."}
SLOTS = {
    "agent": ("agent", "neighbor", "neighbor%1:18:00::"),
    "verb": ("verb", "wipe", "wipe%2:35:00::"),
    "patient": ("patient", "counter", "counter%1:06:00::"),
    "result": ("result", "clean", "clean%3:00:01::"),
}


def item(premise=None, hypothesis=None, **slots):
    filled = {**SLOTS, **slots}
    return pl.DataFrame(
        {
            "id": ["i"],
            "premise_id": ["p"],
            "construction": ["wiping"],
            "contrast_of": pl.Series([None], dtype=pl.String),
            "kind": ["achieved"],
            "config": ["nli"],
            "frame": ["tops"],
            "premise": [premise or GOOD["premise"]],
            "hypothesis": [hypothesis or GOOD["hypothesis"]],
            "slots": [[{"slot": k, "role": r, "lemma": lemma, "sense": s} for k, (r, lemma, s) in filled.items()]],
        }
    )


@pytest.fixture
def judge(tmp_path, lexicon):
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates/wiping.yaml").write_text(WIPING, "utf-8")
    wiping = load_construction(Project(tmp_path), "wiping", lexicon)
    return lambda table: judge_items(table, [wiping]).row(0, named=True)


def test_a_good_item_passes(judge):
    verdict = judge(item())
    assert (verdict["premise_verdict"], verdict["pair_verdict"]) == ("prototypical", "appropriate")
    assert verdict["premise_reason"] == verdict["pair_reason"] == ""


@pytest.mark.parametrize(
    ("slots", "reason"),
    [
        (
            {"verb": ("verb", "dry", "dry%2:30:00::"), "result": ("result", "dry", "dry%3:00:01::")},
            "the result repeats the verb's own meaning: dry ... dry",
        ),
        ({"verb": ("verb", "sleep", "sleep%2:29:00::")}, "the verb is at odds with the construction: sleep"),
        ({"agent": ("agent", "counter", "counter%1:06:00::")}, "repeated noun: counter"),
        ({"patient": ("patient", "sonata", "sonata%1:10:00::")}, "argument outside the frame: sonata as patient"),
        ({"agent": ("agent", "wipe", "wipe%1:04:00::")}, "the verb repeats a noun: wipe"),
    ],
)
def test_a_bad_premise_is_rejected_with_its_reason(judge, slots, reason):
    verdict = judge(item(**slots))
    assert (verdict["premise_verdict"], verdict["premise_reason"]) == ("unacceptable", reason)


@pytest.mark.parametrize(
    ("hypothesis", "reason"),
    [
        (GOOD["premise"], "word for word"),
        ("The neighbor wiped the counter.", "repeats part of its premise"),
        ("afterwards, the counter was clean.", "well-formed"),
        ("The {patient} was clean.", "well-formed"),
    ],
)
def test_a_bad_pair_is_rejected_with_its_reason(judge, hypothesis, reason):
    verdict = judge(item(hypothesis=hypothesis))
    assert verdict["pair_verdict"] == "inappropriate"
    assert reason in verdict["pair_reason"]
