"""Word forms by slot and by the form that a pattern asks for, as tables to gather from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from cxgen.constructicon import Slot
from cxgen.lexicon import Lexicon
from cxgen.sampling.plan import Plan, Rows
from cxgen.sampling.pools import ABSENT, Pools
from cxgen.sampling.ways import DETERMINERS, WORD_FORMS, By, Way


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


class Forms:
    """Tables of forms over a lexicon, composed once and gathered from by row."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._tables: dict[tuple[str, str], Table] = {}

    def texts(self, slot: Slot, form: str, plan: Plan, pools: Pools, rows: Rows, *, capital: bool = False) -> pl.Series:
        """The ``form`` of what fills ``slot`` in the sets ``rows``, empty where nothing does, with ``capital`` as a sentence begins."""
        table = self.table(slot, form)
        return (table.capitals if capital else table.texts)[self.keys(slot, form, plan, pools, rows)]

    def keys(self, slot: Slot, form: str, plan: Plan, pools: Pools, rows: Rows) -> Rows:
        """Where in `table` the texts of the sets ``rows`` stand."""
        table, fillers = self.table(slot, form), plan.fillers[slot.name][rows]
        keys = fillers
        if table.ways > 1 and WORD_FORMS[form].by is not By.NOTHING:
            keys = keys + np.minimum(_choice(form, slot, plan, pools, rows), table.ways - 1) * table.lexemes
        return np.where(fillers == ABSENT, len(table.texts) - 1, keys) if slot.may_lack else keys

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
            texts = pl.concat([column.alias("") for column in self.lexicon.table.select(columns)])
            before, _, after = wrap.partition("{}")
            wrapped = texts if wrap == "{}" else before + texts + after
            self._tables[form, wrap] = Table(pl.concat([wrapped, pl.Series([""])], rechunk=True), len(self.lexicon), most)
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
    """The number of the way that each of the sets ``rows`` takes."""
    by = WORD_FORMS[form].by
    if by is By.NUMBER:
        return plan.number[slot.name][rows]
    if by is By.PRONOUN:
        return plan.pronoun[slot.name][rows]
    codes = [DETERMINERS.index(frame.words.get("det", "the")) for frame in pools.frames]
    return np.array(codes, dtype=np.int64)[plan.frame[rows]]
