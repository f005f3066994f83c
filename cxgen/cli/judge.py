"""The judge's command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cxgen.cli.output import Format, emit, summarise
from cxgen.errors import CxgenError, unknown

if TYPE_CHECKING:
    import polars as pl

    from cxgen.constructicon import Construction
    from cxgen.llm import Outcome
    from cxgen.project import Project
    from cxgen.stages.consult import Question
    from cxgen.stages.judge import Merge


_ALL, _DAYS = 50_000, 2 * 86_400.0


class BackendName(StrEnum):
    """Who judges."""

    rules = "rules"
    openai = "openai"
    batch = "openai-batch"
    replay = "replay"


def judge(
    params: Annotated[Path | None, typer.Option("--params", help="Parameter file; default: params.yaml.")] = None,
    backend: Annotated[BackendName | None, typer.Option(help="Default: judge.backend in the parameter file.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Model name; several vote. Default: judge.models.")] = None,
    task: Annotated[list[str] | None, typer.Option(help="acceptability, appropriateness, label. Default: judge.tasks.")] = None,
    base_url: Annotated[str | None, typer.Option(envvar="OPENAI_BASE_URL", help="OpenAI-compatible server; key: OPENAI_API_KEY.")] = None,
    items_per_request: Annotated[int, typer.Option(min=1, max=200)] = 10,
    concurrency: Annotated[int, typer.Option(min=1, help="Requests under way at most; fewer after 429s.")] = 8,
    rpm: Annotated[float | None, typer.Option(min=0.1, help="Requests per minute.")] = None,
    tpm: Annotated[float | None, typer.Option(min=1, help="Tokens per minute.")] = None,
    tries: Annotated[int, typer.Option(min=1, help="How often a request is sent before it counts as failed.")] = 6,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for one try.")] = 120.0,
    deadline: Annotated[float, typer.Option(min=0.1, help="Seconds for a request with all its tries.")] = 900.0,
    max_requests: Annotated[int | None, typer.Option(min=0, help="Stop before more are sent, retries counted.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=0, help="Stop before more are used.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0.0, help="Stop before more is spent; needs the prices.")] = None,
    price_in: Annotated[float, typer.Option(min=0.0, help="Per million prompt tokens.")] = 0.0,
    price_out: Annotated[float, typer.Option(min=0.0, help="Per million reply tokens.")] = 0.0,
    max_failures: Annotated[float, typer.Option(min=0.0, max=1.0, help="Stop when a larger share of requests failed for good.")] = 0.2,
    poll: Annotated[float, typer.Option(min=0.05, help="openai-batch: seconds between two looks at a batch.")] = 20.0,
    cache: Annotated[Path | None, typer.Option(help="Database of replies; default: .cxgen/replies.sqlite.")] = None,
    export: Annotated[bool, typer.Option("--export", help="Freeze the judgments in pipelines/judgments.parquet.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print requests, tokens and cost; send nothing.")] = False,
    form: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.table,
) -> None:
    """Judge the candidates: premises prototypical / extended / unacceptable, pairs appropriate / inappropriate.

    Replies are kept: an interrupted run goes on where it was, and a second one costs nothing.

    Example: cxgen judge --backend openai --model gpt-4.1-mini --max-cost 5 --price-in 0.4 --price-out 1.6 --export
    """
    from cxgen.llm import Limits
    from cxgen.project import Project
    from cxgen.stages import consult
    from cxgen.stages import judge as stage
    from cxgen.stages.params import Params

    project = Project.find()
    settings = Params.read(params or project.params)
    who = backend or BackendName(settings.backend)
    if who is BackendName.rules:
        _show(stage.run(project), form)
        consult.record(consult.NONE, project.root, consult.Question((), (), project.prompts))
        return
    tasks = tuple(task or settings.judge_tasks)
    for name in tasks:
        if name not in consult.TASKS:
            raise unknown("task", name, consult.TASKS)
    if max_cost is not None and not (price_in or price_out):
        raise CxgenError("--max-cost needs prices", hint="give --price-in and --price-out, per million tokens")
    question = consult.Question(
        models=tuple(dict.fromkeys(model or settings.judge_models)),
        tasks=tasks,
        prompts=project.prompts,
        per_request=items_per_request,
        limits=Limits(
            concurrency=concurrency,
            requests_per_minute=rpm,
            tokens_per_minute=tpm,
            tries=tries,
            timeout=timeout,
            deadline=deadline,
            max_requests=max_requests,
            max_tokens=max_tokens,
            max_cost=max_cost,
            price_in=price_in,
            price_out=price_out,
            max_failures=max_failures,
        ),
        cache=cache or project.root / consult.CACHE,
    )
    if who is BackendName.batch:  # everything is handed in at once, and a batch may take a day
        limits = replace(question.limits, concurrency=_ALL, timeout=_DAYS, deadline=_DAYS)
        question = replace(question, limits=limits)
    if who is not BackendName.replay and not question.models:
        raise CxgenError("no model is named", hint="give --model, or judge.models in params.yaml")
    if dry_run:
        from cxgen.lexicon import Lexicon

        items = stage.candidates(project)
        made = stage.constructions_of(items, project, Lexicon.of(project))
        emit(consult.estimate(question, {name: consult.fields_of(items, made, name) for name in tasks}), form)
        return
    consulted = _Consultation(project, question, who, base_url, export, poll)
    counts = stage.run(project, consulted)
    _show(counts, form)
    consulted.report()


class _Consultation:
    """Asks or replays when the stage has its items; keeps what there is to report."""

    def __init__(self, project: Project, question: Question, who: BackendName, base_url: str | None, export: bool, poll: float) -> None:
        self.project, self.question, self.who, self.base_url, self.export, self.poll = project, question, who, base_url, export, poll
        self.outcomes: list[Outcome] = []
        self.undecided = 0

    def __call__(self, items: pl.DataFrame, constructions: list[Construction]) -> Merge:
        from cxgen.llm.progress import watching
        from cxgen.stages import consult
        from cxgen.stages.frozen import FILE, freeze

        shown = {task: consult.fields_of(items, constructions, task) for task in self.question.tasks}
        frozen = self.project.root / FILE
        if self.who is BackendName.replay:
            judgments = consult.replay(frozen, shown, self.question)
        else:
            with watching() as watch:
                judgments, self.outcomes = consult.ask(self.question, shown, self._connect(), watch)
            if self.export:
                freeze(judgments.filter(judgments["call"] != ""), frozen)  # what a bound kept from being asked is no judgment
        self.undecided = consult.record(judgments, self.project.root, self.question)
        return lambda verdicts: consult.merge(verdicts, items, judgments, self.question.tasks)

    def _connect(self) -> Callable[[str], Any]:
        from cxgen.llm import require

        require()
        from cxgen.llm.client import OpenAIBackend

        if self.who is BackendName.batch:
            from cxgen.llm.batch import BatchBackend

            return lambda model: BatchBackend(self.base_url, model, self.question.cache, poll=self.poll)
        return lambda _: OpenAIBackend(self.base_url, self.question.limits.timeout)

    def report(self) -> None:
        """The run's summary on stderr; exit code 1 if a bound ended it early."""
        from cxgen.stages import consult

        if self.outcomes:
            summarise([consult.summary(outcome) for outcome in self.outcomes])
        if self.undecided:
            typer.echo(f"{self.undecided} undecided: {consult.UNDECIDED}; run again to ask about those without a reply", err=True)
        stopped = next((outcome.stopped for outcome in self.outcomes if outcome.stopped), "")
        if stopped:
            typer.echo(f"stopped by {stopped}; what was answered is kept", err=True)
            raise typer.Exit(1)


def _show(counts: dict[str, dict[str, int]], form: Format) -> None:
    verdicts = ("prototypical", "extended", "unacceptable", "undecided", "appropriate", "inappropriate")
    emit([{"construction": name, **{verdict: found.get(verdict, 0) for verdict in verdicts}} for name, found in counts.items()], form)
