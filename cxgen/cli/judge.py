"""The judge's command."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cxgen.cli.output import Format, emit, summarise
from cxgen.cli.pipeline import Form, ParamsFile, open_project
from cxgen.vocabulary import JUDGING, PAIR_VERDICTS, PREMISE_VERDICTS, Judge

if TYPE_CHECKING:
    from cxgen.stages.judge import Judged

_BACKENDS = "; ".join(f"{name}: {name.meaning}" for name in Judge)
# Named as the fields of Consultation and of Limits, which they become.
Backend = Annotated[Judge | None, typer.Option(help=f"Who judges beside the rules. {_BACKENDS}. Default: judge.backend of the parameters.")]
Models = Annotated[list[str] | None, typer.Option("--model", help="Model name; several vote. Default: judge.models.")]
Tasks = Annotated[list[str] | None, typer.Option("--task", help=f"What about: {', '.join(JUDGING)}. Default: judge.tasks.")]
Url = Annotated[str | None, typer.Option(envvar="OPENAI_BASE_URL", help="OpenAI-compatible server; key: OPENAI_API_KEY.")]
PerRequest = Annotated[int, typer.Option("--items-per-request", min=1, max=200, help="Items in a request.")]
Poll = Annotated[float, typer.Option(min=0.05, help="openai-batch: seconds between two looks at a batch.")]
Kept = Annotated[Path | None, typer.Option(help="Database of replies; default: .cxgen/replies.sqlite.")]
Out = Annotated[Path | None, typer.Option("--out", "--requests", help="file: the requests; written, and read again with --replies.")]
Replies = Annotated[list[Path] | None, typer.Option(help="file: the replies; one file for each --model.")]
Export = Annotated[bool, typer.Option("--export", help="Freeze the judgments in pipelines/judgments.parquet.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print requests, tokens and cost; send nothing.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Requests under way at most; fewer after 429s.")]
Requests = Annotated[float | None, typer.Option("--rpm", min=0.1, help="Requests per minute.")]
Tokens = Annotated[float | None, typer.Option("--tpm", min=1, help="Tokens per minute.")]
Tries = Annotated[int, typer.Option(min=1, help="How often a request is sent before it counts as failed.")]
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds for one try.")]
Deadline = Annotated[float, typer.Option(min=0.1, help="Seconds for a request with all its tries.")]
MostRequests = Annotated[int | None, typer.Option(min=0, help="Stop before more are sent, retries counted.")]
MostTokens = Annotated[int | None, typer.Option(min=0, help="Stop before more are used.")]
MostCost = Annotated[float | None, typer.Option(min=0.0, help="Stop before more is spent; needs the prices.")]
PriceIn = Annotated[float, typer.Option(min=0.0, help="Per million prompt tokens.")]
PriceOut = Annotated[float, typer.Option(min=0.0, help="Per million reply tokens.")]
Failures = Annotated[float, typer.Option(min=0.0, max=1.0, help="Stop when a larger share of requests failed for good.")]


def judge(
    params: ParamsFile = None,
    backend: Backend = None,
    models: Models = None,
    tasks: Tasks = None,
    base_url: Url = None,
    per_request: PerRequest = 10,
    concurrency: Concurrency = 8,
    requests_per_minute: Requests = None,
    tokens_per_minute: Tokens = None,
    tries: Tries = 6,
    timeout: Timeout = 120.0,
    deadline: Deadline = 900.0,
    max_requests: MostRequests = None,
    max_tokens: MostTokens = None,
    max_cost: MostCost = None,
    price_in: PriceIn = 0.0,
    price_out: PriceOut = 0.0,
    max_failures: Failures = 0.2,
    poll: Poll = 20.0,
    cache: Kept = None,
    requests: Out = None,
    replies: Replies = None,
    export: Export = False,
    dry_run: DryRun = False,
    form: Form = Format.table,
) -> None:
    """Judge the candidates: premises prototypical / extended / unacceptable, pairs appropriate / inappropriate.

    The rules judge first; models are asked only about what they leave open. Replies are kept: an interrupted run goes on where it was,
    and a second one costs nothing.

    Example: cxgen judge --backend openai --model gpt-4.1-mini --max-cost 5 --price-in 0.4 --price-out 1.6 --export
    """
    given = dict(locals())
    from cxgen.llm import Limits
    from cxgen.stages import judge as stage
    from cxgen.stages.consult import Consultation

    given |= {"models": tuple(models or ()), "tasks": tuple(tasks or ()), "replies": tuple(replies or ())}
    given["cache"] = cache.absolute() if cache else Consultation.cache
    given["limits"] = Limits(**{field.name: given[field.name] for field in fields(Limits) if field.name in given})
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
    from cxgen.layout import UNDECIDED
    from cxgen.stages.consult import summary

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
