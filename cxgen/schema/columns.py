"""The columns of the tables: names, types and meanings, each said once. README, card and checks are made from them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxgen.vocabulary import MODES, PREMISE_VERDICTS, SPLITS

Type = pl.DataType | type[pl.DataType]

SLOT = pl.Struct(
    {
        "slot": pl.String,
        "role": pl.String,
        "lemma": pl.String,
        "sense": pl.String,
        "zipf": pl.Float64,
        "percentile": pl.Float64,
        "band": pl.String,
    }
)


@dataclass(frozen=True)
class Column:
    """A column of a published table.

    Attributes:
        name: as in the file.
        dtype: polars type.
        meaning: what it holds; printed in README and card.
        labels: the values are positions in ``vocabulary.LABELS``.
        null: there may be rows without a value.
        values: all that it may hold; empty: anything.
    """

    name: str
    dtype: Type
    meaning: str
    labels: bool = False
    null: bool = False
    values: tuple[str, ...] = ()


# What every item has, whatever its family; the family's own columns stand between the two groups.
LINEAGE = (
    Column("id", pl.String, "content-addressed item id"),
    Column("contrast_set", pl.String, "the set of items that share one draw of words; train, dev and test never share one"),
    Column("premise_id", pl.String, "content-addressed id of the premise"),
    Column("construction", pl.String, "the construction whose meaning the premise has"),
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
        "acceptability",
        pl.String,
        "prototypical, or extended (the verb alone does not hold the construction's meaning)",
        values=PREMISE_VERDICTS,
    ),
    Column("split", pl.String, "train, dev or test", values=SPLITS),
)
# What the tables of pseudowords and of refused items have besides.
WUG = (
    Column("mode", pl.String, "`*_wug`: which words are pseudowords: verb, nouns, adjectives, or content (all three)", values=tuple(MODES)),
    Column("source_id", pl.String, "`*_wug`: the item with the real words"),
)
REJECTS = (
    Column("premise_reason", pl.String, "`rejected`: why the premise was refused"),
    Column("pair_verdict", pl.String, "`rejected`: the judge's verdict on the item as a whole"),
    Column("pair_reason", pl.String, "`rejected`: its reason"),
)

# The construction whose contrast set an item belongs to.
TARGET = pl.coalesce("contrast_of", "construction")


def polars_schema(columns: Iterable[Column]) -> dict[str, Any]:
    """Name -> polars type."""
    return {column.name: column.dtype for column in columns}


def conform(table: pl.DataFrame, columns: Iterable[Column]) -> pl.DataFrame:
    """``table`` with exactly ``columns``, in their order and of their types."""
    wanted = polars_schema(columns)
    return table.select(pl.col(name).cast(dtype) if table.schema.get(name) != dtype else pl.col(name) for name, dtype in wanted.items())
