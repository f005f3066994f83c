"""Releases: the folder that the Hugging Face Hub shows, from the finished dataset and its metrics, and the gates before it."""

import hashlib
import json
import math
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from cxgen import layout
from cxgen.build.params import Params, Publish
from cxgen.build.tables import MEASURED, TABLES, content_hash, read_tables, remake, require_dataset, require_measured, require_unchanged
from cxgen.errors import CxgenError, DataError, install, needs, some
from cxgen.families import CONFIGS, FAMILIES
from cxgen.files import read_text, scratch, write_atomically, write_text
from cxgen.measures.figures import broken_gates
from cxgen.project import Project, shipped_folder
from cxgen.publish.card import dataset_card
from cxgen.publish.croissant import croissant
from cxgen.publish.hub import Target
from cxgen.schema import read_json, read_yaml
from cxgen.suites import columns_of
from cxgen.tables import ROW_GROUP, one_line, write_json
from cxgen.version import __version__
from cxgen.vocabulary import LABELS

# The metrics that a release needs, with the command that makes each; those of folders, where there are these.
_NEEDED = {
    "splits": "build",
    "balance": "build",
    "lint": f"check --output {layout.metric('lint').as_posix()}",
    "baselines": "report baselines",
    "variety": "report variety",
    "reading": "report reading",
}
_DERIVED = {layout.WUG: ("wug", "build"), layout.NATURAL: ("natural", "natural"), layout.SUITES: ("suites", "suites")}
_IF_THERE = ("judge", "results", MEASURED)  # where clauses were judged, where models were evaluated, what was measured
_SOURCES = "templates lexicons params.yaml pipelines dvc.yaml dvc.lock cxgen pyproject.toml requirements.lock NOTICE"
_MADE = re.compile(r"(^|/)__pycache__/|\.pyc$|(^|/)\.[^/]*cache/")  # ignored, and no sources
# Digests of what params.yaml ships under publish:, of this version and of earlier ones. A test says which one is new.
SHIPPED = {
    "title": {"28a4c9fa868fb752"},
    "authors": {"f7e98ba57a2172bd"},
    "provenance": {"b4b9bd66ad778e21", "411937cf909b3e8e", "5dc37aebf02c7ff0", "5090ce2cc4aa05f5", "3b47deb6bedfdfef", "4603661ba7331542"},
    "canary": {"c0338264b4d8ec28"},
}
_UNWRITTEN = "TODO"  # in the construction to start from


class Release(NamedTuple):
    """A release that is ready to go: where to, its files, what ``dataset_version.json`` says, and why it may not go."""

    target: Target
    folder: Path
    record: dict[str, Any]
    reasons: list[str]

    @property
    def refusal(self) -> CxgenError | None:
        """Why it does not pass its gates, with every reason; None if it does."""
        said = "\n  ".join(["not released:", *self.reasons])
        return CxgenError(said, hint="put these right, then publish again") if self.reasons else None


@contextmanager
def prepared(project: Project, params: Params, target: Target) -> Iterator[Release]:
    """Write the release to a temporary folder and ask every gate."""
    target = replace(target, tag=target.tag or f"v{params.publish.version}")
    revision, reasons = _git_state(project.root)
    reasons += stale_reasons(project.root)
    reasons += identity_reasons(project, params.publish)
    reasons += unwritten_reasons(project, params.constructions)
    try:
        reasons += metric_reasons(read_metrics(project))
    except DataError as error:
        reasons.append(error.render().replace("\n  hint:", ":"))
    identity = {"repository": target.repository, "tag": target.tag, "git_revision": revision}
    with scratch(project.root / layout.WORK) as folder:
        try:
            record = package(project, params, folder, target.tag.removeprefix("v"), **identity)
        except DataError as error:
            if reasons and not any(error.message in reason for reason in reasons):  # all of them at once
                reasons.append(error.render().splitlines()[0])
            if refusal := Release(target, folder, {}, reasons).refusal:
                raise refusal from error
            raise
        yield Release(target, folder, record, reasons)


def read_metrics(project: Project) -> dict[str, Any]:
    """Name -> content of ``outputs/metrics/*.json``; `DataError` says which are missing, and what makes them."""
    commands = _NEEDED | dict(entry for folder, entry in _DERIVED.items() if (project.root / folder).is_dir())
    paths = {name: project.root / layout.metric(name) for name in (*commands, *_IF_THERE)}
    lacking = {path.name: commands[name] for name, path in paths.items() if name in commands and not path.exists()}
    if lacking:
        hint = remake(project, *dict.fromkeys(lacking.values()))
        raise DataError(f"metrics are missing: {', '.join(lacking)}", file=project.root / layout.METRICS, hint=hint)
    hints = {name: remake(project, {**commands, MEASURED: "report all"}.get(name, name)) for name in paths}
    return {name: read_json(path, "metrics", name, hints[name]) for name, path in paths.items() if path.exists()}


