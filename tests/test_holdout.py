"""What occurs in test only: wordings and templates."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxgen.build.params import Params, Request
from cxgen.build.samplers import generate_items, items_of, previews
from cxgen.families import FAMILIES
from cxgen.sampling import HoldOut, span
from cxgen.sampling.plan import Plan, held_templates
from cxgen.streams import elect
from cxgen.vocabulary import SPLITS

NLI = FAMILIES["nli"]
LEAKS = ("held-out wordings in train or validation", "held-out templates in train or validation")


def made(reach, **held):
    request = Request({"nli": 480, "distinction": 240, "minimal_pairs": 0}, seed=3, oversample=1, hold_out=HoldOut(**held))
    return generate_items(reach, request)


@given(st.integers(1, 30))
def test_about_a_third_of_the_wordings_is_held_out_never_the_first_and_one_added_changes_none(count):
    held = HoldOut(wordings=True).of_wordings(count)
    assert not held[0]
    assert sum(held) == (count + 1) // 3
    assert HoldOut(wordings=True).of_wordings(count + 1)[:count] == held


@given(st.lists(st.booleans(), min_size=2, max_size=9).map(lambda held: [False, *held]), st.sampled_from([*SPLITS, ""]), st.integers(0, 99))
def test_training_sees_only_what_is_not_held_out_and_test_both(held, split, seed):
    plan = Plan((seed,), np.arange(400), np.zeros(400), {})
    out = np.array(held)[plan.choose("wording", range(len(held)), held, split)]
    if any(held) and split in {"train", "validation"}:
        assert not out.any()
    if any(held) and split == "test":
        assert 0.35 < out.mean() < 0.65


@given(st.lists(st.floats(0.1, 9), min_size=1, max_size=6), st.floats(0.1, 9), st.integers(0, 99))
def test_a_name_that_is_added_wins_its_share_and_no_other_number_changes_hands(weights, more, seed):
    names, numbers = list("abcdefg")[: len(weights)], np.arange(4000) * 977
    before, after = elect((seed,), names, numbers, weights), elect((seed,), [*names, "new"], numbers, [*weights, more])
    assert set(after[after != before]) <= {len(names)}
    shares = np.bincount(after, minlength=len(names) + 1) / len(numbers)
    assert shares == pytest.approx(np.array([*weights, more]) / (sum(weights) + more), abs=0.04)


def test_half_of_the_test_sets_are_worded_as_training_never_is(reach):
    items = made(reach, wordings=True)
    assert set(items.filter(pl.col("split") != "test")["wording"]) == {0}
    test = items.filter(pl.col("split") == "test")
    assert (test["wording_held_out"] == (test["wording"] == 1)).all()
    sets = test.group_by("config", "contrast_set").agg(pl.col("wording_held_out").n_unique().alias("n"), pl.col("wording_held_out").first())
    assert sets["n"].max() == 1
    assert 0.2 < sets["wording_held_out"].mean() < 0.8
    assert set(NLI.violations(items).values()) == {0}
    assert test.group_by("contrast_set", "rule").agg(pl.col("hypothesis").n_unique())["hypothesis"].max() == 1


def test_some_of_the_templates_occur_in_test_only(reach):
    held = held_templates(reach, 3)
    assert 0 < len(held) < len(reach.templates)
    items = made(reach, templates=True)
    assert set(items.filter(pl.col("split") == "test")["template"]) & held
    assert not set(items.filter(pl.col("split") != "test")["template"]) & held
    assert (items["template_held_out"] == items["template"].is_in(list(held))).all()
    assert not items["wording_held_out"].any()
    assert set(NLI.violations(items).values()) == {0}


def test_every_kind_keeps_a_template(reach):
    first, *_, last = reach.templates
    only = {last: ("missed",), first: ("twice", "once")}
    narrow = {name: replace(template, only=only.get(name, ("caught",))) for name, template in reach.templates.items()}
    for seed in range(20):
        assert not held_templates(replace(reach, templates=narrow), seed) & {first, last}


def test_nothing_is_held_out_of_a_preview(reach):
    rows = items_of(previews(reach, 1)[0].draw(span(0, 60)))
    assert set(rows["wording"]) == {0, 1}
    assert set(rows["template"]) == set(reach.templates)
    assert not rows["wording_held_out"].any()
    assert not rows["template_held_out"].any()


@pytest.mark.parametrize(("mark", "leak"), list(zip(("wording_held_out", "template_held_out"), LEAKS, strict=True)))
def test_a_leak_is_counted(reach, mark, leak):
    items = made(reach, wordings=True, templates=True)
    train = items.filter(pl.col("split") == "train").with_columns(pl.lit(True).alias(mark))
    assert NLI.violations(train)[leak] == train.height
    unmarked = items.with_columns(split=pl.lit("train"))
    assert NLI.violations(unmarked)[leak] >= items[mark].sum() > 0


def test_params_say_what_is_held_out(mini):
    path = mini / "params.yaml"
    assert Params.read(path).request.hold_out == HoldOut(wordings=True)
    text = path.read_text("utf-8")
    path.write_text(text.replace("wordings: true", "wordings: false").replace("templates: false", "templates: true"), "utf-8")
    assert Params.read(path).request.hold_out == HoldOut(templates=True)
