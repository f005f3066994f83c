"""What changed between two versions of a dataset, by content-addressed item id."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from cxgen import layout
from cxgen.build.tables import compared
from cxgen.errors import DataError
from cxgen.families import CONFIGS, NATURAL, family_of
from cxgen.tables import read_table
from cxgen.vocabulary import LABELS, SPLITS

_KEYS = ["config", "split", "construction", "label"]


def read_dataset(folder: Path) -> pl.DataFrame:
    """All items of a dataset folder (``<config>/<split>-*.parquet``), or of the dataset of a project folder.

    Returns:
        ``config, split, id, construction, label, premise, hypothesis``; all strings.

    Raises:
        DataError: there is no such folder, no dataset in it, or a table is damaged.
    """
    if not folder.is_dir():
        what = "not a folder" if folder.exists() else "no such folder"
        raise DataError(what, file=folder, hint="give a dataset folder, a project's, or OWNER/NAME@REVISION on the Hub")
    roots = [folder / layout.DATASET, folder / layout.WUG, folder / layout.NATURAL] if (folder / layout.DATASET).is_dir() else [folder]
    tables = []
    for path in (path for root in roots for path in sorted(root.glob("*/*.parquet"))):
        split, config = layout.split_of(path), path.parent.name
        if split in SPLITS and (config == NATURAL or config.removesuffix("_wug") in CONFIGS):
            columns = family_of(config).compared
            table = read_table(path, compared(config), "is it a dataset of cxgen's?")
            if "split" in table.columns and (table["split"] != split).any():
                raise DataError(f"holds rows of another split than {split}", file=path, hint="it was edited, or renamed")
            shown = {name: _named(pl.col(column), table.schema[column]) for name, column in columns.items()}
            tables.append(table.select("id", "construction", **shown).with_columns(config=pl.lit(config), split=pl.lit(split)))
    if not tables:
        raise DataError("no dataset in it: expected CONFIG/SPLIT-*.parquet", file=folder, hint="give a folder such as outputs/dataset")
    return pl.concat(tables).select("config", "split", "id", "construction", "label", "premise", "hypothesis")


def _named(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    return value if dtype == pl.String else value.replace_strict(dict(enumerate(LABELS)), return_dtype=pl.String)


def changed_items(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """The items that are not the same in both.

    Args:
        old, new: from `read_dataset`.

    Returns:
        ``change`` (added, removed, relabelled or moved: to another split), ``config, id, construction, old_split, new_split, old_label,
        new_label, premise, hypothesis`` (strings; null where a side has no such item), sorted by config, change and id.
    """
    keys = ["config", "id"]
    both = old.join(new, on=keys, how="full", coalesce=True, suffix="_new")
    change = (
        pl.when(pl.col("label").is_null())
        .then(pl.lit("added"))
        .when(pl.col("label_new").is_null())
        .then(pl.lit("removed"))
        .when(pl.col("label") != pl.col("label_new"))
        .then(pl.lit("relabelled"))
        .when(pl.col("split") != pl.col("split_new"))
        .then(pl.lit("moved"))
    )
    return (
        both.with_columns(change=change)
        .drop_nulls("change")
        .select(
            "change",
            *keys,
            pl.coalesce("construction_new", "construction").alias("construction"),
            old_split="split",
            new_split="split_new",
            old_label="label",
            new_label="label_new",
            premise=pl.coalesce("premise_new", "premise"),
            hypothesis=pl.coalesce("hypothesis_new", "hypothesis"),
        )
        .sort("config", "change", "id")
    )


def changed_counts(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """The rows of `counts` that have an item which the other side has not, or has elsewhere."""
    here, there = old.join(new, on=["id", *_KEYS], how="anti"), new.join(old, on=["id", *_KEYS], how="anti")
    touched = pl.concat([here.select(_KEYS), there.select(_KEYS)]).unique()
    return counts(old, new).join(touched, on=_KEYS, how="semi", maintain_order="left")


def counts(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """Numbers of items: ``config, split, construction, label`` (strings), ``old, new, difference`` (i64), sorted."""
    sides = [side.group_by(_KEYS).agg(pl.len().cast(pl.Int64).alias(name)) for side, name in ((old, "old"), (new, "new"))]
    table = sides[0].join(sides[1], on=_KEYS, how="full", coalesce=True).with_columns(pl.col("old", "new").fill_null(0))
    return table.with_columns(difference=pl.col("new") - pl.col("old")).sort(_KEYS)
