"""What is asked for: ``params.yaml``, and which split each verb is in (``lexicons/splits.tsv``, which only grows)."""

import os
from collections.abc import Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from cxgen import layout
from cxgen.constructicon import Construction, Design
from cxgen.errors import CxgenError, DataError, SchemaError, unknown
from cxgen.families import CONFIGS, family_of
from cxgen.files import alone, read_text, write_text
from cxgen.project import Project, shipped_folder
from cxgen.sampling import HoldOut
from cxgen.sampling.partition import near_counts, set_counts
from cxgen.sampling.plan import USUAL
from cxgen.sampling.pools import MARKED
from cxgen.schema import Document, read_yaml
from cxgen.vocabulary import SHARES, SPLITS, Judge

_COLUMNS = ["construction", "verb", "split"]
_Splits = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Request:
    """What to generate."""

    sizes: Mapping[str, int] = field(default_factory=dict)  # config -> rows per construction (or look-alike); default: its family's
    seed: int = 1
    shares: Mapping[str, float] = field(default_factory=lambda: dict(SHARES))  # split -> share
    preset: str = "sliced"  # of frequencies, see PRESETS
    oversample: float = 1.15  # candidates per set that will be kept
    marked: float = MARKED  # how often a filler that its frame marks comes up, relative to the others
    hold_out: HoldOut = USUAL  # what occurs in test only, beside verbs
    splits: _Splits = field(default_factory=dict)  # of verbs that were divided before, see `read_splits`
    judged: bool = False  # whether only clauses that judges have accepted are drawn
    unjudged: frozenset[str] = frozenset()  # constructions that are drawn as they are nevertheless

    def hears(self, name: str) -> bool:
        """Whether of the construction ``name`` only clauses that judges have accepted are drawn."""
        return self.judged and name not in self.unjudged

    def rows(self, config: str) -> int:
        """Rows wanted of ``config``."""
        return self.sizes.get(config, CONFIGS[config].sizes[config] if config in CONFIGS else 1)

    def sets(self, construction: Construction, design: Design, config: str) -> dict[str, int]:
        """Split -> contrast sets of ``design``. Sizes are exact; of pairs about participants, the sum."""
        family = family_of(config)
        total = sum(other.weight for other in family.sharing(construction, design, config))
        rows = family.rows_per_set(construction, design, config)
        return (near_counts if design.variant else set_counts)(self.rows(config) * design.weight / total, rows, self.shares)


@dataclass(frozen=True)
class Publish:
    """What a release says of itself."""

    version: str = "0.0.0"  # of the dataset
    title: str = "cxgen dataset"
    licence: str = "cc-by-sa-4.0"  # as the Hub names it
    authors: tuple[str, ...] = ("the authors",)
    year: int = 0  # 0: none
    provenance: str = ""
    url: str = ""
    canary: str = ""
    shard_rows: int = 1_000_000  # most rows of a parquet file


@dataclass(frozen=True)
class Wug:
    """Which words pseudowords replace, mode by mode, and in which share of every construction's sets (per design and split)."""

    modes: tuple[str, ...] = ("verb", "nouns", "adjectives", "content")
    share: float = 0.25


@dataclass(frozen=True)
class Params:
    """What ``params.yaml`` says; ``constructions``: None for all; ``suites``: suite -> sizes."""

    request: Request
    constructions: tuple[str, ...] | None
    workers: int
    folds: int
    wug: Wug
    suites: dict[str, dict[str, int]]
    publish: Publish

    @classmethod
    def read(cls, path: Path) -> "Params":
        """Read and check ``path``; `SchemaError` where a key is unknown, missing or of the wrong type."""
        document = read_yaml(path, "params")
        data = document.data
        generate, judge, names = data["generate"], data["judge"], data.get("constructions", "all")
        named = {"nli": "n_per_construction", "distinction": "n_per_lookalike"}
        sizes = {config: data[key] for config, key in named.items()} | data.get("sizes", {})
        for config in data.get("sizes", {}):
            if config in named:
                raise document.wrong(("sizes", config), f"rows of {config} are said twice", f"say {named[config]} only")
            if config not in CONFIGS:
                raise unknown("config", config, CONFIGS.keys() - named, file=path, line=document.line(("sizes", config)))
        if sum(Fraction(str(data["split"][split])) for split in SPLITS) != 1:
            raise document.wrong(("split",), "the shares of the splits do not add up to 1", "change one of them")
        for key, own in ((("constructions",), () if names == "all" else names), (("judge", "unjudged"), judge.get("unjudged", ()))):
            _require_targets(document, key, own)
        request = Request(
            sizes=sizes,
            seed=data["seed"],
            shares={split: data["split"][split] for split in SPLITS},
            preset=data["bands"]["preset"],
            oversample=generate["oversample"],
            marked=generate["marked"],
            splits=read_splits(path.parent),
            judged=judge["backend"] == Judge.replay,
            unjudged=frozenset(judge.get("unjudged", ())),
            hold_out=HoldOut(**{"wordings": True, **data["split"].get("hold_out", {})}),
        )
        wug, publish = data.get("wug", {}), data.get("publish", {})
        return cls(
            request=request,
            constructions=None if names == "all" else tuple(names),
            workers=generate["workers"],
            folds=data["baselines"]["folds"],
            wug=Wug(tuple(wug.get("modes", Wug.modes)), wug.get("share", Wug.share)),
            suites=data.get("suites", {}),
            publish=Publish(**{**publish, "authors": tuple(publish.get("authors", Publish.authors))}),
        )

    def left_out(self, project: Project) -> list[str]:
        """The project's own constructions that are not built."""
        return [name for name in own_constructions(project) if self.constructions is not None and name not in self.constructions]


