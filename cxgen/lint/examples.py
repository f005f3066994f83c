"""One premise per kind and template, to be annotated."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from cxgen.constructicon import Construction
from cxgen.lexicon import Lexicon
from cxgen.sets.forms import Forms
from cxgen.sets.plan import Plan, draw_plan
from cxgen.sets.pools import ABSENT, Pools, design_pools
from cxgen.sets.realise import realise

DRAWS = 16


def examples(construction: Construction) -> pl.DataFrame:
    """A premise of every kind in every template, and one for every phrase that a slot can hold.

    Returns:
        ``premise_id, construction, kind, template, premise`` (strings), ``slots`` (list of ``slot, lemma, sense``), as items have them.
    """
    rows: dict[str, dict[str, Any]] = {}
    lexicon = construction.lexicon
    forms = Forms(lexicon)
    shown: set[int] = set()
    for design in construction.designs.values():
        pools = design_pools(construction, design, {}, None)
        plan = draw_plan(construction, design, pools, ("lint", construction.name, design.name), np.arange(DRAWS))
        number = min(range(DRAWS), key=lambda n: sum(drawn[n] == ABSENT for drawn in plan.fillers.values()))  # as full as possible
        for kind in design.kinds:
            for template in construction.templates_for(kind):
                slots = {part.slot for part in construction.premise_parts(kind, template.name)} & plan.fillers.keys()
                mine = [plan, *_phrases(plan, slots, pools, number, lexicon, shown)]
                fresh = mine if f"{kind} {template.name}" not in rows else mine[1:]
                for variant, each in enumerate(fresh):
                    name = f"{kind} {template.name}" + (f" {len(rows)}" if each is not plan or variant else "")
                    rows[name] = _row(name, construction, kind, template.name, each, pools, forms, number)
    return pl.DataFrame(list(rows.values()), schema_overrides={"slots": _SLOTS})


_SLOTS = pl.List(pl.Struct({"slot": pl.String, "lemma": pl.String, "sense": pl.String}))


def _phrases(plan: Plan, slots: set[str], pools: Pools, number: int, lexicon: Lexicon, shown: set[int]) -> Iterator[Plan]:
    """The plan with each phrase that was not shown yet in its slot."""
    for slot in sorted(slots & pools.candidates.keys()):
        for row in sorted(lexicon.phrases.intersection(chain.from_iterable(pools.candidates[slot])) - shown):
            shown.add(row)
            drawn = plan.fillers[slot].copy()
            drawn[number] = row
            yield dataclasses.replace(plan, fillers={**plan.fillers, slot: drawn})


def _row(
    name: str, construction: Construction, kind: str, template: str, plan: Plan, pools: Pools, forms: Forms, number: int
) -> dict[str, Any]:
    parts = construction.premise_parts(kind, template)
    table = forms.lexicon.table
    used = [slot for slot in construction.slots if slot in {part.slot for part in parts} and plan.fillers[slot][number] != ABSENT]
    words = [(slot, int(plan.fillers[slot][number])) for slot in used]
    return {
        "premise_id": name,
        "construction": construction.kinds[kind].construction,
        "kind": kind,
        "template": template,
        "premise": realise(parts, construction, plan, pools, forms, np.array([number]))[0],
        "slots": [{"slot": slot, "lemma": table["lemma"][row], "sense": table["sense"][row]} for slot, row in words],
    }