def package(project: Project, params: Params, folder: Path, version: str, **identity: str) -> dict[str, Any]:
    """Write parquet files, card, ``croissant.json`` and ``dataset_version.json`` (with ``identity``); what the last one says."""
    everything, metrics = read_tables(project), read_metrics(project)
    tables = {key: rows for key, rows in everything.items() if rows.height}  # `datasets` cannot load a split without rows
    if not any(config in CONFIGS for config, _ in tables):
        require_dataset(project)
        raise DataError("the dataset has no items", file=project.root / layout.DATASET, hint=remake(project))
    hashes = require_unchanged(project, everything, metrics)
    require_measured(metrics)
    rows = {f"{config}/{split}": table.height for (config, split), table in tables.items()}
    record = {
        "version": version,
        "content_hash": content_hash({name: hashes[name] for name in rows}),
        "rows": {name: {"rows": count, "hash": hashes[name]} for name, count in rows.items()},
        "cxgen": __version__,
        "canary": params.publish.canary,
        **dict.fromkeys(("repository", "tag", "git_revision"), ""),
        **identity,
    }
    kept = {name for key, table in tables.items() for name in _write(table, folder, *key, params)}
    shards = (path for config, split in TABLES for path in (folder / config).glob(f"{split}-?????-of-?????.parquet"))
    for path in {*shards} - kept:
        path.unlink()  # of an earlier run with more shards or configs
    write_text(folder / "README.md", dataset_card(project, params, tables, metrics, record))
    write_json(croissant(params.publish, record, dict.fromkeys(config for config, _ in tables), folder), folder / layout.CROISSANT)
    if (notice := project.root / layout.NOTICE).exists():
        write_text(folder / layout.NOTICE.name, read_text(notice))
    write_json(record, folder / layout.VERSION_FILE)
    return record


