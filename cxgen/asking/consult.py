"""Consulting models: several tasks put to several models, what they are shown, and what it took."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.asking.cache import Cache, opened
from cxgen.asking.calls import Backend
from cxgen.asking.files import Absent, FileBackend, write_requests
from cxgen.asking.limits import Budget, Limits
from cxgen.asking.prompts import Prompt
from cxgen.asking.run import Job, Outcome, Tally
from cxgen.asking.run import ask as ask_one
from cxgen.constructicon import Construction
from cxgen.errors import CxgenError, needs
from cxgen.layout import ANSWERS
from cxgen.project import Project
from cxgen.vocabulary import Judge

Shown = Mapping[str, Mapping[str, Mapping[str, str]]]  # task -> id -> field -> text
_DAYS = 2 * 86_400.0
# Opposites have no file of their own.
_PLAIN = {"construction": "any", "form": "any", "meaning": "an ordinary sentence"}


@dataclass(frozen=True)
class Consultation:
    """Who is asked, about what, and how.

    Attributes:
        backend: how; None: as the parameter file says.
        models: one or several, which vote; none: those of the parameter file. In a replay they choose among the frozen judgments.
        tasks: what is asked; none: the tasks of the parameter file.
        base_url: the server; None: OpenAI's own.
        per_request: items in a request.
        limits: bounds of all that is asked together.
        cache: file of kept answers, relative to the project's folder.
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
    cache: Path = ANSWERS
    poll: float = 20.0
    export: bool = False
    replies: tuple[Path, ...] = ()
    requests: Path | None = None

    def bounded(self, project: Project) -> Consultation:
        """This consultation with limits that suit its backend, and its cache in ``project``.

        Raises:
            CxgenError: there is no model to ask, or a bound on the cost without prices.
        """
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

    def jobs(self, model: str, prompts: Mapping[str, Prompt], shown: Shown) -> list[Job]:
        """What ``model`` is to answer, task by task."""
        return [Job(prompts[task], model, shown[task], self.per_request) for task in self.tasks]


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
    described = {
        data["name"]: {"construction": data["title"], "form": data["form"], "meaning": " ".join(data["meaning"].split())}
        for construction in constructions
        for data in (document.data for document in construction.documents)
    }
    premises = items.unique("premise_id", keep="first", maintain_order=True).select("premise_id", "construction", "premise")
    pairs = items.drop_nulls("label").select("id", "premise", "hypothesis") if "label" in items.columns else None
    of_premises = {name: {**described.get(own, _PLAIN), "sentence": text} for name, own, text in premises.iter_rows()}
    of_pairs = {name: {"premise": premise, "hypothesis": text} for name, premise, text in (pairs.iter_rows() if pairs is not None else ())}
    return {task: of_premises if task == "acceptability" else of_pairs for task in tasks}


def connect(asked: Consultation, cache: Cache, budget: Budget, *, logprobs: bool = True) -> dict[str, Backend]:
    """Model -> what answers for it. Nothing is sent yet.

    Raises:
        DataError: packages are missing.
        CxgenError: no API key.
    """
    if asked.backend is Judge.replay:
        return dict.fromkeys(asked.models, Absent())
    if asked.backend is Judge.file:
        if len(asked.replies) != len(asked.models):
            message = f"{len(asked.models)} models, {len(asked.replies)} files of replies"
            raise CxgenError(message, hint="name a file for each: --replies FILE; requests are written with --out FILE")
        return {model: FileBackend(path, asked.requests) for model, path in zip(asked.models, asked.replies, strict=True)}
    with needs("asking models needs the packages openai, aiolimiter and krippendorff", "llm"):
        import krippendorff  # noqa: F401

        from cxgen.asking.batch import BatchBackend
        from cxgen.asking.client import OpenAIBackend
    if asked.backend is Judge.batch:
        return {model: BatchBackend(asked.base_url, model, cache, budget, poll=asked.poll) for model in asked.models}
    return {model: OpenAIBackend(asked.base_url, budget, logprobs=logprobs) for model in asked.models}


def ask(
    asked: Consultation, prompts: Mapping[str, Prompt], shown: Shown, *, budget: Budget | None = None, logprobs: bool = True
) -> list[Outcome]:
    """Put every task to every model; how each run went. Progress is shown where stderr is a terminal.

    Args:
        asked: who is asked; `Consultation.bounded`.
        prompts: task -> its wording.
        shown: what is shown.
        budget: what was spent before under the same bounds.
        logprobs: whether to ask for log probabilities.

    Raises:
        BackendError: the run cannot go on; what was answered is kept.
        CxgenError: see `connect`; or another run is asking.
    """
    if not asked.models:
        return []
    budget = budget or Budget(asked.limits)
    # A file is a record of its own: a line that was mended must not meet its old self.
    kept = _nothing_kept() if asked.backend is Judge.file else opened(asked.cache)
    with kept as cache, _watching() as watch:
        backends = connect(asked, cache, budget, logprobs=logprobs)

        async def all_of_it() -> list[Outcome]:
            outcomes: list[Outcome] = []
            for model, backend in backends.items():
                try:
                    outcomes += [await ask_one(job, backend, cache, budget, watch) for job in asked.jobs(model, prompts, shown)]
                finally:
                    await backend.close()
            return outcomes

        return asyncio.run(all_of_it())


@contextmanager
def _nothing_kept() -> Iterator[Cache]:
    yield Cache()


@contextmanager
def _watching() -> Iterator[Callable[[Tally], None]]:
    """A function that shows where a run stands; silent when stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("asking") as status:
        yield lambda tally: status.update(tally.line())


def write_out(asked: Consultation, prompts: Mapping[str, Prompt], shown: Shown, path: Path) -> int:
    """Write the requests that the first of the models would be sent to ``path``, for whoever is to answer them; how many."""
    jobs = asked.jobs(asked.models[0], prompts, shown)
    return write_requests((job.call(ids) for job in jobs for ids, _ in job.plan(Cache())[1]), path)


def estimate(asked: Consultation, prompts: Mapping[str, Prompt], shown: Shown) -> list[dict[str, Any]]:
    """What a run would send and cost at most, by model and task, without sending anything; kept answers cost nothing."""
    rows: list[dict[str, Any]] = []
    with opened(asked.cache) as cache:
        for job in (job for model in asked.models for job in asked.jobs(model, prompts, shown)):
            kept, groups = job.plan(cache)
            calls = [job.call(ids) for ids, _ in groups]
            tokens_in, tokens_out = sum(call.most[0] for call in calls), sum(call.most[1] for call in calls)
            counts = {"items": len(job.items), "calls": len(calls), "cached items": len(kept)}
            tokens = {"tokens in": tokens_in, "tokens out at most": tokens_out}
            cost = round(asked.limits.cost(tokens_in, tokens_out), 4)
            rows.append({"model": job.model, "task": job.prompt.task, **counts, **tokens, "cost at most": cost})
    return rows


def summary(outcome: Outcome) -> dict[str, Any]:
    """What one model's run of one task took: a row of the table that ends a run."""
    tally = outcome.tally
    first = outcome.judgments[0] if outcome.judgments else None
    return {
        "model": first.judge if first else "",
        "task": first.task if first else "",
        "decided": tally.decided,
        "cached": tally.cached,
        "undecided": tally.undecided,
        "requests": tally.requests,
        "tokens in": tally.tokens_in,
        "tokens out": tally.tokens_out,
        "cost": round(tally.cost, 4),
        "seconds": round(outcome.seconds, 1),
        "failed tries": "; ".join(f"{number} x {reason}" for reason, number in tally.errors.most_common()) or 0,
    }
