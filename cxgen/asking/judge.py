"""Stage ``judge``: a verdict on every candidate, by models that vote or their frozen votes; where nobody is asked, nothing is refused."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cxgen import layout
from cxgen.asking import consult
from cxgen.asking.consult import Consultation, Outcome, Shown
from cxgen.asking.kept import as_table, freeze, replay
from cxgen.asking.prompts import Prompt
from cxgen.build.params import Params
from cxgen.build.run import unjudged
from cxgen.build.tables import VERDICTS, read_candidates
from cxgen.constructicon import load_construction
from cxgen.errors import needs, unknown
from cxgen.files import write_text
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.tables import write_json, write_table
from cxgen.vocabulary import INAPPROPRIATE, JUDGING, LABELS, UNACCEPTABLE, UNDECIDED, Judge


@dataclass(frozen=True)
class Judged:
    """What came of a run."""

    counts: dict[str, dict[str, int]]  # construction -> verdict -> premises, or pairs
    undecided: Counter[str]  # why how many judgments are
    outcomes: list[Outcome]  # how the run of each model and task went

    @property
    def stopped(self) -> str:
        """The bound that ended the asking early; empty if none did."""
        return next((outcome.stopped for outcome in self.outcomes if outcome.stopped), "")


def run(project: Project, params: Params | None = None, asked: Consultation | None = None) -> Judged:
    """Judge the candidates as ``asked`` (default: as the parameters say).

    When all are judged, the verdicts, the list of undecided judgments, the metrics ``judge`` and ``models`` and, if they are to be frozen,
    the judgments are written (`cxgen.layout`).
    """
    asked = _settled(asked or Consultation(), project, params or Params.read(project.params))
    items, frozen = read_candidates(project), project.root / layout.JUDGMENTS
    prompts, shown = _questions(project, items, asked)
    outcomes: list[Outcome] = []
    if asked.backend is Judge.replay:
        votes = replay(frozen, shown, prompts, asked.models)
    else:
        outcomes = consult.ask(asked, prompts, shown)
        votes = as_table(judgment for outcome in outcomes for judgment in outcome.judgments)
    if asked.export and outcomes:
        freeze(votes.filter(pl.col("call") != ""), frozen)  # what a bound kept from being asked is no judgment
    votes = votes.sort("task", "judge", "item")  # whoever replays them has them in another order
    verdicts = merge(items, votes, asked.tasks)
    write_table(verdicts, project.root / layout.VERDICTS)
    undecided = votes.filter(pl.col("value") == "").select("item", "task", "judge", "reason")
    write_text(project.root / layout.UNDECIDED, undecided.write_ndjson() or "\n")  # DVC warns of empty files
    report = {
        "judges": sorted(set(votes["judge"]) - {""}),
        "prompts": {task: prompt.hash for task, prompt in prompts.items()},
        "counts": _counts(votes.select("task", pl.col("value").replace("", UNDECIDED))),
        "agreement": agreement(votes),
    }
    write_json(report, project.root / layout.metric("models"))
    table = items.select("id", "premise_id", "construction").join(verdicts, on="id", maintain_order="left")
    premises = table.unique("premise_id").select("construction", verdict="premise_verdict")
    counts = _counts(pl.concat([premises, table.select("construction", verdict="pair_verdict")]))
    write_json(counts, project.root / layout.metric("judge"))
    return Judged(counts, Counter(undecided["reason"].to_list()), outcomes)


def _counts(table: pl.DataFrame) -> dict[str, dict[str, int]]:
    """What is in the first of two columns -> in the second -> number of rows."""
    counts: dict[str, dict[str, int]] = {}
    for (name, value), number in sorted(Counter(table.iter_rows()).items()):
        counts.setdefault(name, {})[value] = number
    return counts


def estimate(project: Project, params: Params, asked: Consultation) -> list[dict[str, Any]]:
    """What `run` would send and cost at most: a row for each model and task. Sends and writes nothing."""
    asked = _settled(asked, project, params)
    return consult.estimate(asked, *_questions(project, read_candidates(project), asked))


def write_out(project: Project, params: Params, asked: Consultation, path: Path) -> int:
    """Write the requests that `run` would send to ``path``, for whoever is to answer them; how many."""
    asked = _settled(asked, project, params)
    return consult.write_out(asked, *_questions(project, read_candidates(project), asked), path)


def _settled(asked: Consultation, project: Project, params: Params) -> Consultation:
    """``asked`` with what it leaves open taken from ``params``; with backend ``rules`` nobody is asked."""
    backend = asked.backend or Judge(params.backend)
    if backend is Judge.rules:
        return replace(asked, backend=backend, models=(), tasks=())
    models, tasks = tuple(dict.fromkeys(asked.models or params.judge_models)), asked.tasks or params.judge_tasks
    for name in tasks:
        if name not in JUDGING:
            raise unknown("task", name, JUDGING)
    return replace(asked, backend=backend, models=models, tasks=tasks).bounded(project)


def _questions(project: Project, items: pl.DataFrame, asked: Consultation) -> tuple[dict[str, Prompt], Shown]:
    """Task -> its prompt; task -> id -> field -> text."""
    lexicon, names = Lexicon.of(project), items.select(TARGET).to_series().unique().sort() if asked.tasks else ()
    constructions = [load_construction(project, name, lexicon) for name in names]
    return consult.load_prompts(project, asked.tasks), consult.shown_of(items, constructions, asked.tasks)


def merge(items: pl.DataFrame, votes: pl.DataFrame, tasks: Sequence[str]) -> pl.DataFrame:
    """A verdict on every item, columns `VERDICTS`.

    A premise is what the models say; a pair is inappropriate if they say so, or if their blind label is not the computed one; whatever
    they do not decide is undecided. About what none of ``tasks`` asks, the item's own columns stand.

    ``items``: columns ``id, premise_id, acceptability`` and ``label`` (a position in `LABELS`; null or lacking: no pair).
    """
    names = pl.col("label").replace_strict(dict(enumerate(LABELS)), return_dtype=pl.String) if "label" in items.columns else pl.lit(None)
    table = pl.concat([unjudged(items), items.select("premise_id", label=names)], how="horizontal")
    vote, label = pl.col("vote").fill_null(""), pl.col("label")
    silent, unlike = vote == "", pl.format("label: the model reads {}, {} is computed", "vote", "label")
    refusals = {
        "acceptability": (vote == UNACCEPTABLE, pl.lit("acceptability: the model finds it unacceptable")),
        "appropriateness": (vote == INAPPROPRIATE, pl.lit("appropriateness: the model finds it inappropriate")),
        "label": (vote != label, unlike),
    }
    for task in tasks:
        kind, key = ("premise", "premise_id") if task == "acceptability" else ("pair", "id")
        own = majority(votes.filter(pl.col("task") == task)).select(pl.col("item").alias(key), vote="value", why="reason")
        verdict, reason, (bad, text) = pl.col(f"{kind}_verdict"), pl.col(f"{kind}_reason"), refusals[task]
        stands = pl.lit(False) if kind == "premise" else label.is_null() | (verdict == INAPPROPRIATE)  # an earlier task may have refused it
        new = vote if kind == "premise" else pl.when(bad).then(pl.lit(INAPPROPRIATE)).otherwise(verdict)
        silence = pl.format("{}: {}", pl.lit(task), pl.col("why").fill_null("not judged"))
        table = table.join(own, on=key, how="left", maintain_order="left").with_columns(
            pl.when(stands).then(verdict).when(silent).then(pl.lit(UNDECIDED)).otherwise(new),
            pl.when(stands).then(reason).when(silent).then(silence).when(bad).then(text).otherwise(reason),
        )
        table = table.drop("vote", "why")
    return table.select(list(VERDICTS))


def majority(votes: pl.DataFrame) -> pl.DataFrame:
    """One verdict per item and task: what more than half of the judges that decided say; else it is empty, with the reason.

    ``votes``: columns ``item, task, judge, value, reason``. The result: ``item, task, value, reason, votes`` (judges that decided).
    """
    value, keys = pl.col("value"), ("item", "task")
    latest = votes.unique([*keys, "judge"], keep="last", maintain_order=True)
    counts = latest.group_by(keys, maintain_order=True).agg(
        most=value.filter(value != "").value_counts(sort=True).first(),
        votes=(value != "").sum(),
        why=pl.col("reason").filter(value == "").first(),
    )
    wins = pl.col("count") * 2 > pl.col("votes")
    reason = pl.when(wins).then(pl.lit("")).when(pl.col("votes") > 0).then(pl.lit("the judges disagree")).otherwise("why")
    return counts.unnest("most").select(*keys, pl.when(wins).then(value).otherwise(pl.lit("")), reason.alias("reason"), "votes")


def agreement(votes: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """How far the judges agree on each task: task -> ``judges``, ``items`` (that two or more decided), ``agreement``, ``alpha``.

    Agreement is the share of pairs of judges that say the same; alpha is Krippendorff's, nominal, undefined where all say one thing
    (Krippendorff 2011, Computing Krippendorff's alpha-reliability). Both are None where there is nothing to compare.
    """
    report: dict[str, dict[str, Any]] = {}
    decided = votes.filter(pl.col("value") != "").unique(["item", "task", "judge"], keep="last", maintain_order=True)
    for (task,), table in decided.group_by("task", maintain_order=True):
        wide = table.pivot("judge", index="item", values="value", maintain_order=True).drop("item")
        same = [[one == other for one, other in combinations(filter(None, row), 2)] for row in wide.iter_rows()]
        pairs, alpha = [pair for row in same for pair in row], None
        if pairs and table["value"].n_unique() > 1:
            with needs("agreement needs krippendorff", "llm"):
                import krippendorff
            data = np.array([column.fill_null("nan") for column in wide.iter_columns()], dtype=str)
            alpha = round(float(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")), 4)
        share = round(sum(pairs) / len(pairs), 4) if pairs else None
        report[str(task)] = {"judges": wide.width, "items": sum(map(bool, same)), "agreement": share, "alpha": alpha}
    return report
