"""The items that are scored, as questions: what the right answer is, and in which parts of the dataset they count."""

from __future__ import annotations

import polars as pl

from cxgen.schema import TARGET
from cxgen.suites import SUITES, Suite, scoring_of
from cxgen.vocabulary import EXTENDED, Role

# Ways to divide the items of a config. Which of them a config has depends on its columns and on how many values there are.
DIMENSIONS = (
    "construction",
    "premise",
    "split",
    "design",
    "band",
    "extended",
    "variant",
    "side",
    "entity_type",
    "switched",
    "mode",
    "wording_held_out",
    "template_held_out",
    "preset",
    "subset",
    "value",
    "scenario",
)
_FROM_DATA = ("variant", "entity_type", "mode", "wording_held_out", "template_held_out")


def questions(rows: pl.DataFrame, config: str, sources: pl.DataFrame | None = None) -> pl.DataFrame:
    """Items as questions.

    Args:
        rows: items of ``config``, with its columns.
        config: name of the config.
        sources: of items with pseudowords, the items with the real words: ``id, contrast_set, verb``.

    Returns:
        ``id, config, contrast_set`` (strings); ``right, lure`` (i8: positions of the right answer, and of the one that a misreading
        gives, null where there is none); ``cluster`` (string: the verb that its contrast set is resampled with: that of most of its
        items, the first in the alphabet of several, the real one under a pseudoword); ``source_id`` (string, null but for pseudowords);
        ``group`` (string: the pair of premises with the same two answers, null where there are none);
        and the columns ``DIMENSIONS`` (strings, null where they do not apply): ``construction`` (whose contrast sets they are),
        ``premise`` (the construction whose meaning the premise has), ``split``, ``design``, ``band`` (of the premise's verb),
        ``extended`` (yes or no), ``variant``, ``side`` (construction and variant), ``entity_type``, ``switched`` (yes or no), ``mode``,
        ``wording_held_out``, ``template_held_out`` (yes or no); of suites those that they name.
    """
    if config in SUITES:
        return _suite_questions(rows, SUITES[config])
    scoring = scoring_of(config)
    given = {name: pl.col(name) for name in _FROM_DATA if name in rows.columns}
    dimensions = {
        "construction": TARGET,
        "premise": pl.col("construction"),
        "split": pl.col("split"),
        "design": pl.concat_str(TARGET, "design", separator="/"),
        "band": pl.lit(_bands(rows)),
        "extended": pl.col("acceptability") == EXTENDED,
        **given,
    }
    if "variant" in rows.columns:
        dimensions["side"] = pl.when(pl.col("variant") != "").then(pl.concat_str(TARGET, "variant", separator="/"))
    if "switched" in rows.columns:  # of pairs about participants that cannot change places it says nothing
        dimensions["switched"] = pl.when(pl.col("switched").any().over(TARGET)).then("switched")
    return rows.select(
        "id",
        "contrast_set",
        scoring.right().cast(pl.Int8).alias("right"),
        scoring.lured(rows.columns).cast(pl.Int8).alias("lure"),
        _clusters(rows, sources).alias("cluster"),
        *(_named(dimensions.get(name, pl.lit(None, dtype=pl.String)), rows).alias(name) for name in DIMENSIONS),
        config=pl.lit(config),
        source_id=_string("source_id", rows),
        group=_string("pair_group", rows),
    )


def _suite_questions(rows: pl.DataFrame, suite: Suite) -> pl.DataFrame:
    """The items of a suite, see `questions`."""
    dimensions = {"construction": pl.col("construction"), "split": pl.col("split"), **suite.dimensions}
    return rows.select(
        "id",
        "contrast_set",
        suite.scoring.right().cast(pl.Int8).alias("right"),
        suite.scoring.lured(rows.columns).alias("lure"),
        suite.cluster.alias("cluster"),
        *(dimensions.get(name, pl.lit(None, dtype=pl.String)).alias(name) for name in DIMENSIONS),
        config=pl.lit(suite.name),
        source_id=pl.lit(None, dtype=pl.String),
        group=pl.lit(None, dtype=pl.String),
    )


def _string(name: str, rows: pl.DataFrame) -> pl.Expr:
    """A column that not all configs have."""
    return pl.col(name) if name in rows.columns else pl.lit(None, dtype=pl.String)


def _named(value: pl.Expr, rows: pl.DataFrame) -> pl.Expr:
    """Truth values as words, everything else as it is."""
    if rows.select(value.alias("value")).schema["value"] == pl.Boolean:
        return pl.when(value).then(pl.lit("yes")).when(~value).then(pl.lit("no"))
    return value.cast(pl.String).replace("", None)


def _bands(rows: pl.DataFrame) -> pl.Series:
    """Item by item, the band of the filler that is the premise's verb; null for pseudowords."""
    fillers = rows.select("id", "verb", "slots").explode("slots").unnest("slots")
    verbs = fillers.filter((pl.col("role") == Role.verb) & (pl.col("lemma") == pl.col("verb"))).unique("id", keep="first")
    return rows.select("id").join(verbs.select("id", "band"), on="id", how="left", maintain_order="left")["band"]


def _clusters(rows: pl.DataFrame, sources: pl.DataFrame | None) -> pl.Series:
    """Item by item, the verb of most items of its contrast set."""
    own = rows.select("id", "contrast_set", "verb")
    if sources is not None and "source_id" in rows.columns:
        real = sources.select(pl.col("id").alias("source_id"), pl.col("verb").alias("real"))
        own = rows.select("id", "contrast_set", "verb", "source_id").join(real, on="source_id", how="left", maintain_order="left")
        own = own.with_columns(verb=pl.coalesce("real", "verb"))
    counts = own.group_by("contrast_set", "verb").len().sort("contrast_set", "len", "verb", descending=[False, True, False])
    first = counts.unique("contrast_set", keep="first", maintain_order=True).select("contrast_set", cluster="verb")
    return own.join(first, on="contrast_set", how="left", maintain_order="left")["cluster"]
