"""Runs of any size (``generate --out``): a plan says which contrast sets go into which shard, then the shards are made, in any order.

No premise occurs in two sets, as far as 64-bit hashes tell. A shard is renamed when it is whole, and its record written after it.
"""

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.build.params import Request, Wug
from cxgen.build.pool import Executor
from cxgen.build.samplers import EASY, Run, items_of, samplers_of, sets_at_most, wugs_of
from cxgen.build.wug import eligible, paired, substituted
from cxgen.errors import DataError
from cxgen.families import CONFIGS, columns_of, wug_config
from cxgen.files import locked, require_file, write_atomically
from cxgen.lexicon.verdicts import votes_files
from cxgen.project import require_utf8
from cxgen.sampling import HoldOut, Sampler, span
from cxgen.schema import Column, conform, polars_schema, read_json
from cxgen.streams import address
from cxgen.tables import one_line, track, write_json, write_parquet
from cxgen.version import DATA_VERSION
from cxgen.vocabulary import SPLITS

# As the manifest has it: ``asked`` (all that the rows depend on), ``sources`` (samplers), ``shards``, ``sets`` (sha256 of their numbers).
Plan = dict[str, Any]
_Draws = tuple["Wanted", tuple[str, int], NDArray[np.int64]]  # of the sampler with this construction and number
_Hashes = NDArray[np.uint64]
Shard = dict[str, Any]  # ``file`` (relative to the run's folder), ``construction``, ``sampler`` (its number), ``pseudowords`` (bool)
DATA, WUG, RUN = "data", "wug", "cxgen"  # folders: of the rows, of those with pseudowords, of the run's records
_MANIFEST, _SETS = f"{RUN}/manifest.json", f"{RUN}/sets.parquet"
_BEGUN = {f"{RUN}/run.lock", _SETS}  # what a run that is planned has
_NUMBERS = {"shard": pl.UInt32, "set": pl.Int64}
_BLOCK, _ROUND = 1 << 14, 1 << 20  # sets that are drawn at once for a plan, and between two looks at what is lacking
_DRY = 0.01  # share of new sets in a round below which there is hardly anything else to say
_SPARE = 8
_MADE = 8_192  # sets that are made at once, over the modes with pseudowords: some thirty thousand rows, a row group
_ROW_GROUP = 32_768  # what waits in memory to be written: a quarter of a table's gives files that are 8% larger
_HINT = "choose another folder with --out, or delete the whole folder"


@dataclass(frozen=True)
class Wanted:
    """What ``generate --out`` makes; the request is for its ``config`` only, see `single`; ``wug``: which sets get pseudowords, too."""

    run: Run
    names: tuple[str, ...]
    config: str
    folder: Path
    shard_rows: int
    wug: Wug | None = None

    def __post_init__(self) -> None:
        require_utf8(self.folder, "folder")

    @property
    def asked(self) -> dict[str, Any]:
        """All that the rows depend on."""
        request, project, files = self.run.request, self.run.project, hashlib.sha256()
        for path in [*project.template_files().values(), *project.shared_files(), *project.lexicon_files(), *votes_files(project)]:
            files.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
        return {
            "constructions": list(self.names),
            "config": self.config,
            "n": request.rows(self.config),
            "shard_rows": self.shard_rows,
            "seed": request.seed,
            "bands": request.preset,
            "marked": request.marked,
            "judged": [name for name in self.names if request.hears(name)],
            "split": {split: request.shares[split] for split in SPLITS},
            "hold_out": asdict(request.hold_out),
            "verbs": {name: address(json.dumps(request.splits.get(name), sort_keys=True)) for name in self.names},
            "pseudowords": {"modes": list(self.wug.modes), "share": self.wug.share} if self.wug else None,
            "data version": DATA_VERSION,
            "templates and words": files.hexdigest()[:16],
        }

    def others(self, plan: Plan) -> str:
        """The names of what a plan was made for and is not ``asked`` here, with commas between."""
        return ", ".join(name for name, value in self.asked.items() if plan["asked"].get(name) != value)

    def samplers(self) -> Iterator[tuple[str, int, Sampler, int]]:
        """Construction, number of its sampler, the sampler, and how many sets of it are wanted."""
        for name in self.names:
            for number, sampler in enumerate(samplers_of(self.run, name)):
                yield name, number, sampler, self.run.request.sets(sampler.construction, sampler.design, self.config)[sampler.split]


def single(request: Request, config: str, n: int) -> Request:
    """``request`` for ``n`` rows of one config, as many sets as are wanted."""
    sizes = {name: n if name == config else 0 for name in CONFIGS}
    return replace(request, sizes=sizes, oversample=1.0)


