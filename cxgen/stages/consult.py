"""Consulting models: who is asked what, what they are shown, and what it took.

Four words for asking, each with its own place: `cxgen.llm.ask` puts the items of one task to one model; this module puts several tasks to
several models; stage ``judge`` consults them about the candidates; `cxgen.stages.propose` (``cxgen ask``) asks for words,
`cxgen.stages.elicit` for contrast sets.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from cxgen.constructicon import Construction
from cxgen.errors import CxgenError, needs, unknown
from cxgen.files import locked
from cxgen.layout import REPLIES
from cxgen.llm import Backend, Cache, Job, Limits, Outcome, Prompt
from cxgen.llm import ask as ask_one
from cxgen.llm.file import Absent, FileBackend, write_requests
from cxgen.llm.job import plan
from cxgen.llm.limits import Rates
from cxgen.llm.progress import watching
from cxgen.project import Project
from cxgen.stages.params import Params
from cxgen.stages.warn import tell
from cxgen.vocabulary import JUDGING, Judge

Shown = Mapping[str, Mapping[str, Mapping[str, str]]]  # task -> id -> field -> text

_ALL, _DAYS = 50_000, 2 * 86_400.0
# Opposites have no file of their own.
_PLAIN = {"construction": "any", "form": "any", "meaning": "an ordinary sentence"}


@dataclass(frozen=True)
class Consultation:
    """Who is asked, about what, and how.

    Attributes:
        backend: who judges beside the rules; None: as the parameter file says.
        models: one or several, which vote; none: those of the parameter file. In a replay they choose among the frozen judgments.
        tasks: some of `cxgen.vocabulary.JUDGING`; none: those of the parameter file.
        base_url: the server; None: OpenAI's own.
        per_request: items in a request.
        limits: bounds of each model's run of each task; the budget's bounds hold for all together.
        cache: database of replies, relative to the project's folder.
        poll: seconds between two looks at a batch.
        export: whether the judgments are frozen for a replay.
        replies: of the backend ``file``: where the replies are, a file for each model.
        requests: of the backend ``file``: what the replies answer; None: what would be asked now.
    """

    backend: Judge | None = None
    models: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    base_url: str | None = None
    per_request: int = 10
    limits: Limits = field(default_factory=Limits)
    cache: Path = REPLIES
    poll: float = 20.0
    export: bool = False
    replies: tuple[Path, ...] = ()
    requests: Path | None = None

    def settled(self, project: Project, params: Params) -> Consultation:
        """This consultation with what it leaves open taken from ``params``. The rules consult nobody about nothing.

        Raises:
            UnknownNameError: no such task.
            CxgenError: there is no model to ask, or a bound on the cost without prices.
        """
        backend = self.backend or Judge(params.backend)
        if backend is Judge.rules:
            return replace(self, backend=backend, models=(), tasks=())
        models, tasks = tuple(dict.fromkeys(self.models or params.judge_models)), self.tasks or params.judge_tasks
        for name in tasks:
            if name not in JUDGING:
                raise unknown("task", name, JUDGING)
        return replace(self, backend=backend, models=models, tasks=tasks).bounded(project)

    def bounded(self, project: Project) -> Consultation:
        """This consultation with limits that suit its backend, and its cache in ``project``.

        Raises:
            CxgenError: there is no model to ask, or a bound on the cost without prices.
        """
        require_prices(self.limits)
        if self.backend is not Judge.replay and not self.models:
            raise CxgenError("no model is named", hint="give --model, or judge.models in params.yaml")
        limits = self.limits
        if self.backend is Judge.batch:  # everything is handed in at once, and a batch may take a day
            limits = replace(limits, concurrency=_ALL, timeout=_DAYS, deadline=_DAYS)
        if self.backend in {Judge.file, Judge.replay}:  # what is not there does not come if it is asked for again
            limits = replace(limits, concurrency=1, max_failures=1.0)
        return replace(self, limits=limits, cache=project.root / self.cache)

    def jobs(self, model: str, prompts: Mapping[str, Prompt], shown: Shown) -> list[Job]:
        """What ``model`` is to answer, task by task."""
        return [Job(prompts[task], model, shown[task], self.per_request) for task in self.tasks]


def require_prices(limits: Limits) -> None:
    """See that a bound on the cost can be kept.

    Raises:
        CxgenError: there are no prices.
    """
    if limits.max_cost is not None and not (limits.price_in or limits.price_out):
        raise CxgenError("--max-cost needs prices", hint="give --price-in and --price-out, per million tokens")


def load_prompts(project: Project, tasks: Iterable[str]) -> dict[str, Prompt]:
    """Task -> its wording in the project."""
    return {task: Prompt.load(project.prompt_file(task), task) for task in tasks}


def shown_of(items: pl.DataFrame, constructions: Iterable[Construction], tasks: Iterable[str]) -> dict[str, dict[str, dict[str, str]]]:
    """What each of ``tasks`` shows of each thing that it judges: task -> id -> field -> text, in the items' order.

    Premises are judged once, under their premise id; pairs under their item id, if they are pairs (have a ``label``, which is never shown).

    Args:
        items: columns ``id, premise_id, construction, premise`` (strings) and, where there are pairs, ``hypothesis`` and ``label``.
        constructions: those of the items.
        tasks: some of `cxgen.vocabulary.JUDGING`.
    """
    shown: dict[str, dict[str, dict[str, str]]] = {}
    for task in tasks:
        if task == "acceptability":
            shown[task] = _premises_of(items, constructions)
        else:
            pairs = items.drop_nulls("label").select("id", "premise", "hypothesis").iter_rows() if "label" in items.columns else ()
            shown[task] = {name: {"premise": premise, "hypothesis": hypothesis} for name, premise, hypothesis in pairs}
    return shown


def _premises_of(items: pl.DataFrame, constructions: Iterable[Construction]) -> dict[str, dict[str, str]]:
    described: dict[str, dict[str, str]] = {}
    for construction in constructions:
        for document in construction.documents:
            data = document.data
            described[data["name"]] = {"construction": data["title"], "form": data["form"], "meaning": " ".join(data["meaning"].split())}
    premises = items.unique("premise_id", keep="first", maintain_order=True).select("premise_id", "construction", "premise")
    return {name: {**described.get(own, _PLAIN), "sentence": text} for name, own, text in premises.iter_rows()}


def connect(asked: Consultation, *, logprobs: bool = True) -> dict[str, Backend]:
    """Model -> what answers for it. Nothing is sent yet.

    Raises:
        DataError: packages are missing.
        CxgenError: no API key.
    """
    if not asked.models:
        return {}
    if asked.backend is Judge.replay:
        return dict.fromkeys(asked.models, Absent())
    if asked.backend is Judge.file:
        if len(asked.replies) != len(asked.models):
            message = f"{len(asked.models)} models, {len(asked.replies)} files of replies"
            raise CxgenError(message, hint="name a file for each: --replies FILE; requests are written with --out FILE")
        return {model: FileBackend(path, asked.requests) for model, path in zip(asked.models, asked.replies, strict=True)}
    with needs("asking models needs the packages openai, aiolimiter, filelock and krippendorff", "llm"):
        import aiolimiter  # noqa: F401
        import filelock  # noqa: F401
        import krippendorff  # noqa: F401

        from cxgen.llm.batch import BatchBackend
        from cxgen.llm.client import OpenAIBackend
    if asked.backend is Judge.batch:
        return {model: BatchBackend(asked.base_url, model, asked.cache, poll=asked.poll) for model in asked.models}
    return {model: OpenAIBackend(asked.base_url, asked.limits.timeout, logprobs=logprobs) for model in asked.models}


def ask(
    asked: Consultation, prompts: Mapping[str, Prompt], shown: Shown, backends: Mapping[str, Backend], before: Sequence[Outcome] = ()
) -> list[Outcome]:
    """Put every task to every model; how each run went. Progress is shown where stderr is a terminal.

    What the runs ``before`` spent counts towards the bounds.

    Raises:
        BackendError: the run cannot go on; what was answered is cached.
    """
    if not backends:
        return []

    async def all_of_it() -> list[Outcome]:
        outcomes: list[Outcome] = []
        rates = Rates(asked.limits)
        for model, backend in backends.items():
            try:
                for job in asked.jobs(model, prompts, shown):
                    outcomes.append(await ask_one(job, backend, cache, asked.limits, watch, rates=rates, before=[*before, *outcomes]))
            finally:
                await backend.close()
        return outcomes

    with ExitStack() as stack:
        path = asked.cache
        if asked.backend is Judge.file:  # the file is the record; a line that was mended must not meet its old self
            path = Path(stack.enter_context(TemporaryDirectory(prefix="cxgen-"))) / path.name
        stack.enter_context(locked(path, "is asking models with these replies"))
        watch, cache = stack.enter_context(watching()), stack.enter_context(Cache(path))
        stack.enter_context(_heard_by_asyncio())
        stack.callback(lambda: tell(cache.told))
        return asyncio.run(all_of_it())


def write_out(asked: Consultation, prompts: Mapping[str, Prompt], shown: Shown, path: Path) -> int:
    """Write the requests that the first of the models would be sent to ``path``, for whoever is to answer them; how many."""
    jobs = asked.jobs(asked.models[0], prompts, shown)
    return write_requests([job.call(ids) for job in jobs for ids in job.groups()], path)


@contextmanager
def _heard_by_asyncio() -> Iterator[None]:
    """Ctrl-C is left to asyncio, which ends its tasks in order, but only where nobody else listens."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def estimate(asked: Consultation, prompts: Mapping[str, Prompt], shown: Shown) -> list[dict[str, Any]]:
    """What a run would send and cost at most, by model and task, without sending anything; cached replies cost nothing."""
    rows: list[dict[str, Any]] = []
    with Cache(asked.cache) as cache:
        for job in (job for model in asked.models for job in asked.jobs(model, prompts, shown)):
            groups, answered = plan(job, cache)
            calls = [job.call(ids) for ids in groups]
            new = [call for call in calls if not cache.has(call.key)]
            tokens_in, tokens_out = sum(call.tokens for call in new), sum(call.max_tokens for call in new)
            counts = {"items": len(job.items), "calls": len(new), "cached calls": len(calls) - len(new), "cached items": len(answered)}
            tokens = {"tokens in": tokens_in, "tokens out at most": tokens_out}
            cost = round(asked.limits.cost(tokens_in, tokens_out), 4)
            rows.append({"model": job.model, "task": job.prompt.task, **counts, **tokens, "cost at most": cost})
    return rows


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
