"""Consulting models: items put to several models in groups, within bounds, with every answer kept and none that no model gave."""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.asking.calls import Backend, BackendError, Budget, Call, Failure, Limits, Results, from_file, write_requests
from cxgen.asking.kept import Cache, Judgment, opened
from cxgen.asking.prompts import Items, Prompt, Reply, read_answers, read_logprobs
from cxgen.constructicon import Construction
from cxgen.errors import CxgenError, needs
from cxgen.layout import ANSWERS
from cxgen.project import Project
from cxgen.vocabulary import Judge

Shown = Mapping[str, Items]  # by task
_ATTEMPTS = 3  # how often an item is asked about by itself when the answers are unusable
_FEW = 20  # requests, of which a share may fail
_DAYS = 2 * 86_400.0
_KEPT = "what was answered is kept: "
# Opposites have no file of their own.
_PLAIN = {"construction": "any", "form": "any", "meaning": "an ordinary sentence"}


@dataclass(frozen=True)
class Consultation:
    """Who is asked, about what, and how."""

    backend: Judge | None = None  # None: as the parameter file says; so where no models or no tasks are named
    models: tuple[str, ...] = ()  # several vote; in a replay they choose among the frozen judgments
    tasks: tuple[str, ...] = ()
    base_url: str | None = None  # None: OpenAI's own server
    per_request: int = 10  # items
    limits: Limits = field(default_factory=Limits)  # of all that is asked together
    cache: Path = ANSWERS  # in the project's folder
    poll: float = 20.0  # seconds between two looks at a batch
    export: bool = False  # whether the judgments are frozen
    replies: tuple[Path, ...] = ()  # of the backend file: a file for each model
    requests: Path | None = None  # what the replies answer; None: what would be asked now

    def bounded(self, project: Project) -> "Consultation":
        """This consultation with limits that suit its backend, and its cache in ``project``."""
        limits = self.limits
        if limits.max_cost is not None and not (limits.price_in or limits.price_out):
            raise CxgenError("--max-cost needs prices", hint="give --price-in and --price-out, per million tokens")
        if self.backend is not Judge.replay and not self.models:
            raise CxgenError("no model is named", hint="give --model, or judge.models in params.yaml")
        if self.backend is Judge.batch:
            limits = replace(limits, timeout=max(limits.timeout, 600.0), deadline=_DAYS)
        if self.backend in {Judge.file, Judge.replay}:  # what is not there does not come if it is asked for again
            limits = replace(limits, max_failures=1.0)
        return replace(self, limits=limits, cache=project.root / self.cache)


@dataclass(frozen=True)
class Outcome:
    """What a model said of the items of a task, in their order, and what it took."""

    model: str
    task: str
    judgments: list[Judgment]
    cached: int  # judged before
    spent: Budget
    seconds: float
    stopped: str  # the bound that ended the run early, if one did


def _plan(whole: Call, cache: Cache, per_request: int) -> tuple[dict[str, Judgment], list[Call]]:
    """The judgments that are kept already, and the calls about the other items."""
    prompt, done = whole.prompt, dict[str, Judgment]()
    for name in whole.items:
        judgment = cache.judgments.get(whole.address(name))
        if judgment and (not prompt.choices or judgment.value in {"", *prompt.choices.values()}):
            done[name] = replace(judgment, item=name, task=prompt.task)
    return done, whole.parts([name for name in whole.items if name not in done], per_request)


async def _put(asked: Consultation, whole: Call, backend: Backend, cache: Cache, budget: Budget, watch: Callable[..., None]) -> Outcome:
    """Put items to a model. Those without a usable answer are undecided; nothing is kept of those that got no reply."""
    start, before = time.monotonic(), replace(budget, errors=Counter(budget.errors))
    done, todo = _plan(whole, cache, asked.per_request)
    cached, calls, failed, stopped = len(done), 0, 0, ""
    while todo:
        async with aclosing(backend(todo)) as results:
            todo = []
            async for call, result in results:
                calls += 1
                if isinstance(result, Reply):
                    judgments, again = _read(call, result)
                    cache.put({call.address(name): judgment for name, judgment in judgments.items()})
                    done |= judgments
                    todo += again
                elif result.too_long and len(call.items) > 1:
                    todo += _halves(call)
                else:
                    reason, address = (f"not asked: {result.bound}", "") if result.bound else (result.reason, call.key)
                    done |= {name: replace(_undecided(call, reason, address), item=name) for name in call.items}
                    failed, stopped = failed + (not result.bound), result.bound or stopped
                    _require_success(result, failed, calls, budget.limits.max_failures)
                watch(completed=len(done))
    judgments = {name: done[name] for name in whole.items}
    return Outcome(
        whole.model, whole.prompt.task, list(judgments.values()), cached, budget.since(before), time.monotonic() - start, stopped
    )


