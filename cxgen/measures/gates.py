"""How a measure is written down, and what is asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
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


def measured(
    overall: float, by_config: Mapping[str, float], configs: Mapping[str, Mapping[str, float]], gates: Gates, chance: float = CHANCE
) -> dict[str, Any]:
    """A measure as `report baselines` writes it.

    Args:
        overall: over all items.
        by_config: config -> figure, where there is one for whole configs.
        configs: config -> construction (look-alikes and opposites with their target) -> figure.
        gates: what is asked of them.
        chance: what guessing gets.

    Returns:
        The arguments under their names, figures with three decimals; ``gates`` without those that are none and with ``least`` (bool);
        ``passed`` (bool).
    """
    overall = round(overall, DIGITS)
    by_config = {config: round(figure, DIGITS) for config, figure in by_config.items()}
    configs = {config: {name: round(figure, DIGITS) for name, figure in figures.items()} for config, figures in configs.items()}
    each = [figure for figures in configs.values() for figure in figures.values()]
    held = (gates.hold(gates.overall, [overall]), gates.hold(gates.config, by_config.values()), gates.hold(gates.construction, each))
    asked = {name: value for name, value in asdict(gates).items() if value is not None}
    return {
        "overall": overall,
        **({"by_config": by_config} if by_config else {}),
        "configs": configs,
        "chance": chance,
        "gates": asked,
        "passed": all(held),
    }


def shares(rows: pl.DataFrame, value: pl.Expr, gates: Gates, chance: float = CHANCE) -> dict[str, Any]:
    """What `measured` gives of the mean of ``value`` over items.

    Args:
        rows: items, with ``config, construction, contrast_of``.
        value: per item, 0 to 1.
        gates, chance: see `measured`.
    """
    mean = value.cast(pl.Float64).mean().alias("share")
    by_config = dict(rows.group_by("config").agg(mean).sort("config").iter_rows())
    configs: dict[str, dict[str, float]] = {}
    for config, target, share in rows.group_by("config", target=TARGET).agg(mean).sort("config", "target").iter_rows():
        configs.setdefault(config, {})[target] = share
    return measured(rows.select(mean).item(), by_config, configs, gates, chance)


def broken_gates(measure: Mapping[str, Any]) -> Iterator[str]:
    """What of a measure does not keep its gates, in words: the worst figure of each gate. See `measured`."""
    gates = Gates(**{"least": False, **measure.get("gates", {})})
    parts = {f"{target} ({config})": share for config, each in measure["configs"].items() for target, share in each.items()}
    asked = (
        ("over all", gates.overall, {"": measure["overall"]}),
        ("config", gates.config, measure.get("by_config", {})),
        ("construction", gates.construction, parts),
    )
    for what, gate, figures in asked:
        if gate is not None and not gates.hold(gate, figures.values()):
            worst = (min if gates.least else max)(figures, key=lambda name: figures[name])
            where = f"in {worst}" if worst else what
            bound = "at least" if gates.least else "at most"
            each = f" in each {what}" if worst else ""
            yield f"is {figures[worst]} {where}; chance {measure['chance']}, gate: {bound} {gate}{each}"
