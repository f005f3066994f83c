"""The plan of a run of ``generate --out``: which contrast sets go into which shard. It is made in full before the first shard.

A shard is a function of the plan and its number, so that it is the same whoever makes it, and when. No premise occurs in two sets: set
numbers are drawn in their order, and those are kept whose premises are all new. Premises are compared by 64-bit hashes, eight bytes each.
"""

from __future__ import annotations

import hashlib
import json
import math
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.build.capacity import EASY, sets_at_most
from cxgen.build.params import Wug
from cxgen.build.pool import Executor
from cxgen.build.request import Request
from cxgen.build.run import Loaded, loaded
from cxgen.build.samplers import items_of
from cxgen.errors import DataError
from cxgen.families import CONFIGS
from cxgen.files import read_json
from cxgen.project import Project
from cxgen.sampling import Sampler, digest, span
from cxgen.tables import write_json, write_parquet
from cxgen.version import DATA_VERSION
from cxgen.vocabulary import SPLITS

DATA, WUG, RUN = "data", "wug", "cxgen"  # folders: of the rows, of those with pseudowords, of the run's records
MANIFEST, SETS = f"{RUN}/manifest.json", f"{RUN}/sets.parquet"
BLOCK, ROUND = 1 << 14, 1 << 20  # sets that are drawn at once, and between two looks at what is lacking
DRY = 0.01  # share of new sets in a round below which there is hardly anything else to say
_SPARE = 8
_ROW_GROUP = 1 << 20
_HINT = "choose another folder with --out, or delete this one"


@dataclass(frozen=True)
class Wanted:
    """What is asked for.

    Attributes:
        names: of the constructions.
        config: of the rows; ``request`` is for this one only, see `single`.
        folder: of the rows and the run's records.
        shard_rows: most rows of a file.
        wug: which sets get pseudowords, too; None for none.
        token: of this invocation, see `loaded`.
    """

    project: Project
    names: tuple[str, ...]
    config: str
    request: Request
    folder: Path
    shard_rows: int
    wug: Wug | None = None
    token: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def loaded(self) -> Loaded:
        """What this process keeps loaded for it."""
        return loaded(self.token, self.project, self.request)

    @property
    def asked(self) -> dict[str, Any]:
        """All that the rows depend on."""
        project, request = self.project, self.request
        words = [*project.template_files().values(), *project.shared_files(), *project.lexicon_files()]
        return {
            "constructions": list(self.names),
            "config": self.config,
            "n": request.rows(self.config),
            "shard_rows": self.shard_rows,
            "seed": request.seed,
            "bands": request.preset,
            "marked": request.marked,
            "split": {split: request.shares[split] for split in SPLITS},
            "hold_out": asdict(request.hold_out),
            "verbs": {name: digest(json.dumps(request.splits.get(name), sort_keys=True)) for name in self.names},
            "pseudowords": {"modes": list(self.wug.modes), "share": self.wug.share} if self.wug else None,
            "data version": DATA_VERSION,
            "templates and words": _digest(words),
        }

    def samplers(self) -> Iterator[tuple[str, int, Sampler, int]]:
        """Construction, number of its sampler, the sampler, and how many sets of it are wanted."""
        for name in self.names:
            for number, sampler in enumerate(self.loaded.samplers(name)):
                yield name, number, sampler, self.request.sets(sampler.construction, sampler.design, self.config)[sampler.split]


@dataclass(frozen=True)
class Shard:
    """A file of rows.

    Attributes:
        file: relative to the run's folder.
        construction, sampler: whose sets, and by which of its samplers, from 0.
        pseudowords: whether they are those with pseudowords, in every mode of the run.
    """

    file: str
    construction: str
    sampler: int
    pseudowords: bool = False

    @property
    def split(self) -> str:
        """The split of its rows."""
        return Path(self.file).parent.name


@dataclass(frozen=True)
class Plan:
    """A run.

    Attributes:
        asked: all that its rows depend on.
        sources: construction, design, split, rows of a set, sets wanted, kept and drawn, of each sampler.
        shards: all of them, in order.
    """

    asked: dict[str, Any]
    sources: list[dict[str, Any]]
    shards: list[Shard]

    @classmethod
    def read(cls, folder: Path) -> Plan:
        """The plan of the run in ``folder``.

        Raises:
            DataError: there is none, or it is damaged.
        """
        path = folder / MANIFEST
        if not path.exists():
            raise DataError("no run is there", file=folder, hint="name the folder that `cxgen generate --out` has written")
        data = read_json(path, _HINT)
        try:
            return cls(data["asked"], data["sources"], [Shard(**entry) for entry in data["shards"]])
        except (KeyError, TypeError) as error:
            raise DataError(f"not the plan of a run: {error}", file=path, hint=_HINT) from error


def sets_of(folder: Path, number: int) -> NDArray[np.int64]:
    """The set numbers of shard ``number`` of the run in ``folder``.

    Raises:
        DataError: the file that says so is missing or damaged.
    """
    try:
        return pl.scan_parquet(folder / SETS).filter(pl.col("shard") == number).select("set").collect()["set"].to_numpy()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError("not the sets of a run", file=folder / SETS, hint=_HINT) from error


