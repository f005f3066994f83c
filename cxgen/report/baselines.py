"""Can the answers be had without understanding? And the main figures of all metrics, an entity a row, for ``dvc plots``."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from operator import call
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.build.audit import by_family
from cxgen.build.params import Request
from cxgen.build.pool import executor
from cxgen.build.samplers import generate_items
from cxgen.build.tables import dataset, rows_of, write_measured
from cxgen.constructicon import Construction
from cxgen.errors import DataError, needs
from cxgen.families import FAMILIES, NATURAL, family_of
from cxgen.files import read_json
from cxgen.measures import begin, measures
from cxgen.measures.figures import broken_gates
from cxgen.measures.fits import Map
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.tables import write_json
from cxgen.vocabulary import SPLITS

ENOUGH = 30  # sets that writers wrote of a construction; of fewer, a classifier's figure says nothing
_HINT = "run `dvc repro`"
Row = dict[str, Any]


def run(project: Project, folds: int, workers: int = 1, beside: Iterable[Callable[[], object]] = ()) -> dict[str, Any]:
    """Write and return ``baselines.json``: family (or ``natural``) -> measure -> figures; ``beside`` is called meanwhile."""
    written = rows_of(project, NATURAL)
    sets, splits = pl.col("contrast_set").n_unique().over(TARGET), pl.col("split").n_unique().over(TARGET)
    written = written.filter((sets >= ENOUGH) & (splits == len(SPLITS)))
    with executor(workers) as pool:
        others = pool.map(call, list(beside))
        families = ((name, dataset(project, name)) for name in FAMILIES)
        report = _measured(chain(families, [(NATURAL, written)]), folds, pool.map)
        list(others)
    write_measured(project, "baselines", report)
    return report


def preview(construction: Construction, request: Request, folds: int) -> dict[str, Any]:
    """The same for freshly drawn items of one construction; nothing is written."""
    families = by_family(generate_items(construction, request))
    return _measured(((family.name, rows) for family, rows in families), folds, map)


def _measured(parts: Iterable[tuple[str, pl.DataFrame]], folds: int, run: Map) -> dict[str, Any]:
    with needs("the baselines need scikit-learn", "report"):
        import sklearn  # noqa: F401
    written_like = family_of(NATURAL).name
    pending = {name: begin(written_like if name == NATURAL else name, rows, folds, run) for name, rows in parts if rows.height}
    return {name: figures() for name, figures in pending.items()}


def broken(report: Mapping[str, Any]) -> Iterator[str]:
    """The gates that do not hold, each with the figure that is farthest off, what it measures, and what helps."""
    known = measures()
    for family, own in report.items():
        for name, measure in own.items():
            about = known[name]
            for fault in broken_gates(measure):
                yield f"{family}: {name} {fault}\n  {name}: {about['meaning']}\n  hint: {about['mend']}"


def plots(project: Project) -> dict[str, list[Row]]:
    """Write and return ``outputs/plots/{items,verbs,shapes,giveaways}.json`` (measures that are to be low)."""
    drawn = {}
    for name, metric, rows in (
        ("items", "splits", _items),
        ("verbs", "splits", _verbs),
        ("shapes", "variety", _shapes),
        ("giveaways", "baselines", _giveaways),
    ):
        path = project.root / layout.metric(metric)
        try:
            drawn[name] = list(rows(read_json(path, _HINT)))
        except (KeyError, TypeError, AttributeError) as error:
            raise DataError(f"not as it should be: {type(error).__name__} {error}", file=path, hint=_HINT) from error
        if not drawn[name] and name != "shapes":  # which only nli and distinction have
            raise DataError("has nothing to plot", file=path, hint=_HINT)
    for name, table in drawn.items():
        write_json(table, project.root / layout.PLOTS / f"{name}.json")
    return drawn


def _items(splits: Mapping[str, Any]) -> Iterator[Row]:
    configs = dict.fromkeys(config for entry in splits["constructions"].values() for config in entry["items"])
    for name, entry in splits["constructions"].items():
        counts = {config: entry["items"].get(config, {"all": 0})["all"] for config in configs}  # DVC wants the same columns in every row
        yield {"construction": name, "items": sum(counts.values()), **counts}


def _verbs(splits: Mapping[str, Any]) -> Iterator[Row]:
    for name, entry in splits["constructions"].items():
        yield {"construction": name, "verbs": sum(entry["verbs"].values()), **entry["verbs"]}


def _shapes(variety: Mapping[str, Any]) -> Iterator[Row]:
    return ({"construction": name, "shapes": entry["breadth"]["shapes"]} for name, entry in variety.items() if "breadth" in entry)


def _giveaways(baselines: Mapping[str, Any]) -> Iterator[Row]:
    for part, own in baselines.items():
        for name, measure in own.items():
            if not measure["gates"].get("least") and measure["chance"]:
                figures = {"figure": measure["overall"], "chance": measure["chance"], "gate": measure["gates"].get("overall")}
                yield {"measure": f"{part}: {name}", **figures}
