"""Word forms by slot and by the form that a pattern asks for, as tables to gather from."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.constructicon import Slot
from cxgen.lexicon import Lexicon
from cxgen.sets.plan import Plan, Rows
from cxgen.sets.pools import ABSENT, Pools
from cxgen.sets.ways import DETERMINERS, WORD_FORMS, By, Way

Texts = NDArray[np.object_]  # of strings


class Forms:
    """Tables of forms over a lexicon, composed once and gathered from by row.

    They are arrays of Python strings: a block has few rows of each template, and there polars needs fifty times as long to plan a gather as
    numpy needs for it.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._tables: dict[str, tuple[Texts, int]] = {}

    def column(self, slot: Slot, form: str, plan: Plan, pools: Pools, rows: Rows) -> Texts:
        """The ``form`` of what fills ``slot`` in the sets ``rows``, empty where nothing does; a filler is wrapped as the slot says."""
        fillers = plan.fillers[slot.name][rows]
        table, ways = self._table(form)
        keys = np.where(fillers == ABSENT, 0, fillers) * ways + np.minimum(_choice(form, slot, plan, pools, rows), ways - 1)
        text: Texts = table[keys]
        if slot.wrap != "{}" and not WORD_FORMS[form].closed:
            before, _, after = slot.wrap.partition("{}")
            text = before + text + after
        if slot.may_lack:
            text[fillers == ABSENT] = ""
        return text

    def _table(self, form: str) -> tuple[Texts, int]:
        """The ways to write ``form`` of every lexeme, one lexeme after the other, and how many there are of each."""
        if form not in self._tables:
            by_pos = WORD_FORMS[form].ways
            most = max(map(len, by_pos.values()))
            columns = []
            for number in range(most):
                text = pl.lit("")
                for pos, ways in by_pos.items():
                    text = pl.when(pl.col("pos") == pos).then(compose(ways[min(number, len(ways) - 1)])).otherwise(text)
                columns.append(text.alias(str(number)))
            wide = self.lexicon.table.select(pl.concat_list(columns).alias("all"))
            self._tables[form] = (wide["all"].explode().to_numpy(), most)
        return self._tables[form]


def compose(way: Way) -> pl.Expr:
    """The text of ``way`` for every row of the lexicon's table."""
    if way.word:
        return pl.lit(way.word)
    text = pl.coalesce(way.column, "lemma")
    if way.possessive:
        text = text + possessive(text, plural=way.column == "plural")
    if way.determiner:
        text = pl.concat_str("article" if way.determiner == "a" else pl.lit(way.determiner), pl.lit(" "), text)
    return text


def possessive(text: pl.Expr, *, plural: bool) -> pl.Expr:
    """What makes ``text`` a possessive: 's, or ' after the s of a plural."""
    return pl.when(pl.lit(plural) & text.str.ends_with("s")).then(pl.lit("'")).otherwise(pl.lit("'s"))


def _choice(form: str, slot: Slot, plan: Plan, pools: Pools, rows: Rows) -> Rows:
    """The number of the way that each set takes."""
    by = WORD_FORMS[form].by
    if by is By.NUMBER:
        return plan.number[slot.name][rows]
    if by is By.PRONOUN:
        return plan.pronoun[slot.name][rows]
    if by is By.DETERMINER:
        codes = np.array([DETERMINERS.index(f.words.get("det", "the")) for f in pools.frames], dtype=np.int64)
        return codes[plan.frame[rows]]
    return np.zeros(len(rows), dtype=np.int64)
