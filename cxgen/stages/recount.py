"""``audit``: a finished run of ``generate --out`` counted again, shard by shard. It finds out by counting, not by trusting the generator.

What a shard's sets are by themselves is seen where the shard is; what holds between shards is told by what each hands on of its own: verbs,
what is held out, and eight bytes a premise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.build import wug
from cxgen.build.pool import Executor, in_order
from cxgen.errors import DataError
from cxgen.families import columns_of, family_of, wug_config
from cxgen.families.nli import HELD, leaked
from cxgen.schema import TARGET
from cxgen.schema.tables import Contract
from cxgen.stages.manifest import DATA, MANIFEST, WUG, Manifest, Shard
from cxgen.tables import read_table, track
from cxgen.vocabulary import SPLITS

_HINT = "delete it; the command that made the run makes it again with --resume"
SHARED, TWICE = "verbs in two splits", "premises in two contrast sets"


@dataclass(frozen=True)
class Order:
    """A shard to count.

    Attributes:
        folder: of the run.
        config: of the run.
        shard: which.
        beside: of a shard with pseudowords, the files that have the rows with the real words.
        recorded: how many rows its record says.
    """

    folder: Path
    config: str
    shard: Shard
    beside: tuple[str, ...]
    recorded: int


@dataclass(frozen=True)
class Tally:
    """What a shard hands on.

    Attributes:
        shard: which it is.
        rows, sets: how many.
        faults: rule -> how often it is broken among its rows.
        verbs: of its rows.
        held: violation -> what could be held out, each once: ``split, construction, contrast_of``, the mark, and what it is.
        premises: a hash of every premise, as often as there are sets with it.
    """

    shard: Shard
    rows: int
    sets: int
    faults: dict[str, int]
    verbs: frozenset[str]
    held: dict[str, pl.DataFrame]
    premises: NDArray[np.uint64]


def audit(folder: Path, pool: Executor) -> dict[str, Any]:
    """Count the run in ``folder`` again.

    Args:
        folder: of the run.
        pool: who counts the shards; it may give them in any order.

    Returns:
        ``shards, rows, sets``; ``parts``: ``construction, split, rows, sets, verbs`` and, if the run has pseudowords, ``rows with
        pseudowords``; ``violations``: rule -> how often it is broken (all 0).

    Raises:
        DataError: there is no run, or it is not finished; a file is none of its shards, or damaged; a rule is broken: the first file to
            break it is named.
    """
    if not (folder / MANIFEST).exists():
        raise DataError("no run is there", file=folder, hint="name the folder that `cxgen generate --out` has written")
    manifest = Manifest.read(folder)
    orders = _orders(folder, manifest)
    tallies = list(track(in_order(pool, count, orders), "counting", len(orders)))
    found: Counter[str] = Counter()
    first: dict[str, Path] = {}
    for tally in tallies:
        found.update(tally.faults)
        for what in (what for what, number in tally.faults.items() if number):
            first.setdefault(what, folder / tally.shard.file)
    for mine in _by_construction(tallies):
        found.update(_between(mine))
    broken = {what: number for what, number in found.items() if number}
    if broken:
        message = f"the run is not sound: {'; '.join(f'{what}: {number}' for what, number in broken.items())}"
        raise DataError(
            message, file=next(iter(first.values()), folder), hint=_HINT if first else "this is a bug in cxgen, or files were exchanged"
        )
    own = [tally for tally in tallies if not tally.shard.pseudowords]
    sums = {"shards": len(orders), "rows": sum(each.rows for each in own), "sets": sum(each.sets for each in own)}
    return {**sums, "parts": _parts(manifest, tallies), "violations": dict(found)}


def _orders(folder: Path, manifest: Manifest) -> list[Order]:
    """All shards of the run, which are there; nothing else is."""
    records = [manifest.record(folder, number) for number in range(len(manifest.shards))]
    there = sum(record is not None for record in records)
    if there < len(records):
        raise DataError(f"{there} of {len(records)} shards are there", file=folder, hint="finish the run with --resume")
    named = {folder / shard.file for shard in manifest.shards}
    for path in sorted(path for name in (DATA, WUG) for path in (folder / name).rglob("*.parquet")):
        if path not in named:
            raise DataError("no shard of the run", file=path, hint="keep it elsewhere")
    config = manifest.asked["config"]
    return [
        Order(folder, config, shard, _beside(manifest, shard), int(record["rows"]))
        for shard, record in zip(manifest.shards, records, strict=True)
        if record
    ]


def _beside(manifest: Manifest, shard: Shard) -> tuple[str, ...]:
    """The files with the real words of what ``shard`` says with pseudowords."""
    if not shard.pseudowords:
        return ()
    own = (
        each for each in manifest.shards if not each.pseudowords and (each.construction, each.source) == (shard.construction, shard.source)
    )
    return tuple(each.file for each in own if each.first <= shard.last and each.last >= shard.first)


def count(job: tuple[int, Order]) -> tuple[int, Tally]:
    """Count one shard; its tally, and the number of the job.

    Raises:
        DataError: its file is damaged, or not as the contract of its config says.
    """
    number, order = job
    shard, family = order.shard, family_of(order.config)
    config = wug_config(order.config) if shard.pseudowords else order.config
    rows = _read(order.folder / shard.file, config).with_columns(config=pl.lit(config))
    faults = {"rows that are not recorded": abs(rows.height - order.recorded)}
    faults["rows of another construction"] = rows.filter(TARGET.ne(shard.construction)).height
    faults["rows of another split"] = rows.filter(pl.col("split") != shard.split).height
    if shard.pseudowords:
        faults |= wug.violations(rows, _sources(order, rows), order.config)
    else:
        own = family.violations(rows)
        faults |= {"repeated ids": rows.height - rows["id"].n_unique(), **{what: own[what] for what in family.by_set}}
    held = {
        what: rows.select("split", "construction", "contrast_of", mark, *names).unique()
        for what, (mark, names) in HELD.items()
        if mark in rows.columns
    }
    premises = rows.select("contrast_set", family.text).unique()[family.text].hash(0).to_numpy()
    sets, verbs = rows["contrast_set"].n_unique(), frozenset(rows["verb"].unique())
    return number, Tally(shard, rows.height, sets, faults, verbs, held, premises)


def _read(path: Path, config: str) -> pl.DataFrame:
    """The rows of a shard but for their fillers, which take more room than the rest."""
    return read_table(path, Contract(columns_of(config)), _HINT).drop("slots")


def _sources(order: Order, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that those with pseudowords come from: what `wug.violations` asks of them."""
    asked = {"id", "split", "verb", family_of(order.config).text}
    contract = Contract(tuple(column for column in columns_of(order.config) if column.name in asked), more=True)
    named = rows["source_id"].unique().implode()
    tables = [read_table(order.folder / file, contract, _HINT).filter(pl.col("id").is_in(named)) for file in order.beside]
    return pl.concat(tables)


