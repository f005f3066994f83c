"""The tables that a build leaves: where they are, what they must be like, and whether they are still what was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build.choose import VERDICTS
from cxgen.build.content import WRITTEN, table_hashes
from cxgen.errors import DataError
from cxgen.families import CONFIGS, FAMILIES, NATURAL, REJECTED, columns_of, family_of, own_columns, wug_config
from cxgen.project import Project
from cxgen.schema import Column, Contract, polars_schema, read_json
from cxgen.schema.columns import LINEAGE, MATERIAL
from cxgen.suites import SUITES
from cxgen.tables import read_table
from cxgen.vocabulary import PAIR_VERDICTS, PREMISE_VERDICTS, SPLITS

Tables = Mapping[tuple[str, str], pl.DataFrame]
METRICS = ("splits", "wug", NATURAL, "suites")  # that have the hashes of tables
_OWN = tuple(replace(column, null=True) for name in FAMILIES for column in own_columns(name))  # which rows of other configs lack
_CANDIDATES = Contract(
    (
        *LINEAGE,
        *_OWN,
        *MATERIAL,
        Column("config", pl.String, "the config that the item is for", values=tuple(CONFIGS)),
        Column("set_number", pl.Int64, "number of its contrast set within its sampler"),
    ),
    key=("id",),
    optional=frozenset(column.name for column in _OWN),
    least=1,
)
_ALLOWED = {"premise_verdict": PREMISE_VERDICTS, "pair_verdict": PAIR_VERDICTS}
_VERDICTS = Contract(tuple(Column(name, pl.String, "", values=_ALLOWED.get(name, ())) for name in VERDICTS), key=("id",), least=1)


def read_candidates(project: Project) -> pl.DataFrame:
    """The candidate items.

    Raises:
        DataError: there are none, or they are not as `cxgen generate` writes them.
    """
    return read_table(project.root / layout.CANDIDATES, _CANDIDATES, "run `cxgen generate` first")


def read_verdicts(project: Project) -> pl.DataFrame:
    """The verdicts on the candidates.

    Raises:
        DataError: there are none, or they are not as `cxgen judge` writes them.
    """
    return read_table(project.root / layout.VERDICTS, _VERDICTS, "run `cxgen judge` first")


def table_file(project: Project, config: str, split: str) -> Path:
    """Where the rows of a split of a config are."""
    if config in SUITES:
        folder = layout.SUITES
    elif config == NATURAL:
        folder = layout.NATURAL
    else:
        folder = layout.WUG if config.endswith("_wug") else layout.DATASET
    return project.root / layout.table(config, split, folder)


def read_split(path: Path, config: str, split: str) -> pl.DataFrame:
    """A finished table of a config, of one of its splits or of what was refused.

    Raises:
        DataError: there is none, or it is not as the pipeline writes it.
    """
    hint = f"run `cxgen {config if config == NATURAL else 'suites' if config in SUITES else 'build'}` (or `dvc repro`) first"
    if config == REJECTED:
        columns = tuple(replace(column, null=True) for column in columns_of(config))
        return read_table(path, Contract(columns, optional=frozenset(column.name for column in columns)), hint)
    columns = SUITES[config].columns if config in SUITES else columns_of(config)
    rows = read_table(path, Contract(columns, key=("id",)), hint)
    if (rows["split"] != split).any():
        raise DataError(f"holds rows of another split than {split}", file=path, hint=hint)
    return rows


def read_splits(project: Project, config: str, splits: Iterable[str] = SPLITS) -> pl.DataFrame:
    """The rows of some splits of a config; a suite has no rows of splits that it does not have.

    Raises:
        DataError: there is no such table, or it is not as the pipeline writes it.
    """
    chosen = [split for split in splits if config not in SUITES or split in SUITES[config].splits]
    tables = [read_split(table_file(project, config, split), config, split) for split in chosen]
    columns = SUITES[config].columns if config in SUITES else columns_of(config)
    return pl.concat([pl.DataFrame(schema=polars_schema(columns)), *tables])


def dataset(project: Project, family: str = "") -> pl.DataFrame:
    """All splits of every config of ``family`` (default: of all) that the dataset has, with the column ``config``; no rows if all configs
    that it has are other families'.

    Raises:
        DataError: there is no dataset.
    """
    require_dataset(project)
    configs = [config for config in CONFIGS if family in {"", family_of(config).name}]
    tables = [_config(project, config) for config in configs]
    return pl.concat([table for table in tables if table.height] or tables, how="diagonal")


def natural(project: Project) -> pl.DataFrame:
    """The items of config ``natural`` with the column ``config``; no rows if there are none."""
    return _config(project, NATURAL)


def _config(project: Project, config: str) -> pl.DataFrame:
    files = {split: table_file(project, config, split) for split in SPLITS}
    tables = [read_split(file, config, split) for split, file in files.items() if file.is_file()]
    return pl.concat([pl.DataFrame(schema=polars_schema(columns_of(config))), *tables]).with_columns(config=pl.lit(config))


def with_natural(project: Project, family: str) -> pl.DataFrame:
    """`dataset`, and what writers wrote, as config ``natural``, where there is any.

    Raises:
        DataError: there is no dataset.
    """
    return pl.concat([dataset(project, family), natural(project)], how="diagonal")


def require_dataset(project: Project) -> None:
    """See that there is a dataset, of whatever configs.

    Raises:
        DataError: there is none.
    """
    if not any(table_file(project, config, split).is_file() for config in CONFIGS for split in SPLITS):
        raise DataError("there is no dataset", file=project.root / layout.DATASET, hint=remake(project))


def remake(project: Project, *commands: str) -> str:
    """The hint that says how to make what is missing: with the pipeline where there is one, else with ``commands`` (default: build)."""
    if (project.root / layout.PIPELINE).is_file():
        return "run `dvc repro` first"
    return f"run {', '.join(f'`cxgen {command}`' for command in commands or ('build',))} first"


def read_tables(project: Project) -> dict[tuple[str, str], pl.DataFrame]:
    """(config, split) -> rows, of everything that is a part of the dataset, `rejected` last.

    Raises:
        DataError: a table is damaged, or there is a file that is none of them.
    """
    configs = [*CONFIGS, *map(wug_config, CONFIGS), NATURAL, *SUITES]
    keys = [*((config, split) for config in configs for split in SPLITS), (REJECTED, REJECTED)]
    expected = {table_file(project, *key): key for key in keys}
    for folder in (layout.DATASET, layout.WUG, layout.NATURAL, layout.SUITES):
        for path in sorted((project.root / folder).rglob("*.parquet")):
            if path not in expected:
                raise DataError("no command writes such a file", file=path, hint="remove it, or keep it elsewhere")
    return {key: read_split(path, *key) for path, key in expected.items() if path.exists()}


def require_unchanged(project: Project, tables: Tables, metrics: Mapping[str, Any]) -> dict[str, str]:
    """See that the tables are those that were written and audited; their hashes, see `table_hashes`.

    Args:
        project: whose.
        tables: from `read_tables`.
        metrics: those of ``METRICS`` that there are.

    Raises:
        DataError: which tables differ.
    """
    written = {name: value for metric in METRICS for name, value in metrics.get(metric, {}).get(WRITTEN, {}).items()}
    hashes = table_hashes(tables)
    changed = sorted(name for name in written.keys() | hashes.keys() if written.get(name) != hashes.get(name))
    if changed:
        names = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
        hint = f"{remake(project, 'build', 'natural', 'suites')}; what you want to be otherwise belongs into templates and params.yaml"
        raise DataError(f"not what the pipeline wrote: {names}", file=project.root / layout.DATASET, hint=hint)
    return hashes


def compared(config: str) -> Contract:
    """What of a table of ``config`` is compared with that of another version, which may have other columns besides."""
    names = {"id", "construction", "split", *family_of(config).compared.values()}
    chosen = tuple(column for column in columns_of(config) if column.name in names)
    return Contract(chosen, key=("id",), optional=frozenset({"split"}), more=True)


def packaged(project: Project) -> dict[str, dict[str, int]]:
    """Config -> split -> rows of the folder that the Hub will show, from its ``dataset_version.json`` alone.

    Raises:
        DataError: no packaged dataset, or a damaged record.
    """
    record = read_json(project.root / layout.HUB / layout.VERSION_FILE, "metrics", "version", "run `make dataset`, or `cxgen package`")
    sizes: dict[str, dict[str, int]] = {}
    for name, entry in record["rows"].items():
        config, _, split = name.partition("/")
        sizes.setdefault(config, {})[split] = entry["rows"]
    return sizes
