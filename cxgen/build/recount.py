"""``audit``: a finished run of ``generate --out`` counted again, shard by shard. It finds out by counting, not by trusting the generator.

What a shard's sets are by themselves is seen where the shard is; what holds between shards is seen from what each hands on of its own:
verbs, what is held out, and eight bytes a premise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.build import wug
from cxgen.build.plan import DATA, WUG, Plan, Shard
from cxgen.build.pool import Executor
from cxgen.build.shards import record_of
from cxgen.errors import DataError
from cxgen.families import columns_of, family_of, wug_config
from cxgen.families.nli import HELD, leaked
from cxgen.schema import TARGET
from cxgen.schema.tables import Contract
from cxgen.tables import read_table, track
from cxgen.vocabulary import SPLITS

_HINT = "delete it; the command that made the run makes it again with --resume"
SHARED, TWICE = "verbs in two splits", "premises in two contrast sets"


@dataclass(frozen=True)
class Order:
    """A shard to count, with how many rows its record has, and the files with the real words of one with pseudowords."""

    folder: Path
    config: str
    shard: Shard
    recorded: int
    beside: tuple[str, ...]


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
        pool: who counts the shards.

    Returns:
        ``shards, rows, sets``; ``parts``: ``construction, split, rows, sets, verbs`` and, if the run has pseudowords, ``rows with
        pseudowords``; ``violations``: rule -> how often it is broken (all 0).

    Raises:
        DataError: there is no run, or it is not finished; a file is none of its shards, or damaged; a rule is broken: the first file to
            break it is named.
    """
    plan = Plan.read(folder)
    orders = _orders(folder, plan)
    tallies = list(track(pool.map(count, orders), "counting", len(orders)))
    counts: Counter[str] = Counter()
    for tally in tallies:
        counts.update(tally.faults)
    for group in _by_construction(tallies):
        counts.update(_between(group))
    broken = {rule: number for rule, number in counts.items() if number}
    if broken:
        at = next((folder / tally.shard.file for tally in tallies if any(tally.faults.values())), None)
        message = f"the run is not sound: {'; '.join(f'{rule}: {number}' for rule, number in broken.items())}"
        raise DataError(message, file=at or folder, hint=_HINT if at else "this is a bug in cxgen, or files were exchanged")
    own = [tally for tally in tallies if not tally.shard.pseudowords]
    sums = {"shards": len(orders), "rows": sum(tally.rows for tally in own), "sets": sum(tally.sets for tally in own)}
    return {**sums, "parts": _parts(tallies, pseudowords=bool(plan.asked["pseudowords"])), "violations": dict(counts)}


def _orders(folder: Path, plan: Plan) -> list[Order]:
    """All shards of the run, which are there; nothing else is."""
    records = [record for number in range(len(plan.shards)) if (record := record_of(folder, plan, number, quick=True))]
    if len(records) < len(plan.shards):
        raise DataError(f"{len(records)} of {len(plan.shards)} shards are there", file=folder, hint="finish the run with --resume")
    named = {folder / shard.file for shard in plan.shards}
    for path in sorted(path for name in (DATA, WUG) for path in (folder / name).rglob("*.parquet")):
        if path not in named:
            raise DataError("no shard of the run", file=path, hint="keep it elsewhere")
    files: dict[tuple[str, int], tuple[str, ...]] = {}
    for shard in plan.shards:
        if not shard.pseudowords:
            files[shard.construction, shard.sampler] = (*files.get((shard.construction, shard.sampler), ()), shard.file)
    return [
        Order(folder, plan.asked["config"], shard, record["rows"], files[shard.construction, shard.sampler] if shard.pseudowords else ())
        for shard, record in zip(plan.shards, records, strict=True)
    ]


def count(order: Order) -> Tally:
    """Count one shard.

    Raises:
        DataError: its file is damaged, or not as the contract of its config says.
    """
    shard, family = order.shard, family_of(order.config)
    config = wug_config(order.config) if shard.pseudowords else order.config
    rows = read_table(order.folder / shard.file, Contract(columns_of(config)), _HINT).drop("slots").with_columns(config=pl.lit(config))
    faults = {
        "rows that are not recorded": abs(rows.height - order.recorded),
        "rows of another construction": rows.filter(TARGET.ne(shard.construction)).height,
        "rows of another split": rows.filter(pl.col("split") != shard.split).height,
    }
    if shard.pseudowords:
        faults |= wug.violations(rows, _sources(order, rows), order.config)
    else:
        own = family.violations(rows)
        faults |= {"repeated ids": rows.height - rows["id"].n_unique(), **{rule: own[rule] for rule in family.by_set}}
    held = {
        rule: rows.select("split", "construction", "contrast_of", mark, *names).unique()
        for rule, (mark, names) in HELD.items()
        if mark in rows.columns
    }
    premises = rows.select("contrast_set", family.text).unique()[family.text].hash(0).to_numpy()
    return Tally(shard, rows.height, rows["contrast_set"].n_unique(), faults, frozenset(rows["verb"].unique()), held, premises)


def _sources(order: Order, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that those with pseudowords come from: what `wug.violations` asks of them."""
    wanted = {"id", "split", "verb", family_of(order.config).text}
    contract = Contract(tuple(column for column in columns_of(order.config) if column.name in wanted), more=True)
    named = rows["source_id"].unique().implode()
    return pl.concat(read_table(order.folder / file, contract, _HINT).filter(pl.col("id").is_in(named)) for file in order.beside)


def _by_construction(tallies: Sequence[Tally]) -> Iterator[list[Tally]]:
    """The shards of every construction, those with pseudowords by themselves."""
    for key in dict.fromkeys((tally.shard.construction, tally.shard.pseudowords) for tally in tallies):
        yield [tally for tally in tallies if (tally.shard.construction, tally.shard.pseudowords) == key]


def _between(tallies: Sequence[Tally]) -> dict[str, int]:
    """How often what holds between shards of a construction is broken."""
    verbs = {split: frozenset[str]().union(*(tally.verbs for tally in tallies if tally.shard.split == split)) for split in SPLITS}
    splits = Counter(verb for part in verbs.values() for verb in part)
    premises = np.concatenate([tally.premises for tally in tallies])
    counts = {SHARED: sum(number > 1 for number in splits.values()), TWICE: len(premises) - len(np.unique(premises))}
    for rule, (mark, names) in HELD.items():
        tables = [tally.held[rule] for tally in tallies if rule in tally.held]
        if tables:
            counts[rule] = leaked(pl.concat(tables), mark, *names)
    return counts


def _parts(tallies: Sequence[Tally], *, pseudowords: bool) -> list[dict[str, Any]]:
    """A row for every construction and split."""
    rows = []
    for name, split in dict.fromkeys((tally.shard.construction, tally.shard.split) for tally in tallies):
        group = [tally for tally in tallies if (tally.shard.construction, tally.shard.split) == (name, split)]
        own = [tally for tally in group if not tally.shard.pseudowords]
        sums = {"rows": sum(tally.rows for tally in own), "sets": sum(tally.sets for tally in own)}
        verbs = len(frozenset[str]().union(*(tally.verbs for tally in own)))
        more = {"rows with pseudowords": sum(tally.rows for tally in group if tally.shard.pseudowords)} if pseudowords else {}
        rows.append({"construction": name, "split": split, **sums, "verbs": verbs, **more})
    return rows
