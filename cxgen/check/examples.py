"""One premise of every shape, to be annotated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from cxgen.constructicon import Construction, Part
from cxgen.lexicon import Lexicon
from cxgen.sampling.draws import realise
from cxgen.sampling.plan import Plan, draw_plan
from cxgen.sampling.pools import ABSENT, Pools, design_pools
from cxgen.sampling.ways import Forms

SETS_PER_FRAME = 12


def examples(construction: Construction) -> pl.DataFrame:
    """A premise of every shape: of every kind in every template, with every choice of the frames' words and of optional slots in it.

    Every phrase that a slot can hold is in one of them.

    Returns:
        ``premise_id, construction, kind, template, premise`` (strings), ``slots`` (list of ``slot, lemma, sense``), as items have them.
    """
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    forms = Forms(construction.lexicon)
    shown: set[int] = set()
    for design in construction.designs.values():
        pools = design_pools(construction, design, {}, None)
        sets = np.arange(SETS_PER_FRAME * len(pools.frames))
        plan = draw_plan(construction, design, pools, ("check", construction.name, design.name), sets)
        for kind in design.kinds:
            for template in construction.templates_for(kind):
                parts = construction.premise_parts(kind, template.name)
                slots = {part.slot for part in parts} & plan.fillers.keys()
                fresh = _shapes(parts, plan, pools)
                chosen: list[tuple[Any, int, dict[str, int]]] = [
                    (shape, number, {}) for shape, number in fresh.items() if (kind, template.name, shape) not in rows
                ]
                first = next(iter(fresh.values()))
                chosen += [((row,), first, swap) for swap in _phrases(slots, pools, construction.lexicon, shown) for row in swap.values()]
                if not chosen:
                    continue
                mine = _swapped(plan, chosen)
                every = np.arange(len(mine))
                texts = realise([(parts, every, every)], construction, mine, pools, forms, len(mine))
                for at, (shape, _, _) in enumerate(chosen):
                    row = {"premise_id": str(len(rows)), "kind": kind, "template": template.name, "premise": texts[at]}
                    row |= {"construction": construction.kinds[kind].construction, "slots": _slots(construction, mine, slots, at)}
                    rows[kind, template.name, shape] = row
    return pl.DataFrame(list(rows.values()), schema_overrides={"slots": _SLOTS})


def _shapes(parts: Sequence[Part], plan: Plan, pools: Pools) -> dict[tuple[Any, ...], int]:
    """What of a premise's words is no filler of the lexicon (the frame's words, and which slots are left out) -> the first such set."""
    named = dict.fromkeys(part.slot for part in parts if part.slot)
    words = [tuple(frame.words.get(name) for name in named if name not in plan.fillers) for frame in pools.frames]
    codes = {given: code for code, given in enumerate(dict.fromkeys(words))}
    code = np.array([codes[given] for given in words])[plan.frame]
    absent = [name for name in named if name in plan.fillers and (plan.fillers[name] == ABSENT).any()]
    for name in absent:
        code = code * 2 + (plan.fillers[name] == ABSENT)
    first = np.unique(code, return_index=True)[1].tolist()
    return {(*words[plan.frame[number]], *(name for name in absent if plan.fillers[name][number] == ABSENT)): number for number in first}


_SLOTS = pl.List(pl.Struct({"slot": pl.String, "lemma": pl.String, "sense": pl.String}))


def _phrases(slots: set[str], pools: Pools, lexicon: Lexicon, shown: set[int]) -> Iterator[dict[str, int]]:
    """Each phrase that was not shown yet: its slot -> its row."""
    for slot in sorted(slots & pools.candidates.keys()):
        for row in sorted(lexicon.phrases.intersection(chain.from_iterable(pools.candidates[slot])) - shown):
            shown.add(row)
            yield {slot: row}


def _swapped(plan: Plan, chosen: Sequence[tuple[Any, int, dict[str, int]]]) -> Plan:
    """Sets of the plan by number, each with other fillers for some slots."""
    at = np.array([number for _, number, _ in chosen])
    fillers, number_of, pronoun = (
        {slot: drawn[at] for slot, drawn in field.items()} for field in (plan.fillers, plan.number, plan.pronoun)
    )
    for place, (_, _, swap) in enumerate(chosen):
        for slot, row in swap.items():
            fillers[slot][place] = row
    return Plan(plan.stream, plan.numbers[at], plan.frame[at], fillers, number_of, pronoun)


def _slots(construction: Construction, plan: Plan, slots: set[str], at: int) -> list[dict[str, Any]]:
    table = construction.lexicon.table
    used = [(slot, int(plan.fillers[slot][at])) for slot in construction.slots if slot in slots and plan.fillers[slot][at] != ABSENT]
    return [{"slot": slot, "lemma": table["lemma"][row], "sense": table["sense"][row]} for slot, row in used]