def _write(rows: pl.DataFrame, folder: Path, config: str, split: str, params: Params) -> Iterator[Path]:
    """Write one split as shards of some rows, with what the `datasets` library reads of a file: strings of 32 bits, names of labels."""
    with needs("a release needs pyarrow", "publish"):
        import pyarrow as pa
        from pyarrow import parquet

    def small(kind: Any) -> Any:
        if pa.types.is_large_string(kind):
            return pa.string()
        if pa.types.is_large_list(kind):
            return pa.list_(small(kind.value_type))
        return pa.struct([field.with_type(small(field.type)) for field in kind]) if pa.types.is_struct(kind) else kind

    labels = [column.name for column in columns_of(config) if column.labels]
    features = {name: {"names": list(LABELS), "_type": "ClassLabel"} for name in labels}  # whose type is a whole number of 64 bits
    metadata = {"huggingface": json.dumps({"info": {"features": features}}), "canary": params.publish.canary}
    arrow = rows.with_columns(pl.col(labels).cast(pl.Int64)).to_arrow(compat_level=pl.CompatLevel.oldest())
    arrow = arrow.cast(pa.schema([field.with_type(small(field.type)) for field in arrow.schema], metadata))
    shards = -(-rows.height // params.publish.shard_rows)
    for number in range(shards):
        path, first, end = folder / config / layout.shard(split, number, shards), *(n * rows.height // shards for n in (number, number + 1))
        write = partial(parquet.write_table, arrow.slice(first, end - first), compression="zstd", row_group_size=ROW_GROUP)
        write_atomically(path, write)
        yield path


def metric_reasons(metrics: Mapping[str, Any]) -> Iterator[str]:
    """Gates that the metrics (see `read_metrics`) fail."""
    for name, entry in metrics["splits"]["constructions"].items():
        if entry["verbs_shared"]:
            yield f"splits.json: {name} has verbs in two splits: {some(entry['verbs_shared'])}"
    balanced = {family: configs for family, configs in metrics["balance"].items() if family not in FAMILIES or FAMILIES[family].balanced}
    for family, configs in balanced.items():
        counted = [configs["all"]] if "all" in configs else configs.values()  # of the configs together where they were counted so
        for name in dict.fromkeys(name for names in counted for name in names):
            if unequal := sum(names[name]["unequal"] for names in counted if name in names):
                yield f"balance.json: {family}: {name} has {unequal} unbalanced sentences"
    suites = metrics.get("suites", {"suites": {}})["suites"]
    audits = [("splits.json", each) for each in metrics["splits"]["violations"].values()]
    audits += [(f"{name}.json", metrics[name]["violations"]) for name in ("wug", "natural") if name in metrics]
    audits += [(f"suites.json: {name}", suite["violations"]) for name, suite in suites.items()]
    yield from (f"{where}: {what}: {count}" for where, counts in audits for what, count in counts.items() if count)
    measures = {f"baselines.json: {family}": own for family, own in metrics["baselines"].items()}
    measures |= {f"suites.json: {name}": suite["measures"] for name, suite in suites.items()}
    yield from (f"{where}: {name} {fault}" for where, own in measures.items() for name, one in own.items() for fault in broken_gates(one))
    errors = sorted({finding["code"] for finding in metrics["lint"] if finding["code"].startswith("E")})
    if errors:
        yield f"lint.json: errors {some(errors)}"


def _git_state(root: Path) -> tuple[str, list[str]]:
    """The project's commit (empty if there is none), and reasons: no repository, or sources that are not committed."""
    status = ["status", "--porcelain", "-z", "--no-renames", "--ignored=matching", "--untracked-files=all", "--", *_SOURCES.split()]
    try:
        revision, entries = (
            subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True).stdout
            for arguments in (["rev-parse", "HEAD"], status)
        )
    except (OSError, subprocess.CalledProcessError):
        return "", ["the project is not in a git repository with a commit: a release names the revision that it was made from"]
    changed = [entry[3:] for entry in entries.split("\0") if entry and not (entry.startswith("!!") and _MADE.search(entry[3:]))]
    return revision.strip(), [f"not committed: {some(changed)}"] if changed else []


def stale_reasons(root: Path) -> Iterator[str]:
    """Stages of the pipeline whose results are not those of the present files, or why that cannot be told; none without a pipeline."""
    if not (root / layout.PIPELINE).is_file():
        return
    try:
        from dvc.exceptions import DvcException
        from dvc.repo import Repo
    except ImportError:
        yield f"DVC is not installed: cannot tell whether the results are up to date; {install('pipeline')}"
        return
    try:
        with Repo(str(root)) as repo:
            changed = sorted(repo.status())
    except (DvcException, OSError, ValueError) as error:  # SCMError, where there is no git, is one of DVC's, too
        yield f"DVC cannot tell whether the results are up to date: {one_line(error)}"
        return
    if changed:
        yield f"out of date: {some(changed)}: run `dvc repro`"


def newer_source(project: Project) -> str:
    """A file of the project's that was changed after the packaged data were written; empty if there is none, or if nothing is packaged."""
    packaged = project.root / layout.HUB / layout.VERSION_FILE
    made = packaged.stat().st_mtime_ns if packaged.exists() else math.inf
    places = [project.root / name for name in (layout.PARAMS, layout.TEMPLATES, layout.LEXICONS, layout.NATURAL_SETS.parent)]
    files = (path for place in places for path in (place, *sorted(place.rglob("*"))) if path.is_file())
    return next((str(path.relative_to(project.root)) for path in files if path.stat().st_mtime_ns > made), "")


def digest(value: str | Iterable[str]) -> str:
    """Of a text, or of several, whatever the white space."""
    text = value if isinstance(value, str) else ", ".join(value)
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]


def identity_reasons(project: Project, about: Publish) -> Iterator[str]:
    """Reasons not to release under these names: title, authors, provenance and canary, as ``publish:`` in the parameters has them."""
    own = own_data(project)
    for name, known in SHIPPED.items():
        if (said := digest(getattr(about, name))) == digest(getattr(Publish, name)):
            yield f"params.yaml: publish.{name} is not set"
        elif own and said in known:
            yield f"params.yaml: publish.{name} is that of cxgen's own data, but {own} is yours: say your own"


def unwritten_reasons(project: Project, constructions: Iterable[str] | None) -> Iterator[str]:
    """Reasons not to release constructions (None: all) of whose files readers would see text that `cxgen new` leaves to be written."""
    files = {name: path for name, path in project.template_files().items() if path.is_relative_to(project.root)}
    for name in files if constructions is None else files.keys() & {*constructions}:
        data = read_yaml(files[name]).data
        if left := [key for key in ("title", "form", "meaning", "sources", "no_lookalike") if _UNWRITTEN in str(data.get(key))]:
            yield f"{files[name].relative_to(project.root)}: {', '.join(left)}: still to be written ({_UNWRITTEN})"


def own_data(project: Project) -> str:
    """A file of templates or words that is not as this cxgen, its clone or its wheel, ships it; empty if there is none."""
    own = (path for folder in (layout.TEMPLATES, layout.LEXICONS) for path in (project.root / folder).rglob("*") if path.is_file())
    for path in sorted(own):
        name = path.relative_to(project.root)
        shipped = shipped_folder() / name
        if not shipped.is_file() or shipped.read_bytes() != path.read_bytes():
            return name.as_posix()
    return ""