def read_plan(folder: Path) -> Plan:
    """The plan of the run in ``folder``."""
    require_utf8(folder, "folder")
    path = folder / _MANIFEST
    if not path.exists():
        raise DataError("no run is there", file=folder, hint="name the folder that `cxgen generate --out` has written")
    plan: Plan = read_json(path, "run", "manifest", _HINT)
    if len({shard["file"] for shard in plan["shards"]}) < len(plan["shards"]):
        raise DataError("has a shard twice", file=path, hint=_HINT)
    known = False
    with suppress(pl.exceptions.PolarsError, DataError, OSError):
        known = plan["sets"] == _sha256(folder / _SETS) and pl.scan_parquet(folder / _SETS, glob=False).collect_schema() == _NUMBERS
    if not known:
        raise DataError("not the sets of a run", file=folder / _SETS, hint=_HINT)
    return plan


def planned(run: Run, folder: Path, plan: Plan) -> Wanted:
    """What the plan of the run in ``folder`` was made for; words, labels and splits of verbs are those of ``run``."""
    asked, wug = plan["asked"], plan["asked"]["pseudowords"]
    own: dict[str, Any] = {"seed": asked["seed"], "preset": asked["bands"], "marked": asked["marked"], "shares": asked["split"]}
    own |= {"judged": bool(asked["judged"]), "unjudged": frozenset(asked["constructions"]) - set(asked["judged"])}
    request = replace(single(run.request, asked["config"], asked["n"]), **own, hold_out=HoldOut(**asked["hold_out"]))
    modes = Wug(tuple(wug["modes"]), wug["share"]) if wug else None
    return Wanted(Run(run.project, request), tuple(asked["constructions"]), asked["config"], folder, asked["shard_rows"], modes)


def earlier(wanted: Wanted, *, resume: bool) -> Plan | None:
    """The plan that whoever began the run made; None if nobody has. One of other parameters or words is not gone on with; what is there
    without a plan would be replaced, or taken for a part of the run."""
    path = wanted.folder / _MANIFEST
    if not path.exists():
        found = (file for place in (DATA, WUG, RUN) for file in sorted((wanted.folder / place).rglob("*")) if not file.is_dir())
        for file in found:
            if file.name[0] != "." and file.relative_to(wanted.folder).as_posix() not in _BEGUN:
                raise DataError("there is something already, and no plan of a run", file=file, hint="choose another folder with --out")
        return None
    plan = read_plan(wanted.folder)
    if others := wanted.others(plan):
        raise DataError(f"another run is there: it differs in {others}", file=path, hint="choose another folder with --out")
    if not resume:
        raise DataError("this run is there already", file=path, hint="--resume makes the shards that it lacks")
    return plan


def crowded(wanted: Wanted) -> Iterator[str]:
    """One line for every sampler that is asked for more sets than its words and templates easily give."""
    for name, _, sampler, count in wanted.samplers():
        if count > EASY * sets_at_most(sampler):
            where = f"{name}, design {sampler.design.name} in {sampler.split}"
            yield f"{where}: {count} contrast sets are more than are easily drawn; there may be fewer (`cxgen capacity`)"


def writing(wanted: Wanted) -> AbstractContextManager[None]:
    """Hold the run's folder while it is planned or made whole; single shards of a plan need no turn."""
    return locked(wanted.folder / RUN / "run", "writes to this folder")


