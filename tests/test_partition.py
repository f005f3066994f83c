"""Splitting verbs and counting sets."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxgen.errors import CxgenError
from cxgen.sampling import design_pools
from cxgen.sampling.partition import best_partition, near_counts, partition, set_counts
from cxgen.vocabulary import SHARES, SPLITS

pools = st.lists(st.frozensets(st.sampled_from([f"verb{i}" for i in range(60)]), min_size=1), min_size=1, max_size=8)


@given(pools, st.integers(0, 99))
def test_every_verb_is_in_one_split_whatever_the_order_of_the_pools(sets, seed):
    split = partition(sets, SHARES, (seed, "c"), 0)
    assert set(split) == set().union(*sets)
    assert split == partition(list(reversed(sets)), SHARES, (seed, "c"), 0)


@given(st.integers(7, 80), st.integers(0, 20))
def test_a_single_pool_is_divided_in_the_given_shares(size, seed):
    split = partition([frozenset(f"v{i}" for i in range(size))], SHARES, (seed, "c"), 0)
    for name in SPLITS:
        assert abs(sum(value == name for value in split.values()) - SHARES[name] * size) <= 1.5


def test_each_split_has_usual_verbs_where_some_partition_gives_them_all():
    # Two verbs each, which must meet in one split: a split of each slot by itself would not see to that.
    frames = [[frozenset("a"), frozenset("x")], [frozenset("b"), frozenset("y")], [frozenset("c"), frozenset("z")]]
    whole = [frozenset("abc"), frozenset("xyz")]
    for seed in range(5):
        split = best_partition(whole, {"d": frames}, {"d": frames}, SHARES, (seed, "c"))
        assert [split[v] for v in "abc"] == [split[v] for v in "xyz"]
        assert sorted(split[v] for v in "abc") == sorted(SPLITS)


def test_verbs_that_meet_in_one_sentence_stay_in_one_split():
    joint = [frozenset(f"{group}{n}" for n in range(4)) for group in "abcdefghij"]
    joint.append(frozenset({"a0", "j0"}))  # a verb of two scenes brings both together
    whole = [frozenset().union(*joint)]
    split = best_partition(whole, {}, {}, SHARES, (3, "c"), joint)
    assert all(len({split[verb] for verb in group}) == 1 for group in joint)
    assert set(split.values()) == set(SPLITS)


def test_a_frame_with_fewer_words_than_slots_in_a_split_is_left_out_there(reach):
    """The agent must not be the target: in a split in which both could only be the same word, the frame is of no use."""
    slots = {**reach.slots, "agent": replace(reach.slots["agent"], distinct=("target",))}
    one = {"agent": ("apple%n",), "target": ("apple%n",)}
    frames = tuple(replace(frame, slots={**frame.slots, **one}) for frame in reach.frames[:1])
    construction = replace(reach, slots=slots, frames=(*frames, *reach.frames[1:]))
    splits = dict.fromkeys(reach.lexicon.lemmas, "test")
    assert design_pools(construction, reach.designs["outcome"], splits, "test").frames == reach.frames[1:]


@given(st.integers(1, 9000), st.integers(1, 60))
def test_set_counts_are_exact_and_reach_the_total(wanted, rows):
    counts = set_counts(wanted, rows, SHARES)
    total = sum(counts.values())
    assert wanted <= total * rows < wanted + 20 * rows  # the fewest sets that the shares divide
    assert counts == {split: round(total * SHARES[split]) for split in SPLITS}


def test_shares_must_add_up():
    with pytest.raises(CxgenError, match="add up to 1"):
        set_counts(240, 12, {"train": 0.7, "validation": 0.2, "test": 0.2})


def test_near_counts_give_what_is_left_over_to_the_largest_remainders():
    assert near_counts(240, 12, SHARES) == {"train": 14, "validation": 3, "test": 3}
    assert near_counts(100, 12, SHARES) == {"train": 6, "validation": 1, "test": 2}  # of 9 sets: 6.3, 1.35, 1.35
