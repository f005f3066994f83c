"""Splitting verbs and counting sets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxgen.errors import CxgenError
from cxgen.generate import SPLITS, partition_verbs, set_counts

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


def test_shares_must_add_up(constructions):
    with pytest.raises(CxgenError, match="add up to 1"):
        set_counts(constructions["conative"], WANTED, {"train": 0.7, "dev": 0.2, "test": 0.2})
