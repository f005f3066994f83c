"""The rule judge rejects what it should, with the reason, and nothing else."""

from __future__ import annotations

import polars as pl
import pytest

from cxgen.generate import Request, generate_items
from cxgen.judge import judge_items

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
            "construction": ["resultative"],
            "contrast_of": pl.Series([None], dtype=pl.String),
            "kind": ["achieved"],
            "config": ["nli"],
            "frame": ["re-tops-clean-dry"],
            "premise": [premise or GOOD["premise"]],
            "hypothesis": [hypothesis or GOOD["hypothesis"]],
            "slots": [[{"slot": k, "role": r, "lemma": lemma, "sense": s} for k, (r, lemma, s) in filled.items()]],
        }
    )


@pytest.fixture
def judge(constructions):
    return lambda table: judge_items(table, [constructions["resultative"]]).row(0, named=True)


def test_a_good_item_passes(judge):
    verdict = judge(item())
    assert (verdict["premise_verdict"], verdict["pair_verdict"]) == ("prototypical", "appropriate")
    assert verdict["premise_reason"] == verdict["pair_reason"] == ""


@pytest.mark.parametrize(
    ("slots", "reason"),
    [
        (
            {"verb": ("verb", "dry", "dry%2:30:01::"), "result": ("result", "dry", "dry%3:00:01::")},
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


def test_extended_verbs_are_told_from_prototypical_ones(constructions):
    construction = constructions["way-manner"]
    items = generate_items(construction, Request({"nli": 240}))
    table = items.join(judge_items(items, [construction]), on="id")
    verdict = dict(table.select("verb", "premise_verdict").iter_rows())
    assert set(verdict.values()) == {"prototypical", "extended"}
    assert all(verdict[verb] == "extended" for verb in {"hum", "sing", "whistle", "giggle"} & set(verdict))
