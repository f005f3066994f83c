"""Scoring answers to a part of the finished dataset; baselines, which every report of a model should stand beside; the report as tables."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cxgen.build.tables import read_splits, require_dataset, table_file
from cxgen.errors import needs, unknown
from cxgen.evaluate.predictions import answers, write_predictions
from cxgen.evaluate.scores import SCORES, WUG, answered, compared, questions, scores, wug_differences
from cxgen.families import CONFIGS, NATURAL, wug_config
from cxgen.families.scoring import Scoring
from cxgen.measures import giveaway, words
from cxgen.measures.figures import Resampling
from cxgen.project import Project
from cxgen.streams import order_key
from cxgen.suites import SUITES, scoring_of
from cxgen.vocabulary import SPLITS, Split

_ALL = (*CONFIGS, *map(wug_config, CONFIGS), NATURAL)
_NONE: Mapping[str, Any] = {"value": None, "low": None, "high": None}


@dataclass(frozen=True)
class Part:
    """The part of the dataset that is scored: configs (none: all that there are, but no suites) and their splits."""

    configs: tuple[str, ...] = ()
    splits: tuple[str, ...] = (Split.test.value,)

    def of(self, project: Project) -> "Part":
        """This part with its configs named; UnknownNameError of a config that is not there, DataError where there is no dataset."""
        if not self.configs or not set(self.configs) <= set(SUITES):
            require_dataset(project)
        here = [config for config in _ALL if table_file(project, config, self.splits[0]).is_file()]
        for what, names, known in (("split", self.splits, SPLITS), ("config", self.configs, (*here, *SUITES))):
            for name in names:
                if name not in known:
                    raise unknown(what, name, known)
        return Part(tuple(dict.fromkeys(self.configs)) or tuple(here), tuple(dict.fromkeys(self.splits)))


@dataclass
class Evaluated:
    """What is scored: the ``items`` (config -> rows) of a part whose configs are named, and the same as ``questions``; ``chosen``: the
    options that made it another part than all of test."""

    project: Project
    part: Part
    items: dict[str, pl.DataFrame]
    questions: pl.DataFrame
    chosen: tuple[str, ...] = ()

    @classmethod
    def read(cls, project: Project, part: Part) -> "Evaluated":
        """Read the part's tables; errors as of `Part.of`, and DataError where a table is damaged."""
        chosen = (*part.configs, *(part.splits if part.splits != Part.splits else ()))
        part = part.of(project)
        items = {config: read_splits(project, config, part.splits) for config in part.configs}
        sources = {name: read_splits(project, name.removesuffix(WUG), part.splits) for name in items if name.endswith(WUG)}
        return cls(project, part, items, pl.concat([questions(rows, name, sources.get(name)) for name, rows in items.items()]), chosen)

    def answers(self, predictions: Path | pl.DataFrame) -> pl.DataFrame:
        """What predictions, of a file or in a table, say of every question, see `answers`; DataError if not of just this part."""
        return answers(predictions, self.questions, self._parts)

    def _parts(self) -> dict[str, str]:
        """The ids of the whole dataset -> the options that name their part."""
        parts: dict[str, str] = {}
        for config, split in product(_ALL, SPLITS):
            path = table_file(self.project, config, split)
            if path.is_file():
                parts |= dict.fromkeys(pl.read_parquet(path, columns=["id"])["id"], f"--config {config} --split {split}")
        return parts

    def report(self, name: str, given: pl.DataFrame, how: Resampling, against: tuple[str, pl.DataFrame] | None = None) -> dict[str, Any]:
        """What the answers of ``name`` are worth, and how they differ from those ``against`` which they are held: ``name, splits,
        resampling``; ``configs`` (config -> `scores`); ``wug`` (`wug_differences`); ``against``: ``name`` and ``configs`` (config ->
        `compared`)."""
        whole = answered(self.questions, given)
        rows = {config: whole.filter(config=config) for config in self.items}
        report: dict[str, Any] = {"name": name, "splits": list(self.part.splits), "resampling": asdict(how), "against": None}
        report |= {"configs": {config: scores(own, how) for config, own in rows.items()}, "wug": wug_differences(whole, how)}
        if against:
            other = answered(self.questions, against[1])
            differences = {config: compared(own, other.filter(config=config), how) for config, own in rows.items()}
            report["against"] = {"name": against[0], "configs": differences}
        return report


def answerable(project: Project, config: str, splits: Sequence[str] = (Split.train.value,)) -> pl.DataFrame:
    """The items that have a right answer; those of suites with the column ``contrast_of`` (null)."""
    rows = read_splits(project, config, splits)
    if config not in SUITES:
        return rows
    return rows.filter(scoring_of(config).right().is_not_null()).with_columns(contrast_of=pl.lit(None, dtype=pl.String))


