"""Counting what can be said agrees with saying it."""

import json

import numpy as np
import pytest

from cxgen.build.params import Request
from cxgen.build.samplers import capacity, items_of, samplers, sets_at_most

DRAWS = 14_000  # of a design of the mini project that has at most some thousands of premises of each kind: nearly none is missed


@pytest.mark.slow
def test_what_is_counted_is_what_can_be_drawn(reach):
    compared = 0
    for source in samplers(reach, Request()):
        most = sets_at_most(source)
        if most < DRAWS / 3:
            premises = items_of(source.draw(np.arange(DRAWS))).unique("premise").group_by("kind").len()
            assert 0.8 * most <= premises["len"].min() <= most, (source.design.name, source.config, source.split)
            compared += 1
    assert compared >= 3


def test_twice_what_there_is_is_not_enough(reach):
    small, sizes = {"distinction": 0, "minimal_pairs": 0}, [240, 20_000_000]
    few, many = (capacity(reach, Request(sizes={"nli": size, **small})) for size in sizes)
    assert all(row["enough"] for row in few)
    assert not any(row["enough"] for row in many)
    assert [row["capacity"] for row in few] == [row["capacity"] for row in many]
    assert all(row["used"] == row["wanted"] / row["capacity"] > 2 for row in many)


def test_the_command_sums_designs_and_names_the_tightest(mini, cxgen):
    asked = ("capacity", "reach", "--n", "2000000", "--format", "json")
    whole, each = (json.loads(cxgen(*asked, *more, cwd=mini).stdout) for more in ((), ("--by-design",)))
    for row in whole:
        mine = [one for one in each if one["config"] == row["config"]]
        assert (row["wanted"], row["capacity"]) == (sum(one["wanted"] for one in mine), sum(one["capacity"] for one in mine))
        worst = max(mine, key=lambda one: one["used"])
        assert (row["used"], row["tightest"]) == (worst["used"], f"{worst['design']} in {worst['split']}")
    assert {row["config"]: row["enough"] for row in whole} == {"nli": False, "distinction": True}
