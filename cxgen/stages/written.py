"""What stages have written, by content hash, so that a dataset that was edited afterwards is not released as theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.errors import DataError
from cxgen.families import CONFIGS, DEFAULT, NATURAL, REJECTED, wug_config
from cxgen.project import Project
from cxgen.publish.content import WRITTEN, table_hashes
from cxgen.stages import natural, substitute, suites
from cxgen.stages.audit import audit, balance
from cxgen.stages.contracts import read_split
from cxgen.stages.dataset import remake
from cxgen.stages.suites import read_suite
from cxgen.suites import SUITES
from cxgen.vocabulary import SPLITS

Tables = Mapping[tuple[str, str], pl.DataFrame]
_WUGS = tuple(map(wug_config, CONFIGS))
_COMMANDS = ("split", "substitute", "natural", "suites")
_FOLDERS = (layout.DATASET, layout.WUG, layout.NATURAL, layout.SUITES)


def read_tables(project: Project) -> dict[tuple[str, str], pl.DataFrame]:
    """(config, split) -> rows, of everything that stages wrote as parts of the dataset, `rejected` last.

    Raises:
        DataError: a table is damaged, or there is a file that no stage writes.
    """
    expected = {layout.table(config, split): (config, split) for config in CONFIGS for split in SPLITS}
    expected |= {layout.table(config, split, layout.WUG): (config, split) for config in _WUGS for split in SPLITS}
    expected |= {layout.table(NATURAL, split, layout.NATURAL): (NATURAL, split) for split in SPLITS}
    expected |= suites.expected()
    expected[layout.table(REJECTED, REJECTED)] = (REJECTED, REJECTED)
    for path in sorted(path for root in _FOLDERS for path in (project.root / root).rglob("*.parquet")):
        if path.relative_to(project.root) not in expected:
            raise DataError("no stage writes such a file", file=path, hint="remove it, or keep it elsewhere")
    here = {key: project.root / path for path, key in expected.items() if (project.root / path).exists()}
    return {key: read_suite(project, *key) if key[0] in SUITES else read_split(path, *key) for key, path in here.items()}


def require_unchanged(project: Project, tables: Tables, metrics: Mapping[str, Any]) -> dict[str, str]:
    """See that the tables are those that their stages wrote, and sound by a new count; their hashes, see `table_hashes`.

    Args:
        project: whose.
        tables: from `read_tables`.
        metrics: as the stages wrote them: ``splits``, ``balance``; ``wug``, ``natural`` and ``suites`` where there are such tables.

    Raises:
        DataError: which tables differ, or what is wrong with them.
    """
    written = {
        name: value
        for metric in ("splits", "wug", NATURAL, suites.METRIC)
        for name, value in metrics.get(metric, {}).get(WRITTEN, {}).items()
    }
    found = table_hashes(tables)
    changed = sorted(name for name in written.keys() | found.keys() if written.get(name) != found.get(name))
    hint = f"{remake(project, _COMMANDS)}; what you want to be otherwise belongs into templates and params.yaml"
    if changed:
        what = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
        raise DataError(f"not what the pipeline wrote: {what}", file=project.root / layout.DATASET, hint=hint)
    for what in (
        *_unsound(tables, metrics),
        *(f"{layout.metric(suites.METRIC).name}: {fault}" for fault in suites.unsound(project, tables)),
    ):
        raise DataError(f"not what its metrics say: {what}", file=project.root / layout.METRICS, hint=hint)
    return found


def _unsound(tables: Tables, metrics: Mapping[str, Any]) -> Iterator[str]:
    """What a new audit finds otherwise than the metrics."""
    own = [rows.with_columns(config=pl.lit(config)) for (config, _), rows in tables.items() if config in CONFIGS]
    if own:
        dataset = pl.concat(own, how="diagonal")
        if audit(dataset) != {name: value for name, value in metrics["splits"].items() if name != WRITTEN}:
            yield layout.metric("splits").name
        if balance(dataset) != metrics["balance"]:
            yield layout.metric("balance").name
    for name in substitute.SOURCES:
        wugs = [rows for (config, _), rows in tables.items() if config == wug_config(name)]
        sources = [rows for (config, _), rows in tables.items() if config == name]
        if wugs and (sources or any(rows.height for rows in wugs)):
            broken = substitute.violations(pl.concat(wugs), pl.concat(sources), name) if sources else {"no sources": 1}
            yield from (f"{layout.metric('wug').name}: {what}: {count}" for what, count in broken.items() if count)
    sources = [rows for (config, _), rows in tables.items() if config == DEFAULT]
    written = [rows for (config, _), rows in tables.items() if config == NATURAL]
    if any(rows.height for rows in written):
        verbs = [natural.verbs_of(rows) for rows in sources]
        broken = natural.violations(pl.concat(written), pl.concat(verbs) if verbs else natural.verbs_of(written[0].clear()))
        yield from (f"{layout.metric(NATURAL).name}: {what}: {count}" for what, count in broken.items() if count)
