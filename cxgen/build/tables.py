"""The tables that a build leaves: where they are, what they must be like, whether they are still what was written; what readers refused."""

import hashlib
import io
import json
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice, product
from pathlib import Path
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.errors import DataError, some
from cxgen.families import CONFIGS, DEFAULT, NATURAL, REJECTED, family_of, wug_config
from cxgen.files import alone, parse_json, read_text, replace_together, scratch, write_text
from cxgen.project import Project
from cxgen.schema import Column, Contract, polars_schema, read_json
from cxgen.suites import SUITES, columns_of
from cxgen.tables import numbered_rows, read_table, write_json, write_rows
from cxgen.vocabulary import SPLITS

Tables = Mapping[tuple[str, str], pl.DataFrame]  # (config, split) -> rows
WRITTEN = "written"  # under which the metric of a stage that writes tables has their hashes
METRICS = ("splits", "wug", NATURAL, "suites")  # that have them
MEASURED = "measured"  # the metric that says of which tables the ``MEASURES`` tell
MEASURES = ("baselines", "variety", "reading")
TABLES = (  # (config, split) of all that a dataset can have, `rejected` last
    *product([*CONFIGS, *map(wug_config, CONFIGS), NATURAL, *SUITES], SPLITS),
    (REJECTED, REJECTED),
)
_NONE = ".none"
_MEASURE = "run `cxgen report all`"
_PART = 5_000  # rows of which the text is made at once
_WRITERS = Contract((Column("set", pl.String, ""),), more=True)
_REFUSED = ["contrast_set", "reason"]
_REFUSED_HINT = "expected the columns contrast_set and reason; `cxgen review score --drop` writes it"


def table_file(project: Project, config: str, split: str) -> Path:
    """Where the rows of a split of a config are."""
    folder = layout.WUG if config.endswith("_wug") else layout.DATASET
    folder = layout.SUITES if config in SUITES else layout.NATURAL if config == NATURAL else folder
    return project.root / layout.table(config, split, folder)


