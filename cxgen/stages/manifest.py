"""What a streamed run is to write: which sets go into which shard. It is said in full before the first shard is made."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxgen.build.capacity import EASY, sets_at_most
from cxgen.build.params import Wug
from cxgen.build.request import Request
from cxgen.build.samplers import items_of
from cxgen.build.survey import Found, Hasher, survey
from cxgen.constructicon import Construction
from cxgen.errors import DataError
from cxgen.files import parse_json, write_atomically
from cxgen.project import Project
from cxgen.sampling import Sampler
from cxgen.tables import write_json
from cxgen.version import __version__
from cxgen.vocabulary import SPLITS

FOLDER = Path("cxgen")  # of the run's own records
DATA, WUG = "data", "wug"  # folders of the rows
MANIFEST, NUMBERS = FOLDER / "manifest.json", FOLDER / "numbers.npz"
_HINT = "choose another folder with --out, or delete this one"


@dataclass(frozen=True)
class Shard:
    """A file of rows.

    Attributes:
        file: relative to the run's folder.
        construction, source: whose sets, and of which of its sources, from 0.
        first, last: set numbers of the source; of those between, both included, the ones that the survey kept are meant.
        sets: how many these are.
        pseudowords: whether they are said with pseudowords, in every mode of the run.
    """

    file: str
    construction: str
    source: int
    first: int
    last: int
    sets: int
    pseudowords: bool = False

    @property
    def split(self) -> str:
        """The split of its rows."""
        return Path(self.file).parent.name


@dataclass(frozen=True)
class Manifest:
    """A run.

    Attributes:
        run: digest of all that the rows depend on.
        asked: parameters of the run.
        sources: construction, design, split, rows of a set, sets wanted, kept and drawn.
        shards: all of them.
        numbers: digest of the file that says which set numbers are kept.
    """

    run: str
    asked: dict[str, Any]
    sources: list[dict[str, Any]]
    shards: list[Shard]
    numbers: str

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """The manifest of the run in ``folder``.

        Raises:
            DataError: it is damaged.
        """
        path = folder / MANIFEST
        data = parse_json(path.read_bytes().decode("utf-8", "replace"), path, _HINT)
        try:
            return cls(data["run"], data["asked"], data["sources"], [Shard(**entry) for entry in data["shards"]], data["numbers"])
        except (KeyError, TypeError) as error:
            raise DataError(f"not the record of a run: {error}", file=path, hint=_HINT) from error

    def write(self, folder: Path) -> None:
        """Write it; a run whose manifest is there can be continued."""
        write_json(asdict(self), folder / MANIFEST)

    def kept(self, folder: Path, shard: Shard) -> NDArray[np.int64]:
        """The set numbers of ``shard``.

        Raises:
            DataError: the file that says so was changed.
        """
        path = folder / NUMBERS
        if _digest([path]) != self.numbers:
            raise DataError("not the file that the run has written", file=path, hint=_HINT)
        with np.load(path, allow_pickle=False) as arrays:
            bits = np.unpackbits(arrays[f"{shard.construction}.{shard.source}"], count=shard.last + 1)
        return np.flatnonzero(bits[shard.first :]).astype(np.int64) + shard.first

    def record(self, folder: Path, number: int) -> dict[str, Any] | None:
        """What is recorded of shard ``number``, if it is there and whole: ``run, file, bytes, rows, sets``."""
        path, file = record_file(folder, number), folder / self.shards[number].file
        if not path.exists() or not file.is_file():
            return None
        with suppress(DataError, KeyError, TypeError):
            record: dict[str, Any] = parse_json(path.read_bytes().decode("utf-8", "replace"), path)
            if record["run"] == self.run and record["bytes"] == file.stat().st_size:
                return record
        return None


def record_file(folder: Path, number: int) -> Path:
    """Where shard ``number`` of the run in ``folder`` is recorded."""
    return folder / FOLDER / "shards" / f"{number:06d}.json"


def asked_of(project: Project, names: Sequence[str], config: str, request: Request, shard_rows: int, wug: Wug | None) -> dict[str, Any]:
    """All that the rows of a run depend on; ``wug``: what is said once more with pseudowords."""
    package = Path(__file__).parents[1]
    words = [*project.template_files().values(), *project.shared_files(), *project.lexicon_files(), *project.chunk_files()]
    return {
        "constructions": list(names),
        "config": config,
        "n": request.rows(config),
        "shard_rows": shard_rows,
        "seed": request.seed,
        "bands": request.preset,
        "marked": request.marked,
        "split": {split: request.shares[split] for split in SPLITS},
        "hold_out": asdict(request.hold_out),
        "pseudowords": {"modes": list(wug.modes), "share": wug.share} if wug else None,
        "version": __version__,
        "code": _digest(sorted(package.rglob("*.py"))),
        "templates and words": _digest(words),
    }


def run_digest(asked: dict[str, Any]) -> str:
    """A run's name."""
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]


