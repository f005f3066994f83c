"""A report as rows: for programs all of its figures, for people the main ones, in 80 columns; scores that print as a table."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from itertools import chain, product
from typing import Any

from cxgen.evaluation.scores import SCORES

Row = dict[str, Any]
_NUMBER = re.compile(r"(?<!-limit)(?<![\d.])(\d+(?:\.\d+)?)([kmbt](?![a-z]))?", re.IGNORECASE)
_THOUSANDS = {"": 1, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_ALL = "all"
_FEW = 5  # verbs, of which resampling says too little
_NONE: Mapping[str, Any] = {"value": None, "low": None, "high": None}
_MORE = ("excess", "bias_i", "bias_ii", "same_choice", "both_wrong")  # which a table of its own has


def overview(report: Mapping[str, Any]) -> Iterator[list[Row]]:
    """A report for people, as tables: the main figures of every config, its other figures, and what it is less another report."""
    configs = report["configs"].items()
    yield lines({**report, "against": None}, ())
    yield [{"config": name, **_numbers(whole, _MORE)} for name, whole in configs if any(map(whole.get, _MORE))]
    yield [{"config": name, **less} for name, _ in configs if (less := _less(report, name))]


def lines(report: Mapping[str, Any], dimensions: Sequence[str]) -> list[Row]:
    """The main figures of a report for people, in the rows of `slices`; ``sets``: the share of sets that are all right."""
    rows = []
    for config, name, part in _parts(report, dimensions):
        row = {"config": config, **({"part": name} if dimensions else {}), **_main(part, "items")}
        row |= {"chance": f"{report['configs'][config]['chance']:.3f}"} | _numbers(part, ["capture"])
        row |= {"undecided": part["undecided"]} if part["undecided"] else {}
        rows.append(row | (_less(report, config) if name == _ALL else {}))
    return rows


def _less(report: Mapping[str, Any], config: str) -> Row:
    """The difference of a config's accuracies from those of the report's other answers, if there are any, and ``p``."""
    if not report.get("against"):
        return {}
    other = report["against"]["configs"][config]
    return {f"less {report['against']['name']}": _span(other["accuracy"]), "p": f"{other['p']:.2g}"}


def divided(report: Mapping[str, Any], dimensions: Sequence[str]) -> Iterator[list[Row]]:
    """The same by every one of ``dimensions``, config by config."""
    for config, dimension in product(report["configs"], dimensions):
        parts = report["configs"][config]["by"].get(dimension, {})
        heading = f"{config}: {dimension}"
        if len(parts) > 1:
            yield [{heading: value, **_main(part, "items", "verbs"), **_numbers(part, ["capture"])} for value, part in parts.items()]


def _parts(report: Mapping[str, Any], dimensions: Sequence[str]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Config, what a part is called, and its figures: every config as a whole, then by ``dimensions``."""
    for config, whole in report["configs"].items():
        yield config, _ALL, whole
        for name in dimensions:
            yield from ((config, f"{name} {value}", part) for value, part in whole["by"].get(name, {}).items())


