"""Stage ``package``: the folder that the Hugging Face Hub will show, from the finished dataset and its metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build import tables as written
from cxgen.build.params import Params
from cxgen.build.tables import remake, require_dataset
from cxgen.constructicon import Construction, load_construction
from cxgen.errors import DataError
from cxgen.families import CONFIGS, FAMILIES, NATURAL
from cxgen.files import read_text, write_atomically
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.publish import card_metadata, content_hash, facts, render_card
from cxgen.schema import TARGET, read_json
from cxgen.stages.suites import METRIC
from cxgen.suites import SUITES
from cxgen.tables import write_json, write_table
from cxgen.version import __version__
from cxgen.vocabulary import LABELS

# The metrics that a release needs, with the command that makes each; in the order in which these are run.
NEEDED = {
    "splits": "build",
    "balance": "build",
    "lint": f"lint --output {layout.metric('lint').as_posix()}",
    "baselines": "report baselines",
    "variety": "report variety",
    "reading": "report reading",
}
_DERIVED = {
    layout.WUG: {"wug": "build"},
    layout.NATURAL: {NATURAL: "natural"},
    layout.SUITES: {METRIC: "suites"},
}  # needed where there is the folder


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


def _with_rows(project: Project, everything: written.Tables) -> dict[tuple[str, str], pl.DataFrame]:
    """The tables that have any.

    Raises:
        DataError: there is no dataset, or it has no items.
    """
    tables = {key: rows for key, rows in everything.items() if rows.height}  # `datasets` cannot load a split without rows
    if not any(config in CONFIGS for config, _ in tables):
        require_dataset(project)
        raise DataError("the dataset has no items", file=project.root / layout.DATASET, hint=remake(project))
    return tables


def read_metrics(project: Project) -> dict[str, Any]:
    """Name -> content of ``outputs/metrics/*.json``.

    Raises:
        DataError: some are missing, or one is damaged: which, and what makes them.
    """
    found: dict[str, Any] = {}
    lacking: dict[str, str] = {}
    damaged: list[DataError] = []
    more = {name: command for folder, each in _DERIVED.items() if (project.root / folder).is_dir() for name, command in each.items()}
    for name, command in (NEEDED | more).items():
        path, hint = project.root / layout.metric(name), remake(project, command)
        try:
            found[name] = read_json(path, "metrics", name, hint)
        except DataError as error:
            lacking[path.name] = command
            damaged += [error] if path.exists() else []
    if damaged and len(lacking) == 1:
        raise damaged[0]
    if lacking:
        message = f"metrics are missing{' or damaged' if damaged else ''}: {', '.join(lacking)}"
        raise DataError(message, file=project.root / layout.METRICS, hint=remake(project, *dict.fromkeys(lacking.values())))
    return found


def run(project: Project, params: Params, folder: Path, identity: Identity) -> dict[str, Any]:
    """Write parquet files, card and ``dataset_version.json`` to ``folder``; return what the last one says.

    Raises:
        DataError: the dataset or a metric is missing or damaged, or the dataset is not what the pipeline wrote.
    """
    everything, metrics = written.read_tables(project), read_metrics(project)
    tables = _with_rows(project, everything)
    hashes = written.require_unchanged(project, everything, metrics)
    notice = _notice(project)
    rows: dict[str, dict[str, Any]] = {
        f"{config}/{split}": {"rows": table.height, "hash": hashes[f"{config}/{split}"]} for (config, split), table in tables.items()
    }
    record = {
        "version": identity.version,
        "content_hash": content_hash({name: entry["hash"] for name, entry in rows.items()}),
        "rows": rows,
        "cxgen": __version__,
        "canary": params.publish.canary,
        "repository": identity.repository,
        "tag": identity.tag,
        "git_revision": identity.git_revision,
    }
    files = {key: _write(rows, folder, *key, params.publish.shard_rows, params.publish.canary) for key, rows in tables.items()}
    metadata = card_metadata(tables, files, {"title": params.publish.title, "licence": params.publish.licence})
    constructions = _constructions(project, tables)
    text = render_card(metadata, _facts(project, params, tables, constructions, metrics, record), _sections(tables, constructions, metrics))
    write_atomically(folder / "README.md", lambda temporary: temporary.write_text(text, "utf-8"))
    write_json(record, folder / layout.VERSION_FILE)
    if notice:
        write_atomically(folder / layout.NOTICE, lambda temporary: temporary.write_text(notice, "utf-8"))
    wanted = {path for each in files.values() for path, _ in each}
    for path in sorted(folder.rglob("*.parquet")):  # of an earlier run with more shards or configs
        if path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
    return record


def _notice(project: Project) -> str:
    """What others ask to be said; empty where nobody asks.

    Raises:
        DataError: it is no text file of the project: a link may lead to anything.
    """
    path = project.root / layout.NOTICE
    if path.is_symlink():
        raise DataError("a link: what it leads to would be released", file=path, hint="put the text itself there")
    return read_text(path) if path.exists() else ""


def _write(rows: pl.DataFrame, folder: Path, config: str, split: str, most: int, canary: str) -> list[tuple[str, int]]:
    """Write one split as shards of at most ``most`` rows; their paths in the repository and sizes in bytes."""
    shards = max(1, -(-rows.height // most))
    written = []
    for number in range(shards):
        name = f"{config}/{layout.shard(split, number, shards)}"
        part = rows[number * rows.height // shards : (number + 1) * rows.height // shards]
        write_table(part, folder / name, {"canary": canary} if canary else None)
        written.append((name, (folder / name).stat().st_size))
    return written


def _accepted(tables: facts.Tables) -> facts.Tables:
    return {key: rows for key, rows in tables.items() if key[0] in CONFIGS}


def _constructions(project: Project, tables: facts.Tables) -> list[Construction]:
    lexicon = Lexicon.of(project)
    names = pl.concat([rows.select(TARGET.alias("target")) for rows in _accepted(tables).values()])["target"].unique().sort()
    return [load_construction(project, name, lexicon) for name in names]


def _sections(
    tables: facts.Tables, constructions: Sequence[Construction], metrics: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The text of every family and suite that the dataset has, and what only that states."""
    accepted = _accepted(tables)
    for family in FAMILIES.values():
        if any(config in family.configs for config, _ in accepted):
            yield family.card, family.card_facts(constructions, accepted)
    for name, suite in SUITES.items():
        mine = [rows for (config, _), rows in tables.items() if config == name]
        if mine:
            _, lines = next(suite.shown(mine[-1]))
            yield suite.card, {"suite": metrics[METRIC]["suites"][name], "columns": suite.columns, "lines": lines}


def _facts(
    project: Project,
    params: Params,
    tables: facts.Tables,
    constructions: Sequence[Construction],
    metrics: Mapping[str, Any],
    record: Mapping[str, Any],
) -> dict[str, Any]:
    accepted = _accepted(tables)
    balances = [
        entry for each in metrics["balance"].values() for config, names in each.items() if config != "all" for entry in names.values()
    ]
    sources = facts.constructicon(constructions, accepted)
    models = metrics.get("models", {})
    return {
        "about": params.publish,
        "identity": record,
        "total": sum(rows.height for rows in accepted.values()),
        "configs": list(dict.fromkeys(config for config, _ in tables)),
        "labels": LABELS,
        "constructicon": sources,
        "sources": sorted({source for item in sources for source in item["sources"]}),
        "holds": {config: text for family in FAMILIES.values() for config, text in family.configs.items()}
        | {name: suite.holds for name, suite in SUITES.items()},
        "sizes": facts.sizes(tables),
        "extended": facts.extended(accepted),
        "recurrence": facts.recurrence(accepted),
        "held_out": facts.held_out(accepted),
        "bands": facts.bands(accepted),
        "interval": facts.interval,
        "acceptability": facts.acceptability(accepted),
        "verbs": facts.verbs(accepted),
        "audit": metrics["splits"],
        "baselines": metrics["baselines"],
        "balance": {what: sum(entry[what] for entry in balances) for what in ("sentences", "unequal")},
        "variety": _variety(metrics["variety"]),
        "natural": _natural(metrics, tables),
        "reading": metrics["reading"],
        "judges": models.get("judges", []),
        "prompts": models.get("prompts", {}),
        "agreement": models.get("agreement", {}),
        "backend": params.backend,
        "hashes": _hashes(project, params),
        "parameters": params.text,
    }


def _natural(metrics: Mapping[str, Any], tables: facts.Tables) -> dict[str, Any]:
    """What writers wrote: who, how much, and how varied beside the templates' sentences; empty where there is nothing of it."""
    mine = {split: rows for (config, split), rows in tables.items() if config == NATURAL}
    if not mine:
        return {}
    found = metrics["natural"]
    spread = {name: entry["writers"] for name, entry in metrics["variety"].items() if "writers" in entry}
    first = next(iter(mine.values()))
    example = first.filter(pl.col("contrast_set") == first["contrast_set"][0])["premise"].unique(maintain_order=True).to_list()
    return {**found, "spread": spread, "sets": sum(rows["contrast_set"].n_unique() for rows in mine.values()), "example": example}


def _variety(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Empty where there is none of nli's configs."""
    if not found:
        return {}
    return {
        "least": min(entry["templates"] for entry in found.values()),
        "most": max(entry["templates"] for entry in found.values()),
        "largest": max(entry["largest template share"] for entry in found.values()),
        "breadth": {name: entry["breadth"] for name, entry in found.items()},
    }


def _hashes(project: Project, params: Params) -> dict[str, str]:
    judgments = project.root / layout.JUDGMENTS
    replayed = params.backend == "replay" and judgments.is_file()
    return {
        "lexicon": facts.file_hash(project.lexicon_files()),
        "templates": facts.file_hash(project.template_files().values()),
        "judgments": facts.file_hash([judgments]) if replayed else "",
    }
