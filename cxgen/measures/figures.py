"""Shares of items with their gates, means with intervals where values are not independent, and how far judges agree."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import chain, combinations
from operator import itemgetter
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.errors import needs
from cxgen.schema import TARGET
from cxgen.streams import uniform

DIGITS = 3  # of every figure: what is left of the order in which a processor adds up stands behind them
_DRAWN = 2**22  # numbers at a time
CHANCE = round(1 / 3, DIGITS)
ALL = "(all)"


@dataclass(frozen=True)
class Gates:
    """What figures may be at most (at least, if ``least``): over all items, in each config, in each construction of each config."""

    overall: float | None = None
    config: float | None = None
    construction: float | None = None
    least: bool = False


@dataclass(frozen=True)
class Figures:
    """What a measure gives: over all, config -> construction -> figure, config and verb role -> figure, and what else is in the metric."""

    overall: float
    configs: Mapping[str, Mapping[str, float]]
    by_config: Mapping[str, float] = field(default_factory=dict)
    by_verb_role: Mapping[str, float] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)


def measured(figures: Figures, gates: Gates, chance: float = CHANCE) -> dict[str, Any]:
    """A measure as the metrics have it: ``overall, by_config, configs, chance, gates`` (those of what there are figures of), ``passed``."""
    measure: dict[str, Any] = {"overall": round(figures.overall, DIGITS), "chance": chance, **figures.more}
    measure["configs"] = {config: {name: round(share, DIGITS) for name, share in own.items()} for config, own in figures.configs.items()}
    for name, own in (("by_config", figures.by_config), ("by_verb_role", figures.by_verb_role)):
        measure |= {name: {value: round(share, DIGITS) for value, share in own.items()}} if own else {}
    parts = divided(measure)
    measure["gates"] = {name: gate for name, gate in asdict(gates).items() if gate is not None and parts.get(name, True)}
    return {**measure, "passed": not any(broken_gates(measure))}


def broken_gates(measure: Mapping[str, Any]) -> Iterator[str]:
    """What of a measure (see `measured`) does not keep its gates, in words: the worst figure of each gate, and whose it is most."""
    gates = measure.get("gates", {})
    worst_of, bound = (min, "at least") if gates.get("least") else (max, "at most")
    parts = divided(measure)
    for what, own in parts.items():
        config, name, worst = worst_of(own, key=itemgetter(2), default=("", "", 0))
        if own and (gate := gates.get(what)) is not None and not within(worst, gate, least=bool(gates.get("least"))):
            where = {"overall": "over all", "config": f"in {config}", "construction": f"in {name} ({config})"}[what]
            among = [part for part in parts["construction"] if config in {ALL, part[0]}]
            if what != "construction" and len(among) > 1:
                _, name, most = worst_of(among, key=itemgetter(2))
                where += f" ({bound.removeprefix('at ')}: {name} {most})"
            chance = f"chance {measure['chance']}, " if measure["chance"] else ""
            yield f"is {worst} {where}; {chance}gate: {bound} {gate}{'' if what == 'overall' else f' in each {what}'}"


def divided(measure: Mapping[str, Any]) -> dict[str, list[tuple[str, str, float]]]:
    """What a measure (see `measured`) divides by, as its gates have it, or verb ``role`` -> config, construction or role, figure."""
    return {
        "overall": [(ALL, ALL, measure["overall"])],
        "config": [(config, ALL, figure) for config, figure in measure.get("by_config", {}).items()],
        "role": [(ALL, role, figure) for role, figure in measure.get("by_verb_role", {}).items()],
        "construction": [(config, part, figure) for config, own in measure["configs"].items() for part, figure in own.items()],
    }


def within(figure: float, gate: float, *, least: bool) -> bool:
    """Whether a figure keeps a gate."""
    return figure >= gate if least else figure <= gate


def shares(rows: pl.DataFrame, value: pl.Expr) -> Figures:
    """The mean of ``value`` (0 to 1) over items (with ``config, construction, contrast_of, verb_role``), over all and divided by these."""
    mean = value.cast(pl.Float64).mean().alias("share")
    by_target = rows.group_by("config", target=TARGET).agg(mean)
    divided = [dict(rows.drop_nulls(name).group_by(name).agg(mean).sort(name).iter_rows()) for name in ("config", "verb_role")]
    return Figures(rows.select(mean).item(), configs(by_target), *divided)


def configs(table: pl.DataFrame) -> dict[str, dict[str, float]]:
    """``config, target`` and a figure as config -> construction -> figure."""
    groups = table.sort("config", "target").group_by("config", maintain_order=True)
    return {str(config): dict(own.drop("config").iter_rows()) for (config,), own in groups}


@dataclass(frozen=True)
class Resampling:
    """How intervals are made: number of resamples (0: no intervals), seed, and the share of the resamples within an interval."""

    resamples: int = 1000
    seed: int = 1
    level: float = 0.95


def figure(values: pl.DataFrame, how: Resampling) -> dict[str, Any] | None:
    """The mean of ``value`` by ``construction``, then over these: ``value, low, high`` (None if no construction has two clusters, or all
    those of one have the same mean, as where a model gives one label to all: then resampling says nothing).

    Percentile interval (Efron and Tibshirani 1993, ch. 13) from resampling verbs, ``cluster`` (Davison and Hinkley 1997, sec. 3.8).
    """
    if not values.height:
        return None
    sums = values.group_by("construction", "cluster").agg(pl.col("value").cast(pl.Float64).sum().alias("sum"), pl.len().alias("n"))
    parts = sums.sort("construction", "cluster").partition_by("construction", maintain_order=True)
    mean = float(np.mean([float(part["sum"].sum()) / int(part["n"].sum()) for part in parts]))
    low = high = None
    if how.resamples and any(part.height > 1 for part in parts):
        means = np.mean([_resampled(part, how) for part in parts], axis=0)
        ends = [round(float(end), 4) for end in np.quantile(means, [(1 - how.level) / 2, (1 + how.level) / 2])]
        low, high = ends if ends[0] < ends[1] else (None, None)
    return {"value": round(mean, 4) + 0.0, "low": low, "high": high}  # 0, never -0


def _resampled(part: pl.DataFrame, how: Resampling) -> NDArray[np.float64]:
    sums, counts = (part[name].to_numpy().astype(np.float64) for name in ("sum", "n"))
    means, step = [], max(1, _DRAWN // part.height)
    for start in range(0, how.resamples, step):
        count = min(step, how.resamples - start)
        drawn = uniform((how.seed, "bootstrap", part["construction"][0]), start * part.height, count * part.height)
        chosen = (drawn * part.height).astype(np.int64).reshape(count, -1)
        means.append(sums[chosen].sum(axis=1) / counts[chosen].sum(axis=1))
    return np.concatenate(means)


def agreement(votes: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """How far the judges agree on each task: task -> ``judges``, ``items`` (that two or more decided), ``agreement``, ``alpha``.

    ``votes``: columns ``item, task, judge, value``. Agreement is the share of pairs of judges that say the same; alpha is Krippendorff's,
    nominal, undefined where all say one thing (Krippendorff 2011, Computing Krippendorff's alpha-reliability). Both are None where there
    is nothing to compare.
    """
    report: dict[str, dict[str, Any]] = {}
    decided = votes.filter(pl.col("value") != "").unique(["item", "task", "judge"], keep="last", maintain_order=True)
    for (task,), table in decided.group_by("task", maintain_order=True):
        wide = table.pivot("judge", index="item", values="value", maintain_order=True).drop("item")
        rows = [list(combinations(filter(None, row), 2)) for row in wide.iter_rows()]
        pairs, alpha = list(chain(*rows)), None
        if len(set(chain(*pairs))) > 1:
            with needs("agreement needs krippendorff", "report"):
                import krippendorff
            data = np.array([column.fill_null("nan") for column in wide.iter_columns()], dtype=str)
            alpha = round(float(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")), 4)
        share = round(sum(one == other for one, other in pairs) / len(pairs), 4) if pairs else None
        report[str(task)] = {"judges": wide.width, "items": sum(map(bool, rows)), "agreement": share, "alpha": alpha}
    return report
