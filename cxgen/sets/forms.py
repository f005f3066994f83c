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
        self._plan: Plan | None = None  # that was asked about last
        self._keys: dict[tuple[str, str], Rows] = {}  # of all its sets
        self._columns: dict[tuple[str, str], pl.Series] = {}  # the same

    def column(self, slot: Slot, form: str, plan: Plan, pools: Pools, rows: Rows) -> Texts:
        """The ``form`` of what fills ``slot`` in the sets ``rows``, empty where nothing does; a filler is wrapped as the slot says."""
        text: Texts = self.table(slot, form).objects[self.keys(slot, form, plan, pools, rows)]
        return text

    def series(self, slot: Slot, form: str, plan: Plan, pools: Pools, rows: pl.Series, *, capital: bool = False) -> pl.Series:
        """The same as a column, ``rows`` being one (u32); with ``capital``, as at the start of a sentence."""
        table, every = self.table(slot, form), self._every(slot, form, plan, pools)
        if (slot.name, form) not in self._columns:
            self._columns[slot.name, form] = pl.Series(every.astype(np.uint32))
        return (table.capitals if capital else table.texts)[self._columns[slot.name, form][rows]]

    def keys(self, slot: Slot, form: str, plan: Plan, pools: Pools, rows: Rows) -> Rows:
        """Where in `table` the texts of the sets ``rows`` stand."""
        return self._every(slot, form, plan, pools)[rows]

    def _every(self, slot: Slot, form: str, plan: Plan, pools: Pools) -> Rows:
        """The keys of all sets: several templates ask for the same."""
        if self._plan is not plan:
            self._plan, self._keys, self._columns = plan, {}, {}
        if (slot.name, form) not in self._keys:
            table, keys = self.table(slot, form), plan.fillers[slot.name]
            if table.ways > 1 and WORD_FORMS[form].by is not By.NOTHING:
                keys = keys + np.minimum(_choice(form, slot, plan, pools), table.ways - 1) * table.lexemes
            if slot.may_lack:
                keys = np.where(plan.fillers[slot.name] == ABSENT, len(table.texts) - 1, keys)
            self._keys[slot.name, form] = keys
        return self._keys[slot.name, form]

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


def _choice(form: str, slot: Slot, plan: Plan, pools: Pools) -> Rows:
    """The number of the way that each set takes."""
    by = WORD_FORMS[form].by
    if by is By.NUMBER:
        return plan.number[slot.name]
    if by is By.PRONOUN:
        return plan.pronoun[slot.name]
    codes: Rows = np.array([DETERMINERS.index(frame.words.get("det", "the")) for frame in pools.frames], dtype=np.int64)[plan.frame]
    return codes
