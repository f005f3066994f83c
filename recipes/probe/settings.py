"""The settings of a run, typed. What each means stands in `config.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from recipes.shared import model_name, read_settings

HERE = Path(__file__).parent
DEFAULT = HERE / "config.yaml"


@dataclass(frozen=True)
class States:
    """How a sentence becomes a vector per layer."""

    pooling: str
    batch: int
    max_length: int


@dataclass(frozen=True)
class Probe:
    """The linear classifier."""

    c: float
    iterations: int


@dataclass(frozen=True)
class Curve:
    """With how many sentences it learns."""

    sizes: tuple[int, ...]
    repeats: int


@dataclass(frozen=True)
class Controlled:
    """What train has of a feature that is held apart."""

    share: float
    length: bool


@dataclass(frozen=True)
class Settings:
    """A run."""

    model: str
    data: str
    where: Mapping[str, str | int]
    output: Path
    seed: int
    most: int | None
    states: States
    probe: Probe
    curve: Curve
    controlled: Controlled

    @classmethod
    def read(cls, path: Path, changes: Mapping[str, Any]) -> Settings:
        """From a config and what the command line changes; see `read_settings`.

        Raises:
            SchemaError: a key or value that is none: file:line.
            CxgenError: no model is named.
        """
        data = read_settings(path, HERE, changes)
        return cls(
            model=data["model"],
            data=data["data"],
            where=data["where"],
            output=Path(data["output"]).expanduser(),
            seed=data["seed"],
            most=data["most"],
            states=States(**data["states"]),
            probe=Probe(**data["probe"]),
            curve=Curve(tuple(sorted(data["curve"]["sizes"])), data["curve"]["repeats"]),
            controlled=Controlled(**data["controlled"]),
        )

    @property
    def folder(self) -> Path:
        """Where the run is kept."""
        source = Path(self.data).stem if ":" not in self.data else self.data.replace(":", "-")
        return self.output / f"{model_name(self.model)}-{source}-{self.seed}"

    def learned(self) -> dict[str, Any]:
        """The settings that results depend on."""
        groups = {name: asdict(getattr(self, name)) for name in ("states", "probe", "controlled")}
        return {"model": self.model, "data": self.data, "where": dict(self.where), "most": self.most, "seed": self.seed, **groups}