def _read(call: Call, reply: Reply) -> tuple[dict[str, Judgment], list[Call]]:
    """What a reply says of the call's items; and what is left, to be asked in smaller groups, an item by itself again."""
    values, problems = read_answers(reply, call.prompt, call.items)
    again: list[Call] = []
    if len(call.items) > 1 and problems:
        again = call.parts(problems, len(problems)) if values else _halves(call)
    elif problems and reply.finish != "refused" and call.attempt + 1 < _ATTEMPTS:
        again = call.parts(problems, 1, call.attempt + 1)
    size, temperature = {"asked": len(call.items), "max_tokens": call.max_tokens}, call.prompt.temperature
    judgment = _undecided(call, "", call.key, **{"temperature": temperature, "attempt": call.attempt, **size, **reply.known})
    logprobs = read_logprobs(reply, call.prompt, values)
    judgments = {name: replace(judgment, item=name, value=value, logprob=logprobs.get(name)) for name, value in values.items()}
    if not again:
        judgments |= {name: replace(judgment, item=name, reason=reason) for name, reason in problems.items()}
    return judgments, again


def _undecided(call: Call, reason: str, address: str, **known: Any) -> Judgment:
    return Judgment("", call.prompt.task, "", reason, call.model, prompt=call.prompt.hash, call=address, **known)


