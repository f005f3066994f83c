"""The items that are scored, as questions: what the right answer is, and in which parts of the dataset they count."""

from __future__ import annotations

import polars as pl

from cxgen.schema import TARGET
from cxgen.suites import SUITES, scoring_of
from cxgen.vocabulary import EXTENDED, Role

WUG = "_wug"
_FROM_DATA = ("variant", "entity_type", "mode", "wording_held_out", "template_held_out")
_FAMILIES = (
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
    *_FROM_DATA[2:],
)
# Ways to divide the items of a config. Which of them a config has depends on its columns and on how many values there are.
DIMENSIONS = tuple(dict.fromkeys((*_FAMILIES, *(name for suite in SUITES.values() for name in suite.dimensions))))


def questions(rows: pl.DataFrame, config: str, sources: pl.DataFrame | None = None) -> pl.DataFrame:
    """Items as questions.

    Args:
        rows: items of ``config``, with its columns.
        config: name of the config.
        sources: of items with pseudowords, the items with the real words: ``id, contrast_set, verb``.

    Returns:
        ``id, config, contrast_set`` (strings); ``right, lure`` (i8: positions of the right answer, and of the one that a misreading
        gives, null where there is none); ``cluster`` (string: the verb that its contrast set is resampled with: that of most of its
        items, the first in the alphabet of several, the real one under a pseudoword; what a suite says); ``source_id`` (string, null but
        for pseudowords); ``group`` (string: the pair of premises with the same two answers, null where there are none);
        and the columns ``DIMENSIONS`` (strings, null where they do not apply): ``construction`` (whose contrast sets they are),
        ``premise`` (the construction whose meaning the premise has), ``split``, ``design``, ``band`` (of the premise's verb),
        ``extended`` (yes or no), ``variant``, ``side`` (construction and variant), ``entity_type``, ``switched`` (yes or no), ``mode``,
        ``wording_held_out``, ``template_held_out`` (yes or no); of suites those that they name.
    """
    suite, scoring = SUITES.get(config), scoring_of(config)
    own = {"construction": pl.col("construction"), "split": pl.col("split"), **suite.dimensions} if suite else _dimensions(rows)
    none = pl.lit(None, dtype=pl.String)
    return rows.select(
        "id",
        "contrast_set",
        scoring.right().cast(pl.Int8).alias("right"),
        scoring.lured(rows.columns).cast(pl.Int8).alias("lure"),
        (suite.cluster if suite else pl.lit(_clusters(rows, sources))).alias("cluster"),
        *(_named(own[name], rows).alias(name) if name in own else none.alias(name) for name in DIMENSIONS),
        config=pl.lit(config),
        source_id=pl.col("source_id") if "source_id" in rows.columns else none,
        group=pl.col("pair_group") if "pair_group" in rows.columns else none,
    )


def answered(questions: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """Questions with their answers.

    Args:
        questions: from `questions`, of one or more configs.
        answers: ``id`` (string), ``answer`` (i8, a position; null: undecided), ``numbers`` (list, one per answer; may be missing), one row
            for each question.

    Returns:
        The questions, with ``answer``, ``numbers`` and ``hit`` (bool): whether it is the right one. What is undecided is not.
    """
    numbers = pl.col("numbers") if "numbers" in answers.columns else pl.lit(None, dtype=pl.List(pl.Float64)).alias("numbers")
    both = questions.join(answers.select("id", "answer", numbers), on="id", how="left", maintain_order="left")
    return both.with_columns(hit=(pl.col("answer") == pl.col("right")).fill_null(value=False))


def _dimensions(rows: pl.DataFrame) -> dict[str, pl.Expr]:
    """Those of a family's items."""
    dimensions = {
        "construction": TARGET,
        "premise": pl.col("construction"),
        "split": pl.col("split"),
        "design": pl.concat_str(TARGET, "design", separator="/"),
        "band": pl.lit(_bands(rows)),
        "extended": pl.col("acceptability") == EXTENDED,
        **{name: pl.col(name) for name in _FROM_DATA if name in rows.columns},
    }
    if "variant" in rows.columns:
        dimensions["side"] = pl.when(pl.col("variant") != "").then(pl.concat_str(TARGET, "variant", separator="/"))
    if "switched" in rows.columns:  # of pairs about participants that cannot change places it says nothing
        dimensions["switched"] = pl.when(pl.col("switched").any().over(TARGET)).then("switched")
    return dimensions


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