def few_verbs(configs: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """What to know of intervals, of parts of a report by config: they resample the verbs of each construction, and of one there is nothing
    to resample."""
    for config, whole in configs.items():
        verbs = [part["verbs"] for part in whole["by"].get("construction", {}).values()] or [whole["verbs"]]
        if whole["accuracy"]["low"] is None and max(verbs) > 1:
            where = "where all are right, one label is given to all, or word order is not looked at"
            yield f"{config}: no interval: all verbs have the same share, as {where}"
        elif whole["accuracy"]["low"] is None:
            yield f"{config}: no intervals: they resample verbs, and each construction has one in test"
        elif few := sum(count < _FEW for count in verbs):
            least = f"{few} of {len(verbs)} constructions have fewer than {_FEW}"
            yield f"{config}: intervals are too narrow: they resample verbs, and {least}; more items have more"


def _main(part: Mapping[str, Any], *counts: str) -> Row:
    return {count: part[count] for count in counts} | {"accuracy": _span(part["accuracy"]), "sets": f"{part['consistency']['value']:.3f}"}


def _numbers(part: Mapping[str, Any], names: Sequence[str]) -> Row:
    """Figures without interval; of a bias also what a guesser gets of it with as many items."""
    told = {name: part[name] for name in names if part.get(name)}
    return {name: f"{own['value']:.3f}" + (f" (guesser {own['guesser']:.2f})" if "guesser" in own else "") for name, own in told.items()}


def _span(figure: Mapping[str, Any]) -> str:
    interval = f" ({figure['low']:.3f} to {figure['high']:.3f})" if figure["low"] is not None else ""
    return f"{figure['value']:.3f}{interval}"


def leaderboard_row(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report on one line: of every config accuracy with interval, the share of sets all right, and capture; what pseudowords cost."""
    row: dict[str, Any] = {"name": report["name"], "splits": "+".join(report["splits"])}
    row |= {"limit": report["limit"]} if report["limit"] else {}
    row["undecided"] = sum(config["undecided"] for config in report["configs"].values())
    for config, part in report["configs"].items():
        row |= _flat({config: part["accuracy"], f"{config} sets": part["consistency"]["value"]})
        row |= {f"{config} capture": part["capture"]["value"]} if "capture" in part else {}
    return row | _flat({f"{config} - real": modes["all"]["difference"] for config, modes in report["wug"].items()})


def slices(report: Mapping[str, Any], dimensions: Sequence[str]) -> list[dict[str, Any]]:
    """A report as rows, every config as a whole, then by ``dimensions``: ``config, part`` ("all", or dimension and value), ``items, verbs,
    undecided``, all figures with their intervals (None where they do not apply) and ``chance``; of wholes that are held against another,
    ``less`` it: the difference of the accuracies, and ``p``, see `compared`."""
    rows, against = [], report.get("against") or {"configs": {}}
    for config, name, part in _parts(report, dimensions):
        counts = {count: part[count] for count in ("items", "verbs", "undecided")}
        figures = {score: part.get(score) or _NONE for score in chain(*SCORES)} | {"chance": report["configs"][config]["chance"]}
        if against["configs"]:
            difference = against["configs"][config] if name == _ALL else {"accuracy": _NONE, "p": None}
            figures |= {f"less {against['name']}": difference["accuracy"], "p": difference["p"]}
        rows.append(_flat({"config": config, "part": name, **counts, **figures}))
    return rows


def side_by_side(reports: Sequence[Mapping[str, Any]], dimensions: Sequence[str], make: Callable[..., list[Row]] = slices) -> list[Row]:
    """Several reports of the same items as one table: what ``make`` gives (`slices`, `lines`), with ``name`` and ``step`` (see `steps`),
    those of the same items together, each series by its steps."""
    found = steps([report["name"] for report in reports])
    series = list(dict.fromkeys(shared for shared, _ in found.values()))
    rows = [{"name": one["name"], "step": found[one["name"]][1], **row} for one in reports for row in make(one, dimensions)]
    places = list(dict.fromkeys((row["config"], row.get("part")) for row in rows))

    def order(row: Row) -> tuple[int, int, float]:
        return places.index((row["config"], row.get("part"))), series.index(found[row["name"]][0]), row["step"] or 0

    return sorted(rows, key=order)


def steps(names: Sequence[str]) -> dict[str, tuple[str, float | None]]:
    """Names of checkpoints, which differ in numbers alone (k, M, B, T: thousands to trillions) -> the name without the last of these that
    differs, and that; of other names, themselves and None."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(_NUMBER.sub("\0", name), []).append(name)
    found: dict[str, tuple[str, float | None]] = {}
    for own in alike.values():
        numbers = {name: list(_NUMBER.finditer(name)) for name in own}
        differ = [place for place, column in enumerate(zip(*numbers.values(), strict=True)) if len({match[0] for match in column}) > 1]
        for name in own:
            match = numbers[name][differ[-1]] if differ else None
            step = float(match[1]) * _THOUSANDS[(match[2] or "").lower()] if match else None
            step = int(step) if step is not None and step.is_integer() else step
            found[name] = (f"{name[: match.start()]}#{name[match.end() :]}" if match else name, step)
    return found


def further_tables(report: Mapping[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """What pseudowords cost; accuracies and flips of scenarios by calibration (Weissweiler et al. 2022, Tables 2 to 5): as far as there
    are any."""
    yield [_brief({"config": config, "mode": mode, **part}) for config, modes in report["wug"].items() for mode, part in modes.items()]
    for whole in report["configs"].values():
        found = whole.get("scenarios", {"accuracy": {}, "flips": {}})
        yield [_brief({"accuracy": name, **part}) for name, part in found["accuracy"].items()]
        yield [_brief({"flips": name, **part, "should flip": found["should_flip"][name]}) for name, part in found["flips"].items()]


def _brief(row: Mapping[str, Any]) -> Row:
    """A row with every figure and its interval in one cell; what does not apply is left out."""
    return {name: _span(value) if isinstance(value, Mapping) else value for name, value in row.items() if value is not None}


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with its figures and their intervals in two cells each."""
    cells: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            span = "" if value["low"] is None else f"{value['low']:.3f} to {value['high']:.3f}"
            cells |= {name: value["value"], f"{name} interval": None if value is _NONE else span}
        else:
            cells[name] = value
    return cells


class Scores(dict[str, Any]):
    """The figures of a config, a mapping that prints as a table: as a whole, and by the dimensions that were asked for; ``about``: the
    versions of cxgen and of the data, and the ``content_hash`` of what is packaged."""

    def __init__(self, config: str, figures: Mapping[str, Any], by: Sequence[str], about: Mapping[str, Any]) -> None:
        super().__init__(figures)
        self.about = dict(about)
        self._report, self._by = {"configs": {config: figures}}, by

    def __repr__(self) -> str:
        tables = (*overview(self._report), *divided(self._report, self._by))
        return "\n\n".join(map(_lined, filter(None, tables)))

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def _lined(rows: Sequence[Row]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *([str(row.get(name, "")) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in cells)
