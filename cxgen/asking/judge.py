"""Stage ``judge``: a verdict on every candidate, by models that vote or their frozen votes; where nobody is asked, nothing is refused."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from itertools import chain, combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from cxgen import layout
from cxgen.asking import consult
from cxgen.asking.consult import Consultation, Judgment, Outcome, Shown
from cxgen.asking.prompts import Prompt
from cxgen.build.params import Params
from cxgen.build.run import unjudged
from cxgen.build.tables import VERDICTS, read_candidates
from cxgen.constructicon import load_construction
from cxgen.errors import DataError, needs, unknown
from cxgen.files import write_text
from cxgen.lexicon import Lexicon
from cxgen.project import Project
from cxgen.schema import TARGET, Column, Contract
from cxgen.tables import read_table, write_json, write_table
from cxgen.vocabulary import INAPPROPRIATE, JUDGING, LABELS, PAIR_VERDICTS, PREMISE_VERDICTS, UNACCEPTABLE, UNDECIDED, Judge

_TYPES: dict[Any, Any] = {str: pl.String, int: pl.Int64, float | None: pl.Float64}
COLUMNS = {field.name: _TYPES[field.type] for field in fields(Judgment)}
_KEYS = ("item", "task", "judge", "prompt")
_UNKNOWN = {"model", "fingerprint", "request_id", "temperature", "logprob"}  # where a server does not say
_FROZEN = Contract(tuple(Column(name, kind, "", null=name in _UNKNOWN) for name, kind in COLUMNS.items()), key=_KEYS)
_ANSWERS = {"acceptability": PREMISE_VERDICTS, "appropriateness": PAIR_VERDICTS, "label": LABELS}
_RECORD = "record some: cxgen judge --backend openai --export"


class Judged(NamedTuple):
    """What came of a run."""

    counts: dict[str, dict[str, int]]  # construction -> verdict -> premises, or pairs
    undecided: Counter[str]  # why how many judgments are
    outcomes: list[Outcome]  # how the run of each model and task went


def run(project: Project, params: Params | None = None, asked: Consultation | None = None) -> Judged:
    """Judge the candidates as ``asked`` (default: as the parameters say); when all are judged, write what came of it (`cxgen.layout`)."""
    asked, prompts, shown = questions(project, params or Params.read(project.params), asked or Consultation())
    items, frozen, outcomes = read_candidates(project), project.root / layout.JUDGMENTS, list[Outcome]()
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
    return Judged(counts, Counter(undecided["reason"]), outcomes)


def _counts(table: pl.DataFrame) -> dict[str, dict[str, int]]:
    """What is in the first of two columns -> in the second -> number of rows."""
    counts: dict[str, dict[str, int]] = {}
    for (name, value), number in sorted(Counter(table.iter_rows()).items()):
        counts.setdefault(name, {})[value] = number
    return counts


def questions(project: Project, params: Params, asked: Consultation) -> tuple[Consultation, dict[str, Prompt], Shown]:
    """``asked`` with what it leaves open taken from ``params``, task -> prompt, and what is shown; of rules nobody is asked anything."""
    backend = asked.backend or Judge(params.backend)
    models, tasks = tuple(dict.fromkeys(asked.models or params.judge_models)), asked.tasks or params.judge_tasks
    for name in sorted(set(tasks) - set(JUDGING)):
        raise unknown("task", name, JUDGING)
    if backend is Judge.rules:
        return replace(asked, backend=backend, models=(), tasks=()), {}, {}
    asked, lexicon = replace(asked, backend=backend, models=models, tasks=tasks).bounded(project), Lexicon.of(project)
    items = read_candidates(project)
    constructions = [load_construction(project, name, lexicon) for name in items.select(TARGET).to_series().unique().sort()]
    return asked, consult.load_prompts(project, tasks), consult.shown_of(items, constructions, tasks)


def as_table(judgments: Iterable[Judgment]) -> pl.DataFrame:
    """Judgments as rows, columns `COLUMNS`."""
    return pl.DataFrame([asdict(judgment) for judgment in judgments], schema=COLUMNS, orient="row")


def read_frozen(path: Path) -> pl.DataFrame:
    """The frozen judgments, columns `COLUMNS`."""
    hint = f"restore the file, or {_RECORD}"
    table = read_table(path, _FROZEN, hint)
    for task, value in table.select("task", "value").unique().sort("task", "value").iter_rows():
        if value not in {"", *_ANSWERS.get(task, ())}:
            raise DataError(f"{value[:40]!r} is no answer to the task {task!r}", file=path, hint=hint)
    return table


def freeze(judgments: pl.DataFrame, path: Path) -> int:
    """Merge judgments into the file; its number of rows. A decided one replaces what was there, an undecided one only an undecided one."""
    table = pl.concat([*([read_frozen(path)] if path.exists() else []), judgments.select(list(COLUMNS))])
    table = table.sort(pl.col("value") != "", maintain_order=True).unique(_KEYS, keep="last").sort(_KEYS)
    write_table(table, path)
    return table.height


def replay(path: Path, shown: Mapping[str, Mapping[str, object]], prompts: Mapping[str, Prompt], models: Sequence[str]) -> pl.DataFrame:
    """The frozen judgments on what is shown, with the prompts as they are, by ``models`` or all; what has none is undecided, by nobody."""
    frozen, parts = read_frozen(path), [as_table(())]
    for task, things in shown.items():
        own = frozen.filter((pl.col("task") == task) & (pl.col("judge").is_in(models) if models else True))
        current = own.filter(pl.col("prompt") == prompts[task].hash)
        about = current.filter(pl.col("item").is_in(list(things)))
        if things and not about.height:
            by = f" by {', '.join(models)}" if models else ""
            counts = f"{own.height} answer {task!r}{by}, {current.height} of them with the prompt as it is, none about these candidates"
            hint = f"restore {task}.yaml among the prompts, choose others with --task or --model, or {_RECORD}; or judge by rule"
            raise DataError(f"nothing to replay: of {frozen.height} frozen judgments {counts}", file=path, hint=hint)
        left = things.keys() - set(about["item"])
        parts += [about, as_table(Judgment(name, task, "", "no frozen judgment", "") for name in things if name in left)]
    return pl.concat(parts)


def merge(items: pl.DataFrame, votes: pl.DataFrame, tasks: Sequence[str]) -> pl.DataFrame:
    """A verdict on every item (``id, premise_id``, and ``label``, a position in `LABELS`, of a pair), columns `VERDICTS`.

    A premise is what the models say; a pair is inappropriate if they say so, or if their blind label is not the computed one; what they
    do not decide is undecided. About what none of ``tasks`` asks, the item's own columns stand.
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
        rows = [list(combinations(filter(None, row), 2)) for row in wide.iter_rows()]
        pairs, alpha = list(chain(*rows)), None
        if len(set(chain(*pairs))) > 1:
            with needs("agreement needs krippendorff", "llm"):
                import krippendorff
            data = np.array([column.fill_null("nan") for column in wide.iter_columns()], dtype=str)
            alpha = round(float(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")), 4)
        share = round(sum(one == other for one, other in pairs) / len(pairs), 4) if pairs else None
        report[str(task)] = {"judges": wide.width, "items": sum(map(bool, rows)), "agreement": share, "alpha": alpha}
    return report