def single(request: Request, config: str, n: int) -> Request:
    """``request`` for ``n`` rows of one config, as many sets as are wanted."""
    sizes = {name: n if name == config else 0 for name in CONFIGS}
    return Request(sizes, request.seed, request.shares, request.preset, 1.0, request.marked, request.hold_out)


def earlier(wanted: Wanted, *, resume: bool) -> Plan | None:
    """The plan that whoever began the run made; None if nobody has.

    Raises:
        DataError: the folder holds a run and is not to be continued, or one of other parameters, data version, templates or words.
    """
    path = wanted.folder / MANIFEST
    if not path.exists():
        return None
    plan = Plan.read(wanted.folder)
    others = ", ".join(name for name, value in wanted.asked.items() if plan.asked.get(name) != value)
    if others:
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


def make_plan(wanted: Wanted, pool: Executor) -> Plan:
    """Find sets that are new, divide them into shards, and write the plan; ``pool`` draws.

    With pseudowords come the first sets of each sampler, as many as their share is.
    """
    sources: list[dict[str, Any]] = []
    shards: list[Shard] = []
    sets = [pl.DataFrame(schema={"shard": pl.UInt32, "set": pl.Int64})]
    seen: dict[str, NDArray[np.uint64]] = {}
    for name, number, sampler, count in wanted.samplers():
        kept, drawn, seen[name] = _new_sets(wanted, (name, number), count, pool, seen.get(name, np.empty(0, np.uint64)))
        rows = items_of(sampler.draw(span(0, 1))).height
        about = {"construction": name, "design": sampler.design.name, "split": sampler.split}
        sources.append({**about, "rows of a set": rows, "wanted": count, "kept": len(kept), "drawn": drawn})
        parts = [(DATA, kept, rows)]
        if wanted.wug:
            parts.append((WUG, kept[: math.ceil(len(kept) * wanted.wug.share)], rows * len(wanted.wug.modes)))
        for folder, numbers, size in parts:
            most = max(1, wanted.shard_rows // size)
            for at in range(0, len(numbers), most):
                part = pl.DataFrame({"set": numbers[at : at + most]})
                sets.append(part.select(pl.lit(len(shards), pl.UInt32).alias("shard"), "set"))
                file = f"{folder}/{sampler.split}/{name}.{sampler.design.name}-{at // most:05d}.parquet"
                shards.append(Shard(file, name, number, folder == WUG))
    write_parquet(pl.concat(sets), wanted.folder / SETS, compression="zstd", row_group_size=_ROW_GROUP)
    plan = Plan(wanted.asked, sources, shards)
    write_json(asdict(plan), wanted.folder / MANIFEST)  # last: where it is, the plan is whole
    return plan


@dataclass(frozen=True)
class Stretch:
    """Sets to draw, wherever that may be: ``count`` of them from ``start``, of a sampler of a construction."""

    wanted: Wanted
    sampler: tuple[str, int]
    start: int
    count: int


def premises(stretch: Stretch) -> NDArray[np.uint64]:
    """Sets x premises: hashes of their texts."""
    name, number = stretch.sampler
    draws = stretch.wanted.loaded.samplers(name)[number].draw(span(stretch.start, stretch.count))
    return draws.texts.hash(0).to_numpy().reshape(-1, len(draws)).T


def _new_sets(
    wanted: Wanted, sampler: tuple[str, int], count: int, pool: Executor, seen: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], int, NDArray[np.uint64]]:
    """The first ``count`` set numbers with new premises, how many were drawn, and ``seen`` with all premises that were.

    A set is new if none of its premises was drawn before, in it, in a lower number or by a sampler before, whether that one was kept or
    not. There are fewer where a sampler has run dry.
    """
    kept = np.empty(0, np.int64)
    drawn, rate = 0, 1.0
    while len(kept) < count and rate >= DRY:
        end = drawn + min(ROUND, math.ceil((count - len(kept)) / rate) + _SPARE)
        stretches = [Stretch(wanted, sampler, at, min(BLOCK, end - at)) for at in range(drawn, end, BLOCK)]
        new, seen = _new(np.concatenate(list(pool.map(premises, stretches))), seen)
        kept = np.concatenate([kept, np.arange(drawn, end)[new]])
        rate, drawn = float(new.mean()), end
    return kept[:count], int(kept[count - 1]) + 1 if len(kept) >= count > 0 else drawn, seen


def _new(hashes: NDArray[np.uint64], seen: NDArray[np.uint64]) -> tuple[NDArray[np.bool_], NDArray[np.uint64]]:
    """Of sets x premises, which sets have premises that occur here for the first time; and ``seen``, sorted, with these premises."""
    unique, first = np.unique(hashes, return_index=True)
    fresh = np.zeros(hashes.size, dtype=bool)
    fresh[first] = ~np.isin(unique, seen, assume_unique=True)
    new: NDArray[np.bool_] = np.all(fresh.reshape(hashes.shape), axis=1)
    return new, np.union1d(seen, unique).astype(np.uint64, copy=False)


def _digest(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
