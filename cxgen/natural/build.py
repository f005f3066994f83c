"""Items of the sets that writers wrote, split like those of ``nli``, and audited: `outputs/natural`."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build.content import WRITTEN, table_hashes
from cxgen.build.dropped import read_dropped
from cxgen.build.params import Params
from cxgen.build.pool import Executor, executor
from cxgen.build.request import Request
from cxgen.build.tables import table_file
from cxgen.build.warn import tell
from cxgen.constructicon import load_construction
from cxgen.errors import DataError
from cxgen.families import DEFAULT, NATURAL, columns_of, family_of
from cxgen.files import require_place
from cxgen.lexicon import Lexicon
from cxgen.natural.items import items_of
from cxgen.natural.kept import judges, origins, read_accepted, written_sets
from cxgen.natural.words import Fillers
from cxgen.project import Project
from cxgen.schema import TARGET, conform, polars_schema
from cxgen.tables import track, write_json, write_table
from cxgen.vocabulary import SPLITS


def run(project: Project, params: Params, pool: Executor | None = None) -> dict[str, Any]:
    """Write ``outputs/natural/natural/`` and the metric ``natural``; return the metric. Sets on ``pipelines/dropped.csv`` are left out.

    Returns:
        ``constructions``: name -> sets, items and verbs per split; ``origins``, ``judges``: who wrote and judged them; ``violations``:
        rule -> how often it is broken (all 0); ``written``: hashes of the tables.

    Raises:
        DataError: an accepted set does not fit its construction any more, the items are not sound, or the list of refused sets is none.
    """
    require_place(project.root / layout.metric(NATURAL))
    path = project.root / layout.NATURAL_SETS
    accepted = _without_refused(project, read_accepted(path))
    names: list[str] = accepted["construction"].unique().sort().to_list()
    make = partial(_items, project, params.request, accepted)
    with nullcontext(pool) if pool else executor(min(params.workers, len(names))) as workers:
        tables = [pl.DataFrame(schema=polars_schema(columns_of(NATURAL))), *track(workers.map(make, names), "natural", len(names))]
        rows = pl.concat(tables)
        report: dict[str, Any] = {
            "constructions": _counts(rows),
            "origins": origins(accepted),
            "judges": judges(accepted),
            "violations": violations(rows, spoken_for(project)),
        }
        problems = [f"{what}: {count}" for what, count in report["violations"].items() if count]
        if problems:
            raise DataError(
                f"the writers' items are not sound: {'; '.join(problems)}", file=path, hint="run `cxgen build` first, then this again"
            )
    finished = {(NATURAL, split): rows.filter(pl.col("split") == split) for split in SPLITS}
    for (_, split), part in finished.items():
        write_table(part, project.root / layout.table(NATURAL, split, layout.NATURAL))
    write_json({**report, WRITTEN: table_hashes(finished)}, project.root / layout.metric(NATURAL))
    return report


def _without_refused(project: Project, accepted: pl.DataFrame) -> pl.DataFrame:
    """The accepted sets but those on the list of sets that readers refused, like the dataset."""
    listed = pl.col("set").is_in(list(read_dropped(project.root / layout.DROPPED)))
    refused = accepted.filter(listed)["set"].n_unique()
    if refused:
        tell([f"{refused} sets that readers refused are left out: {layout.DROPPED}"])
    return accepted.filter(~listed)


def _items(project: Project, request: Request, accepted: pl.DataFrame, name: str) -> pl.DataFrame:
    construction = load_construction(project, name, Lexicon.of(project))
    look_up = Fillers(construction)
    items = items_of(construction, written_sets(construction, accepted, look_up, project.root / layout.NATURAL_SETS), look_up, request)
    look_up.save()
    said = accepted.select("kind", "acceptability", contrast_set="set")
    return conform(items.join(said, on=["contrast_set", "kind"], how="left", maintain_order="left"), columns_of(NATURAL))


def spoken_for(project: Project) -> pl.DataFrame:
    """The verbs of ``nli`` as the dataset has them: ``target, verb, split``."""
    files = {split: table_file(project, DEFAULT, split) for split in SPLITS}
    columns = ["verb", "split", "construction", "contrast_of"]
    tables = [pl.read_parquet(file, columns=columns) for file in files.values() if file.is_file()]
    return verbs_of(pl.concat([pl.DataFrame(schema=dict.fromkeys(columns, pl.String)), *tables]))


def verbs_of(rows: pl.DataFrame) -> pl.DataFrame:
    """The verbs of items: ``target, verb, split``, each once."""
    return rows.select("verb", "split", target=TARGET).unique(maintain_order=True)


def violations(rows: pl.DataFrame, others: pl.DataFrame) -> dict[str, int]:
    """How often each rule is broken.

    Args:
        rows: the items.
        others: verbs of ``nli``, see `verbs_of`.
    """
    mine = verbs_of(rows)
    crossing = pl.concat([mine, others.select(mine.columns)]).unique().group_by("target", "verb").len().filter(pl.col("len") > 1)
    sets = rows.select("contrast_set", "split").unique()
    own = family_of(NATURAL).violations(rows.with_columns(config=pl.lit(NATURAL)))
    return {
        "verbs in two splits, those of nli counted": crossing.join(mine, on=["target", "verb"], how="semi").height,
        "contrast sets in two splits": sets.height - sets["contrast_set"].n_unique(),
        "repeated ids": rows.height - rows["id"].n_unique(),
        **own,
    }


def _counts(rows: pl.DataFrame) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for (name,), mine in rows.with_columns(target=TARGET).group_by("target", maintain_order=True):
        parts = {split: mine.filter(pl.col("split") == split) for split in SPLITS}
        found[str(name)] = {
            "sets": {split: part["contrast_set"].n_unique() for split, part in parts.items()},
            "items": {split: part.height for split, part in parts.items()},
            "verbs": {split: part["verb"].n_unique() for split, part in parts.items()},
        }
    return found
