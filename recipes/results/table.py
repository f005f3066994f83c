"""The committed predictions as figures: `outputs/metrics/results.json`, the tables of `docs/results.md` and its two plots."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import typer

from cxgen.build.tables import packaged_content
from cxgen.cli.app import run as run_command
from cxgen.evaluation.report import Evaluated, Part
from cxgen.files import write_text
from cxgen.measures.figures import Resampling
from cxgen.project import Project
from cxgen.version import DATA_VERSION
from recipes.results.plots import Named, Point, curve, dots

HERE = Path(__file__).parent
DATE = "2026-11-30"
RESULTS, PAGE = Path("outputs/metrics/results.json"), Path("docs/results.md")
_PARTS = {"nli": ("construction", "verb_role", "design"), "distinction": ("construction",)}  # what else than all has a row
_RUN = ("name", "setting", "trained_on")
Row = dict[str, Any]


def rows(project: Project, runs: pl.DataFrame) -> Iterator[Row]:
    """A row per run and part, by cxgen's own scores.

    Args:
        project: with the dataset.
        runs: ``file`` (in `predictions/`), ``name, setting, trained_on, config`` and ``limit`` (null: the whole test).
    """
    read: dict[tuple[str, int | None], Evaluated] = {}
    for run in runs.iter_rows(named=True):
        config, limit = run["config"], run["limit"]
        if (config, limit) not in read:
            read[config, limit] = Evaluated.read(project, Part((config,), limit=limit))
        given = read[config, limit].answers(HERE / "predictions" / f"{run['file']}.parquet")
        whole = read[config, limit].report(run["name"], given, Resampling())["configs"][config]
        for part, own in {"all": whole, **_divided(whole, _PARTS.get(config, ()))}.items():
            figures = {"items": own["items"], "sets": own["sets"], "chance": whole["chance"], "accuracy": own["accuracy"]["value"]}
            figures |= {"low": own["accuracy"]["low"], "high": own["accuracy"]["high"], "consistency": own["consistency"]["value"]}
            capture = own["capture"]["value"] if "capture" in own else None
            yield {**{key: run[key] for key in _RUN}, "seeds": 1, "config": config, "part": part, **figures, "capture": capture}


def _divided(whole: Row, dimensions: Sequence[str]) -> dict[str, Row]:
    return {f"{name} {value}": part for name in dimensions for value, part in whole["by"].get(name, {}).items()}


def _cell(row: Row | None) -> str:
    """Accuracy in percent with its interval, as the tables have it."""
    if row is None:
        return ""
    spans = [[f"{100 * row[end]:.{digits}f}" for end in ("low", "high")] for digits in (0, 1)] if row["low"] is not None else []
    span = next((f" ({' to '.join(ends)})" for ends in spans if len({*ends}) == 2 or ends is spans[-1]), "")
    return f"**{100 * row['accuracy']:.1f}**{span}"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    cells = [head, ["---"] * len(head), *lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


class Figures:
    """The rows, and the tables that the page has of them."""

    def __init__(self, found: Sequence[Row]) -> None:
        self.found = {(*(row[key] for key in _RUN), row["config"], row["part"]): row for row in found}
        self.runs = list(dict.fromkeys(tuple(row[key] for key in _RUN) for row in found))

    def main(self, configs: Sequence[str], less: Collection[tuple[str, str]] = ()) -> str:
        """A line per model and setting, a column per config, the fewest and the most items of one; without the models and what they learned
        that are in ``less``."""
        chance = {key[3]: row["chance"] for key, row in self.found.items()}
        configs = [config for config in configs if config in chance]
        lines = []
        for run in self.runs:
            own = [self.found.get((*run, config, "all")) for config in configs]
            shown = not _left_out(run) and (run[0], run[2]) not in less
            if counts := [row["items"] for row in own if row and shown]:
                most = f"{min(counts)} to {max(counts)}" if len({*counts}) > 1 else str(counts[0])
                lines.append([*_named(run), most, *map(_cell, own)])
        return _table(["model", "setting", "items per config", *(f"{config} ({100 * chance[config]:.0f})" for config in configs)], lines)

    def divided(self, dimension: str, config: str = "nli") -> str:
        """A line per value of a dimension, a column per run."""
        runs = [run for run in self.runs if (*run, config, "all") in self.found and run[0] in _SHOWN and _SIZE.fullmatch(run[2])]
        values = sorted({key[4] for key in self.found if key[3] == config and key[4].startswith(f"{dimension} ")})
        lines = []
        for value in values:
            own = [self.found.get((*run, config, value)) for run in runs]
            items = max(row["items"] for row in own if row)
            lines.append([value.removeprefix(f"{dimension} "), str(items), *(f"{100 * row['accuracy']:.0f}" if row else "" for row in own)])
        return _table([dimension, "items", *(_short(run) for run in runs)], lines)

    def sets(self) -> str:
        """Consistency and capture."""
        lines = []
        for run in self.runs:
            nli, other = self.found.get((*run, "nli", "all")), self.found.get((*run, "distinction", "all"))
            if nli and other and not _left_out(run):
                own = (nli["consistency"], other["consistency"], other["capture"])
                lines.append([*_named(run), *("" if value is None else f"{100 * value:.1f}" for value in own)])
        return _table(["model", "setting", "nli: sets all right", "distinction: sets all right", "distinction: capture"], lines)

    def left_out(self) -> str:
        """Constructions that a model has not seen beside the model that has."""
        lines = []
        for run in filter(_left_out, self.runs):
            seen = (run[0], run[1], run[2].partition(" without ")[0])
            for name in ("all", *(f"construction {name}" for name in run[2].partition(" without ")[2].split(" and "))):
                lines.append([name, *(_cell(self.found.get((*one, "nli", name))) for one in (seen, run))])
        return _table(["part of nli", "learned", "left out"], lines)

    def learning(self) -> list[tuple[str, list[Point]]]:
        """Config -> points of DeBERTa's learning curve: items, accuracy, low, high."""
        lines: dict[str, list[Point]] = {}
        for (name, _, trained, config, part), row in self.found.items():
            learned = _SIZE.fullmatch(trained)
            if name == _MAIN and part == "all" and learned:
                count = int((learned[1] or "0").replace(",", ""))
                lines.setdefault(config, []).append((count, row["accuracy"], row["low"], row["high"]))
        return [(config, sorted(points)) for config, points in lines.items() if len(points) > 1]

    def by_construction(self) -> list[tuple[str, list[Named]]]:
        """Of DeBERTa's first and last run, accuracy by construction with its interval."""
        runs = [run for run in self.runs if run[0] == _MAIN and (*run, "nli", "all") in self.found and _SIZE.fullmatch(run[2])]
        lines: list[tuple[str, list[Named]]] = []
        for run in (runs[0], runs[-1]):
            own = [(key[4], row) for key, row in self.found.items() if key[:4] == (*run, "nli") and key[4].startswith("construction ")]
            named = [(part.removeprefix("construction "), row["accuracy"], row["low"], row["high"]) for part, row in own]
            lines.append((_short(run), named))
        return lines


