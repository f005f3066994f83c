"""Stage ``judge``: a verdict on every candidate. The rules come first; models are asked, if at all, about what the rules leave open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.asking import Consultation, Outcome, Prompt, consult
from cxgen.asking.frozen import as_table, freeze, read_frozen, replay
from cxgen.asking.verdicts import judgeable, merge
from cxgen.asking.votes import agreement
from cxgen.build.choose import unjudged
from cxgen.build.params import Params
from cxgen.build.tables import read_candidates
from cxgen.constructicon import Construction, load_construction
from cxgen.errors import DataError, unknown
from cxgen.files import write_atomically
from cxgen.layout import CANDIDATES, JUDGMENTS, UNDECIDED, VERDICTS, metric
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.tables import write_json, write_table
from cxgen.vocabulary import JUDGING as TASKS
from cxgen.vocabulary import Judge


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


@dataclass(frozen=True)
class _ByRule:
    items: pl.DataFrame
    constructions: list[Construction]
    verdicts: pl.DataFrame

    def shown(self, tasks: tuple[str, ...]) -> dict[str, dict[str, dict[str, str]]]:
        """What models are shown: nothing of what the rules have decided."""
        return consult.shown_of(judgeable(self.items, self.verdicts), self.constructions, tasks)


def run(project: Project, params: Params | None = None, asked: Consultation | None = None) -> Judged:
    """Judge the candidates by rule and form and, as ``asked``, by models or their frozen judgments; write verdicts and measures.

    Writes `cxgen.layout.VERDICTS`, `UNDECIDED`, the metrics ``judge`` and ``models`` and, if judgments are to be frozen, `JUDGMENTS`;
    nothing of it before all are judged.

    Args:
        project: whose candidates.
        params: default: the project's own.
        asked: who is asked beside the rules; default: as ``params`` say.

    Raises:
        DataError: there are no candidates, or no frozen judgments that are about them; or another run is asking about them.
        BackendError: the asking cannot go on; what was answered is kept.
    """
    asked = _settled(asked or Consultation(), project, params or Params.read(project.params))
    prompts = consult.load_prompts(project, asked.tasks)
    path = project.root / JUDGMENTS
    outcomes: list[Outcome] = []
    if asked.backend is Judge.replay:
        frozen = read_frozen(path)
        stand = _by_rule(project)
        judgments = replay(frozen, stand.shown(asked.tasks), prompts, asked.models, path)
    else:
        stand = _by_rule(project)
        outcomes = consult.ask(asked, prompts, stand.shown(asked.tasks))
        judgments = as_table(judgment for outcome in outcomes for judgment in outcome.judgments)
    if asked.export and outcomes:
        freeze(judgments.filter(pl.col("call") != ""), path)  # what a bound kept from being asked is no judgment
    judgments = judgments.sort("task", "judge", "item")  # whoever replays them has them in another order
    verdicts = merge(stand.verdicts, stand.items, judgments, asked.tasks)
    write_table(verdicts, project.root / VERDICTS)
    counts = summary(stand.items, verdicts)
    write_json(counts, project.root / metric("judge"))
    return Judged(counts, _record(judgments, project.root, prompts), tuple(outcomes))


def estimate(project: Project, params: Params | None = None, asked: Consultation | None = None) -> list[dict[str, Any]]:
    """What `run` would send and cost at most: a row for each model and task. Sends and writes nothing."""
    asked = _settled(asked or Consultation(), project, params or Params.read(project.params))
    prompts = consult.load_prompts(project, asked.tasks)
    return consult.estimate(asked, prompts, _by_rule(project).shown(asked.tasks))


def write_out(project: Project, params: Params | None, asked: Consultation, path: Path) -> int:
    """Write the requests that `run` would send to ``path``, for whoever is to answer them; how many."""
    asked = _settled(asked, project, params or Params.read(project.params))
    return consult.write_out(asked, consult.load_prompts(project, asked.tasks), _by_rule(project).shown(asked.tasks), path)


def _settled(asked: Consultation, project: Project, params: Params) -> Consultation:
    """What is left open, taken from ``params``. The rules consult nobody about nothing.

    Raises:
        UnknownNameError: no such task.
        CxgenError: see `Consultation.bounded`.
    """
    backend = asked.backend or Judge(params.backend)
    if backend is Judge.rules:
        return replace(asked, backend=backend, models=(), tasks=())
    models, tasks = tuple(dict.fromkeys(asked.models or params.judge_models)), asked.tasks or params.judge_tasks
    for name in tasks:
        if name not in TASKS:
            raise unknown("task", name, TASKS)
    return replace(asked, backend=backend, models=models, tasks=tasks).bounded(project)


def _by_rule(project: Project) -> _ByRule:
    items = read_candidates(project)
    lexicon = Lexicon.of(project)
    targets = items.select(TARGET).to_series().unique().sort()
    constructions = [load_construction(project, name, lexicon) for name in targets]
    for construction in constructions:
        _require_its_own(items.filter(construction.name == TARGET), construction, project)
    return _ByRule(items, constructions, unjudged(items))


def _require_its_own(items: pl.DataFrame, construction: Construction, project: Project) -> None:
    """See that the candidates of a construction's sets are made of its parts.

    Raises:
        DataError: one of them is of a kind or template that it does not have, or fills such a slot. Of frames the rules judge.
    """
    slots = items.select(pl.col("slots").explode().struct.field("slot").unique()).to_series()
    found = {"slot": slots, "kind": items["kind"].unique(), "template": items["template"].unique()}
    known: dict[str, Collection[str]] = {"slot": construction.slots, "kind": construction.kinds, "template": construction.templates}
    for what, names in found.items():
        strange = sorted(set(names.drop_nulls()) - set(known[what]))
        if strange:
            message = f"{construction.name} has no {what} {strange[0]!r}"
            raise DataError(
                message, file=project.root / CANDIDATES, hint="run `cxgen generate` (or `dvc repro`) again: templates have changed"
            )


def summary(items: pl.DataFrame, verdicts: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Construction -> verdict -> number of premises (pairs for the pair verdicts)."""
    table = items.select("id", "premise_id", "construction").join(verdicts, on="id", maintain_order="left")
    premises = table.unique("premise_id", maintain_order=True).select("construction", verdict="premise_verdict")
    pairs = table.select("construction", verdict="pair_verdict")
    counts: dict[str, dict[str, int]] = {}
    for name, verdict, number in (
        pl.concat([premises, pairs]).group_by("construction", "verdict").len().sort("construction", "verdict").iter_rows()
    ):
        counts.setdefault(name, {})[verdict] = number
    return counts


def _record(judgments: pl.DataFrame, root: Path, prompts: dict[str, Prompt]) -> Counter[str]:
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