def _halves(call: Call) -> list[Call]:
    return call.parts(call.items, -(-len(call.items) // 2))


def _require_success(last: Failure, failed: int, calls: int, share: float) -> None:
    """End the run if no call can succeed, or more than a share of them failed."""
    if last.fatal:
        raise BackendError(last.reason, hint=f"{_KEPT}remove the cause and run the same command again")
    if failed > share * max(calls, _FEW):
        message = f"{failed} of {calls} calls failed, more than the share of {share:g}; last: {last.reason}"
        raise BackendError(message, hint=f"{_KEPT}run the same command again, or raise --max-failures")


@asynccontextmanager
async def _backends(asked: Consultation, cache: Cache, budget: Budget, logprobs: bool) -> AsyncIterator[dict[str, Backend]]:
    """Model -> what answers for it."""
    if asked.backend is Judge.replay:
        yield dict.fromkeys(asked.models, _nobody)
    elif asked.backend is Judge.file:
        if len(asked.replies) != len(asked.models):
            message = f"{len(asked.models)} models, {len(asked.replies)} files of replies"
            raise CxgenError(message, hint="name a file for each: --replies FILE; requests are written with --out FILE")
        yield {model: from_file(path, asked.requests) for model, path in zip(asked.models, asked.replies, strict=True)}
    else:
        with needs("asking models needs the packages openai, aiolimiter and krippendorff", "llm"):
            import krippendorff  # noqa: F401

            from cxgen.asking.client import Batched, Single, connected
        async with connected(asked.base_url, budget) as client:
            if asked.backend is Judge.batch:
                yield {model: Batched(client, model, cache, budget, asked.poll).results for model in asked.models}
            else:
                yield {model: Single(client, budget, logprobs=logprobs).results for model in asked.models}


async def _nobody(calls: list[Call]) -> Results:
    for call in calls:
        yield call, Failure("nothing of it was answered before")


def ask(
    asked: Consultation, prompts: Mapping[str, Prompt], shown: Shown, *, budget: Budget | None = None, logprobs: bool = True
) -> list[Outcome]:
    """Put every task to every model of a `bounded` consultation; how each run went. ``budget``: spent before under the same bounds.

    An interrupted run goes on where it was. BackendError: it cannot go on; what was answered is kept.
    """
    if not asked.models:
        return []
    budget = budget or Budget(asked.limits)
    from rich.console import Console
    from rich.progress import Progress

    async def run(cache: Cache, progress: Progress) -> list[Outcome]:
        outcomes = []
        async with _backends(asked, cache, budget, logprobs) as backends:
            for whole in _wholes(asked, prompts, shown):
                bar = progress.add_task(f"{whole.model}: {whole.prompt.task}", total=len(whole.items))
                outcomes.append(await _put(asked, whole, backends[whole.model], cache, budget, partial(progress.update, bar)))
        return outcomes

    # A file is a record of its own: a line that was mended must not meet its old self.
    kept = nullcontext(Cache()) if asked.backend is Judge.file else opened(asked.cache)
    with kept as cache, Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
        return asyncio.run(run(cache, progress))


def _wholes(asked: Consultation, prompts: Mapping[str, Prompt], shown: Shown) -> list[Call]:
    """All that every model is asked, task by task."""
    return [Call(prompts[task], model, shown[task]) for model in asked.models for task in asked.tasks]


def estimate(asked: Consultation, prompts: Mapping[str, Prompt], shown: Shown) -> list[dict[str, Any]]:
    """What a run would send and cost at most, by model and task, without sending anything; kept answers cost nothing."""
    rows: list[dict[str, Any]] = []
    with opened(asked.cache) as cache:
        for whole in _wholes(asked, prompts, shown):
            done, todo = _plan(whole, cache, asked.per_request)
            tokens_in, tokens_out = (sum(call.most[side] for call in todo) for side in (0, 1))
            counts = {"items": len(whole.items), "calls": len(todo), "cached items": len(done)}
            tokens = {"tokens in": tokens_in, "tokens out at most": tokens_out}
            cost = round(asked.limits.cost(tokens_in, tokens_out), 4)
            rows.append({"model": whole.model, "task": whole.prompt.task, **counts, **tokens, "cost at most": cost})
    return rows


def write_out(asked: Consultation, prompts: Mapping[str, Prompt], shown: Shown, path: Path) -> int:
    """Write the requests that the first of the models would be sent to ``path``, for whoever is to answer them; how many."""
    wholes = _wholes(replace(asked, models=asked.models[:1]), prompts, shown)
    return write_requests([call for whole in wholes for call in _plan(whole, Cache(), asked.per_request)[1]], path)


def summary(outcome: Outcome) -> dict[str, Any]:
    """What one model's run of one task took: a row of the table that ends a run."""
    decided, spent = sum(bool(judgment.value) for judgment in outcome.judgments), outcome.spent
    return {
        "model": outcome.model,
        "task": outcome.task,
        "decided": decided,
        "cached": outcome.cached,
        "undecided": len(outcome.judgments) - decided,
        "requests": spent.requests,
        "tokens in": spent.tokens_in,
        "tokens out": spent.tokens_out,
        "cost": round(spent.cost, 4),
        "seconds": round(outcome.seconds, 1),
        "failed tries": "; ".join(f"{number} x {reason}" for reason, number in spent.errors.most_common()) or 0,
    }


def load_prompts(project: Project, tasks: Iterable[str]) -> dict[str, Prompt]:
    """Task -> its wording in the project."""
    return {task: Prompt.load(project.prompt_file(task), task) for task in tasks}


def shown_of(items: pl.DataFrame, constructions: Iterable[Construction], tasks: Iterable[str]) -> dict[str, dict[str, dict[str, str]]]:
    """What each of ``tasks`` (of `cxgen.vocabulary.JUDGING`) shows: task -> id -> field -> text, in the items' order.

    Premises are judged once, under their premise id; pairs under their item id, if they are pairs (have a ``label``, which is never shown).
    ``items``: columns ``id, premise_id, construction, premise`` (strings) and, where there are pairs, ``hypothesis`` and ``label``.
    """
    described = {
        data["name"]: {"construction": data["title"], "form": data["form"], "meaning": " ".join(data["meaning"].split())}
        for construction in constructions
        for data in (document.data for document in construction.documents)
    }
    premises = items.unique("premise_id", keep="first", maintain_order=True).select("premise_id", "construction", "premise")
    pairs = items.drop_nulls("label").select("id", "premise", "hypothesis") if "label" in items.columns else pl.DataFrame()
    of_premises = {name: {**described.get(own, _PLAIN), "sentence": text} for name, own, text in premises.iter_rows()}
    of_pairs = {name: {"premise": premise, "hypothesis": text} for name, premise, text in pairs.iter_rows()}
    return {task: of_premises if task == "acceptability" else of_pairs for task in tasks}
