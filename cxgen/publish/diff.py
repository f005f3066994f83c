"""What changed between two versions of a dataset, by content-addressed item id."""

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
    """All items of a dataset folder, or of a project's: ``config, split, id, construction, label, premise, hypothesis``, all strings."""
    if not folder.is_dir():
        what = "not a folder" if folder.exists() else "no such folder"
        raise DataError(what, file=folder, hint="give a dataset folder, a project's, or OWNER/NAME@REVISION on the Hub")
    roots = [folder / layout.DATASET, folder / layout.WUG, folder / layout.NATURAL] if (folder / layout.DATASET).is_dir() else [folder]
    tables = []
    for path in (path for root in roots for path in sorted(root.glob("*/*.parquet"))):
        split, config = layout.split_of(path), path.parent.name
        if split in SPLITS and (config == NATURAL or config.removesuffix("_wug") in CONFIGS):
            table = read_table(path, compared(config), "is it a dataset of cxgen's?")
            if "split" in table.columns and (table["split"] != split).any():
                raise DataError(f"holds rows of another split than {split}", file=path, hint="it was edited, or renamed")
            texts = {name: _named(column, table.schema[column]) for name, column in family_of(config).compared.items()}
            tables.append(table.select("id", "construction", config=pl.lit(config), split=pl.lit(split), **texts))
    if not tables:
        raise DataError("no dataset in it: expected CONFIG/SPLIT-*.parquet", file=folder, hint="give a folder such as outputs/dataset")
    return pl.concat(tables, how="diagonal").select("config", "split", "id", "construction", "label", "premise", "hypothesis")


def _named(column: str, dtype: pl.DataType) -> pl.Expr:
    return pl.col(column) if dtype == pl.String else pl.col(column).replace_strict(dict(enumerate(LABELS)), return_dtype=pl.String)


def changed_items(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """The items (of `read_dataset`) that differ, with the ``change``: added, removed, relabelled or moved (to another split)."""
    both = old.join(new, on=["config", "id"], how="full", coalesce=True, suffix="_new")
    kinds = {
        "added": pl.col("label").is_null(),
        "removed": pl.col("label_new").is_null(),
        "relabelled": pl.col("label") != pl.col("label_new"),
        "moved": pl.col("split") != pl.col("split_new"),
    }
    change = pl.coalesce(pl.when(kind).then(pl.lit(name)) for name, kind in kinds.items())
    sides = {f"{side}_{what}": f"{what}{end}" for what in ("split", "label") for side, end in (("old", ""), ("new", "_new"))}
    texts = {name: pl.coalesce(f"{name}_new", name) for name in ("construction", "premise", "hypothesis")}
    rows = both.select("config", "id", change=change, **sides, **texts).drop_nulls("change").sort("config", "change", "id")
    return rows.select("change", "config", "id", "construction", *sides, "premise", "hypothesis")


def changed_counts(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """The rows of `counts` that have an item which the other side has not, or has elsewhere."""
    differing = [one.join(other, on=["id", *_KEYS], how="anti").select(_KEYS) for one, other in ((old, new), (new, old))]
    return counts(old, new).join(pl.concat(differing).unique(), on=_KEYS, how="semi", maintain_order="left")


def counts(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """Numbers of items: ``config, split, construction, label`` (strings), ``old, new, difference`` (i64), sorted."""
    sides = [side.group_by(_KEYS).agg(pl.len().cast(pl.Int64).alias(name)) for side, name in ((old, "old"), (new, "new"))]
    table = sides[0].join(sides[1], on=_KEYS, how="full", coalesce=True).with_columns(pl.col("old", "new").fill_null(0))
    return table.with_columns(difference=pl.col("new") - pl.col("old")).sort(_KEYS)