def write_baseline(evaluated: Evaluated, name: str, path: Path) -> None:
    """Train a baseline on train and write what it says of the items; of pseudowords, what it learnt from real words."""
    if name not in _BASELINES:
        raise unknown("baseline", name, _BASELINES)
    rows: list[dict[str, Any]] = []
    for config in dict.fromkeys(config.removesuffix(WUG) for config in evaluated.items):
        items = [items for other, items in evaluated.items.items() if other.removesuffix(WUG) == config]
        rows += _BASELINES[name](scoring_of(config), answerable(evaluated.project, config), pl.concat(items, how="diagonal"))
    write_predictions(rows, path)


def _majority(scoring: Scoring, train: pl.DataFrame, items: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """What is right most often in ``train``, of several the first in the alphabet; of two continuations, the one shown first or second."""
    counts = Counter(scoring.verdict(item) for item in train.select("id", *scoring.needs).iter_rows(named=True))
    commonest = min(counts, key=lambda verdict: (-counts[verdict], verdict))
    for item in items.select("id", *scoring.needs).iter_rows(named=True):
        yield {"id": item["id"], "label": scoring.answers[scoring.meant(item, commonest)]}


def _learnt(learner: Callable[..., Any], scoring: Scoring, train: pl.DataFrame, items: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """The likeliest answer and a number for each; ties are left to a coin, thrown by the item's id."""
    with needs("this baseline needs scikit-learn", "report"):
        values = scoring.decided(learner(scoring.texts(train), scoring.texts(items)))
    for key, row in zip(items["id"], np.round(values, 6).tolist(), strict=True):
        numbers = dict(zip(scoring.answers, row, strict=True))
        best = [answer for answer, number in numbers.items() if number == max(row)]
        yield {"id": key, "label": best[order_key("tie", key)[0] % len(best)], **numbers}


_BASELINES: dict[str, Callable[..., Iterator[dict[str, Any]]]] = {
    "majority": _majority,
    "hypothesis-only": partial(_learnt, giveaway.hypothesis_scores),
    "word-pairs": partial(_learnt, words.pair_scores),
}


def leaderboard_row(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report on one line: of every config accuracy with interval, the share of sets all right, and capture; what pseudowords cost."""
    row: dict[str, Any] = {"name": report["name"], "splits": "+".join(report["splits"])}
    row["undecided"] = sum(config["undecided"] for config in report["configs"].values())
    for config, part in report["configs"].items():
        row |= _flat({config: part["accuracy"], f"{config} sets": part["consistency"]["value"]})
        row |= {f"{config} capture": part["capture"]["value"]} if "capture" in part else {}
    return row | _flat({f"{config} - real": modes["all"]["difference"] for config, modes in report["wug"].items()})


def slices(report: Mapping[str, Any], dimensions: Sequence[str]) -> list[dict[str, Any]]:
    """A report as rows, every config as a whole, then by ``dimensions``: ``config, part`` ("all", or dimension and value), ``items, verbs,
    undecided`` and all figures with their intervals, None where they do not apply."""
    known = {name for whole in report["configs"].values() for name in whole["by"]}
    for name in dimensions:
        if name not in known:
            raise unknown("dimension", name, known)
    rows = []
    for config, whole in report["configs"].items():
        parts = {f"{name} {value}": part for name in dimensions for value, part in whole["by"].get(name, {}).items()}
        for name, part in {"all": whole, **parts}.items():
            counts = {count: part[count] for count in ("items", "verbs", "undecided")}
            figures = {score: part.get(score) or _NONE for score in chain(*SCORES)}
            rows.append(_flat({"config": config, "part": name, **counts, **figures}))
    return rows


def further_tables(report: Mapping[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """What pseudowords cost; accuracies and flips of scenarios by calibration (Weissweiler et al. 2022, Tables 2 to 5); the comparison:
    as far as there are any."""
    yield [_flat({"config": config, "mode": mode, **part}) for config, modes in report["wug"].items() for mode, part in modes.items()]
    for whole in report["configs"].values():
        found = whole.get("scenarios", {"accuracy": {}, "flips": {}})
        yield [_flat({"accuracy": name, **part}) for name, part in found["accuracy"].items()]
        yield [_flat({"flips": name, **part, "should flip": found["should_flip"][name]}) for name, part in found["flips"].items()]
    against = report["against"] or {"name": "", "configs": {}}
    differences = [(config, {**part, "p": f"{part['p']:.2g}"}) for config, part in against["configs"].items()]
    yield [_flat({"config": config, "less": against["name"], **part}) for config, part in differences]


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
