"""Word forms by slot and by the form that a pattern asks for, as tables to gather from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.constructicon import Slot
from cxgen.lexicon import Lexicon
from cxgen.sets.plan import Plan, Rows
from cxgen.sets.pools import ABSENT, Pools
from cxgen.sets.ways import DETERMINERS, WORD_FORMS, By, Way

Texts = NDArray[np.object_]  # of strings


@dataclass(frozen=True, eq=False)
class Table:
    """The ways to write a form, wrapped as a slot says: the first of every lexeme, then the second of every one, and last nothing at all.

    Attributes:
        texts: the ways, as a column.
        lexemes: how many lexemes there are.
        ways: how many there are of each.
    """

    texts: pl.Series
    lexemes: int
    ways: int

    @cached_property
    def capitals(self) -> pl.Series:
        """``texts`` with capitals for their first letters."""
        return capitalised(self.texts)

    @cached_property
    def objects(self) -> Texts:
        """``texts`` as Python strings."""
        found: Texts = self.texts.to_numpy()
        return found


class Forms:
    """Tables of forms over a lexicon, composed once and gathered from by row.

    What is gathered is a column of polars or an array of Python strings: a block of a preview has few rows of each template, and there
    polars needs fifty times as long to plan a gather as numpy needs for it; a large block takes a third of the time as columns.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._tables: dict[tuple[str, str], Table] = {}

    def column(self, slot: Slot, form: str, plan: Plan, pools: Pools, rows: Rows) -> Texts:
        """The ``form`` of what fills ``slot`` in the sets ``rows``, empty where nothing does; a filler is wrapped as the slot says."""
        text: Texts = self.table(slot, form).objects[self.keys(slot, form, plan, pools, rows)]
        return text

    def series(self, slot: Slot, form: str, plan: Plan, pools: Pools, rows: Rows, *, capital: bool = False) -> pl.Series:
        """The same as a column; with ``capital``, as at the start of a sentence."""
        table = self.table(slot, form)
        return (table.capitals if capital else table.texts)[self.keys(slot, form, plan, pools, rows).astype(np.uint32)]

    def keys(self, slot: Slot, form: str, plan: Plan, pools: Pools, rows: Rows) -> Rows:
        """Where in `table` the texts of the sets ``rows`` stand."""
        table, fillers = self.table(slot, form), plan.fillers[slot.name][rows]
        keys: Rows = fillers + np.minimum(_choice(form, slot, plan, pools, rows), table.ways - 1) * table.lexemes
        if not slot.may_lack:
            return keys
        nothing: Rows = np.where(fillers == ABSENT, len(table.texts) - 1, keys)
        return nothing

    def table(self, slot: Slot, form: str) -> Table:
        """What a slot's places of that form can hold."""
        wrap = "{}" if WORD_FORMS[form].closed else slot.wrap
        if (form, wrap) not in self._tables:
            by_pos = WORD_FORMS[form].ways
            most = max(map(len, by_pos.values()))
            columns = []
            for number in range(most):
                text = pl.lit("")
                for pos, ways in by_pos.items():
                    text = pl.when(pl.col("pos") == pos).then(compose(ways[min(number, len(ways) - 1)])).otherwise(text)
                columns.append(text.alias(str(number)))
            said = pl.concat([column.alias("") for column in self.lexicon.table.select(columns)])
            before, _, after = wrap.partition("{}")
            texts = said if wrap == "{}" else before + said + after
            self._tables[form, wrap] = Table(pl.concat([texts, pl.Series([""])], rechunk=True), len(self.lexicon), most)
        return self._tables[form, wrap]


def capitalised(texts: pl.Series) -> pl.Series:
    """``texts`` with capitals for their first letters."""
    return texts.str.slice(0, 1).str.to_uppercase() + texts.str.slice(1)


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
