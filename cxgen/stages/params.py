"""The parameters of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cxgen.generate import Request
from cxgen.schema import read_yaml


@dataclass(frozen=True)
class Params:
    """What ``params.yaml`` says.

    Attributes:
        request: seed, sizes, bands and split shares of the generation.
        constructions: names, or None for all.
        workers: processes of the generate stage.
        backend: the judge.
        judge_models, judge_tasks: models to ask, and what about.
        keep_undecided: whether items that a model did not decide stay in the dataset.
        folds: folds of the baselines' cross-validation.
    """

    request: Request
    constructions: tuple[str, ...] | None
    workers: int
    backend: str
    judge_models: tuple[str, ...]
    judge_tasks: tuple[str, ...]
    keep_undecided: bool
    folds: int

    @classmethod
    def read(cls, path: Path) -> Params:
        """Read and check ``path``.

        Raises:
            SchemaError: a key is unknown, missing or of the wrong type.
        """
        data = read_yaml(path, "params").data
        names = data.get("constructions", "all")
        return cls(
            request=Request(
                triples=data["n_per_construction"],
                lookalike_triples=data["n_per_lookalike"],
                seed=data["seed"],
                shares=data["split"],
                preset=data["bands"]["preset"],
                oversample=float(data["generate"]["oversample"]),
                marked=float(data["generate"]["marked"]),
            ),
            constructions=None if names == "all" else tuple(names),
            workers=data["generate"]["workers"],
            backend=data["judge"]["backend"],
            judge_models=tuple(data["judge"].get("models", ())),
            judge_tasks=tuple(data["judge"].get("tasks", ("acceptability", "appropriateness", "label"))),
            keep_undecided=data["judge"].get("keep_undecided", False),
            folds=data["baselines"]["folds"],
        )
