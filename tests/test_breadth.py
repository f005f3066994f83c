"""How broad premises are: figures of a few sentences that are known by hand."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxgen.report.variety import breadth, closing, kind_of, opening, self_bleu


@pytest.mark.parametrize(
    ("phrase", "kind"),
    [
        ("before dawn", "PP"),
        ("just before dawn", "PP"),
        ("when the bell rang", "clause"),
        ("last night", "time"),
        ("slowly", "adverb"),
        ("the lazy dog", "none"),
        ("", "none"),
    ],
)
def test_a_phrase_is_told_by_its_first_word(phrase, kind):
    assert kind_of(phrase) == kind


def test_an_opening_stands_before_a_comma_or_is_an_adjunct_and_a_closing_is_an_adjunct():
    assert opening("Last night, Ann left.") == "time"
    assert opening("Ann, who was late, left.") == "none"
    assert opening("Before dawn Ann left.", ["before dawn"]) == "PP"
    assert closing("Ann left before dawn.", ["last night", "before dawn"]) == "PP"
    assert closing("Ann left.", ["before dawn"]) == "none"


def premise(text, verb, split="train", template="plain", **fillers):
    slots = [{"role": role, "lemma": lemma} for role, lemma in fillers.items()]
    return {"premise": text, "template": template, "verb": verb, "split": split, "slots": slots}


def test_breadth_counts_each_premise_once():
    rows = [
        premise("Ann hid.", "hide", agent="Ann"),
        premise("Ann hid.", "hide", agent="Ann"),
        premise("Ann ran to bed.", "run", "test", agent="Ann", goal="bed"),
        premise("Bo ran from bed to bath.", "run", "test", agent="Bo", source="bed", goal="bath"),
        premise("At noon, Cy froze solid.", "freeze", "dev", agent="Cy", modifier="at noon", result="solid"),
    ]
    found = breadth(pl.DataFrame(rows))
    assert found.pop("fillers")["agent"] == {"lemma": "Ann", "share": 0.5}
    assert found == {
        "shapes": 2,
        "largest shape": 0.75,
        "verbs": 3,
        "verbs in test": 1,
        "top five verbs": 1.0,
        "place pairs": 1,
        "results": 1,
        "largest result": 1.0,
    }


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=8), min_size=2, max_size=7))
def test_self_bleu_is_that_of_nltk(sentences):
    """Which counts every n-gram of all other sentences anew for each."""
    from nltk.translate import bleu_score as bleu

    smooth = bleu.SmoothingFunction().method1
    scores = [
        bleu.sentence_bleu([*sentences[:n], *sentences[n + 1 :]], sentences[n], smoothing_function=smooth) for n in range(len(sentences))
    ]
    assert self_bleu(sentences) == pytest.approx(sum(scores) / len(scores))
