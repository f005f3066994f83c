"""One premise per kind and template, to be annotated."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from cxgen.constructicon import Construction
from cxgen.lexicon import Lexicon
from cxgen.sampling.draws import realise, scatter
from cxgen.sampling.forms import Forms
from cxgen.sampling.plan import Plan, draw_plan
from cxgen.sampling.pools import ABSENT, Pools, design_pools

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
                parts = construction.premise_parts(kind, template.name)
                slots = {part.slot for part in parts} & plan.fillers.keys()
                name = f"{kind} {template.name}"
                swaps = [*([] if name in rows else [{}]), *_phrases(slots, pools, lexicon, shown)]
                if not swaps:
                    continue
                mine = _swapped(plan, number, swaps)
                every = np.arange(len(mine))
                texts = scatter([(every, realise(parts, construction, mine, pools, forms, every))], len(mine))
                for at, (swap, text) in enumerate(zip(swaps, texts, strict=True)):
                    row = {"premise_id": name + (f" {len(rows)}" if swap else ""), "kind": kind, "template": template.name}
                    row |= {"construction": construction.kinds[kind].construction, "premise": text}
                    rows[row["premise_id"]] = row | {"slots": _slots(construction, mine, slots, at)}
    return pl.DataFrame(list(rows.values()), schema_overrides={"slots": _SLOTS})


_SLOTS = pl.List(pl.Struct({"slot": pl.String, "lemma": pl.String, "sense": pl.String}))


def _phrases(slots: set[str], pools: Pools, lexicon: Lexicon, shown: set[int]) -> Iterator[dict[str, int]]:
    """Each phrase that was not shown yet: its slot -> its row."""
    for slot in sorted(slots & pools.candidates.keys()):
        for row in sorted(lexicon.phrases.intersection(chain.from_iterable(pools.candidates[slot])) - shown):
            shown.add(row)
            yield {slot: row}


def _swapped(plan: Plan, number: int, swaps: list[dict[str, int]]) -> Plan:
    """The set ``number`` of the plan, once for each of ``swaps``, with those fillers instead."""
    one = np.full(len(swaps), number)
    fillers, number_of, pronoun = (
        {slot: drawn[one] for slot, drawn in field.items()} for field in (plan.fillers, plan.number, plan.pronoun)
    )
    mine = Plan(plan.stream, plan.numbers[one], plan.frame[one], fillers, number_of, pronoun)
    for at, swap in enumerate(swaps):
        for slot, row in swap.items():
            mine.fillers[slot][at] = row
    return mine


def _slots(construction: Construction, plan: Plan, slots: set[str], at: int) -> list[dict[str, Any]]:
    table = construction.lexicon.table
    used = [(slot, int(plan.fillers[slot][at])) for slot in construction.slots if slot in slots and plan.fillers[slot][at] != ABSENT]
    return [{"slot": slot, "lemma": table["lemma"][row], "sense": table["sense"][row]} for slot, row in used]
