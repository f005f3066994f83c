"""The parameters of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cxgen.build.request import Request
from cxgen.build.splits import read_splits
from cxgen.sampling import HoldOut
from cxgen.schema import read_yaml
from cxgen.vocabulary import SPLITS, Judge


@dataclass(frozen=True)
class Publish:
    """What a release says of itself.

    Attributes:
        version: of the dataset.
        title: heading of the card.
        licence: as the Hub names it.
        authors: for the citation.
        year: for the citation; 0: none.
        provenance: who wrote and checked the templates and the lexicon.
        url: where the project lives.
        canary: the line by which corpora can leave the data out.
        shard_rows: largest number of rows in a parquet file.
    """

    version: str = "0.0.0"
    title: str = "cxgen dataset"
    licence: str = "cc-by-sa-4.0"
    authors: tuple[str, ...] = ("the authors",)
    year: int = 0
    provenance: str = ""
    url: str = ""
    canary: str = ""
    shard_rows: int = 1_000_000

    @classmethod
    def of(cls, data: dict[str, Any]) -> Publish:
        """From the checked mapping."""
        return cls(**{**data, "authors": tuple(data.get("authors", cls.authors))})


@dataclass(frozen=True)
class Wug:
    """Which sets get pseudowords.

    Attributes:
        modes: which words are replaced, once each.
        share: share of every construction's sets, per design and split.
    """

    modes: tuple[str, ...] = ("verb", "nouns", "adjectives", "content")
    share: float = 0.25


@dataclass(frozen=True)
class Params:
    """What ``params.yaml`` says.

    Attributes:
        request: seed, sizes, bands and split shares of the generation.
        constructions: names, or None for all.
        workers: processes of `cxgen build` and of the measures.
        backend: the judge.
        judge_models, judge_tasks: models to ask, and what about.
        keep_undecided: whether items that a model did not decide stay in the dataset.
        folds: folds of the baselines' cross-validation.
        wug: which sets get pseudowords.
        suites: suite -> sizes that are not its own.
        publish: what a release says of itself.
        text: the file, as it is.
    """

    request: Request
    constructions: tuple[str, ...] | None
    workers: int
    backend: str
    judge_models: tuple[str, ...]
    judge_tasks: tuple[str, ...]
    keep_undecided: bool
    folds: int
    wug: Wug = field(default_factory=Wug)
    suites: dict[str, dict[str, int]] = field(default_factory=dict)
    publish: Publish = field(default_factory=Publish)
    text: str = ""

    @property
    def judged(self) -> bool:
        """Whether models are asked about candidates."""
        return self.backend != Judge.rules

    @classmethod
    def read(cls, path: Path) -> Params:
        """Read and check ``path``.

        Raises:
            SchemaError: a key is unknown, missing or of the wrong type.
        """
        document = read_yaml(path, "params")
        data = document.data
        names = data.get("constructions", "all")
        return cls(
            request=Request(
                sizes={"nli": data["n_per_construction"], "distinction": data["n_per_lookalike"], **data.get("sizes", {})},
                seed=data["seed"],
                shares={split: data["split"][split] for split in SPLITS},
                preset=data["bands"]["preset"],
                oversample=float(data["generate"]["oversample"]),
                marked=float(data["generate"]["marked"]),
                splits=read_splits(path.parent),
                hold_out=HoldOut(**{"wordings": True, **data["split"].get("hold_out", {})}),
            ),
            constructions=None if names == "all" else tuple(names),
            workers=data["generate"]["workers"],
            backend=data["judge"]["backend"],
            judge_models=tuple(data["judge"].get("models", ())),
            judge_tasks=tuple(data["judge"].get("tasks", ("acceptability", "appropriateness", "label"))),
            keep_undecided=data["judge"].get("keep_undecided", False),
            folds=data["baselines"]["folds"],
            wug=Wug(tuple(data.get("wug", {}).get("modes", Wug.modes)), float(data.get("wug", {}).get("share", Wug.share))),
            suites=data.get("suites", {}),
            publish=Publish.of(data.get("publish", {})),
            text=document.text,
        )
