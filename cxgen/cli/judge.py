"""The judge's command."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cxgen.cli import asking
from cxgen.cli.options import Form, ParamsFile, open_project
from cxgen.cli.output import Format, emit, summarise
from cxgen.vocabulary import JUDGING, PAIR_VERDICTS, PREMISE_VERDICTS, Judge

if TYPE_CHECKING:
    from cxgen.asking.judge import Judged

_BACKENDS = "; ".join(f"{name}: {name.meaning}" for name in Judge)
# Named as the fields of Consultation, which they become.
Backend = Annotated[Judge | None, typer.Option(help=f"Who judges. {_BACKENDS}. Default: judge.backend of the parameters.")]
Models = Annotated[list[str] | None, typer.Option("--model", help="Model name; several vote. Default: judge.models.")]
Tasks = Annotated[list[str] | None, typer.Option("--task", help=f"What about: {', '.join(JUDGING)}. Default: judge.tasks.")]
Replies = Annotated[list[Path] | None, typer.Option(help="file: the replies; one file for each --model.")]
Export = Annotated[bool, typer.Option("--export", help="Freeze the judgments in pipelines/judgments.parquet.")]


def judge(
    params: ParamsFile = None,
    backend: Backend = None,
    models: Models = None,
    tasks: Tasks = None,
    base_url: asking.Url = None,
    per_request: asking.PerRequest = 10,
    concurrency: asking.Concurrency = 8,
    requests_per_minute: asking.Requests = None,
    tokens_per_minute: asking.Tokens = None,
    tries: asking.Tries = 6,
    timeout: asking.Timeout = 120.0,
    deadline: asking.Deadline = 900.0,
    max_requests: asking.MostRequests = None,
    max_tokens: asking.MostTokens = None,
    max_cost: asking.MostCost = None,
    price_in: asking.PriceIn = 0.0,
    price_out: asking.PriceOut = 0.0,
    max_failures: asking.Failures = 0.2,
    poll: asking.Poll = 20.0,
    cache: asking.Kept = None,
    requests: asking.Out = None,
    replies: Replies = None,
    export: Export = False,
    dry_run: asking.DryRun = False,
    form: Form = Format.table,
) -> None:
    """Judge the candidates: premises prototypical / extended / unacceptable, pairs appropriate / inappropriate.

    Answers are kept: an interrupted run goes on where it was, and a second one costs nothing.

    Example: cxgen judge --backend openai --model gpt-4.1-mini --max-cost 5 --price-in 0.4 --price-out 1.6 --export
    """
    given = dict(locals())
    from cxgen.asking import Consultation
    from cxgen.asking import judge as stage

    given |= {"models": tuple(models or ()), "tasks": tuple(tasks or ()), "replies": tuple(replies or ())}
    given |= {"cache": asking.cache_of(given), "limits": asking.limits_of(given)}
    asked = Consultation(**{field.name: given[field.name] for field in fields(Consultation)})
    project, settings = open_project(params)
    if dry_run:
        emit(stage.estimate(project, settings, asked), form)
    elif backend is Judge.file and requests and not replies:
        typer.echo(f"{stage.write_out(project, settings, asked, requests)} requests: {requests}", err=True)
    else:
        _report(stage.run(project, settings, asked), form)


def _report(judged: Judged, form: Format) -> None:
    """The counts on stdout, what models took on stderr; exit code 1 if a bound ended the asking early."""
    from cxgen.asking.consult import summary
    from cxgen.layout import UNDECIDED

    verdicts = dict.fromkeys([*PREMISE_VERDICTS, *PAIR_VERDICTS])
    emit(
        [{"construction": name, **{verdict: found.get(verdict, 0) for verdict in verdicts}} for name, found in judged.counts.items()], form
    )
    if judged.outcomes:
        summarise([summary(outcome) for outcome in judged.outcomes])
    if judged.undecided:
        why = "; ".join(f"{reason}: {number}" for reason, number in judged.undecided.most_common(3))
        hint = "run again to ask about those without a reply"
        typer.echo(f"{judged.undecided.total()} undecided ({why}): {UNDECIDED}; {hint}", err=True)
    if judged.stopped:
        typer.echo(f"stopped by {judged.stopped}; what was answered is kept", err=True)
        raise typer.Exit(1)
