"""Asking models about the candidates: what is put to them, and what their verdicts do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.constructicon import Construction
from cxgen.errors import CxgenError
from cxgen.llm import Backend, Cache, Job, Limits, Outcome, Prompt, agreement, judge, majority
from cxgen.llm.runner import Tally, plan
from cxgen.project import write_atomically
from cxgen.stages.frozen import as_table, read_frozen
from cxgen.tables import write_json
from cxgen.vocabulary import LABELS

CACHE = Path(".cxgen/replies.sqlite")
UNDECIDED = Path("outputs/work/undecided.jsonl")
METRICS = Path("outputs/metrics/models.json")
TASKS = ("acceptability", "appropriateness", "label")
NONE = as_table(())  # no judgments
# Opposites have no file of their own.
_PLAIN = {"construction": "any", "form": "any", "meaning": "an ordinary sentence"}


@dataclass(frozen=True)
class Question:
    """What a run asks and how.

    Attributes:
        models: one or several; several vote.
        tasks: some of ``TASKS``.
        prompts: folder of the prompts.
        per_request: items in a request.
        limits: bounds of each model's run of each task; the budget's bounds hold for all together.
        cache: the replies' database.
    """

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    prompts: Path
    per_request: int = 10
    limits: Limits = field(default_factory=Limits)
    cache: Path = CACHE


def fields_of(items: pl.DataFrame, constructions: Iterable[Construction], task: str) -> dict[str, dict[str, str]]:
    """What ``task`` shows of each thing that it judges: id -> field -> text, in the items' order.

    Premises are judged once, under their premise id; pairs under their item id. The computed label is never shown.
    """
    if task != "acceptability":
        return {name: {"premise": p, "hypothesis": h} for name, p, h in items.select("id", "premise", "hypothesis").iter_rows()}
    described: dict[str, dict[str, str]] = {}
    for construction in constructions:
        for document in construction.documents:
            data = document.data
            described[data["name"]] = {"construction": data["title"], "form": data["form"], "meaning": " ".join(data["meaning"].split())}
    premises = items.unique("premise_id", keep="first", maintain_order=True).select("premise_id", "construction", "premise")
    return {name: {**described.get(own, _PLAIN), "sentence": text} for name, own, text in premises.iter_rows()}


def ask(
    question: Question,
    shown: Mapping[str, Mapping[str, Mapping[str, str]]],
    connect: Callable[[str], Backend],
    watch: Callable[[Tally], None],
) -> tuple[pl.DataFrame, list[Outcome]]:
    """Put every task to every model.

    Args:
        shown: task -> id -> field -> text.
        connect: model -> backend.

    Returns:
        The judgments (columns of `cxgen.stages.frozen`), and how each run went.

    Raises:
        BackendError: the run cannot go on; what was answered is cached.
    """

    async def all_of_it() -> list[Outcome]:
        outcomes: list[Outcome] = []
        with Cache(question.cache) as cache:
            for model in question.models:
                backend = connect(model)
                try:
                    for task in question.tasks:
                        job = Job(Prompt.load(question.prompts, task), model, shown[task], question.per_request)
                        outcomes.append(await judge(job, backend, cache, _rest(question.limits, outcomes), watch))
                finally:
                    await backend.close()
        return outcomes

    outcomes = asyncio.run(all_of_it())
    return pl.concat([as_table(outcome.judgments) for outcome in outcomes]), outcomes


def _rest(limits: Limits, outcomes: Sequence[Outcome]) -> Limits:
    """What is left of the budget after ``outcomes``."""
    spent = [outcome.tally.budget for outcome in outcomes]
    return replace(
        limits,
        max_requests=None if limits.max_requests is None else limits.max_requests - sum(one.requests for one in spent),
        max_tokens=None if limits.max_tokens is None else limits.max_tokens - sum(one.tokens_in + one.tokens_out for one in spent),
        max_cost=None if limits.max_cost is None else limits.max_cost - sum(one.cost for one in spent),
    )


def estimate(question: Question, shown: Mapping[str, Mapping[str, Mapping[str, str]]]) -> list[dict[str, Any]]:
    """What a run would send and cost at most, by model and task, without sending anything; cached replies cost nothing."""
    rows: list[dict[str, Any]] = []
    with Cache(question.cache) as cache:
        for model in question.models:
            for task in question.tasks:
                job = Job(Prompt.load(question.prompts, task), model, shown[task], question.per_request)
                groups, answered = plan(job, cache)
                calls = [job.call(ids) for ids in groups]
                new = [call for call in calls if not cache.has(call.key)]
                tokens_in, tokens_out = sum(call.tokens for call in new), sum(call.max_tokens for call in new)
                cost = question.limits.cost(tokens_in, tokens_out)
                counts = {"items": len(job.items), "calls": len(new), "cached calls": len(calls) - len(new), "cached items": len(answered)}
                rows.append(
                    {
                        "model": model,
                        "task": task,
                        **counts,
                        "tokens in": tokens_in,
                        "tokens out at most": tokens_out,
                        "cost at most": round(cost, 4),
                    }
                )
    return rows


def replay(path: Path, shown: Mapping[str, Mapping[str, Mapping[str, str]]], question: Question) -> pl.DataFrame:
    """The frozen judgments on what is shown, made with the prompts as they are now by the question's models (all, if it names none).

    Raises:
        DataError: no such file.
        CxgenError: the file has judgments of other prompts only.
    """
    frozen = read_frozen(path)
    if question.models:
        frozen = frozen.filter(pl.col("judge").is_in(question.models))
    kept: list[pl.DataFrame] = []
    for task in question.tasks:
        mine = frozen.filter(pl.col("task") == task)
        current = mine.filter(pl.col("prompt") == Prompt.load(question.prompts, task).hash)
        if mine.height and not current.height:
            raise CxgenError(
                f"the frozen judgments of {task!r} were made with another prompt",
                file=path,
                hint=f"restore {task}.yaml in {question.prompts.name}, or record them again: cxgen judge --backend openai --export",
            )
        kept.append(current.filter(pl.col("item").is_in(list(shown[task]))))
    return pl.concat(kept)


def merge(verdicts: pl.DataFrame, items: pl.DataFrame, judgments: pl.DataFrame, tasks: Sequence[str]) -> pl.DataFrame:
    """The rule judge's ``verdicts`` and the models'.

    What the rules reject stays rejected. Otherwise a premise is what the models say; a pair is inappropriate if they say so, or if their
    blind label is not the computed one; whatever they do not decide is undecided.

    Args:
        verdicts: columns of `cxgen.judge.VERDICTS`.
        items: columns ``id, premise_id, label``.
        judgments: columns ``item, task, judge, value, reason``.
        tasks: those that were put to the models.
    """
    votes = majority(judgments)
    table = verdicts.join(items.select("id", "premise_id", "label"), on="id", how="left", maintain_order="left")
    for task in tasks:
        key = "premise_id" if task == "acceptability" else "id"
        said = votes.filter(pl.col("task") == task).select(pl.col("item").alias(key), said="value", why="reason")
        joined = table.join(said, on=key, how="left", maintain_order="left").with_columns(pl.col("said").fill_null(""))
        why = pl.concat_str(pl.lit(f"{task}: "), pl.col("why").fill_null("not judged"))
        table = _premises(joined, why) if task == "acceptability" else _pairs(joined, why, task)
        table = table.drop("said", "why")
    return table.select(verdicts.columns)


def _premises(table: pl.DataFrame, why: pl.Expr) -> pl.DataFrame:
    open_ = pl.col("premise_verdict") != "unacceptable"
    silent = pl.col("said") == ""
    return table.with_columns(
        premise_verdict=pl.when(open_ & silent).then(pl.lit("undecided")).when(open_).then("said").otherwise("premise_verdict"),
        premise_reason=pl.when(open_ & silent)
        .then(why)
        .when(open_ & (pl.col("said") == "unacceptable"))
        .then(pl.lit("acceptability: the model finds it unacceptable"))
        .otherwise("premise_reason"),
    )


def _pairs(table: pl.DataFrame, why: pl.Expr, task: str) -> pl.DataFrame:
    open_ = pl.col("pair_verdict") != "inappropriate"
    silent = pl.col("said") == ""
    if task == "label":
        names = pl.col("label").replace_strict(dict(enumerate(LABELS)), return_dtype=pl.String)
        bad = pl.col("said") != names
        reason = pl.format("label: the model reads {}, {} is computed", "said", names)
    else:
        bad = pl.col("said") == "inappropriate"
        reason = pl.lit("appropriateness: the model finds it inappropriate")
    return table.with_columns(
        pair_verdict=pl.when(open_ & silent)
        .then(pl.lit("undecided"))
        .when(open_ & bad)
        .then(pl.lit("inappropriate"))
        .otherwise("pair_verdict"),
        pair_reason=pl.when(open_ & silent).then(why).when(open_ & bad).then(reason).otherwise("pair_reason"),
    )


def record(judgments: pl.DataFrame, root: Path, question: Question) -> int:
    """Write the list of undecided judgments and the measures of the run; return how many are undecided.

    The list has one JSON object a line: item, task, judge, reason. Nothing in it says where or with what key was asked.
    """
    undecided = judgments.filter(pl.col("value") == "").select("item", "task", "judge", "reason")
    write_atomically(root / UNDECIDED, undecided.write_ndjson)
    values = judgments.group_by("task", "value").len().sort("task", "value").rows()
    counts: dict[str, dict[str, int]] = {}
    for task, value, number in values:
        counts.setdefault(task, {})[value or "undecided"] = number
    prompts = {task: Prompt.load(question.prompts, task).hash for task in question.tasks}
    judges = judgments["judge"].unique().sort().to_list()
    write_json({"judges": judges, "prompts": prompts, "counts": counts, "agreement": agreement(judgments)}, root / METRICS)
    return undecided.height


def summary(outcome: Outcome) -> dict[str, Any]:
    """What one model's run of one task took: a row of the table that ends a run."""
    tally, budget = outcome.tally, outcome.tally.budget
    first = outcome.judgments[0] if outcome.judgments else None
    return {
        "model": first.judge if first else "",
        "task": first.task if first else "",
        "decided": tally.decided,
        "cached": tally.cached,
        "undecided": tally.undecided,
        "requests": budget.requests,
        "tokens in": budget.tokens_in,
        "tokens out": budget.tokens_out,
        "cost": round(budget.cost, 4),
        "seconds": round(outcome.seconds, 1),
        "failed tries": "; ".join(f"{number} x {reason}" for reason, number in tally.errors.most_common()) or 0,
    }