@contextmanager
def whole(project: Project, begun: Project | None = None) -> Iterator[Project]:
    """A project to write tables and metrics to, which take the place of ``project``'s when the block ends; if anything fails, none of them
    does. ``begun``: the one of a block around this one, which goes on."""
    if begun is not None:
        yield begun
        return
    with scratch(project.root / layout.WORK) as folder:
        try:
            yield Project(folder)
        except (DataError, OSError) as error:
            for name in ("file", "filename"):  # by its place
                if value := getattr(error, name, None):
                    setattr(error, name, type(value)(str(value).replace(str(folder), str(project.root))))
            raise
        made = {project.root / path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
        new = {place.with_name(place.name.removesuffix(_NONE)): path if path.suffix != _NONE else None for place, path in made.items()}
        with alone(project.root / layout.WORK / "all"):  # two builds at once do not mix
            replace_together(new)


def have_none(table: Path) -> None:
    """Say of a table of `whole` that the project is to have none, so that none of an earlier run with other designs is left."""
    write_text(table.with_name(table.name + _NONE), "")


def read_split(project: Project, config: str, split: str) -> pl.DataFrame:
    """A finished table of a config, of one of its splits or of what was refused; `DataError` if it is not as the pipeline writes it."""
    path = table_file(project, config, split)
    hint = remake(project, config if config == NATURAL else "suites" if config in SUITES else "build")
    rows = read_table(path, Contract(columns_of(config), key=("id",)), hint)
    if config != REJECTED and (rows["split"] != split).any():
        raise DataError(f"holds rows of another split than {split}", file=path, hint=hint)
    return rows


def read_splits(project: Project, config: str, splits: Iterable[str] = SPLITS) -> pl.DataFrame:
    """The rows of some splits of a config, which must be there; a suite has no rows of splits that it does not have."""
    chosen = [split for split in splits if config not in SUITES or split in SUITES[config].splits]
    tables = [read_split(project, config, split) for split in chosen]
    return pl.concat([pl.DataFrame(schema=polars_schema(columns_of(config))), *tables])


def dataset(project: Project, family: str = "") -> pl.DataFrame:
    """All splits of the configs of ``family`` (default: of all) that the dataset has, with the column ``config``; there must be one."""
    require_dataset(project)
    tables = [rows_of(project, config) for config in CONFIGS if family in {"", family_of(config).name}]
    return pl.concat([table for table in tables if table.height] or tables, how="diagonal")


def rows_of(project: Project, config: str) -> pl.DataFrame:
    """The rows of a config, of all splits if any is there, with the column ``config``."""
    there = any(table_file(project, config, split).is_file() for split in SPLITS)
    return read_splits(project, config, SPLITS if there else ()).with_columns(config=pl.lit(config))


def with_natural(project: Project, family: str) -> pl.DataFrame:
    """`dataset`, and what writers wrote, as config ``natural``, where there is any."""
    return pl.concat([dataset(project, family), rows_of(project, NATURAL)], how="diagonal")


def reviewed(project: Project, configs: Iterable[str]) -> pl.DataFrame:
    """What people may be asked about: the families of ``configs``, with `nli` and what writers wrote."""
    families = dict.fromkeys(family_of(config).name for config in configs)
    return pl.concat([with_natural(project, DEFAULT), *(dataset(project, name) for name in families if name != DEFAULT)], how="diagonal")


def require_dataset(project: Project) -> None:
    """See that there is a dataset, of whatever configs."""
    if not any(table_file(project, config, split).is_file() for config in CONFIGS for split in SPLITS):
        raise DataError("there is no dataset", file=project.root / layout.DATASET, hint=remake(project))


def remake(project: Project, *commands: str) -> str:
    """The hint that says how to make what is missing: with the pipeline where there is one, else with ``commands`` (default: build)."""
    if (project.root / layout.PIPELINE).is_file():
        return f"run `{'make dataset' if (project.root / 'Makefile').is_file() else 'dvc repro'}` first"
    elsewhere = "; CXGEN_PROJECT=FOLDER names another project, `cxgen init FOLDER` begins one"
    begin = "" if (project.root / layout.PARAMS).is_file() else elsewhere
    return f"run {', '.join(f'`cxgen {command}`' for command in commands or ('build',))} first{begin}"


def read_tables(project: Project) -> dict[tuple[str, str], pl.DataFrame]:
    """(config, split) -> rows, of everything that is a part of the dataset, `rejected` last; `DataError` where another file is."""
    expected = {table_file(project, *key): key for key in TABLES}
    for folder in (layout.DATASET, layout.WUG, layout.NATURAL, layout.SUITES):
        for path in sorted((project.root / folder).rglob("*.parquet")):
            if path not in expected:
                raise DataError("no command writes such a file", file=path, hint="remove it, or keep it elsewhere")
    return {key: read_split(project, *key) for path, key in expected.items() if path.exists()}


def rows_hash(table: pl.DataFrame) -> str:
    """SHA-256 of the logical rows: sorted by id, columns by name, one JSON object per line. Neither writer nor shards change it."""
    digest = hashlib.sha256()
    for part in table.select(sorted(table.columns)).sort("id").iter_slices(_PART):
        buffer = io.BytesIO()
        part.write_ndjson(buffer)
        digest.update(buffer.getbuffer())
    return digest.hexdigest()


def table_hashes(tables: Tables) -> dict[str, str]:
    """``config/split`` -> the `rows_hash` of that table."""
    return {f"{config}/{split}": rows_hash(rows) for (config, split), rows in tables.items()}


def content_hash(hashes: Mapping[str, str]) -> str:
    """SHA-256 of the whole dataset, from ``config/split`` -> `rows_hash`."""
    return hashlib.sha256(json.dumps(dict(sorted(hashes.items()))).encode()).hexdigest()


def require_unchanged(project: Project, tables: Tables, metrics: Mapping[str, Any]) -> dict[str, str]:
    """See that the tables are those that were written and audited, as ``metrics`` (those of ``METRICS``) say; their hashes."""
    written = {name: value for metric in METRICS for name, value in metrics.get(metric, {}).get(WRITTEN, {}).items()}
    hashes = table_hashes(tables)
    changed = sorted(name for name in written.keys() | hashes.keys() if written.get(name) != hashes.get(name))
    if changed:
        hint = f"{remake(project, 'build', 'natural', 'suites')}; what you want to be otherwise belongs into templates and params.yaml"
        raise DataError(f"not what the pipeline wrote: {some(changed)}", file=project.root / layout.DATASET, hint=hint)
    return hashes


def write_measured(project: Project, name: str, report: Mapping[str, Any]) -> None:
    """Write the metric ``name`` (of ``MEASURES``), and into ``measured`` of which tables it tells: those that the project has."""
    path = project.root / layout.metric(MEASURED)
    write_json(report, project.root / layout.metric(name))
    with alone(path):
        paths = {metric: project.root / layout.metric(metric) for metric in (*METRICS, MEASURED)}
        hint = f"delete it; {_MEASURE}"
        there = {metric: read_json(path, "metrics", metric, hint) for metric, path in paths.items() if path.exists()}
        write_json({**there.get(MEASURED, {}), name: _content_measured(there)}, path)


def require_measured(metrics: Mapping[str, Any]) -> None:
    """See that the ``MEASURES`` among ``metrics`` tell of the tables that were written."""
    content = _content_measured(metrics)
    if stale := [f"{name}.json" for name in MEASURES if metrics.get(MEASURED, {}).get(name) != content]:
        raise DataError(f"out of date: {', '.join(stale)}: {_MEASURE}")


def _content_measured(metrics: Mapping[str, Any]) -> str:
    return content_hash({name: value for metric in ("splits", NATURAL) for name, value in metrics.get(metric, {}).get(WRITTEN, {}).items()})


def packaged_content(project: Project) -> str | None:
    """The hash of the rows of the folder that the Hub will show; None if nothing is packaged."""
    path = project.root / layout.HUB / layout.VERSION_FILE
    record = parse_json(read_text(path), path) if path.is_file() else None
    return record.get("content_hash") if isinstance(record, dict) else None


def packaged(project: Project) -> dict[str, dict[str, int]]:
    """Config -> split -> rows of the folder that the Hub will show, from its ``dataset_version.json`` alone."""
    record = read_json(project.root / layout.HUB / layout.VERSION_FILE, "metrics", "version", "run `dvc repro`, or `cxgen package`")
    sizes: dict[str, dict[str, int]] = {}
    for name, entry in record["rows"].items():
        config, _, split = name.partition("/")
        sizes.setdefault(config, {})[split] = entry["rows"]
    return sizes


def read_dropped(path: Path) -> dict[str, str]:
    """Contrast set -> why it is left out, of the tracked list that a build obeys; nothing if there is no such file."""
    return {name: reason for name, (_, reason) in _listed(path).items()}


def _listed(path: Path) -> dict[str, tuple[int, str]]:
    """The same, with its lines."""
    dropped: dict[str, tuple[int, str]] = {}
    table, lines = numbered_rows(path, _REFUSED_HINT) if os.path.lexists(path) else (pl.DataFrame(schema=_REFUSED), ())
    if table.columns != _REFUSED:
        raise DataError("has other columns, or none", file=path, line=1, hint=_REFUSED_HINT)
    for line, row in zip(lines, table.iter_rows(), strict=True):
        if None in row or row[0] in dropped:
            what = "a set that is left out already" if None not in row else "not a set with the reason why it is left out"
            raise DataError(f"{what}: {row}"[:200], file=path, line=line, hint=_REFUSED_HINT)
        dropped[row[0]] = (line, row[1])
    return dropped


def warn_of_strangers(project: Project, known: Collection[str]) -> None:
    """Say on stderr which of the sets that are to be left out are neither ``known``, since they were drawn, nor a writer's."""
    path, sets = project.root / layout.DROPPED, project.root / layout.NATURAL_SETS
    written = read_table(sets, _WRITERS, "restore the file: git restore pipelines")["set"] if os.path.lexists(sets) else ()
    strange = {name: line for name, (line, _) in _listed(path).items() if name not in {*known, *written}}
    for name, line in islice(strange.items(), 1):
        what = f"{len(strange)} contrast sets are not drawn any more, the first of them {name[:40]!r}: nothing is left out for them"
        sys.stderr.write(f"warning: {DataError(what, file=path, line=line).render()}\n")


def refused(mend: Iterable[Mapping[str, Any]], least: int) -> dict[str, str]:
    """The sets of items (from `cxgen.review.score.score`) whose answer most of at least ``least`` readers contradict -> the reason."""
    sets: dict[str, str] = {}
    for row in mend:
        answers = sum(row["answers"].values())
        if "against" in row and answers >= least and row["against"] * 2 > answers:
            counts = ", ".join(f"{answer} {count}" for answer, count in row["answers"].items())
            sets.setdefault(row["contrast_set"], f"item {row['item']}: {row['right']} is computed, readers say {counts}")
    return sets


def drop(sets: Mapping[str, str], path: Path) -> str:
    """Add sets (-> the reason) to the list at ``path``, which keeps what it has, in the order of ids; what came of it, in words."""
    with alone(path):
        before = read_dropped(path)
        write_rows(pl.DataFrame(sorted({**sets, **before}.items()), schema=dict.fromkeys(_REFUSED, pl.String), orient="row"), path)
    added = len(sets.keys() - before.keys())
    return f"{path}: {added} contrast sets added, {len(sets) - added} were there"
