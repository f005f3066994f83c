"""Stage ``plots``: the main figures of the metrics as tables, an entity a row, as ``dvc plots`` draws and compares them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cxgen import layout
from cxgen.errors import DataError
from cxgen.files import parse_json, read_text
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
    found = {
        "items": _read(project, "splits", _items),
        "verbs": _read(project, "splits", _verbs),
        "shapes": _read(project, "variety", _shapes),
        "giveaways": _read(project, "baselines", _giveaways),
    }
    for name, rows in found.items():
        write_json(rows, project.root / layout.PLOTS / f"{name}.json")
    return found


def _read(project: Project, metric: str, rows: Callable[[Any], Rows]) -> Rows:
    path = project.root / layout.metric(metric)
    data = parse_json(read_text(path, _HINT), path, _HINT)
    try:
        found = rows(data)
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"not as it should be: {type(error).__name__} {error}", file=path, hint=_HINT) from error
    if not found:
        raise DataError("has nothing to plot", file=path, hint=_HINT)
    return found


def _items(splits: Mapping[str, Any]) -> Rows:
    entries = splits["constructions"].items()
    configs = dict.fromkeys(config for _, entry in entries for config in entry["items"])  # DVC wants the same columns in every row
    return [
        _summed(name, "items", {config: entry["items"].get(config, {"all": 0})["all"] for config in configs}) for name, entry in entries
    ]


def _verbs(splits: Mapping[str, Any]) -> Rows:
    return [_summed(name, "verbs", entry["verbs"]) for name, entry in splits["constructions"].items()]


def _summed(name: str, what: str, counts: Mapping[str, int]) -> dict[str, Any]:
    return {"construction": name, what: sum(counts.values()), **counts}


def _shapes(variety: Mapping[str, Any]) -> Rows:
    return [{"construction": name, "shapes": entry["breadth"]["shapes"]} for name, entry in variety.items() if "breadth" in entry]


def _giveaways(baselines: Mapping[str, Any]) -> Rows:
    """Measures whose gate is a bound from above: what can be had without understanding."""
    return [
        {"measure": f"{family}: {name}", "figure": each["overall"], "chance": each["chance"], "gate": each["gates"].get("overall")}
        for family, measures in baselines.items()
        for name, each in measures.items()
        if not each["gates"].get("least") and each["chance"]
    ]
