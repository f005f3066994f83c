"""Instances of a construction and what is none: a table, or premises of the dataset."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from cxgen.errors import DataError, unknown
from cxgen.facade import load
from cxgen.schema import TARGET
from cxgen.tables import read_rows
from cxgen.vocabulary import SPLITS

SETS = "sets:"  # before the construction whose sets are taken
LENGTH = "words in all"  # the feature that every sentence has
_FORMAT = (
    "columns: sentence, label (instance, non-instance; or 1, 0; scrambled, 2 is left out), split; feature and value, pair if there are such"
)
_NEEDED = ("sentence", "label", "split")
_OTHER = {"feature": "subset", "pair": "contrast_set"}  # what the dataset's own tables call them
_CODES = {"1": 1, "instance": 1, "true": 1, "0": 0, "non-instance": 0, "false": 0}
_THIRD = ("2", "scrambled")  # neither: left out
_GENERAL = ("general", "")  # no feature is held apart
_SHOWN = 3


def read_sentences(data: str, where: Mapping[str, str | int]) -> pl.DataFrame:
    """The sentences.

    Args:
        data: a file (JSON lines, CSV, parquet), a folder of parquet files, or ``sets:CONSTRUCTION``: the premises of the contrast sets of
            `nli` and `distinction` that hold instances of the construction beside others of the same words.
        where: only rows with these values: column -> value.

    Returns:
        ``sentence, split`` (strings), ``label`` (i8; 1: an instance), ``feature`` (string; null: none is held apart), ``value`` (string,
        null), ``pair`` (string; null: it has no counterpart).

    Raises:
        DataError: no such data, or not such columns: with counts and examples.
        UnknownNameError: there are no such sets.
    """
    if data.startswith(SETS):
        rows, path = _sets(data.removeprefix(SETS)), Path(data)
    else:
        path = Path(data).expanduser()
        rows = _files(path)
    rows = _chosen(rows, where, path)
    return _checked(rows, path)


def with_length(rows: pl.DataFrame) -> pl.DataFrame:
    """Sentences, and those in which no feature is held apart once more, with the number of their words as feature."""
    words = pl.col("sentence").str.split(" ").list.len().cast(pl.String)
    return pl.concat([rows, rows.filter(pl.col("feature").is_null()).with_columns(feature=pl.lit(LENGTH), value=words)])


def _files(path: Path) -> pl.DataFrame:
    if not path.is_dir():
        return read_rows(path, _FORMAT)
    files = sorted(path.glob("*.parquet"))
    if not files:
        raise DataError("no .parquet file in the folder", file=path, hint="is the dataset made? `make dataset`")
    return pl.concat([read_rows(file, _FORMAT) for file in files], how="diagonal_relaxed")


def _sets(construction: str) -> pl.DataFrame:
    """Premises of sets that hold both."""
    tables = [
        load(config).select("contrast_set", "premise", "split", "construction", TARGET.alias("target")) for config in ("nli", "distinction")
    ]
    rows = pl.concat(tables).unique(maintain_order=True)
    both = (pl.col("construction") == pl.col("target")).over("contrast_set", mapping_strategy="join").list.unique().list.len() > 1
    rows = rows.filter(both)
    if construction not in rows["target"]:
        raise unknown("construction with sets that hold instances and others", construction, rows["target"].unique())
    mine = rows.filter(pl.col("target") == construction)
    label = (pl.col("construction") == construction).cast(pl.Int8)
    return mine.select(pl.col("premise").alias("sentence"), "split", label.alias("label"), pl.col("contrast_set").alias("pair"))


def _chosen(rows: pl.DataFrame, where: Mapping[str, str | int], path: Path) -> pl.DataFrame:
    for name, value in where.items():
        if name not in rows.columns:
            raise DataError(f"has no column {name}, which `where` asks for", file=path, hint=f"columns: {', '.join(rows.columns[:12])}")
        kept = rows.filter(pl.col(name).cast(pl.String) == str(value))
        if not kept.height:
            known = ", ".join(map(str, rows[name].unique().sort()[:8]))
            raise DataError(f"no row has {name} {value}, which `where` asks for", file=path, hint=f"there are {known}")
        rows = kept
    return rows


def _checked(rows: pl.DataFrame, path: Path) -> pl.DataFrame:
    missing = [name for name in _NEEDED if name not in rows.columns]
    if missing or not rows.height:
        raise DataError(f"has no {', '.join(missing) or 'rows'}", file=path, hint=_FORMAT)
    optional = {
        name: next((each for each in (name, _OTHER.get(name, name)) if each in rows.columns), None) for name in ("feature", "value", "pair")
    }
    texts = {name: pl.lit(None) if found is None else pl.col(found) for name, found in optional.items()}
    rows = rows.select(*(pl.col(name).cast(pl.String) for name in _NEEDED), *(texts[name].cast(pl.String).alias(name) for name in texts))
    label = pl.col("label").str.to_lowercase()
    rows = rows.filter(~label.is_in(_THIRD).fill_null(value=False))
    label = label.replace_strict(_CODES, default=None, return_dtype=pl.Int8)
    checks = (
        ("sentences are empty", pl.col("sentence").str.strip_chars().fill_null("") == "", "sentence"),
        ("labels are none", label.is_null(), "label"),
        (f"splits are none of {', '.join(SPLITS)}", ~pl.col("split").is_in(SPLITS).fill_null(value=False), "split"),
    )
    for what, fault, name in checks:
        odd = rows.filter(fault)[name]
        if len(odd):
            shown = ", ".join(repr(value) for value in odd.unique(maintain_order=True)[:_SHOWN])
            raise DataError(f"{len(odd)} {what}: {shown}", file=path, hint=_FORMAT)
    feature = pl.when(~pl.col("feature").is_in(_GENERAL)).then(pl.col("feature"))
    return rows.with_columns(label, feature)