def differences(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """What two runs do not share."""
    return ", ".join(name for name in ours if ours[name] != theirs.get(name))


def tight(source: Sampler, wanted: int) -> bool:
    """Whether ``wanted`` sets of ``source`` are more than are easily drawn."""
    return wanted > EASY * sets_at_most(source)


def planned(
    folder: Path,
    asked: dict[str, Any],
    made: Iterable[tuple[Construction, list[Sampler], list[int], Hasher]],
    shard_rows: int,
    wug: Wug | None = None,
) -> Manifest:
    """Survey the sources and divide what they give into shards; writes `NUMBERS`, then `MANIFEST`.

    Said with pseudowords are the first sets of each source, as many as their share is.

    Args:
        folder: of the run.
        asked: from `asked_of`.
        made: constructions with their sources, how many sets of each are wanted, and who hashes them.
        shard_rows: most rows of a shard.
        wug: what is said once more with pseudowords.
    """
    entries: list[dict[str, Any]] = []
    shards: list[Shard] = []
    bits = {}
    for construction, sources, wanted, hasher in made:
        for number, (source, want, found) in enumerate(zip(sources, wanted, survey(sources, wanted, hasher), strict=True)):
            rows = items_of(source.draw(np.arange(1))).height
            entries.append(_entry(source, rows, want, found))
            shards += _shards(source, number, found.numbers, max(1, shard_rows // rows))
            if wug:
                first = found.numbers[: math.ceil(len(found.numbers) * wug.share)]
                shards += _shards(source, number, first, max(1, shard_rows // (rows * len(wug.modes))), pseudowords=True)
            bits[f"{construction.name}.{number}"] = _bits(found)
    path = folder / NUMBERS
    write_atomically(path, lambda temporary: _save(temporary, bits))
    manifest = Manifest(run_digest(asked), asked, entries, shards, _digest([path]))
    manifest.write(folder)
    return manifest


def _entry(source: Sampler, rows: int, want: int, found: Found) -> dict[str, Any]:
    about = {"construction": source.construction.name, "design": source.design.name, "split": source.split}
    return {**about, "rows of a set": rows, "wanted": want, "kept": len(found.numbers), "drawn": found.drawn}


def _shards(source: Sampler, number: int, kept: NDArray[np.int64], most: int, *, pseudowords: bool = False) -> Iterator[Shard]:
    name, folder = source.construction.name, WUG if pseudowords else DATA
    for count, start in enumerate(range(0, len(kept), most)):
        mine = kept[start : start + most]
        file = f"{folder}/{source.split}/{name}.{source.design.name}-{count:05d}.parquet"
        yield Shard(file, name, number, int(mine[0]), int(mine[-1]), len(mine), pseudowords)


def _bits(found: Found) -> NDArray[np.uint8]:
    bits = np.zeros(found.drawn, dtype=np.uint8)
    bits[found.numbers] = 1
    return np.packbits(bits)


def _save(path: Path, arrays: dict[str, NDArray[np.uint8]]) -> None:
    with path.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def _digest(paths: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for path in paths:
        found.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:16]