def make_plan(wanted: Wanted, pool: Executor) -> Plan:
    """Find sets that are new, divide them into shards (the first of each sampler also with pseudowords), and write the plan."""
    plan: Plan = {"asked": wanted.asked, "sources": [], "shards": []}
    sets = [pl.DataFrame(schema=_NUMBERS)]
    seen: dict[str, NDArray[np.uint64]] = defaultdict(lambda: np.zeros(1, np.uint64))  # sorted, never empty
    listed = list(wanted.samplers())
    firsts = [job for name, number, _, count in listed for job in _round(wanted, (name, number), 0, count, 1.0)]
    begun = pool.map(_premises, firsts)  # of all samplers at once: few have work for every worker
    for name, number, sampler, count in listed:
        kept, drawn, seen[name] = _new_sets(wanted, (name, number), count, pool, begun, seen[name])
        rows = items_of(sampler.draw(span(0, 1))).height
        about = {"construction": name, "design": sampler.design.name, "split": sampler.split, "rows of a set": rows}
        plan["sources"].append({**about, "wanted": count, "kept": len(kept), "drawn": drawn})
        parts = [(DATA, kept, rows)]
        parts += [(WUG, kept[: with_pseudowords(len(kept), wug)], rows * len(wug.modes))] if (wug := wanted.wug) else []
        for folder, numbers, size in parts:
            most = max(1, wanted.shard_rows // size)
            for at in range(0, len(numbers), most):
                part = pl.DataFrame({"set": numbers[at : at + most]})
                sets.append(part.select(pl.lit(len(plan["shards"]), pl.UInt32).alias("shard"), "set"))
                file = f"{_stem(sampler, folder)}{at // most:05d}.parquet"
                plan["shards"].append({"file": file, "construction": name, "sampler": number, "pseudowords": folder == WUG})
    if not plan["shards"]:
        what = f"there is nothing to make: no design of {', '.join(wanted.names)} is for {wanted.config}"
        raise DataError(what, hint="`cxgen explain NAME` tells what its designs are for")
    write_parquet(pl.concat(sets), wanted.folder / _SETS, compression="zstd", row_group_size=1 << 20)
    plan["sets"] = _sha256(wanted.folder / _SETS)
    write_json(plan, wanted.folder / _MANIFEST)  # last: where it is, the plan is whole
    return plan


def with_pseudowords(kept: int, wug: Wug | None) -> int:
    """How many of the ``kept`` sets of a source, the first ones, have pseudowords, too."""
    return math.ceil(kept * wug.share) if wug else 0


def _round(wanted: Wanted, sampler: tuple[str, int], drawn: int, lacking: int, rate: float) -> list[_Draws]:
    """The draws from number ``drawn`` on that should give what is ``lacking``, where the share ``rate`` of them is new."""
    end = drawn + min(_ROUND, math.ceil(lacking / rate) + _SPARE) if lacking else drawn
    return [(wanted, sampler, span(at, min(_BLOCK, end - at))) for at in range(drawn, end, _BLOCK)]


def _new_sets(
    wanted: Wanted, sampler: tuple[str, int], count: int, pool: Executor, begun: Iterator[_Hashes], seen: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], int, NDArray[np.uint64]]:
    """The first ``count`` set numbers (fewer if it runs dry) of which no premise was drawn before; how many were drawn; all ``seen``.
    ``begun`` gives the premises of the first round."""
    kept = np.empty(0, np.int64)
    drawn, rate = 0, 1.0
    while len(kept) < count and rate >= _DRY:
        jobs = _round(wanted, sampler, drawn, count - len(kept), rate)
        hashes = np.concatenate(list(pool.map(_premises, jobs) if drawn else islice(begun, len(jobs))))
        end = drawn + len(hashes)
        unique, first = np.unique(hashes, return_index=True)
        fresh = np.zeros(hashes.size, dtype=bool)
        at = np.searchsorted(seen, unique)  # both are sorted: np.isin would sort them again, all that was seen included
        fresh[first] = unseen = seen.take(at, mode="clip") != unique
        new = fresh.reshape(hashes.shape).all(axis=1)
        seen = np.insert(seen, at[unseen], unique[unseen])
        kept = np.concatenate([kept, np.arange(drawn, end)[new]])
        rate, drawn = float(new.mean()), end
    return kept[:count], int(kept[count - 1]) + 1 if len(kept) >= count > 0 else drawn, seen


def _premises(job: _Draws) -> _Hashes:
    """Sets x premises: hashes of their texts."""
    wanted, (name, number), numbers = job
    return samplers_of(wanted.run, name)[number].draw(numbers).texts.hash(0).to_numpy().reshape(-1, len(numbers)).T


def _stem(sampler: Sampler, folder: str) -> str:
    """The files of the shards of a sampler, without their numbers."""
    return f"{folder}/{sampler.split}/{sampler.construction.name}.{sampler.design.name}-"


def sets_of(folder: Path, number: int) -> NDArray[np.int64]:
    """The set numbers of shard ``number`` of the run in ``folder``."""
    return pl.scan_parquet(folder / _SETS, glob=False).filter(pl.col("shard") == number).select("set").collect()["set"].to_numpy()


def make_shards(wanted: Wanted, plan: Plan, pool: Executor, only: Sequence[int] = ()) -> dict[str, Any]:
    """Make the shards that are lacking, or ``only`` these; the summary, with the share of ``repeated`` sets, written when all are there."""
    folder, shards = wanted.folder, plan["shards"]
    end = "[0-9a-f]" * 8
    found = (folder.glob(f"{place}.{end}") for place in (f"{DATA}/*/.*.parquet", f"{WUG}/*/.*.parquet", f"{RUN}/shards/.*.json"))
    unfinished = [*chain.from_iterable(found)]
    for path in () if only else unfinished:  # what was being written when a run was killed
        path.unlink(missing_ok=True)
    numbers = only or [number for number in range(len(shards)) if record_of(folder, plan, number) is None]
    for _ in track(pool.map(_make_shard, [(wanted, number, shards[number]) for number in numbers]), "generating", len(numbers)):
        pass
    records = [record_of(folder, plan, number, quick=True) for number in range(len(shards))]
    done = [(shard["pseudowords"], record) for shard, record in zip(shards, records, strict=True) if record]
    names = ("rows", "sets", "bytes")
    sums = [{name: sum(record[name] for wug, record in done if wug == kind) for name in names} for kind in (False, True)]
    sources = [{**entry, "repeated": round(1 - entry["kept"] / max(entry["drawn"], 1), 6)} for entry in plan["sources"]]
    more = {"pseudowords": sums[1]} if plan["asked"]["pseudowords"] else {}
    summary = {"shards": len(done), "of": len(records), **sums[0], **more, "sources": sources}
    if all(records):
        write_json(summary, folder / RUN / "summary.json")
    return summary


