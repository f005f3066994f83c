"""Clauses put to models, which vote, and their votes, frozen: `cxgen.lexicon.verdicts` says what follows from them."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import polars as pl

from cxgen import layout
from cxgen.asking import audit, consult
from cxgen.asking.consult import Consultation, Judgment, Outcome, Shown
from cxgen.asking.prompts import Prompt
from cxgen.build.clauses import clauses, interpretations
from cxgen.constructicon import Construction, load_construction, target_names
from cxgen.errors import DataError
from cxgen.files import alone
from cxgen.lexicon import Lexicon
from cxgen.lexicon.verdicts import HINT, read_votes, require_answers
from cxgen.project import Project
from cxgen.schema import Column, Contract
from cxgen.tables import read_table, write_table
from cxgen.vocabulary import CLAUSES, INTERPRETATION

_TYPES: dict[Any, Any] = {str: pl.String, int: pl.Int64, float | None: pl.Float64}
COLUMNS = {field.name: _TYPES[field.type] for field in fields(Judgment)}
_KEYS = ("item", "task", "judge", "prompt")
_UNKNOWN = {"model", "fingerprint", "request_id", "temperature", "logprob"}  # where a server does not say
_FROZEN = Contract(tuple(Column(name, kind, "", null=name in _UNKNOWN) for name, kind in COLUMNS.items()), key=_KEYS)


def questions(
    project: Project, asked: Consultation, names: Sequence[str] = (), *, audited: bool = False, fresh: bool = False
) -> tuple[Consultation, dict[str, Prompt], Shown]:
    """``asked`` within its bounds, task -> prompt, and what is shown of the clauses of ``names`` (default: all constructions), or of those
    of the audit; ``fresh``: only those that nobody else has judged. The default tasks are `CLAUSES`, or those of the audit.

    What all the models have decided already, with the prompts as they are, is not asked again.
    """
    known = audit.sheet(project) if audited else None
    meant = CLAUSES if known is None else audit.tasks_of(known)
    for task in sorted(set(asked.tasks) - {*meant}) if audited else ():
        hint = f"add a column {task}, or ask about {', '.join(meant)}"
        raise DataError(f"readers did not say what is right for the task {task!r}", file=audit.sheet_file(project), hint=hint)
    asked = replace(asked, tasks=asked.tasks or meant, models=tuple(dict.fromkeys(asked.models))).bounded(project)
    prompts, lexicon = consult.load_prompts(project, asked.tasks), Lexicon.of(project)
    shown: dict[str, dict[str, Any]] = {task: {} for task in asked.tasks}
    done = _decided(read_frozen(project.root / layout.JUDGMENTS), asked, prompts)
    for name in names or (target_names(project) if known is None else known["target"].unique().sort()):
        construction = load_construction(project, name, lexicon, heard=False)
        described = descriptions([construction])
        rows = (clauses(construction) if known is None else known.filter(target=name)).to_dicts()
        rows += interpretations(construction).to_dicts() if INTERPRETATION in asked.tasks and known is None else []
        others = (pl.col("value") != "") & ~pl.col("judge").is_in(asked.models)
        judged = set(read_votes(project, name).filter(others)["item"]) if fresh else set[str]()
        for row in (row for row in rows if row["item"] not in judged):
            told, own = row | described.get(row["construction"], PLAIN), construction.argument_structure and row["construction"] == name
            fit = {INTERPRETATION} if INTERPRETATION in row else {*CLAUSES} - (set() if own else {"role"})
            fit -= {task for task in meant if row.get(task, "") is None}  # of an audit's clause nobody says it
            for task in (task for task in asked.tasks if task in fit and (task, row["item"]) not in done):
                shown[task][row["item"]] = {field: told[field] for field in prompts[task].fields}
    return asked, prompts, shown


PLAIN = {"construction": "any", "form": "any", "meaning": "an ordinary sentence"}  # opposites have no file of their own


def descriptions(constructions: Iterable[Construction]) -> dict[str, dict[str, str]]:
    """Construction or look-alike -> what judges are told of it: ``construction, form, meaning``."""
    documents = [document.data for construction in constructions for document in construction.documents]
    return {
        data["name"]: {"construction": data["title"], "form": data["form"], "meaning": " ".join(data["meaning"].split())}
        for data in documents
    }


def _decided(votes: pl.DataFrame, asked: Consultation, prompts: dict[str, Prompt]) -> set[tuple[str, str]]:
    """Task and item of what every model asked has decided."""
    current = pl.col("prompt") == pl.col("task").replace_strict({task: prompt.hash for task, prompt in prompts.items()}, default="")
    own = votes.filter(pl.col("judge").is_in(asked.models), pl.col("value") != "", current)
    counts = own.group_by("task", "item").agg(pl.col("judge").n_unique())
    return {(task, item) for task, item, count in counts.iter_rows() if count == len(asked.models)}


def run(project: Project, asked: Consultation, prompts: Mapping[str, Prompt], shown: Shown) -> list[Outcome]:
    """Ask `questions` and freeze the votes; how the run of each model and task went."""
    outcomes = consult.ask(asked, prompts, shown)
    votes = as_table(judgment for outcome in outcomes for judgment in outcome.judgments)
    freeze(votes.filter(pl.col("call") != ""), project.root / layout.JUDGMENTS)  # what a bound kept from being asked is no judgment
    return outcomes


def as_table(judgments: Iterable[Judgment]) -> pl.DataFrame:
    """Judgments as rows, columns `COLUMNS`."""
    return pl.DataFrame([asdict(judgment) for judgment in judgments], schema=COLUMNS, orient="row")


def read_frozen(path: Path) -> pl.DataFrame:
    """The frozen judgments, columns `COLUMNS`; none where there is no such file."""
    table = read_table(path, _FROZEN, HINT) if os.path.lexists(path) else as_table(())
    require_answers(table, path)
    return table


def freeze(judgments: pl.DataFrame, path: Path) -> int:
    """Merge judgments into the file; its number of rows. A decided one replaces what was there, an undecided one only an undecided one."""
    with alone(path):
        table = pl.concat([read_frozen(path), judgments.select(list(COLUMNS))])
        table = table.sort(pl.col("value") != "", maintain_order=True).unique(_KEYS, keep="last").sort(_KEYS)
        write_table(table, path)
    return table.height
