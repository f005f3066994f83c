"""The main figures of the metrics as tables, an entity a row, as ``dvc plots`` draws and compares them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cxgen import layout
from cxgen.errors import DataError
from cxgen.files import read_json
from cxgen.project import Project
from cxgen.tables import write_json

_HINT = "run `dvc repro`"
Rows = list[dict[str, Any]]


def run(project: Project) -> dict[str, Rows]:
    """Write and return ``outputs/plots/{items,verbs,shapes,giveaways}.json``.

    Returns:
        Name -> rows: ``items`` (construction, items, and those of each config), ``verbs`` (construction, verbs, and those of each split),
        ``shapes`` (construction, shapes), ``giveaways`` (measure, figure, chance, gate), of measures that are to be low.

    Raises:
        DataError: a metric is missing, or not as it should be.
    """
    tables: dict[str, tuple[str, Callable[[Any], Rows]]] = {
        "items": ("splits", _items),
        "verbs": ("splits", lambda splits: [_summed(name, "verbs", entry["verbs"]) for name, entry in splits["constructions"].items()]),
        "shapes": ("variety", _shapes),
        "giveaways": ("baselines", _giveaways),
    }
    plots = {}
    for name, (metric, rows) in tables.items():
        path = project.root / layout.metric(metric)
        try:
            plots[name] = rows(read_json(path, _HINT))
        except (KeyError, TypeError, AttributeError) as error:
            raise DataError(f"not as it should be: {type(error).__name__} {error}", file=path, hint=_HINT) from error
        if not plots[name]:
            raise DataError("has nothing to plot", file=path, hint=_HINT)
    for name, table in plots.items():
        write_json(table, project.root / layout.PLOTS / f"{name}.json")
    return plots


def _items(splits: Mapping[str, Any]) -> Rows:
    entries = splits["constructions"].items()
    configs = dict.fromkeys(config for _, entry in entries for config in entry["items"])  # DVC wants the same columns in every row
    counts = {name: {config: entry["items"].get(config, {"all": 0})["all"] for config in configs} for name, entry in entries}
    return [_summed(name, "items", own) for name, own in counts.items()]


def _summed(name: str, what: str, counts: Mapping[str, int]) -> dict[str, Any]:
    return {"construction": name, what: sum(counts.values()), **counts}


def _shapes(variety: Mapping[str, Any]) -> Rows:
    return [{"construction": name, "shapes": entry["breadth"]["shapes"]} for name, entry in variety.items() if "breadth" in entry]


def _giveaways(baselines: Mapping[str, Any]) -> Rows:
    """Measures whose gate is a bound from above: what can be had without understanding."""
    return [
        {"measure": f"{part}: {name}", "figure": measure["overall"], "chance": measure["chance"], "gate": measure["gates"].get("overall")}
        for part, measures in baselines.items()
        for name, measure in measures.items()
        if not measure["gates"].get("least") and measure["chance"]
    ]