def own_constructions(project: Project) -> list[str]:
    """The constructions that the project has files of, beside those that are shipped; look-alikes come with theirs."""
    files = {name: path for name, path in project.template_files().items() if path.is_relative_to(project.root) and not project.ships(path)}
    return [name for name, path in files.items() if not _owner(path)]


def _owner(file: Path) -> str:
    with suppress(CxgenError):  # a file that cannot be read is told by what needs it
        return str(read_yaml(file).data.get("lookalike_of", ""))
    return ""


def _require_targets(document: Document, keys: tuple[str, ...], names: Iterable[str]) -> None:
    project = Project(document.path.parent)
    files = project.template_files()
    for number, name in enumerate(names):
        line = document.line((*keys, number))
        if name not in files:
            raise project.unknown(name, files, document.path, line)
        if owner := _owner(files[name]):
            what = f"{name!r} is a look-alike: its items come with those of {owner!r}"
            raise SchemaError(what, file=document.path, line=line, hint=f"ask for {owner}")


def read_splits(root: Path) -> dict[str, dict[str, str]]:
    """Construction -> verb lemma -> split: what is shipped, and the project's own, which comes first."""
    splits: dict[str, dict[str, str]] = {}
    for path in dict.fromkeys((shipped_folder() / layout.SPLITS, root / layout.SPLITS)):
        for construction, verbs in _read_splits(path).items():
            splits.setdefault(construction, {}).update(verbs)
    return splits


def _read_splits(path: Path) -> dict[str, dict[str, str]]:
    splits: dict[str, dict[str, str]] = {}
    head = "<TAB>".join(_COLUMNS)
    hint = f"the first line is {head}, and a row has one of each, with tabs between; `cxgen splits propose` adds rows"
    for number, line in enumerate((read_text(path, hint) if os.path.lexists(path) else "").splitlines(), 1):
        row = [cell.strip() for cell in line.split("\t")]
        if not line.strip() or (number == 1 and row == _COLUMNS):
            continue
        if number == 1 or len(row) != len(_COLUMNS) or not all(row) or row[2] not in SPLITS:
            raise DataError(f"not a verb with its split: {row}"[:200], file=path, line=number, hint=hint)
        construction, verb, split = row
        if splits.setdefault(construction, {}).setdefault(verb, split) != split:
            raise DataError(f"{verb!r} of {construction} is in two splits", file=path, line=number, hint="take one of the rows out")
    return splits


def append_splits(path: Path | None, known: _Splits, proposed: _Splits) -> list[dict[str, str]]:
    """Append the verbs of ``proposed`` that are not ``known`` to the file, if one is given; their rows."""
    with alone(path) if path else nullcontext():
        own = _read_splits(path) if path else {}  # another run may have added some
        every = ((name, verb, split) for name, verbs in proposed.items() for verb, split in sorted(verbs.items()))
        rows = [row for row in every if row[1] not in {**known.get(row[0], {}), **own.get(row[0], {})}]
        if rows and path:
            before = (read_text(path).rstrip() if own else "") or "\t".join(_COLUMNS)
            write_text(path.resolve(), "\n".join([before, *map("\t".join, rows)]) + "\n")
    return [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
