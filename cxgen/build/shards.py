"""Making the shards of a run: blocks of sets are drawn, rendered and written, so that no shard is ever one table.

A shard is written under a temporary name and renamed, and its record written after it: a file that is as its record says is whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.build.plan import DATA, RUN, WUG, Plan, Shard, Wanted, sets_of
from cxgen.build.pool import Executor, executor
from cxgen.build.samplers import items_of
from cxgen.build.wug import eligible, paired, substituted
from cxgen.errors import DataError
from cxgen.families import columns_of, wug_config
from cxgen.files import read_json, write_atomically
from cxgen.sampling import Rows
from cxgen.schema import Column, conform, polars_schema
from cxgen.tables import ROW_GROUP, one_line, track, write_json

BLOCK = 8_192  # sets that are made at once, over the modes with pseudowords: some hundred thousand rows
SUMMARY = f"{RUN}/summary.json"


@contextmanager
def engine(name: str, workers: int) -> Iterator[Executor]:
    """What maps jobs: ``local``: processes of this machine; ``ray``: tasks of a cluster, ``workers`` at a time.

    Raises:
        DataError: Ray is not installed.
    """
    if name == "ray":
        from cxgen.build.ray import cluster

        with cluster(workers) as pool:
            yield pool
    else:
        with executor(workers) as pool:
            yield pool


@dataclass(frozen=True)
class Order:
    """A shard to make, wherever that may be."""

    wanted: Wanted
    number: int
    shard: Shard


def make_shards(wanted: Wanted, plan: Plan, pool: Executor, only: Sequence[int] = ()) -> dict[str, Any]:
    """Make the shards that are lacking, or ``only`` these.

    Returns:
        What there is then: ``shards, of, rows, sets, bytes`` (numbers) and ``sources``: those of the plan, with the share of the sets drawn
        that repeat a premise (``repeated``). With pseudowords: ``pseudowords``, the ``rows, sets, bytes`` of those. If all shards are
        there, it is written, too.

    Raises:
        DataError: a shard cannot be written.
    """
    if not only:
        _sweep(wanted.folder)
    numbers = only or [number for number in range(len(plan.shards)) if record_of(wanted.folder, plan, number) is None]
    for _ in track(pool.map(make_shard, [Order(wanted, number, plan.shards[number]) for number in numbers]), "generating", len(numbers)):
        pass
    records = [record_of(wanted.folder, plan, number, quick=True) for number in range(len(plan.shards))]
    summary = _summary(plan, records)
    if all(records):
        write_json(summary, wanted.folder / SUMMARY)
    return summary


def make_shard(order: Order) -> None:
    """Write a shard and its record."""
    wanted, shard = order.wanted, order.shard
    numbers = sets_of(wanted.folder, order.number)
    config = wug_config(wanted.config) if shard.pseudowords else wanted.config
    path = wanted.folder / shard.file
    rows = _write(path, columns_of(config), _blocks(wanted, shard, numbers))
    record = {"file": shard.file, "sha256": _sha256(path), "bytes": path.stat().st_size, "rows": rows, "sets": len(numbers)}
    write_json(record, _record_file(wanted.folder, order.number))


def _blocks(wanted: Wanted, shard: Shard, numbers: Rows) -> Iterator[pl.DataFrame]:
    """The items of a shard, some thousand sets at a time; with pseudowords, those that a build makes of them."""
    sampler = wanted.loaded.samplers(shard.construction)[shard.sampler]
    modes = wanted.wug.modes if wanted.wug and shard.pseudowords else ()
    size = max(1, BLOCK // (3 * len(modes) or 1))
    for at in range(0, len(numbers), size):
        items = items_of(sampler.draw(numbers[at : at + size]))
        if modes:
            real = eligible(items)
            items = paired(substituted(sampler, real["set_number"].unique().to_numpy(), wanted.loaded.wugs, modes), real)
        if items.height:
            yield items


def _write(path: Path, columns: Sequence[Column], blocks: Iterator[pl.DataFrame]) -> int:
    """Write the blocks to ``path`` as they come; how many rows they are."""
    from polars.io.plugins import register_io_source

    rows = 0

    def batches(*_: Any) -> Iterator[pl.DataFrame]:
        nonlocal rows
        for block in blocks:
            rows += block.height
            yield conform(block, columns)

    lazy = register_io_source(batches, schema=polars_schema(columns))
    options: dict[str, Any] = {"compression": "zstd", "row_group_size": ROW_GROUP, "engine": "streaming"}
    try:
        write_atomically(path, lambda temporary: lazy.sink_parquet(temporary, **options))
    except pl.exceptions.PolarsError as error:
        raise DataError(f"cannot be written: {one_line(error)}", file=path, hint="is there room on the disk? --resume goes on") from error
    return rows


def record_of(folder: Path, plan: Plan, number: int, *, quick: bool = False) -> dict[str, Any] | None:
    """The record of a shard: ``file, sha256, bytes, rows, sets``; None if the file is not there as it says.

    Args:
        folder: of the run.
        plan: of the run.
        number: of the shard.
        quick: compare sizes only, not contents.
    """
    path = folder / plan.shards[number].file
    with suppress(DataError, KeyError, TypeError, OSError):
        record: dict[str, Any] = read_json(_record_file(folder, number))
        if record["bytes"] == path.stat().st_size and (quick or record["sha256"] == _sha256(path)):
            return record
    return None


def _record_file(folder: Path, number: int) -> Path:
    return folder / RUN / "shards" / f"{number:06d}.json"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sweep(folder: Path) -> None:
    """Delete what was being written when a run was killed."""
    unfinished = [path for name in (DATA, WUG) for path in folder.glob(f"{name}/*/.*.parquet.*")]
    for path in [*unfinished, *_record_file(folder, 0).parent.glob(".*.json.*")]:
        path.unlink(missing_ok=True)


def _summary(plan: Plan, records: Sequence[dict[str, Any] | None]) -> dict[str, Any]:
    there = [(shard, record) for shard, record in zip(plan.shards, records, strict=True) if record]
    own, wug = (
        {name: sum(record[name] for shard, record in there if shard.pseudowords == pseudowords) for name in ("rows", "sets", "bytes")}
        for pseudowords in (False, True)
    )
    sources = [{**entry, "repeated": round(1 - entry["kept"] / max(entry["drawn"], 1), 6)} for entry in plan.sources]
    more = {"pseudowords": wug} if plan.asked["pseudowords"] else {}
    return {"shards": len(there), "of": len(records), **own, **more, "sources": sources}
