"""The finished dataset as a folder for an evaluation harness (``cxgen export lm-eval``, ``cxgen export inspect``)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from cxgen.evaluate.harness import Exported, by_construction, write_inspect, write_lm_eval
from cxgen.evaluate.prompting import PLAIN, chosen_examples, load_wording
from cxgen.evaluate.scores import WUG
from cxgen.families import family_of
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.stages.evaluate import Part, rows_of
from cxgen.stages.params import Params
from cxgen.vocabulary import Split

_EXAMPLES = 12  # of each construction
_SEED = 1


def export_lm_eval(project: Project, part: Part, folder: Path, wording: str = PLAIN) -> list[str]:
    """Write tasks for lm-evaluation-harness; return their groups.

    Args:
        project: whose dataset.
        part: of it.
        folder: where; empty or not there yet.
        wording: how items are put.

    Raises:
        UnknownNameError: no such config, split or wording.
        DataError: there is no dataset, or the folder holds something.
    """
    version = Params.read(project.params).publish.version
    return write_lm_eval(folder, list(_exported(project, part, wording)), version)


def export_inspect(project: Project, part: Part, folder: Path) -> list[str]:
    """Write a task for inspect_ai; return its configs. Arguments and errors as for `export_lm_eval`."""
    exported = list(_exported(project, part, PLAIN))
    write_inspect(folder, exported)
    return [each.config for each in exported]


def _exported(project: Project, part: Part, wording: str) -> Iterator[Exported]:
    part = part.of(project)
    for config in part.configs:
        scoring = family_of(config).scoring
        train = rows_of(project, config.removesuffix(WUG), [Split.train.value]).with_columns(TARGET.alias("target"))
        items = rows_of(project, config, part.splits)
        columns = list(dict.fromkeys(("id", "contrast_set", *scoring.needs)))
        _, cloze = load_wording(project, scoring.task, wording)
        rows = by_construction(items.select(*columns, target=TARGET).iter_rows(named=True))
        mine = {name: train.filter(pl.col("target") == name) for name in rows}
        examples = {
            name: [{**item, "contrast_set": ""} for item in chosen_examples(own, scoring, _EXAMPLES, _SEED)] for name, own in mine.items()
        }
        yield Exported(config, scoring, rows, examples, cloze)
