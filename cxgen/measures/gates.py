"""How a measure is written down, and what is asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl

from cxgen.measures.fits import DIGITS
from cxgen.schema import TARGET

CHANCE = round(1 / 3, DIGITS)


@dataclass(frozen=True)
class Gates:
    """How high figures may be, or how low if ``least``; what is None has no gate.

    Attributes:
        overall: over all items.
        config: in each config.
        construction: in each construction of each config.
        least: whether the gates are minima.
    """

    overall: float | None = None
    config: float | None = None
    construction: float | None = None
    least: bool = False

    def hold(self, gate: float | None, figures: Iterable[float]) -> bool:
        """Whether every figure keeps ``gate``."""
        return gate is None or all(figure >= gate if self.least else figure <= gate for figure in figures)


@dataclass(frozen=True)
class Figures:
    """What a measure gives.

    Attributes:
        overall: over all items.
        configs: config -> construction (look-alikes and opposites with their target) -> figure.
        by_config: config -> figure, where there is one for whole configs.
        more: what else stands in the metric.
    """

    overall: float
    configs: Mapping[str, Mapping[str, float]]
    by_config: Mapping[str, float] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)


def measured(figures: Figures, gates: Gates, chance: float = CHANCE) -> dict[str, Any]:
    """A measure as `report baselines` writes it: ``overall, by_config, configs`` with three decimals, ``chance``, ``gates`` (without those
    that are none, with ``least``), ``passed`` (bool)."""
    overall = round(figures.overall, DIGITS)
    by_config = {config: round(figure, DIGITS) for config, figure in figures.by_config.items()}
    configs = {config: {name: round(figure, DIGITS) for name, figure in own.items()} for config, own in figures.configs.items()}
    parts = [figure for own in configs.values() for figure in own.values()]
    held = (gates.hold(gates.overall, [overall]), gates.hold(gates.config, by_config.values()), gates.hold(gates.construction, parts))
    return {
        "overall": overall,
        **({"by_config": by_config} if by_config else {}),
        "configs": configs,
        "chance": chance,
        "gates": {name: value for name, value in asdict(gates).items() if value is not None},
        "passed": all(held),
        **figures.more,
    }


def shares(rows: pl.DataFrame, value: pl.Expr) -> Figures:
    """The mean of ``value`` (0 to 1) over items (with ``config, construction, contrast_of``), over all, per config and construction."""
    mean = value.cast(pl.Float64).mean().alias("share")
    by_config = dict(rows.group_by("config").agg(mean).sort("config").iter_rows())
    return Figures(rows.select(mean).item(), by_target(rows.group_by("config", target=TARGET).agg(mean)), by_config)


def by_target(table: pl.DataFrame) -> dict[str, dict[str, float]]:
    """``config, target`` and a figure as config -> construction -> figure."""
    configs: dict[str, dict[str, float]] = {}
    for config, target, figure in table.sort("config", "target").iter_rows():
        configs.setdefault(config, {})[target] = figure
    return configs


def broken_gates(measure: Mapping[str, Any]) -> Iterator[str]:
    """What of a measure does not keep its gates, in words: the worst figure of each gate. See `measured`."""
    gates = Gates(**{"least": False, **measure.get("gates", {})})
    parts = {f"{target} ({config})": share for config, own in measure["configs"].items() for target, share in own.items()}
    asked = (
        ("over all", gates.overall, {"": measure["overall"]}),
        ("config", gates.config, measure.get("by_config", {})),
        ("construction", gates.construction, parts),
    )
    for what, gate, figures in asked:
        if gate is not None and not gates.hold(gate, figures.values()):
            worst = (min if gates.least else max)(figures, key=lambda name: figures[name])
            where = f"in {worst}" if worst else what
            every = f" in each {what}" if worst else ""
            yield f"is {figures[worst]} {where}; chance {measure['chance']}, gate: {'at least' if gates.least else 'at most'} {gate}{every}"
