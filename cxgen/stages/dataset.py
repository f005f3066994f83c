"""The finished dataset, read back for the stages that measure it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from cxgen import layout
from cxgen.errors import DataError
from cxgen.families import CONFIGS, NATURAL, columns_of, family_of
from cxgen.project import Project
from cxgen.schema import polars_schema
from cxgen.stages.contracts import read_split
from cxgen.vocabulary import SPLITS


def dataset(project: Project, family: str = "") -> pl.DataFrame:
    """All splits of every config of ``family`` (default: of all) that the dataset has, with the column ``config``; no rows if all configs
    that it has are other families'.

    Raises:
        DataError: there is no dataset.
    """
    require_dataset(project)
    tables = [
        read_split(project.root / layout.table(config, split), config, split).with_columns(config=pl.lit(config))
        for config in CONFIGS
        for split in SPLITS
        if (project.root / layout.table(config, split)).is_file() and family in {"", family_of(config).name}
    ]
    if not tables:
        tables = [
            pl.DataFrame(schema={**polars_schema(columns_of(config)), "config": pl.String})
            for config in CONFIGS
            if family_of(config).name == family
        ]
    return pl.concat(tables, how="diagonal")


def with_natural(project: Project, family: str) -> pl.DataFrame:
    """`dataset`, and what writers wrote, as config ``natural``, where there is any.

    Raises:
        DataError: there is no dataset.
    """
    return pl.concat([dataset(project, family), natural(project)], how="diagonal")


def natural(project: Project) -> pl.DataFrame:
    """The items of config ``natural`` with the column ``config``; no rows if there are none."""
    files = {split: project.root / layout.table(NATURAL, split, layout.NATURAL) for split in SPLITS}
    tables = [pl.DataFrame(schema=polars_schema(columns_of(NATURAL)))]
    tables += [read_split(file, NATURAL, split) for split, file in files.items() if file.is_file()]
    return pl.concat(tables).with_columns(config=pl.lit(NATURAL))


def require_dataset(project: Project) -> None:
    """See that there is a dataset, of whatever configs.

    Raises:
        DataError: there is none.
    """
    if not any((project.root / layout.table(config, split)).is_file() for config in CONFIGS for split in SPLITS):
        hint = remake(project, ["generate", "judge", "split"])
        raise DataError("there is no dataset", file=project.root / layout.DATASET, hint=hint)


def remake(project: Project, commands: Sequence[str]) -> str:
    """The hint that says how to make what is missing: with the pipeline where there is one, else with these commands."""
    if (project.root / layout.PIPELINE).is_file():
        return "run `dvc repro` first"
    return f"run {', '.join(f'`cxgen {command}`' for command in commands)} first"
