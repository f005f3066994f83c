"""The finished dataset as a folder for an evaluation harness (``cxgen export lm-eval``, ``cxgen export inspect``)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from cxgen.evaluate.harness import Exported, by_construction, write_inspect, write_lm_eval
from cxgen.evaluate.prompting import PLAIN, chosen_examples, load_wording
from cxgen.evaluate.scores import WUG
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.stages.evaluate import Part, rows_of, train_of, with_answers
from cxgen.stages.params import Params
from cxgen.suites import scoring_of

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
        scoring = scoring_of(config)
        _, cloze = load_wording(project, scoring.task, wording)
        train = train_of(project, config.removesuffix(WUG)).with_columns(TARGET.alias("target"))
        items = with_answers(rows_of(project, config, part.splits), config)
        columns = list(dict.fromkeys(("id", "contrast_set", *scoring.needs)))
        rows = by_construction(items.select(*columns, target=TARGET).iter_rows(named=True))
        mine = {name: train.filter(pl.col("target") == name) for name in rows}
        examples = {
            name: [{**item, "contrast_set": ""} for item in chosen_examples(own, scoring, _EXAMPLES, _SEED)] for name, own in mine.items()
        }
        yield Exported(config, scoring, rows, examples, cloze)
