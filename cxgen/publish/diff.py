"""What changed between two versions of a dataset, by content-addressed item id."""

from pathlib import Path

import polars as pl
import polars.selectors as cs

from cxgen import layout
from cxgen.errors import DataError
from cxgen.families import CONFIGS, NATURAL, family_of
from cxgen.schema import Contract
from cxgen.suites import columns_of
from cxgen.tables import read_table
from cxgen.vocabulary import LABELS, SPLITS

_COLUMNS = ["config", "split", "contrast_set", "id", "construction", "premise", "hypothesis", "label"]
_TEXTS = ["config", "premise", "hypothesis"]
CHANGES = ("added", "removed", "relabelled", "moved", "reworded")


def read_dataset(folder: Path) -> pl.DataFrame:
    """All items of a dataset folder, or of a project's: ``_COLUMNS``, all strings."""
    if not folder.is_dir():
        what = "not a folder" if folder.exists() else "no such folder"
        raise DataError(what, file=folder, hint="give a dataset folder, a project's, or OWNER/NAME@REVISION on the Hub")
    roots = [folder / layout.DATASET, folder / layout.WUG, folder / layout.NATURAL] if (folder / layout.DATASET).is_dir() else [folder]
    tables = []
    for path in (path for root in roots for path in sorted(root.glob("*/*.parquet"))):
        split, config = layout.split_of(path), path.parent.name
        if split in SPLITS and (config == NATURAL or config.removesuffix("_wug") in CONFIGS):
            compared = family_of(config).compared
            names = {"id", "contrast_set", "construction", "split", *compared.values()}
            chosen = tuple(column for column in columns_of(config) if column.name in names)
            contract = Contract(chosen, key=("id",), optional=frozenset({"split"}), more=True)  # other versions have other columns besides
            table = read_table(path, contract, "is it a dataset of cxgen's?")
            if "split" in table.columns and (table["split"] != split).any():
                raise DataError(f"holds rows of another split than {split}", file=path, hint="it was edited, or renamed")
            table = table.with_columns(cs.integer().replace_strict(dict(enumerate(LABELS)), return_dtype=pl.String))
            tables.append(table.select("id", "construction", "contrast_set", config=pl.lit(config), split=pl.lit(split), **compared))
    if not tables:
        raise DataError("no dataset in it: expected CONFIG/SPLIT-*.parquet", file=folder, hint="give a folder such as outputs/dataset")
    return pl.concat(tables, how="diagonal").select(_COLUMNS)


def changed_items(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """The items (of `read_dataset`) that differ, with the ``change``: one of `CHANGES` (moved: to another split)."""
    both = old.join(new, on=["config", "id"], how="full", coalesce=True, suffix="_new")
    reworded = pl.any_horizontal(pl.col(name) != pl.col(f"{name}_new") for name in _TEXTS[1:])
    differ = (pl.col(name) != pl.col(f"{name}_new") for name in ("label", "split"))
    kinds = zip(CHANGES, (pl.col("label").is_null(), pl.col("label_new").is_null(), *differ, reworded), strict=True)
    change = pl.coalesce(pl.when(kind).then(pl.lit(name)) for name, kind in kinds)
    sides = {f"{side}_{what}": f"{what}{end}" for what in ("split", "label") for side, end in (("old", ""), ("new", "_new"))}
    texts = {name: pl.coalesce(f"{name}_new", name) for name in ("construction", "premise", "hypothesis")}
    rows = both.select("config", "id", change=change, **sides, **texts).drop_nulls("change").sort("config", "change", "id")
    return rows.select("change", "config", "id", "construction", *sides, "premise", "hypothesis")


def summary(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """By ``config``: items before and after, contrast sets added, removed and changed, and how many `differing` labels (i64)."""
    item = pl.concat_str("split", "id", "label", "premise", "hypothesis", separator="\x1f").sort().str.join("\x1e")
    items, sets, moved = _by(old, new, ["config"], pl.len()), _by(old, new, ["config", "contrast_set"], item), differing(old, new)
    states = {"added": pl.col("old").is_null(), "removed": pl.col("new").is_null(), "changed": pl.col("old") != pl.col("new")}
    counted = sets.group_by("config").agg(state.sum().cast(pl.Int64).alias(f"sets_{name}") for name, state in states.items())
    labels = moved.group_by("config").agg(labels_differ=pl.len().cast(pl.Int64))
    table = items.rename({"old": "items_old", "new": "items_new"}).join(counted, on="config").join(labels, on="config", how="left")
    return table.with_columns(cs.numeric().fill_null(0).cast(pl.Int64)).sort("config")


def differing(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """``config, premise, hypothesis, old, new``: what has another label than before; of minimal pairs, a continuation good or bad."""
    table = _by(_labels(old), _labels(new), _TEXTS, pl.col("label").first())
    return table.filter(pl.col("old") != pl.col("new")).sort(_TEXTS)


def _labels(items: pl.DataFrame) -> pl.DataFrame:
    """``config, premise, hypothesis, label``: a minimal pair has two rows."""
    paired = ~pl.col("label").is_in(LABELS)
    bad = items.filter(paired).select("config", "premise", hypothesis="label", label=pl.lit("bad"))
    return pl.concat([items.select(*_TEXTS, label=pl.when(paired).then(pl.lit("good")).otherwise("label")), bad])


def counts(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """Numbers of items: ``config, split, construction``, then ``old, new, difference`` (i64), sorted."""
    by = ["config", "split", "construction"]
    table = _by(old, new, by, pl.len().cast(pl.Int64)).with_columns(pl.col("old", "new").fill_null(0))
    return table.with_columns(difference=pl.col("new") - pl.col("old")).sort(by)


def _by(old: pl.DataFrame, new: pl.DataFrame, by: list[str], value: pl.Expr) -> pl.DataFrame:
    """A value of every group on either side: ``old, new``, null where there is no such group."""
    sides = [side.group_by(by).agg(value.alias(name)) for side, name in ((old, "old"), (new, "new"))]
    return sides[0].join(sides[1], on=by, how="full", coalesce=True)
