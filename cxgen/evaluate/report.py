"""Scoring answers to a part of the finished dataset, and the report as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.build.tables import read_splits, require_dataset, table_file
from cxgen.errors import unknown
from cxgen.evaluate.baselines import predictions as baseline_predictions
from cxgen.evaluate.differences import compared, wug_differences
from cxgen.evaluate.predictions import answers, as_predictions, read_predictions, write_predictions
from cxgen.evaluate.questions import WUG, answered, questions
from cxgen.evaluate.scores import SCORES, scores
from cxgen.families import CONFIGS, NATURAL, wug_config
from cxgen.measures.figures import Resampling
from cxgen.project import Project
from cxgen.suites import SUITES, scoring_of
from cxgen.vocabulary import SPLITS, Split

_COUNTS = ("items", "verbs", "undecided")
_NONE: Mapping[str, Any] = {"value": None, "low": None, "high": None}
_ALL = (*CONFIGS, *map(wug_config, CONFIGS), NATURAL)


@dataclass(frozen=True)
class Part:
    """The part of the dataset that is scored: configs (none: all that there are, but no suites) and their splits."""

    configs: tuple[str, ...] = ()
    splits: tuple[str, ...] = (Split.test.value,)

    def of(self, project: Project) -> Part:
        """This part with its configs named.

        Raises:
            UnknownNameError: the dataset has no such config, or there is no such split.
            DataError: there is no dataset.
        """
        if not self.configs or not set(self.configs) <= set(SUITES):
            require_dataset(project)
        for split in self.splits:
            if split not in SPLITS:
                raise unknown("split", split, SPLITS)
        here = [config for config in _ALL if table_file(project, config, self.splits[0]).is_file()]
        for config in self.configs:
            if config not in (*here, *SUITES):
                raise unknown("config", config, [*here, *SUITES])
        return Part(tuple(dict.fromkeys(self.configs)) or tuple(here), tuple(dict.fromkeys(self.splits)))


@dataclass
class Evaluated:
    """What is scored.

    Attributes:
        project: whose dataset.
        part: of it, with its configs named.
        items: config -> rows; ``questions``: those of all configs.
        chosen: the options that made the part another one than all of test.
    """

    project: Project
    part: Part
    items: dict[str, pl.DataFrame]
    questions: pl.DataFrame
    chosen: tuple[str, ...] = ()

    @classmethod
    def read(cls, project: Project, part: Part) -> Evaluated:
        """Read the part's tables; errors as of `Part.of`, and DataError where a table is damaged."""
        chosen = (*part.configs, *(part.splits if part.splits != Part.splits else ()))
        part = part.of(project)
        items = {config: read_splits(project, config, part.splits) for config in part.configs}
        asked = []
        for config, rows in items.items():
            real = config.removesuffix(WUG)
            sources = None if real == config else items.get(real, read_splits(project, real, part.splits))
            asked.append(questions(rows, config, sources))
        return cls(project, part, items, pl.concat(asked), chosen)

    def answers(self, predictions: Path | pl.DataFrame) -> pl.DataFrame:
        """What predictions, of a file or in a table, say of every question; see `answers`.

        Raises:
            DataError: they are no predictions, or not of just this part.
        """
        path = predictions if isinstance(predictions, Path) else Path("predictions")
        rows = read_predictions(predictions) if isinstance(predictions, Path) else as_predictions(predictions, path)
        return answers(rows, self.questions, path, self._elsewhere)

    def _elsewhere(self) -> dict[str, str]:
        """The ids of the dataset's other items -> the options that name their part."""
        parts: dict[str, str] = {}
        for config in _ALL:
            for split in SPLITS:
                path = table_file(self.project, config, split)
                if path.is_file() and not (config in self.part.configs and split in self.part.splits):
                    parts |= dict.fromkeys(pl.read_parquet(path, columns=["id"])["id"], f"--config {config} --split {split}")
        return parts

    def report(self, name: str, given: pl.DataFrame, how: Resampling, against: tuple[str, pl.DataFrame] | None = None) -> dict[str, Any]:
        """What answers are worth.

        Args:
            name, given: whose they are, and the answers.
            how: the resampling.
            against: another name and answers, to compare with.

        Returns:
            ``name``; ``splits``; ``resampling`` (``resamples, seed, level``); ``configs``: config -> see `scores`; ``wug``: see
            `wug_differences`; ``against``: ``name`` and ``configs``: config -> see `compared`, or None.
        """
        whole = answered(self.questions, given)
        rows = _by_config(whole)
        report: dict[str, Any] = {
            "name": name,
            "splits": list(self.part.splits),
            "resampling": asdict(how),
            "configs": {config: scores(own, how) for config, own in rows.items()},
            "wug": wug_differences(whole, how),
            "against": None,
        }
        if against:
            others = _by_config(answered(self.questions, against[1]))
            differences = {config: compared(own, others[config], how) for config, own in rows.items()}
            report["against"] = {"name": against[0], "configs": differences}
        return report


