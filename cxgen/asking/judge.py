"""Stage ``judge``: a verdict on every candidate, by models or by their frozen judgments; where nobody is asked, nothing is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.asking import consult
from cxgen.asking.consult import Consultation, Shown
from cxgen.asking.frozen import as_table, freeze, read_frozen, replay
from cxgen.asking.prompts import Prompt
from cxgen.asking.run import Outcome
from cxgen.asking.verdicts import merge
from cxgen.asking.votes import agreement
from cxgen.build.params import Params
from cxgen.build.tables import read_candidates
from cxgen.constructicon import load_construction
from cxgen.errors import unknown
from cxgen.files import write_atomically
from cxgen.layout import JUDGMENTS, UNDECIDED, VERDICTS, metric
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.tables import write_json, write_table
from cxgen.vocabulary import JUDGING, Judge


@dataclass(frozen=True)
class Judged:
    """What came of a run.

    Attributes:
        counts: construction -> verdict -> number of premises (pairs for the pair verdicts).
        undecided: why judgments are undecided -> how many are.
        outcomes: how the run of each model and task went; empty if none was asked.
    """

    counts: dict[str, dict[str, int]]
    undecided: Counter[str]
    outcomes: tuple[Outcome, ...] = ()

    @property
    def stopped(self) -> str:
        """The bound that ended the asking early; empty if none did."""
        return next((outcome.stopped for outcome in self.outcomes if outcome.stopped), "")


def run(project: Project, params: Params | None = None, asked: Consultation | None = None) -> Judged:
    """Judge the candidates as ``asked``; write verdicts and measures.

    Writes `cxgen.layout.VERDICTS`, `UNDECIDED`, the metrics ``judge`` and ``models`` and, if judgments are to be frozen, `JUDGMENTS`;
    nothing of it before all are judged.

    Args:
        project: whose candidates.
        params: default: the project's own.
        asked: who is asked; default: as ``params`` say.

    Raises:
        DataError: there are no candidates, or no frozen judgments that are about them; or another run is asking.
        BackendError: the asking cannot go on; what was answered is kept.
    """
    asked = settled(asked or Consultation(), project, params or Params.read(project.params))
    prompts, items = consult.load_prompts(project, asked.tasks), read_candidates(project)
    shown, path = _shown(project, items, asked), project.root / JUDGMENTS
    outcomes: list[Outcome] = []
    if asked.backend is Judge.replay:
        judgments = replay(read_frozen(path), shown, prompts, asked.models, path)
    else:
        outcomes = consult.ask(asked, prompts, shown)
        judgments = as_table(judgment for outcome in outcomes for judgment in outcome.judgments)
    if asked.export and outcomes:
        freeze(judgments.filter(pl.col("call") != ""), path)  # what a bound kept from being asked is no judgment
    judgments = judgments.sort("task", "judge", "item")  # whoever replays them has them in another order
    verdicts = merge(items, judgments, asked.tasks)
    write_table(verdicts, project.root / VERDICTS)
    counts = summary(items, verdicts)
    write_json(counts, project.root / metric("judge"))
    return Judged(counts, _record(judgments, project.root, prompts), tuple(outcomes))


def estimate(project: Project, params: Params, asked: Consultation) -> list[dict[str, Any]]:
    """What `run` would send and cost at most: a row for each model and task. Sends and writes nothing."""
    asked = settled(asked, project, params)
    return consult.estimate(asked, consult.load_prompts(project, asked.tasks), _shown(project, read_candidates(project), asked))


def write_out(project: Project, params: Params, asked: Consultation, path: Path) -> int:
    """Write the requests that `run` would send to ``path``, for whoever is to answer them; how many."""
    asked = settled(asked, project, params)
    return consult.write_out(asked, consult.load_prompts(project, asked.tasks), _shown(project, read_candidates(project), asked), path)


def settled(asked: Consultation, project: Project, params: Params) -> Consultation:
    """``asked`` with what it leaves open taken from ``params``; with backend ``rules`` nobody is asked.

    Raises:
        UnknownNameError: no such task.
        CxgenError: see `Consultation.bounded`.
    """
    backend = asked.backend or Judge(params.backend)
    if backend is Judge.rules:
        return replace(asked, backend=backend, models=(), tasks=())
    models, tasks = tuple(dict.fromkeys(asked.models or params.judge_models)), asked.tasks or params.judge_tasks
    for name in tasks:
        if name not in JUDGING:
            raise unknown("task", name, JUDGING)
    return replace(asked, backend=backend, models=models, tasks=tasks).bounded(project)


def _shown(project: Project, items: pl.DataFrame, asked: Consultation) -> Shown:
    lexicon, names = Lexicon.of(project), items.select(TARGET).to_series().unique().sort()
    return consult.shown_of(items, [load_construction(project, name, lexicon) for name in names if asked.tasks], asked.tasks)


def summary(items: pl.DataFrame, verdicts: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Construction -> verdict -> number of premises (pairs for the pair verdicts)."""
    table = items.select("id", "premise_id", "construction").join(verdicts, on="id", maintain_order="left")
    premises = table.unique("premise_id", maintain_order=True).select("construction", verdict="premise_verdict")
    both = pl.concat([premises, table.select("construction", verdict="pair_verdict")])
    counts: dict[str, dict[str, int]] = {}
    for name, verdict, number in both.group_by("construction", "verdict").len().sort("construction", "verdict").iter_rows():
        counts.setdefault(name, {})[verdict] = number
    return counts


def _record(judgments: pl.DataFrame, root: Path, prompts: Mapping[str, Prompt]) -> Counter[str]:
    """Write the list of undecided judgments and the measures of the models' run; return why how many are undecided.

    The list has one JSON object a line: item, task, judge, reason. Nothing in it says where or with what key was asked.
    """
    undecided = judgments.filter(pl.col("value") == "").select("item", "task", "judge", "reason")
    text = undecided.write_ndjson() or "\n"  # DVC warns of empty files
    write_atomically(root / UNDECIDED, lambda path: path.write_text(text, "utf-8"))
    counts: dict[str, dict[str, int]] = {}
    for task, value, number in judgments.group_by("task", "value").len().sort("task", "value").iter_rows():
        counts.setdefault(task, {})[value or "undecided"] = number
    judges = judgments["judge"].unique().sort().to_list()
    hashes = {task: prompt.hash for task, prompt in prompts.items()}
    report = {"judges": [name for name in judges if name], "prompts": hashes, "counts": counts, "agreement": agreement(judgments)}
    write_json(report, root / metric("models"))
    return Counter(undecided["reason"].to_list())
