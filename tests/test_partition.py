"""Splitting verbs and counting sets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxgen.errors import CxgenError
from cxgen.generate import SPLITS, partition_verbs, set_counts
from cxgen.sets.partition import best_partition
from cxgen.sets.pools import frame_verbs, verb_pools

SHARES = {"train": 0.7, "dev": 0.15, "test": 0.15}
pools = st.lists(st.frozensets(st.sampled_from([f"verb{i}" for i in range(60)]), min_size=1), min_size=1, max_size=8)


@given(pools, st.integers(0, 99))
def test_every_verb_is_in_exactly_one_split(sets, seed):
    split = partition_verbs(sets, SHARES, seed, "c")
    assert set(split) == set().union(*sets)
    assert set(split.values()) <= set(SPLITS)
    assert split == partition_verbs(list(reversed(sets)), SHARES, seed, "c") or len(sets) > 1


@given(st.integers(7, 80), st.integers(0, 20))
def test_a_single_pool_is_divided_in_the_given_shares(size, seed):
    split = partition_verbs([frozenset(f"v{i}" for i in range(size))], SHARES, seed, "c")
    for name in SPLITS:
        assert abs(sum(value == name for value in split.values()) - SHARES[name] * size) <= 1.5


def test_each_split_has_usual_verbs_where_some_partition_gives_them_all():
    # Two verbs each, which must meet in one split: a split of each slot by itself would not see to that.
    frames = [[frozenset("a"), frozenset("x")], [frozenset("b"), frozenset("y")], [frozenset("c"), frozenset("z")]]
    whole = [frozenset("abc"), frozenset("xyz")]
    for seed in range(5):
        split = best_partition(whole, {"d": frames}, {"d": frames}, SHARES, seed, "c")
        assert [split[v] for v in "abc"] == [split[v] for v in "xyz"]
        assert sorted(split[v] for v in "abc") == sorted(SPLITS)


def test_no_split_of_the_real_lexicon_is_left_with_marked_verbs_only(lexicon, constructions):
    for name, construction in constructions.items():
        usable, usual = (frame_verbs(construction, lexicon, "sliced", marked=marked) for marked in (True, False))
        split = best_partition(verb_pools(construction, lexicon, "sliced"), usable, usual, SHARES, 20261121, name)
        for design, frames in usual.items():
            for part in SPLITS:
                served = [verbs for verbs in frames if all(any(split[verb] == part for verb in pool) for pool in verbs)]
                assert served, (name, design, part)


WANTED = {"nli": 4000, "distinction": 1200}


def test_set_counts_are_exact_and_reach_the_total(constructions):
    for construction in constructions.values():
        counts = set_counts(construction, WANTED, SHARES)
        for config, wanted in WANTED.items():
            counted = construction.lookalikes if config == "distinction" else (construction.name,)
            own = {
                d.name: 3 * sum(construction.kinds[k].construction in counted for k in d.kinds)
                for d in construction.designs.values()
                if d.config == config
            }
            if not own:
                continue
            total = sum(number * own[design] for (design, _), number in counts.items() if design in own)
            assert wanted <= total < wanted * 1.2
            for split in SPLITS:
                part = sum(number * own[design] for (design, name), number in counts.items() if name == split and design in own)
                assert part == round(total * SHARES[split])


def test_shares_must_add_up(reach):
    with pytest.raises(CxgenError, match="add up to 1"):
        set_counts(reach, WANTED, {"train": 0.7, "dev": 0.2, "test": 0.2})
