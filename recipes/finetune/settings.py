"""The settings of a run, typed. What each means stands in `config.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from recipes.shared import model_name, read_settings

HERE = Path(__file__).parent
DEFAULT = HERE / "config.yaml"


class Regime(StrEnum):
    """How a model comes to its answers."""

    shared = "shared"
    heads = "heads"
    in_context = "in-context"


@dataclass(frozen=True)
class Train:
    """What is learned from."""

    configs: tuple[str, ...]
    most: int | None


@dataclass(frozen=True)
class Evaluate:
    """What is answered."""

    configs: tuple[str, ...]
    most: int | None
    files: tuple[Path, ...]
    baseline: Path | None
    resamples: int
    batch: int


@dataclass(frozen=True)
class Lora:
    """Which matrices get an update of which rank (Hu et al. 2022, "LoRA: Low-rank adaptation of large language models")."""

    r: int
    alpha: int
    dropout: float
    layers: str | tuple[int, ...]
    modules: tuple[str, ...] | None


@dataclass(frozen=True)
class Training:
    """How long and how fast."""

    epochs: int
    patience: int
    evaluations_per_epoch: int
    label_smoothing: float
    learning_rate: float
    batch: int
    accumulate: int
    warmup: float
    weight_decay: float
    max_length: int


@dataclass(frozen=True)
class Replay:
    """Which text is learned beside the items, and how much."""

    file: str | None
    share: float
    weight: float


@dataclass(frozen=True)
class Prompting:
    """What a model is shown that learns from its context."""

    shots: int
    wording: str
    measure: str
    batch: int


@dataclass(frozen=True)
class Settings:
    """A run."""

    model: str
    regime: Regime
    output: Path
    seed: int
    train: Train
    evaluate: Evaluate
    lora: Lora
    training: Training
    replay: Replay
    prompting: Prompting

    @classmethod
    def read(cls, path: Path, changes: Mapping[str, Any]) -> Settings:
        """From a config and what the command line changes; see `read_settings`.

        Raises:
            SchemaError: a key or value that is none: file:line.
            CxgenError: no model is named.
        """
        data = read_settings(path, HERE, changes)
        layers, modules, evaluate = data["lora"]["layers"], data["lora"]["modules"], data["evaluate"]
        return cls(
            model=data["model"],
            regime=Regime(data["regime"]),
            output=Path(data["output"]).expanduser(),
            seed=data["seed"],
            train=Train(tuple(data["train"]["configs"]), data["train"]["most"]),
            evaluate=Evaluate(
                **{
                    **evaluate,
                    "configs": tuple(evaluate["configs"]),
                    "files": tuple(map(Path, evaluate["files"])),
                    "baseline": Path(evaluate["baseline"]) if evaluate["baseline"] else None,
                }
            ),
            lora=Lora(
                **{
                    **data["lora"],
                    "layers": layers if isinstance(layers, str) else tuple(layers),
                    "modules": modules and tuple(modules),
                }
            ),
            training=Training(**data["training"]),
            replay=Replay(**data["replay"]),
            prompting=Prompting(**data["prompting"]),
        )

    @property
    def folder(self) -> Path:
        """Where the run is kept."""
        return self.output / f"{model_name(self.model)}-{self.regime}-{self.seed}"

    def learned(self) -> dict[str, Any]:
        """The settings that a model's answers depend on; what is evaluated is none of them."""
        trained = ["train", "lora", "training", *(["replay"] if self.replay.file else [])]
        names = ["prompting"] if self.regime is Regime.in_context else trained
        groups = {name: asdict(getattr(self, name)) for name in names}
        return {"model": self.model, "regime": self.regime.value, "seed": self.seed, **groups}
