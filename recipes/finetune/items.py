"""What is learned from, and what is answered: items of the dataset, and tables that a user brings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from cxgen.build.tables import read_splits, require_dataset
from cxgen.errors import DataError
from cxgen.evaluation.report import Evaluated, Part
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.streams import order_keys

NLI = "nli"  # the config whose kind of items all these are
_COLUMNS = ("premise", "hypothesis", "label")


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


def answered_parts(project: Project, configs: Sequence[str], files: Sequence[Path], most: int | None = None) -> dict[str, Evaluated]:
    """What is answered: name -> the test items of a config (``most`` of them at most, whole contrast sets), or the items of a file.

    Raises:
        DataError: there is no dataset, a table is damaged or not as it must be, or two have the same name.
    """
    parts = {config: Evaluated.read(project, Part((config,), limit=most)) for config in configs}
    for path in files:
        if path.stem in parts:
            raise DataError(f"another part is called {path.stem!r}, too", file=path, hint="rename the file")
        parts[path.stem] = Evaluated.read(project, Part(), [path])
        if parts[path.stem].like[path.stem] != NLI:
            raise DataError("has pairs of sentences", file=path, hint="columns: premise, hypothesis, label")
    return parts