def _by_config(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    return {str(config): own for (config,), own in rows.group_by("config", maintain_order=True)}


def write_baseline(evaluated: Evaluated, name: str, path: Path) -> None:
    """Train a baseline on train and write what it says of the items. What has pseudowords is answered by what was trained on real words.

    Raises:
        UnknownNameError: no such baseline.
        DataError: a table is damaged, or scikit-learn is not installed.
    """
    rows: list[dict[str, Any]] = []
    for config in dict.fromkeys(config.removesuffix(WUG) for config in evaluated.items):
        items = [items for other, items in evaluated.items.items() if other.removesuffix(WUG) == config]
        train = train_of(evaluated.project, config)
        rows += baseline_predictions(name, scoring_of(config), train, pl.concat(items, how="diagonal"))
    write_predictions(rows, path)


def train_of(project: Project, config: str) -> pl.DataFrame:
    """The items of train that may be shown as examples; errors as of `read_splits`."""
    return with_answers(read_splits(project, config, [Split.train.value]), config)


def with_answers(rows: pl.DataFrame, config: str) -> pl.DataFrame:
    """The items that have a right answer; those of suites with the columns that contrast sets have (null)."""
    if config not in SUITES:
        return rows
    return rows.filter(scoring_of(config).right().is_not_null()).with_columns(contrast_of=pl.lit(None, dtype=pl.String))


# tables


def leaderboard_row(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report on one line: ``name, splits, undecided``, then for every config its accuracy with interval, the share of sets that are all
    right, and the capture; and what pseudowords cost.
    """
    row: dict[str, Any] = {"name": report["name"], "splits": "+".join(report["splits"])}
    row["undecided"] = sum(config["undecided"] for config in report["configs"].values())
    for config, part in report["configs"].items():
        row |= _flat({config: part["accuracy"], f"{config} sets": part["consistency"]["value"]})
        row |= {f"{config} capture": part["capture"]["value"]} if "capture" in part else {}
    for config, modes in report["wug"].items():
        row |= _flat({f"{config} - real": modes["all"]["difference"]})
    return row


def slices(report: Mapping[str, Any], dimensions: Sequence[str]) -> list[dict[str, Any]]:
    """A report as rows: every config as a whole, then by ``dimensions``.

    Returns:
        ``config``, ``part`` ("all", or dimension and value), ``items, verbs, undecided``, and the figures of all scores with their
        intervals, None where they do not apply.

    Raises:
        UnknownNameError: nothing is divided by such a dimension.
    """
    known = {name for whole in report["configs"].values() for name in whole["by"]}
    for name in dimensions:
        if name not in known:
            raise unknown("dimension", name, known)
    rows = []
    for config, whole in report["configs"].items():
        parts = {"all": whole}
        parts |= {f"{name} {value}": part for name in dimensions for value, part in whole["by"].get(name, {}).items()}
        for name, part in parts.items():
            figures = {score: part.get(score) or _NONE for score in SCORES}
            rows.append(_flat({"config": config, "part": name, **{count: part[count] for count in _COUNTS}, **figures}))
    return rows


def further_tables(report: Mapping[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """What pseudowords cost (``config, mode, items`` and the figures ``wug, real, difference``), decision flips and calibrated accuracies
    of scenarios, and the comparison with somebody else (differences, and items that one alone gets right), as far as there are any.
    """
    yield [_flat({"config": config, "mode": mode, **part}) for config, modes in report["wug"].items() for mode, part in modes.items()]
    scenarios = [(config, name, part) for config, whole in report["configs"].items() for name, part in whole.get("scenarios", {}).items()]
    yield [_flat({"config": config, "scenario": name, **part}) for config, name, part in scenarios]
    against = report["against"] or {"name": "", "configs": {}}
    compared = [(config, {**part, "p": f"{part['p']:.2g}"}) for config, part in against["configs"].items()]
    yield [_flat({"config": config, "less": against["name"], **part}) for config, part in compared]


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with its figures and their intervals in two cells each."""
    cells: dict[str, Any] = {}
    for name, value in row.items():
        figure = value if isinstance(value, Mapping) else None
        cells[name] = value if figure is None else figure["value"]
        if figure is not None:
            low, high = figure["low"], figure["high"]
            cells[f"{name} interval"] = None if figure is _NONE else "" if low is None else f"{low:.3f} to {high:.3f}"
    return cells