def _make_shard(job: tuple[Wanted, int, Shard]) -> None:
    wanted, number, shard = job
    numbers, path = sets_of(wanted.folder, number), wanted.folder / shard["file"]
    rows = _write(path, shard_columns(wanted, shard), _blocks(wanted, shard, numbers))
    record = {"file": shard["file"], "sha256": _sha256(path), "bytes": path.stat().st_size, "rows": rows, "sets": len(numbers)}
    write_json(record, _record_file(wanted.folder, number))


def shard_columns(wanted: Wanted, shard: Shard) -> tuple[Column, ...]:
    """The columns of a shard."""
    return columns_of(wug_config(wanted.config) if shard["pseudowords"] else wanted.config)


def is_planned(wanted: Wanted, shard: Shard, numbers: NDArray[np.int64]) -> bool:
    """Whether a shard's file has the rows that are made of the sets ``numbers``, all of them in their order; they are made again."""
    rows, made = pl.scan_parquet(wanted.folder / shard["file"], glob=False), 0
    with suppress(pl.exceptions.PolarsError):  # half a column cannot be read
        for block in _blocks(wanted, shard, numbers):
            if not rows.select(block.columns).slice(made, block.height).collect().equals(block):
                return False
            made += block.height
        return bool(made == rows.select(pl.len()).collect().item())
    return False


def _blocks(wanted: Wanted, shard: Shard, numbers: NDArray[np.int64]) -> Iterator[pl.DataFrame]:
    """The rows of a shard, some thousand sets at a time, so that no shard is ever one table."""
    sampler = dict(enumerate(samplers_of(wanted.run, shard["construction"]))).get(shard["sampler"])
    kind, columns = WUG if shard["pseudowords"] else DATA, shard_columns(wanted, shard)
    if sampler is None or not shard["file"].startswith(_stem(sampler, kind)) or (kind == WUG and wanted.wug is None):
        raise DataError(f"not the plan of a run: {shard['file']} is of another sampler", file=wanted.folder / _MANIFEST, hint=_HINT)
    modes = wanted.wug.modes if wanted.wug and shard["pseudowords"] else ()
    size = _MADE // max(3, len(modes))
    for at in range(0, len(numbers), size):
        items = items_of(sampler.draw(numbers[at : at + size]))
        if modes:
            real = eligible(items)
            items = paired(substituted(sampler, real["set_number"].unique().to_numpy(), wugs_of(wanted.run), modes), real)
        if items.height:
            yield conform(items, columns)


def _write(path: Path, columns: Sequence[Column], blocks: Iterator[pl.DataFrame]) -> int:
    """Write the blocks to ``path`` as they come; how many rows they are."""
    from polars.io.plugins import register_io_source

    lazy = register_io_source(lambda *_: blocks, schema=polars_schema(columns))
    options: dict[str, Any] = {"compression": "zstd", "row_group_size": _ROW_GROUP, "engine": "streaming"}
    try:
        write_atomically(path, lambda temporary: lazy.sink_parquet(temporary, **options))
    except pl.exceptions.PolarsError as error:
        raise DataError(f"cannot be written: {one_line(error)}", file=path, hint="is there room on the disk? --resume goes on") from error
    return _height(path)


def _height(path: Path) -> int:
    return int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())


def record_of(folder: Path, plan: Plan, number: int, *, quick: bool = False) -> dict[str, Any] | None:
    """``file, sha256, bytes, rows, sets`` of a shard; None if the file is not there as its record says (``quick``: by name and size)."""
    file = plan["shards"][number]["file"]
    path = folder / file
    if path.exists() and not path.is_file():
        raise DataError("not a regular file", file=path, hint="move it away; --resume makes the shard")
    with suppress(DataError, OSError, pl.exceptions.PolarsError):
        record: dict[str, Any] = read_json(_record_file(folder, number), "run", "record")
        sized = (record["file"], record["bytes"]) == (file, path.stat().st_size)
        if sized and (quick or (record["sha256"], record["rows"]) == (_sha256(path), _height(path))):
            return record
    return None


def _record_file(folder: Path, number: int) -> Path:
    return folder / RUN / "shards" / f"{number:06d}.json"


def _sha256(path: Path) -> str:
    require_file(path)  # of a pipe nothing would ever come
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
