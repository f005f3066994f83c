"""The columns of the tables: names, types and meanings, each said once. README, card and checks are made from them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxgen.vocabulary import LABELS, MODES, SPLITS, VERB_ROLES

_TEXTS = dict.fromkeys(("slot", "role", "lemma", "sense"), pl.String)
SLOT = pl.Struct({**_TEXTS, "zipf": pl.Float64, "percentile": pl.Float64, "band": pl.String})


@dataclass(frozen=True)
class Column:
    """A column of a table; ``labels``: positions in ``vocabulary.LABELS``; ``null``: rows may lack it; ``values``: all that it may hold."""

    name: str
    dtype: pl.DataType | type[pl.DataType]
    meaning: str
    labels: bool = False
    null: bool = False
    values: tuple[str, ...] = ()

    def tests(self) -> list[tuple[str, pl.Expr]]:
        """What may be wrong with the values, and whether it is, row by row."""
        values, last = pl.col(self.name), len(LABELS) - 1
        tests = [] if self.null else [("no value", values.is_null())]
        if self.values:
            tests.append((f"expected {', '.join(self.values)}", ~values.is_in(self.values).fill_null(value=True)))
        if self.labels:
            tests.append((f"expected a number from 0 to {last}", ~values.is_between(0, last).fill_null(value=True)))
        return tests


@dataclass(frozen=True)
class Contract:
    """What is asked of a table: columns (some ``optional``), ``more`` (others, wider numbers), a ``key`` of rows, ``least`` rows."""

    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    optional: frozenset[str] = frozenset()
    more: bool = False
    least: int = 0

    def misfit(self, schema: dict[str, Any]) -> str:
        """What is wrong with the names and types of a table's columns; empty if nothing is."""
        known = polars_schema(self.columns)
        if missing := [name for name in known if name not in schema and name not in self.optional]:
            return f"lacks the columns {', '.join(missing)}"
        other = [name for name in schema if name not in known]
        if other and not self.more:
            return f"has columns that no such table has: {', '.join(map(repr, other[:5]))}"
        wide = {name for name, dtype in known.items() if self.more and dtype.is_integer() and schema.get(name) == pl.Int64}
        wrong = (name for name, dtype in known.items() if name in schema and schema[name] != dtype and name not in wide)
        return next((f"column {name} is {schema[name]}, expected {known[name]}" for name in wrong), "")

    def fault(self, table: pl.DataFrame) -> str:
        """The first thing wrong with the rows of a table that has these columns; empty if nothing is. Rows are counted from 1."""
        if table.height < self.least:
            return f"has {table.height or 'no'} rows"
        tests = [(column.name, *test) for column in self.columns if column.name in table.columns for test in column.tests()]
        hits = table.select(bad.arg_true().first().alias(str(n)) for n, (*_, bad) in enumerate(tests)).row(0) if table.height else ()
        for (name, what, _), row in zip(tests, hits, strict=False):
            if row is not None:
                return f"column {name}, row {row + 1}: {what}"
        if self.key and (twice := table.select(self.key).is_duplicated()).any():
            return f"row {(twice.arg_max() or 0) + 1}: the same {', '.join(self.key)} as in another row"
        return ""


# What every item has, whatever its family; the family's own columns stand between the two groups.
LINEAGE = (
    Column("id", pl.String, "content-addressed item id"),
    Column("contrast_set", pl.String, "the set of items that share one draw of words; train, validation and test never share one"),
    Column("premise_id", pl.String, "content-addressed id of the premise"),
    Column("construction", pl.String, "the construction whose meaning the premise has; scores group by `contrast_of` where that is set"),
    Column(
        "contrast_of", pl.String, "for look-alikes and opposites: the construction whose contrast set they belong to; else null", null=True
    ),
    Column("design", pl.String, "the plan of the contrast set: which premise kinds meet which claims"),
    Column("kind", pl.String, "premise kind within the design"),
    Column("template", pl.String, "template of the premise"),
    Column("frame", pl.String, "event frame that the words were drawn from"),
)
MATERIAL = (
    Column("verb", pl.String, "lemma of the premise's lexical verb, the unit that is held out; linking verbs of a template do not count"),
    Column(
        "slots",
        pl.List(SLOT),
        "the premise's fillers: slot, role, lemma, WordNet 3.0 sense key (`own:...` for one's own words), zipf, percentile, band",
    ),
    Column(
        "verb_role",
        pl.String,
        "lexical: the verb holds the construction's meaning by itself; constructional: the construction supplies it; null: no verb could",
        null=True,
        values=VERB_ROLES,
    ),
    Column(
        "acceptability",
        pl.String,
        "what judges said of the clause: prototypical or extended (the verb does not hold the meaning); null: nobody was asked",
        null=True,
        values=("prototypical", "extended"),
    ),
    Column("split", pl.String, "train, validation or test", values=SPLITS),
)
# What the tables of pseudowords have besides; what was refused.
WUG = (
    Column("mode", pl.String, "`*_wug`: which words are pseudowords: verb, nouns, adjectives, or content (all three)", values=tuple(MODES)),
    Column("source_id", pl.String, "`*_wug`: the item with the real words"),
)
REJECTS = (
    Column("id", pl.String, "`rejected`: construction, scene, verb, words and whose sentence it is; or the id of the item"),
    Column("contrast_set", pl.String, "`rejected`: of a set that reviewers refused", null=True),
    Column("construction", pl.String, "`rejected`: whose clause it is"),
    Column("frame", pl.String, "`rejected`: the event frame"),
    Column("verb", pl.String, "`rejected`: the verb"),
    Column("premise", pl.String, "`rejected`: what judges or reviewers were shown"),
    Column("reason", pl.String, "`rejected`: why it is refused"),
    Column("votes", pl.String, "`rejected`: what each judge said"),
)

# The construction whose contrast set an item belongs to.
TARGET = pl.coalesce("contrast_of", "construction")


def polars_schema(columns: Iterable[Column]) -> dict[str, Any]:
    """Name -> polars type."""
    return {column.name: column.dtype for column in columns}


def conform(table: pl.DataFrame, columns: Iterable[Column]) -> pl.DataFrame:
    """``table`` with exactly ``columns``, in their order and of their types."""
    wanted = polars_schema(columns)
    own = (table[name] for name in wanted)  # `select` would copy a table in many pieces
    return pl.DataFrame(
        [column if column.dtype == dtype else column.cast(dtype) for column, dtype in zip(own, wanted.values(), strict=True)]
    )
