"""What is learned from, and what is answered: items of the dataset, and tables that a user brings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from cxgen.build.tables import read_splits, require_dataset
from cxgen.errors import DataError
from cxgen.evaluate.report import Evaluated, Part
from cxgen.evaluate.scores import DIMENSIONS
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.streams import order_key, order_keys
from cxgen.tables import read_rows
from cxgen.vocabulary import LABELS

NLI = "nli"  # the config whose kind of items all these are
_COLUMNS = ("premise", "hypothesis", "label")
_FORMAT = "columns: premise, hypothesis, label (entailment, neutral, contradiction; or 0, 1, 2), construction if there is one"
_CODES = {name: code for code, label in enumerate(LABELS) for name in (label, label[0], str(code))}
_SHOWN = 3


def learned_from(project: Project, configs: Sequence[str], split: str, most: int | None) -> pl.DataFrame:
    """Items to learn from.

    Args:
        project: whose dataset.
        configs: of the kind of `nli`.
        split: which.
        most: items at most, whole contrast sets, the same whatever the seed; None: all.

    Returns:
        ``id, premise, hypothesis`` (strings), ``label`` (i64), ``target`` (string: the construction whose contrast set it is).

    Raises:
        DataError: there is no dataset, or it is damaged.
    """
    require_dataset(project)
    tables = [read_splits(project, config, [split]).select("id", "contrast_set", *_COLUMNS, TARGET.alias("target")) for config in configs]
    rows = pl.concat(tables).with_columns(pl.col("label").cast(pl.Int64))
    if most is not None:
        sets = rows.group_by("contrast_set").len().sort("contrast_set")
        sets = sets.with_columns(order=pl.Series(order_keys(("few",), sets["contrast_set"]))).sort("order")
        kept = sets.filter(pl.col("len").cum_sum() <= max(most, sets["len"][0]))["contrast_set"]
        rows = rows.filter(pl.col("contrast_set").is_in(kept.implode()))
    return rows.drop("contrast_set")


def answered_parts(project: Project, configs: Sequence[str], files: Sequence[Path]) -> dict[str, Evaluated]:
    """What is answered: name -> the test items of a config, or the items of a file.

    Raises:
        DataError: there is no dataset, a table is damaged or not as it must be, or two have the same name.
    """
    parts = {config: Evaluated.read(project, Part((config,))) for config in configs}
    for path in files:
        if path.stem in parts:
            raise DataError(f"another part is called {path.stem!r}, too", file=path, hint="rename the file")
        parts[path.stem] = outside(project, path)
    return parts


def outside(project: Project, path: Path) -> Evaluated:
    """The items of a table that a user brings, as questions of the kind of `nli`; those of a premise are resampled together.

    Args:
        project: whose prompts and examples are used.
        path: JSON lines, CSV or parquet: ``premise, hypothesis``, ``label`` (a name in any case, its first letter, or 0 entailment,
            1 neutral, 2 contradiction) and, if there is one, ``construction``. Other columns are not read.

    Raises:
        DataError: not such a table: with counts and examples.
    """
    rows = read_rows(path, _FORMAT)
    missing = [name for name in _COLUMNS if name not in rows.columns]
    if missing or not rows.height:
        raise DataError(f"has no {', '.join(missing) or 'rows'}", file=path, hint=_FORMAT)
    texts = [pl.col(name).cast(pl.String).str.strip_chars() for name in _COLUMNS]
    named = "construction" in rows.columns
    target = pl.col("construction").cast(pl.String).fill_null("other") if named else pl.lit("all")
    rows = rows.select(*texts, target.alias("construction"))
    _require_texts(rows, path)
    label = pl.col("label").str.to_lowercase().replace_strict(_CODES, default=None, return_dtype=pl.Int8)
    odd = rows.filter(label.is_null())["label"]
    if len(odd):
        shown = ", ".join(repr(value) for value in odd.unique(maintain_order=True)[:_SHOWN])
        raise DataError(f"{len(odd)} labels are none: {shown}", file=path, hint=_FORMAT)
    numbers = [order_key("outside", number, row["premise"], row["hypothesis"]).hex()[:16] for number, row in enumerate(rows.to_dicts())]
    rows = rows.with_columns(label, pl.Series("id", numbers), contrast_of=pl.lit(None, dtype=pl.String))
    return Evaluated(project, Part((NLI,)), {NLI: rows}, _questions(rows), (path.stem,))


def _questions(rows: pl.DataFrame) -> pl.DataFrame:
    """See `cxgen.evaluate.scores.questions`: what is not known of these items is null."""
    none = pl.lit(None, dtype=pl.String)
    dimensions = {"construction": pl.col("construction")}
    return rows.select(
        "id",
        pl.col("premise").alias("contrast_set"),
        pl.col("label").alias("right"),
        pl.lit(None, dtype=pl.Int8).alias("lure"),
        pl.col("premise").alias("cluster"),
        *(dimensions.get(name, none).alias(name) for name in DIMENSIONS),
        config=pl.lit(NLI),
        source_id=none,
        group=none,
    )


def _require_texts(rows: pl.DataFrame, path: Path) -> None:
    for name in _COLUMNS[:2]:
        empty = rows.with_row_index("row", 1).filter(pl.col(name).is_null() | (pl.col(name) == ""))["row"]
        if len(empty):
            shown = ", ".join(map(str, empty[:_SHOWN]))
            raise DataError(f"{len(empty)} rows have no {name}: {shown}{', ...' if len(empty) > _SHOWN else ''}", file=path, hint=_FORMAT)
