"""A release: the folder that the Hugging Face Hub will show, from the finished dataset and its metrics; and the gates before it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build.params import Params
from cxgen.build.tables import content_hash, read_tables, remake, require_dataset, require_unchanged
from cxgen.errors import CxgenError, DataError
from cxgen.families import CONFIGS, NATURAL
from cxgen.files import read_text, write_atomically
from cxgen.layout import UNDECIDED
from cxgen.project import Project
from cxgen.publish import gates, hub
from cxgen.publish.card import card
from cxgen.schema import read_json
from cxgen.tables import write_json, write_table
from cxgen.version import __version__

# The metrics that a release needs, with the command that makes each; in the order in which these are run.
NEEDED = {
    "splits": "build",
    "balance": "build",
    "lint": f"check --output {layout.metric('lint').as_posix()}",
    "baselines": "report baselines",
    "variety": "report variety",
    "reading": "report reading",
}
_JUDGED = ("judge", "models")  # where models judged the candidates
_DERIVED = {layout.WUG: ("wug", "build"), layout.NATURAL: (NATURAL, "natural"), layout.SUITES: ("suites", "suites")}


@dataclass(frozen=True)
class Identity:
    """Which release this is; what is empty is left out.

    Attributes:
        repository: OWNER/NAME on the Hub.
        tag: the tag that the release gets.
        git_revision: commit of the project that the data were made from.
    """

    version: str
    repository: str = ""
    tag: str = ""
    git_revision: str = ""


def read_metrics(project: Project) -> dict[str, Any]:
    """Name -> content of ``outputs/metrics/*.json``; those of wug, natural and suites where there is such a folder, of judges if there are.

    Raises:
        DataError: some are missing, or one is damaged: which, and what makes them.
    """
    metrics: dict[str, Any] = {}
    lacking: dict[str, str] = {}
    derived = dict(entry for folder, entry in _DERIVED.items() if (project.root / folder).is_dir())
    for name, command in (NEEDED | derived).items():
        path = project.root / layout.metric(name)
        if path.exists():
            metrics[name] = read_json(path, "metrics", name, remake(project, command))
        else:
            lacking[path.name] = command
    for name in _JUDGED:
        if (path := project.root / layout.metric(name)).exists():
            metrics[name] = read_json(path, "metrics", name, remake(project, "judge"))
    if lacking:
        hint = remake(project, *dict.fromkeys(lacking.values()))
        raise DataError(f"metrics are missing: {', '.join(lacking)}", file=project.root / layout.METRICS, hint=hint)
    return metrics


def package(project: Project, params: Params, folder: Path, identity: Identity) -> dict[str, Any]:
    """Write parquet files, card and ``dataset_version.json`` to ``folder``; return what the last one says.

    Raises:
        DataError: the dataset or a metric is missing or damaged, or the dataset is not what the pipeline wrote.
    """
    everything, metrics = read_tables(project), read_metrics(project)
    tables = {key: rows for key, rows in everything.items() if rows.height}  # `datasets` cannot load a split without rows
    if not any(config in CONFIGS for config, _ in tables):
        require_dataset(project)
        hint = remake(project)
        raise DataError("the dataset has no items", file=project.root / layout.DATASET, hint=hint)
    hashes = require_unchanged(project, everything, metrics)
    rows = {f"{config}/{split}": table.height for (config, split), table in tables.items()}
    record = {
        "version": identity.version,
        "content_hash": content_hash({name: hashes[name] for name in rows}),
        "rows": {name: {"rows": count, "hash": hashes[name]} for name, count in rows.items()},
        "cxgen": __version__,
        "canary": params.publish.canary,
        "repository": identity.repository,
        "tag": identity.tag,
        "git_revision": identity.git_revision,
    }
    notice = _notice(project)
    files = {key: _write(table, folder, *key, params) for key, table in tables.items()}
    texts = {"README.md": card(project, params, tables, files, metrics, record)} | ({layout.NOTICE.name: notice} if notice else {})
    for name, text in texts.items():
        write_atomically(folder / name, lambda temporary, text=text: temporary.write_text(text, "utf-8"))  # type: ignore[misc]
    write_json(record, folder / layout.VERSION_FILE)
    wanted = {path for shards in files.values() for path, _ in shards}
    for path in sorted(folder.rglob("*.parquet")):  # of an earlier run with more shards or configs
        if path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
    return record


def _notice(project: Project) -> str:
    """What others ask to be said; empty where nobody asks. A link may lead to anything: it would be released."""
    path = project.root / layout.NOTICE
    if path.is_symlink():
        raise DataError("a link: what it leads to would be released", file=path, hint="put the text itself there")
    return read_text(path) if path.exists() else ""


def _write(rows: pl.DataFrame, folder: Path, config: str, split: str, params: Params) -> list[tuple[str, int]]:
    """Write one split as shards of some rows; their paths in the repository and sizes in bytes."""
    canary = params.publish.canary
    shards = max(1, -(-rows.height // params.publish.shard_rows))
    written = []
    for number in range(shards):
        name = f"{config}/{layout.shard(split, number, shards)}"
        part = rows[number * rows.height // shards : (number + 1) * rows.height // shards]
        write_table(part, folder / name, {"canary": canary} if canary else None)
        written.append((name, (folder / name).stat().st_size))
    return written


@dataclass(frozen=True)
class Release:
    """A release that is ready to go.

    Attributes:
        target: where it goes.
        folder: the files, card and ``dataset_version.json`` included.
        record: what ``dataset_version.json`` says.
        reasons: why it may not be released; empty if it may.
    """

    target: hub.Target
    folder: Path
    record: dict[str, Any]
    reasons: tuple[str, ...]

    def require(self) -> None:
        """Refuse a release that does not pass its gates.

        Raises:
            CxgenError: with every reason.
        """
        if self.reasons:
            raise _refused(self.reasons)


@contextmanager
def prepared(project: Project, params: Params, target: hub.Target) -> Iterator[Release]:
    """Write the release to a temporary folder and ask every gate.

    Raises:
        DataError: the dataset or a metric is missing.
    """
    target = replace(target, tag=target.tag or f"v{params.publish.version}")
    revision, reasons = gates.git_state(project.root)
    reasons += gates.stale_reasons(project.root)
    reasons += gates.metric_reasons(read_metrics(project))
    reasons += gates.undecided_reasons(project.root / UNDECIDED)
    reasons += gates.identity_reasons(project, {name: getattr(params.publish, name) for name in gates.SHIPPED})
    identity = Identity(target.tag.removeprefix("v"), target.repository, target.tag, revision)
    with TemporaryDirectory(prefix="cxgen-release-") as name:
        try:
            record = package(project, params, Path(name), identity)
        except DataError as error:
            if not reasons:
                raise
            raise _refused((*reasons, error.message)) from error  # all of them at once
        yield Release(target, Path(name), record, tuple(reasons))


def _refused(reasons: tuple[str, ...]) -> CxgenError:
    return CxgenError("\n  ".join(["not released:", *reasons]), hint="put these right, then publish again")
