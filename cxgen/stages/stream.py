"""``generate --out``: any number of rows, in shards that are made one by one, each from blocks that are never one table.

Sets are drawn, rendered and written, some thousand at a time. Shards with pseudowords hold the same sets once more. A shard is
written under a temporary name and renamed, and its record written after it: what has a record is whole.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.build.params import Wug
from cxgen.build.pool import Executor, in_order
from cxgen.build.request import Request
from cxgen.build.run import Loaded, loaded
from cxgen.build.samplers import items_of
from cxgen.build.survey import Hasher, Stretch, hashes
from cxgen.build.wug import eligible, paired, substituted
from cxgen.constructicon import Construction
from cxgen.errors import DataError
from cxgen.families import CONFIGS, columns_of, wug_config
from cxgen.files import write_atomically
from cxgen.project import Project
from cxgen.sampling import Sampler
from cxgen.schema import Column, conform, polars_schema
from cxgen.stages.manifest import DATA, FOLDER, MANIFEST, WUG, Manifest, asked_of, differences, planned, record_file, run_digest, tight
from cxgen.tables import ROW_GROUP, one_line, track, write_json

BLOCK = 8_192  # sets that are made at once: some hundred thousand rows
WUG_BLOCK = BLOCK // 3  # times the modes: rows with pseudowords are gathered, so that copies of a block are there side by side
SUMMARY = FOLDER / "summary.json"


@dataclass(frozen=True)
class Wanted:
    """What somebody asks for.

    Attributes:
        names: of the constructions.
        folder: of the rows and the run's records.
        shard_rows: most rows of a file.
        wug: which sets are said once more with pseudowords; None for none.
        token: of this invocation; what a process has loaded for another one is not used, since files may have changed.
    """

    project: Project
    names: Sequence[str]
    config: str
    request: Request
    folder: Path
    shard_rows: int
    wug: Wug | None = None
    token: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def shop(self) -> Loaded:
        """What this process keeps loaded for it."""
        return loaded(self.token, self.project, self.request)

    @property
    def asked(self) -> dict[str, Any]:
        """What tells its rows from those of other runs."""
        return asked_of(self.project, self.names, self.config, self.request, self.shard_rows, self.wug)

    def loaded(self) -> Iterator[tuple[Construction, list[Sampler], list[int]]]:
        """Every construction, its sources, and how many sets of each are wanted."""
        for name in self.names:
            construction = self.shop.construction(name)
            made = self.shop.samplers(name)
            counts = [self.request.sets(each.construction, each.design, self.config)[each.split] for each in made]
            yield construction, made, counts


@dataclass(frozen=True)
class Run:
    """What is to be written where."""

    wanted: Wanted
    manifest: Manifest


@dataclass(frozen=True)
class Order:
    """A shard to make, wherever that may be."""

    run: Run
    number: int


@dataclass(frozen=True)
class Draw:
    """Sets to hash, wherever that may be; ``run`` as for `Run.token`."""

    run: str
    project: Project
    request: Request
    name: str
    stretch: Stretch


def single(request: Request, config: str, n: int) -> Request:
    """``request`` for ``n`` rows of one config, as many sets as are wanted."""
    sizes = {name: n if name == config else 0 for name in CONFIGS}
    return Request(sizes, request.seed, request.shares, request.preset, 1.0, request.marked, request.hold_out)


def earlier(wanted: Wanted, *, resume: bool) -> Run | None:
    """The run as whoever began it planned it; None if nobody has.

    Raises:
        DataError: the folder holds a run and is not to be continued, or one of other parameters, code, templates or words.
    """
    path = wanted.folder / MANIFEST
    if not path.exists():
        return None
    manifest = Manifest.read(wanted.folder)
    if manifest.run != run_digest(wanted.asked):
        what = differences(wanted.asked, manifest.asked) or "its record"
        raise DataError(f"another run is there: it differs in {what}", file=path, hint="choose another folder with --out")
    if not resume:
        raise DataError("this run is there already", file=path, hint="--resume makes the shards that it lacks")
    return Run(wanted, manifest)


def prepare(wanted: Wanted, pool: Executor) -> Run:
    """Plan the run; ``pool`` draws what is to be planned with."""
    made = [(construction, mine, counts, _hasher(wanted, construction, pool)) for construction, mine, counts in wanted.loaded()]
    return Run(wanted, planned(wanted.folder, wanted.asked, made, wanted.shard_rows, wanted.wug))


def _hasher(wanted: Wanted, construction: Construction, pool: Executor) -> Hasher:
    def orders(stretches: Iterable[Stretch]) -> list[Draw]:
        return [Draw(wanted.token, wanted.project, wanted.request, construction.name, each) for each in stretches]

    return lambda stretches: in_order(pool, draw, orders(stretches))


def draw(job: tuple[int, Draw]) -> tuple[int, NDArray[np.uint64]]:
    """The hashes of sets, and the number of the job."""
    number, order = job
    shop = loaded(order.run, order.project, order.request)
    return number, hashes(shop.samplers(order.name)[order.stretch.source], order.stretch)


def crowded(wanted: Wanted) -> Iterator[str]:
    """One line for every source that is asked for more sets than its words and templates easily give."""
    for construction, mine, counts in wanted.loaded():
        for source, count in zip(mine, counts, strict=True):
            if tight(source, count):
                where = f"{construction.name}, design {source.design.name} in {source.split}"
                yield f"{where}: {count} contrast sets are more than are easily drawn; there may be fewer (`cxgen capacity`)"


def run(plan: Run, pool: Executor, shards: Sequence[int] | None = None) -> dict[str, Any]:
    """Make the shards that are lacking, or only ``shards``; returns, and if all are there writes, the summary.

    Raises:
        DataError: a shard cannot be written, or a construction gives no tree.
    """
    everything = range(len(plan.manifest.shards))
    if shards is None:
        _sweep(plan.wanted.folder)
    todo = [
        number
        for number in (everything if shards is None else shards)
        if shards is not None or not plan.manifest.record(plan.wanted.folder, number)
    ]
    for _ in track(pool.map(make_shard, [Order(plan, number) for number in todo]), "generating", len(todo)):
        pass
    records = [plan.manifest.record(plan.wanted.folder, number) for number in everything]
    summary = _summary(plan, records)
    if all(records):
        write_json(summary, plan.wanted.folder / SUMMARY)
    return summary


def make_shard(order: Order) -> None:
    """Write a shard and its record."""
    plan, shard = order.run, order.run.manifest.shards[order.number]
    shop = plan.wanted.shop
    source = shop.samplers(shard.construction)[shard.source]
    numbers = plan.manifest.kept(plan.wanted.folder, shard)
    path = plan.wanted.folder / shard.file
    if shard.pseudowords and plan.wanted.wug:
        config = wug_config(plan.wanted.config)
        blocks = _substituted(source, shop, numbers, plan.wanted.wug.modes)
    else:
        config = plan.wanted.config
        blocks = _drawn(source, numbers, BLOCK)
    columns = columns_of(config)
    rows = _write(path, columns, (conform(items, columns) for items in blocks if items.height))
    about = {"run": plan.manifest.run, "file": shard.file, "bytes": path.stat().st_size, "rows": rows, "sets": shard.sets}
    write_json(about, record_file(plan.wanted.folder, order.number))


def _drawn(source: Sampler, numbers: NDArray[np.int64], size: int) -> Iterator[pl.DataFrame]:
    """The items of the sets ``numbers``, ``size`` sets at a time."""
    for at in range(0, len(numbers), size):
        yield items_of(source.draw(numbers[at : at + size]))


def _substituted(source: Sampler, shop: Loaded, numbers: NDArray[np.int64], modes: Sequence[str]) -> Iterator[pl.DataFrame]:
    """What a build makes of those items with pseudowords."""
    for items in _drawn(source, numbers, max(1, WUG_BLOCK // len(modes))):
        real = eligible(items)
        yield paired(substituted(source, real["set_number"].unique().to_numpy(), shop.wugs, modes), real)


def _write(path: Path, columns: Sequence[Column], blocks: Iterator[pl.DataFrame]) -> int:
    """Write the blocks to ``path`` as they come, in row groups; how many rows they are."""
    from polars.io.plugins import register_io_source

    rows = 0

    def batches(*_: Any) -> Iterator[pl.DataFrame]:
        nonlocal rows
        for block in blocks:
            rows += block.height
            yield block

    lazy = register_io_source(batches, schema=polars_schema(columns))
    try:
        write_atomically(
            path, lambda temporary: lazy.sink_parquet(temporary, compression="zstd", row_group_size=ROW_GROUP, engine="streaming")
        )
    except pl.exceptions.PolarsError as error:
        raise DataError(f"cannot be written: {one_line(error)}", file=path, hint="is there room on the disk? --resume goes on") from error
    return rows


def _sweep(folder: Path) -> None:
    """Delete what was being written when a run was killed."""
    for path in (path for name in (DATA, WUG) for path in folder.glob(f"{name}/*/.*.parquet.*")):
        path.unlink(missing_ok=True)


def _summary(plan: Run, records: Sequence[dict[str, Any] | None]) -> dict[str, Any]:
    """What there is: ``shards, of, rows, sets, bytes`` (numbers) and ``sources``: per source the sets wanted, kept and drawn, and the
    share of those drawn that repeat a premise (``repeated``). With pseudowords: ``pseudowords``, the ``rows, sets, bytes`` of those.

    Args:
        plan: the run.
        records: of all its shards; None for one that is not there.
    """
    there = [(shard, record) for shard, record in zip(plan.manifest.shards, records, strict=True) if record]
    own, wug = (
        {name: sum(record[name] for shard, record in there if shard.pseudowords == said_so) for name in ("rows", "sets", "bytes")}
        for said_so in (False, True)
    )
    entries = [{**entry, "repeated": round(1 - entry["kept"] / max(entry["drawn"], 1), 6)} for entry in plan.manifest.sources]
    about = {"run": plan.manifest.run, "shards": len(there), "of": len(records)}
    more = {"pseudowords": wug} if plan.wanted.wug else {}
    return {**about, **own, **more, "sources": entries}