def _by_construction(tallies: Iterable[Tally]) -> Iterable[list[Tally]]:
    """The shards of every construction, those with pseudowords by themselves."""
    groups: dict[tuple[str, bool], list[Tally]] = {}
    for tally in tallies:
        groups.setdefault((tally.shard.construction, tally.shard.pseudowords), []).append(tally)
    return groups.values()


def _between(mine: Sequence[Tally]) -> dict[str, int]:
    """How often what holds between shards of a construction is broken."""
    verbs = {split: frozenset[str]().union(*(tally.verbs for tally in mine if tally.shard.split == split)) for split in SPLITS}
    splits = Counter(verb for each in verbs.values() for verb in each)
    premises = np.sort(np.concatenate([tally.premises for tally in mine]))
    found = {SHARED: sum(number > 1 for number in splits.values()), TWICE: int((premises[1:] == premises[:-1]).sum())}
    for what, (mark, names) in HELD.items():
        tables = [tally.held[what] for tally in mine if what in tally.held]
        if tables:
            found[what] = leaked(pl.concat(tables), mark, *names)
    return found


def _parts(manifest: Manifest, tallies: Sequence[Tally]) -> list[dict[str, Any]]:
    """A row for every construction and split."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    verbs: dict[tuple[str, str], set[str]] = {}
    more = {"rows with pseudowords": 0} if manifest.asked["pseudowords"] else {}
    for tally in tallies:
        shard = tally.shard
        key = shard.construction, shard.split
        row = found.setdefault(key, {"construction": key[0], "split": key[1], "rows": 0, "sets": 0, "verbs": 0, **more})
        if shard.pseudowords:
            row["rows with pseudowords"] += tally.rows
            continue
        row["rows"] += tally.rows
        row["sets"] += tally.sets
        verbs.setdefault(key, set()).update(tally.verbs)
        row["verbs"] = len(verbs[key])
    return list(found.values())
