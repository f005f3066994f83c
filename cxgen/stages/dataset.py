"""The finished dataset, read back for the stages that measure it."""

from __future__ import annotations

import polars as pl

from cxgen import layout
from cxgen.errors import DataError
from cxgen.families import CONFIGS, columns_of, family_of
from cxgen.project import Project
from cxgen.schema import polars_schema
from cxgen.tables import read_table
from cxgen.vocabulary import SPLITS


def dataset(project: Project, family: str = "") -> pl.DataFrame:
    """All splits of every config of ``family`` (default: of all) that the dataset has, with the column ``config``.

    Raises:
        DataError: there is none.
    """
    tables = [
        read_table(project.root / layout.table(config, split), polars_schema(columns_of(config)), "split").with_columns(
            config=pl.lit(config)
        )
        for config in CONFIGS
        for split in SPLITS
        if (project.root / layout.table(config, split)).is_file() and family in {"", family_of(config).name}
    ]
    if not tables:
        raise DataError("there is no dataset", file=project.root / layout.DATASET, hint="run `dvc repro` first")
    return pl.concat(tables, how="diagonal")
