"""The free judges over a block: what `judge_items` and `FormJudge` say of its items, counted from the draws where that is possible.

The rules about fillers are about which lexemes meet, so they are looked up in tables over frames and lexemes, made once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.constructicon import Construction, Slot
from cxgen.families import family_of
from cxgen.judge.form import REASON
from cxgen.judge.rules import ANY, allowed_senses, repeats
from cxgen.judge.shapes import ShapeJudge
from cxgen.sets import Block, Pools
from cxgen.sets.pools import ABSENT
from cxgen.trees import Chunks
from cxgen.vocabulary import EXTENDED, NOT_NOUNS, PROTOTYPICAL, Role

Marks = NDArray[np.bool_]
# Why a set is left out, by rank: of several reasons the first one counts.
RESULT, AT_ODDS = "the result repeats the verb's own meaning", "the verb is at odds with the construction"
REPEATED, OUTSIDE, PAIR = "a noun is repeated", "an argument is outside the frame", "an item is at fault"


@dataclass(frozen=True)
class _Allowed:
    """Of one slot, frames x lexemes: what may stand there, and what counts as extended; ``any_frame``: what may stand in some frame."""

    fits: Marks
    extended: Marks
    any_frame: Marks


class BlockJudge:
    """Judges the blocks of one construction's sources."""

    def __init__(self, construction: Construction, chunks: Chunks) -> None:
        """Prepare; raises as `FormJudge` does."""
        self.construction = construction
        self._shapes = ShapeJudge(construction, chunks)
        self._table = allowed_senses(construction)
        self._allowed: dict[tuple[int, str], tuple[Pools, _Allowed | None]] = {}
        self._pairs: dict[tuple[int, int], bool] = {}

    def accepted(self, block: Block, items: pl.DataFrame) -> tuple[pl.DataFrame, Counter[str]]:
        """The items of the sets in which nothing is refused, and why how many sets are left out.

        Args:
            block: of real words.
            items: its items, all of them: what `Source.items` gives.

        Returns:
            ``items`` with ``acceptability`` (string: prototypical or extended), and reason -> sets.
        """
        reasons, extended = self._premises(block)
        count, kinds = len(block), len(block.design.kinds)
        numbers = block.plan.numbers
        at = np.argsort(numbers)[np.searchsorted(np.sort(numbers), items["set_number"].to_numpy())]
        faulty = items.select(family_of(items["config"][0]).fault() != "").to_series().to_numpy()
        by_set = {name: marks.reshape(kinds, count).any(axis=0) for name, marks in reasons.items()}
        by_set[PAIR] = np.bincount(at[faulty], minlength=count) > 0
        refused = np.zeros(count, dtype=bool)
        why: Counter[str] = Counter()
        for name, marks in by_set.items():
            why[name] = int((marks & ~refused).sum())
            refused |= marks
        kind = pl.Series(block.design.kinds)
        places = items["kind"].replace_strict(kind, np.arange(kinds), return_dtype=pl.Int64).to_numpy() * count + at
        named = pl.Series([PROTOTYPICAL, EXTENDED])[extended[places].astype(np.int64)]
        judged = items.with_columns(acceptability=named)
        return judged.filter(~refused[at]) if refused.any() else judged, +why

    def _premises(self, block: Block) -> tuple[dict[str, Marks], Marks]:
        """Reason -> whether it holds of each premise; and whether its verb counts as extended."""
        fillers = block.fillers
        slots = [(slot, fillers.rows[:, at]) for at, slot in enumerate(fillers.slots)]
        frame = np.tile(block.plan.frame, len(block.design.kinds))
        verbs = [each for each in slots if each[0].role == Role.verb]
        nouns = [each for each in slots if each[0].role not in {*NOT_NOUNS, Role.modifier}]
        lemma = self.construction.lexicon.lemma_codes
        nothing = np.zeros(len(frame), dtype=bool)
        found = {name: nothing.copy() for name in (RESULT, AT_ODDS, REPEATED, OUTSIDE)}
        extended = nothing.copy()
        for (_, one), (_, other) in [*combinations(nouns, 2), *product(verbs, nouns)]:
            found[REPEATED] |= (one != ABSENT) & (other != ABSENT) & (lemma[one] == lemma[other])
        for (_, result), (_, verb) in product([each for each in slots if each[0].role == Role.result], verbs):
            found[RESULT] |= self._repeating(result, verb)
        for slot, rows in slots:
            allowed = self._allowed_in(block.pools, slot)
            if allowed is None:
                continue
            strange = ~allowed.fits[frame, rows] & (rows != ABSENT)
            found[OUTSIDE] |= strange
            if slot.role == Role.verb:
                found[AT_ODDS] |= strange & ~allowed.any_frame[rows]
                extended |= allowed.extended[frame, rows] & (rows != ABSENT)
        return {**found, REASON: ~self._shapes.holds(block)}, extended

    def _repeating(self, result: NDArray[np.int64], verb: NDArray[np.int64]) -> Marks:
        """Whether the result repeats the verb, pair by pair."""
        pairs = np.where((result == ABSENT) | (verb == ABSENT), ABSENT, result * len(self.construction.lexicon) + verb)
        unique, which = np.unique(pairs, return_inverse=True)
        lexicon = self.construction.lexicon
        for pair in unique[unique != ABSENT].tolist():
            one, other = divmod(pair, len(lexicon))
            if (one, other) not in self._pairs:
                self._pairs[one, other] = repeats(lexicon, one, other)
        known: Marks = np.array([pair != ABSENT and self._pairs[divmod(pair, len(lexicon))] for pair in unique.tolist()])
        return known[which]

    def _allowed_in(self, pools: Pools, slot: Slot) -> _Allowed | None:
        """The table of ``slot`` over the frames of ``pools``; None where the rules ask nothing of it."""
        key = id(pools), slot.name
        if key not in self._allowed:
            self._allowed[key] = pools, self._made(pools, slot)  # with the pools, so that no others get their id
        return self._allowed[key][1]

    def _made(self, pools: Pools, slot: Slot) -> _Allowed | None:
        mine = self._table.filter(pl.col("slot") == slot.name)
        if slot.role == Role.modifier or not mine.height:
            return None
        senses = self.construction.lexicon.table.select("sense", row=pl.int_range(pl.len(), dtype=pl.Int64)).drop_nulls("sense")
        rows = mine.join(senses, on="sense", maintain_order="left")
        numbers = {frame.name: number for number, frame in enumerate(pools.frames)}
        free = self.construction.lexicon.table["sense"].is_null().to_numpy()
        fits = np.tile(free, (len(numbers), 1))
        any_frame, extended = free.copy(), np.zeros_like(fits)
        for frame, row, more in rows.select("frame", "row", "extended").iter_rows():
            any_frame[row] = True
            if frame == ANY:
                fits[:, row] = True
            elif frame in numbers:
                fits[numbers[frame], row] = True
                extended[numbers[frame], row] = more
        return _Allowed(fits, extended, any_frame)
