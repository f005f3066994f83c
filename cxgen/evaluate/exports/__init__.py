"""The items in the form of evaluation harnesses: folders with data, tasks and a loader, which run from wherever they lie.

A new form is a file here: its docstring is the help of ``cxgen export NAME``, and its function ``write(folder, exported, version)`` writes
a list of `Exported` into an empty folder and returns what to print.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, resources
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.build.params import Params
from cxgen.build.tables import read_splits
from cxgen.errors import DataError
from cxgen.evaluate.prompting import PLAIN, Cloze, chosen_examples, load_wording
from cxgen.evaluate.questions import WUG
from cxgen.evaluate.report import Part, train_of, with_answers
from cxgen.families.scoring import Item, Scoring
from cxgen.files import write_text
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.suites import scoring_of

_EXAMPLES, _SEED = 12, 1  # examples of each construction
Rows = Mapping[str, Sequence[Item]]  # construction -> items


@dataclass(frozen=True)
class Exported:
    """What is exported of a config.

    Attributes:
        config: its name.
        scoring: its family's.
        items: to be answered; ``examples``: from train.
        cloze: how they are put to models that continue texts.
    """

    config: str
    scoring: Scoring
    items: Rows
    examples: Rows
    cloze: Cloze

    def choice(self, item: Item, text: str, words: Mapping[str, str]) -> dict[str, Any]:
        """An item as a choice: ``question``, ``choices`` in the order in which the item shows them, ``answer`` (a position).

        Args:
            item: the item.
            text, words: see `Scoring.continuations`.
        """
        question, texts = self.scoring.continuations(item, text, words)
        order = range(len(texts)) if words else [self.scoring.meant(item, verdict) for verdict in ("first", "second")]
        right = self.scoring.meant(item, self.scoring.verdict(item))
        return {"question": question, "choices": [texts[position].strip() for position in order], "answer": list(order).index(right)}


def export(name: str, project: Project, part: Part, folder: Path, wording: str = PLAIN) -> list[str]:
    """Write a part of the dataset for a harness.

    Args:
        name: of a module here.
        project: whose dataset.
        part: of it.
        folder: where; empty or not there yet.
        wording: how items are put to models that continue texts.

    Returns:
        The names of what was written.

    Raises:
        UnknownNameError: no such config, split or wording.
        DataError: there is no dataset, or the folder holds something.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError("there is something already", file=folder, hint="name an empty folder, or one that is not there yet")
    exported = [_exported(project, config, part.splits, wording) for config in part.of(project).configs]
    names: list[str] = import_module(f"{__name__}.{name}").write(folder, exported, Params.read(project.params).publish.version)
    return names


def _exported(project: Project, config: str, splits: Sequence[str], wording: str) -> Exported:
    scoring = scoring_of(config)
    _, cloze = load_wording(project, scoring.task, wording)
    train = train_of(project, config.removesuffix(WUG)).with_columns(TARGET.alias("target"))
    columns = list(dict.fromkeys(("id", "contrast_set", *scoring.needs)))
    items: dict[str, list[Item]] = {}
    for item in with_answers(read_splits(project, config, splits), config).select(*columns, target=TARGET).iter_rows(named=True):
        items.setdefault(item["target"], []).append(item)
    examples = {name: chosen_examples(train.filter(pl.col("target") == name), scoring, _EXAMPLES, _SEED) for name in sorted(items)}
    return Exported(config, scoring, dict(sorted(items.items())), examples, cloze)


def write_rows(path: Path, rows: Rows, made: Callable[[Item], dict[str, Any]]) -> None:
    """Write items with their construction as JSON lines."""
    lines = [json.dumps({"construction": name, **made(item)}, ensure_ascii=False) + "\n" for name, items in rows.items() for item in items]
    write_text(path, "".join(lines))


def copy(name: str, folder: Path) -> None:
    """Put a file that a harness runs beside the data."""
    write_text(folder / name, (resources.files("cxgen.evaluate.exported") / name).read_text("utf-8"))
