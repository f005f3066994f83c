"""Asking a writer for contrast sets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cxgen.cli import asking
from cxgen.cli.options import Form, ParamsFile, open_project
from cxgen.cli.output import Format, emit, summarise
from cxgen.errors import CxgenError
from cxgen.vocabulary import Judge

if TYPE_CHECKING:
    from cxgen.asking import Consultation
    from cxgen.natural.writers import Elicitation

_NOBODY = "a writer"  # of whom no more is known
Construction = Annotated[str, typer.Argument(help="Construction; its template file has a section natural.")]
Number = Annotated[int, typer.Option("--n", min=1, help="How many sets.")]
Start = Annotated[int, typer.Option(min=0, help="Number of the first set.")]
Seed = Annotated[int, typer.Option(help="Another seed, other seed words.")]
Backend = Annotated[Judge, typer.Option(help="Who writes: openai, openai-batch, file, or replay (what was answered before).")]
Model = Annotated[str, typer.Option(help="Who writes: model name.")]
Replies = Annotated[Path | None, typer.Option(help="file: the writer's replies.")]
Judges = Annotated[list[str] | None, typer.Option("--judge", help="Who judges: model name; several vote.")]
JudgeBackend = Annotated[Judge | None, typer.Option(help="How the judges are asked. Default: as the writer.")]
JudgeOut = Annotated[Path | None, typer.Option("--judge-out", "--judge-requests", help="file: requests to the judges, as --out.")]
JudgeReplies = Annotated[list[Path] | None, typer.Option(help="file: a judge's replies; one file for each --judge.")]
Accept = Annotated[bool, typer.Option("--accept", help="Keep what the judges pass in pipelines/natural.parquet.")]
By = Annotated[str, typer.Option(help="Who wrote the sets, in words, for the card. Default: the model.")]


def elicit(
    construction: Construction,
    params: ParamsFile = None,
    n: Number = 10,
    start: Start = 0,
    seed: Seed = 1,
    backend: Backend = Judge.file,
    model: Model = "",
    base_url: asking.Url = None,
    out: asking.Out = None,
    replies: Replies = None,
    judges: Judges = None,
    judge_backend: JudgeBackend = None,
    judge_out: JudgeOut = None,
    judge_replies: JudgeReplies = None,
    accept: Accept = False,
    by: By = "",
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
    dry_run: asking.DryRun = False,
    form: Form = Format.table,
) -> None:
    """Have a writer fill a construction's squares in words of its own; check what it wrote; have it judged; keep what is good.

    Replies are kept: an interrupted run goes on where it was. What is refused is in outputs/work/refused_sets.jsonl, with the reasons.

    Examples:  cxgen elicit resultative --n 50 --backend openai --model gpt-4.1 --judge gpt-4.1-mini --accept
               cxgen elicit resultative --n 50 --out requests.jsonl
               cxgen elicit resultative --requests requests.jsonl --replies replies.jsonl
    """
    given = dict(locals())
    from cxgen.asking import Consultation, consult
    from cxgen.cli.explore import load
    from cxgen.natural import writers

    project, _ = open_project(params)
    loaded = load(construction)
    files = backend is Judge.file
    asked = Consultation(
        backend=backend,
        models=(model or _NOBODY,) if model or files else (),
        base_url=base_url,
        limits=asking.limits_of(given),
        poll=poll,
        replies=(replies,) if replies else (),
        requests=out if replies else None,
    )
    if files and replies is None and out is None:
        raise CxgenError("no file for the requests", hint="give --out FILE; then --requests FILE --replies FILE")
    if files and replies is not None and out is not None:
        wanted = writers.of_requests(project, loaded, out)
    else:
        wanted = writers.of_numbers(project, loaded, seed, start, n)
    if dry_run:
        emit(consult.estimate(wanted.consulting(project, asked), wanted.prompts, wanted.shown), form)
    elif files and replies is None and out is not None:
        count = consult.write_out(wanted.consulting(project, asked), wanted.prompts, wanted.shown, out)
        typer.echo(f"{count} requests: {out}", err=True)
    else:
        judging = replace(
            asked,
            backend=judge_backend or backend,
            models=tuple(judges or ()),
            per_request=10,
            replies=tuple(judge_replies or ()),
            requests=judge_out if judge_replies else None,
        )
        if accept and not judging.models:
            raise CxgenError("nobody is named to judge the sets: only what judges pass is kept", hint="give --judge MODEL")
        keep = by if accept else None
        _answered(wanted, (asked, judging), None if judge_replies else judge_out, params, keep=keep, form=form)


def _answered(
    wanted: Elicitation,
    asked: tuple[Consultation, Consultation],
    judge_out: Path | None,
    params: Path | None,
    *,
    keep: str | None,
    form: Format,
) -> None:
    """Ask the writer, check, ask the judges (or write their requests), keep; exit code 1 if a bound ended the asking early."""
    from cxgen import layout
    from cxgen.asking import Budget, consult
    from cxgen.natural import judged, kept, writers

    writing, judging = asked
    project, settings = open_project(params)
    budget = Budget(writing.limits)
    answers, outcomes = writers.run(project, wanted, writing, budget)
    if judge_out:
        shown = judged.to_judge(settings, wanted.construction, answers)[1]
        asking_ = replace(judging, models=judging.models or (_NOBODY,), tasks=tuple(shown))
        count = consult.write_out(asking_, consult.load_prompts(project, shown), shown, judge_out)
        typer.echo(f"{count} requests to judges: {judge_out}", err=True)
    elif judging.models:
        answers, more = judged.judged(project, settings, wanted.construction, answers, judging, budget)
        outcomes = [*outcomes, *more]
    emit(writers.table(answers), form)
    summarise([consult.summary(outcome) for outcome in outcomes])
    if refused := judged.note_refused(project, answers):
        typer.echo(f"{refused} sets refused: {layout.REFUSED_SETS}", err=True)
    if keep is not None and not judge_out:
        count, twice = kept.accept(project.root / layout.NATURAL_SETS, answers, keep)
        for name, why in twice.items():
            typer.echo(f"not kept: {name}: {why}", err=True)
        typer.echo(f"{count} sets kept: {layout.NATURAL_SETS}", err=True)
    if stopped := next((outcome.stopped for outcome in outcomes if outcome.stopped), ""):
        typer.echo(f"stopped by {stopped}; what was answered is kept", err=True)
        raise typer.Exit(1)