_MAIN = "deberta-v3-xsmall-nli"
_SIZE = re.compile(r"whole train|(?:nli, ([\d,]+) items)?")  # trained on so much of nli, with no construction left out and the first seed
_SHOWN = ("word-pairs", _MAIN)  # whose scores are divided: all others are at chance
_FRONT = ("nli", "distinction", "nli_wug", "natural", "minimal_pairs")  # of README, which leaves some lines out
_NOT_IN_FRONT = {("majority", "whole train")}
_ANSWERED = {"main": ("nli", "distinction", "nli_wug", "natural", "cxnli"), "pairs": ("minimal_pairs", "minimal_pairs_wug", "cxmp")}


def _left_out(run: Sequence[str]) -> bool:
    return " without " in run[2]


def _named(run: Sequence[str]) -> list[str]:
    """Model, and setting with what was learned."""
    return [run[0], f"{run[1]}: {run[2]}" if run[2] and run[1] != "baseline" else run[1]]


def _short(run: Sequence[str]) -> str:
    """A run in a table whose runs are baselines and DeBERTa's."""
    return run[0] if run[1] == "baseline" else run[1] if not run[2] else run[2].removeprefix("nli, ")


def filled(page: str, blocks: Mapping[str, str]) -> str:
    """A page with what stands between its markers made anew; a block that it has no markers for is not shown."""
    for name, text in blocks.items():
        before, start, rest = page.partition(f"<!-- {name} -->\n")
        if not start:
            continue
        _, end, after = rest.partition(f"<!-- /{name} -->")
        page = f"{before}{start}\n{text}\n{end}{after}"
    return page


def results(project: Project) -> str:
    """The text of `outputs/metrics/results.json`, from the committed predictions and the dataset."""
    found = list(rows(project, pl.read_csv(HERE / "runs.csv")))
    content = packaged_content(project)
    head = json.dumps({"data_version": DATA_VERSION, "content_hash": content, "date": DATE, "rows": []}, indent=1)
    lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in found)  # a row a line
    return head.replace("[]", f"[\n{lines}\n ]") + "\n"


def pages(root: Path) -> dict[Path, str]:
    """The page, its plots and the table of README, with their texts, from `outputs/metrics/results.json`."""
    figures = Figures(json.loads((root / RESULTS).read_text("utf-8"))["rows"])
    blocks = {"sets": figures.sets(), "left-out": figures.left_out()}
    blocks |= {name: figures.main(configs) for name, configs in _ANSWERED.items()}
    blocks |= {name: figures.divided(name) for name in _PARTS["nli"]}
    blocks["look-alikes"] = figures.divided("construction", "distinction")
    page, front = root / PAGE, root / "README.md"
    shown = {"results": figures.main(_FRONT, _NOT_IN_FRONT)}
    plots = {"curve": curve(figures.learning()), "constructions": dots(figures.by_construction())}
    texts = {page: filled(page.read_text("utf-8"), blocks), front: filled(front.read_text("utf-8"), shown)}
    return texts | {page.with_name(f"results-{name}.svg"): text for name, text in plots.items()}


def main() -> None:
    """Write the figures."""
    project = Project.find()
    write_text(project.root / RESULTS, results(project))
    for path, text in pages(project.root).items():
        write_text(path, text)


app = typer.Typer(add_completion=False)
app.command()(main)

if __name__ == "__main__":
    sys.exit(run_command(sys.argv[1:], app, "table"))
