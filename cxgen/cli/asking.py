"""Commands that ask models and writers: judge, ask, elicit."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from cxgen import layout
from cxgen.cli.options import Cache, DryRun, Form, ParamsFile, PerRequest, Poll, Url, commands, limited, open_project
from cxgen.cli.output import Format, emit, note, summarise
from cxgen.errors import CxgenError
from cxgen.vocabulary import JUDGING, PAIR_VERDICTS, PREMISE_VERDICTS, Judge

if TYPE_CHECKING:
    from cxgen.asking import Consultation, Limits, Outcome
    from cxgen.natural.writers import Elicitation

_BACKENDS = (
    "rules: nobody: offline; openai: models behind an OpenAI-compatible server; openai-batch: the same through OpenAI's batches: slower,"
    " half the price; file: whoever answers the requests in a file; replay: the frozen judgments of an earlier run"
)
_SOMEBODY = "a writer"  # of whom no more is known
_Requests = Annotated[Path | None, Option("--out", "--requests", help="file: the requests; written, and read again with --replies.")]
app = commands()
ask = commands("Ask a model for material: proposals for people to decide on.")
app.add_typer(ask, name="ask")


def tell_outcomes(outcomes: Sequence["Outcome"], undecided: Counter[str], rest: str) -> None:
    """On stderr: what was asked and spent, and how many answers are undecided, and why."""
    from cxgen.asking.consult import summary

    if outcomes:
        summarise([summary(outcome) for outcome in outcomes])
    if undecided:
        why = "; ".join(f"{reason}: {number}" for reason, number in undecided.most_common(3))
        note(f"{undecided.total()} undecided ({why}){rest}")


def require_all_asked(outcomes: Sequence["Outcome"], rest: str = "") -> None:
    """End with exit code 1 where a bound ended the asking early."""
    stopped = next((outcome.stopped for outcome in outcomes if outcome.stopped), "")
    if stopped:
        note(f"stopped by {stopped}; what was answered is kept{rest}")
        raise typer.Exit(1)


@app.command()
@limited
def judge(
    params: ParamsFile = None,
    backend: Annotated[Judge | None, Option(help=f"Who judges. {_BACKENDS}. Default: judge.backend of the parameters.")] = None,
    models: Annotated[list[str] | None, Option("--model", help="Model name; several vote. Default: judge.models.")] = None,
    tasks: Annotated[list[str] | None, Option("--task", help=f"What about: {', '.join(JUDGING)}. Default: judge.tasks.")] = None,
    base_url: Url = None,
    per_request: PerRequest = 10,
    poll: Poll = 20.0,
    cache: Cache = None,
    requests: _Requests = None,
    replies: Annotated[list[Path] | None, Option(help="file: the replies; one file for each --model.")] = None,
    export: Annotated[bool, Option("--export", help="Freeze the judgments in pipelines/judgments.parquet.")] = False,
    dry_run: DryRun = False,
    form: Form = Format.table,
    *,
    limits: "Limits",
) -> None:
    """Judge the candidates: premises prototypical / extended / unacceptable, pairs appropriate / inappropriate.

    Answers are kept: an interrupted run goes on where it was, and a second one costs nothing.

    Example: cxgen judge --backend openai --model gpt-4.1-mini --max-cost 5 --price-in 0.4 --price-out 1.6 --export
    """
    from cxgen.asking import Consultation
    from cxgen.asking import judge as judging

    project, settings = open_project(params)
    kept = cache.absolute() if cache else layout.ANSWERS
    who = (backend, tuple(models or ()), tuple(tasks or ()), base_url)
    asked = Consultation(*who, per_request, limits, kept, poll, export, tuple(replies or ()), requests)
    if dry_run:
        emit(judging.estimate(project, settings, asked), form)
        return
    if backend is Judge.file and requests and not replies:
        note(f"{judging.write_out(project, settings, asked, requests)} requests: {requests}")
        return
    result = judging.run(project, settings, asked)
    verdicts = dict.fromkeys([*PREMISE_VERDICTS, *PAIR_VERDICTS])
    emit(
        [{"construction": name, **{verdict: counts.get(verdict, 0) for verdict in verdicts}} for name, counts in result.counts.items()],
        form,
    )
    tell_outcomes(result.outcomes, result.undecided, f": {layout.UNDECIDED}; run again to ask about those without a reply")
    require_all_asked(result.outcomes)


@ask.command()
@limited
def fill(
    construction: Annotated[str, Argument(help="Construction.")],
    slot: Annotated[str, Option(help="The slot to fill.")],
    model: Annotated[str, Option(help="Model name.")],
    base_url: Url = None,
    n: Annotated[int, Option("--n", min=1, help="How many are asked about.")] = 10,
    count: Annotated[int, Option(min=1, max=50, help="Words for each sentence.")] = 8,
    seed: Annotated[int, Option(help="Another seed, other draws.")] = 1,
    frame: Annotated[str, Option(help="Only premises of this frame (cxgen lexicon show WORD names frames).")] = "",
    accept: Annotated[list[str] | None, Option(help="Put this one of the proposed words into the frame; all: every one.")] = None,
    form: Form = Format.table,
    *,
    limits: "Limits",
) -> None:
    """Words for a slot, each with whether the lexicon has it; and those that you accept, into the project's file of frames.

    Examples:  cxgen ask fill resultative --slot x --model gpt-4.1-mini --frame re-curtains
               cxgen ask fill resultative --slot x --model gpt-4.1-mini --frame re-curtains --accept awning --accept hatch
    """
    from cxgen.curate.asked import accept_words, accepted, propose, slot_questions
    from cxgen.facade import Constructicon

    if accept and not frame:
        raise CxgenError("no frame is named that is to get the words", hint="give --frame NAME")
    constructicon = Constructicon()
    project, loaded = constructicon.project, constructicon[construction].construction
    questions = slot_questions(loaded, slot, n, count, seed, frame)
    proposals, outcome = propose(project, loaded.lexicon, questions, model, base_url, limits)
    emit(proposals, form)
    tell_outcomes([outcome], Counter(), "")
    if accept:
        path, entries = accept_words(project, loaded, frame, slot, accepted(proposals, accept))
        for entry in entries:
            note(f"{path.relative_to(project.root)}: {entry}")


@app.command()
@limited
def elicit(
    construction: Annotated[str, Argument(help="Construction; its template file has a section natural.")],
    params: ParamsFile = None,
    n: Annotated[int, Option("--n", min=1, help="How many sets.")] = 10,
    start: Annotated[int, Option(min=0, help="Number of the first set.")] = 0,
    seed: Annotated[int, Option(help="Another seed, other seed words.")] = 1,
    backend: Annotated[Judge, Option(help="Who writes: openai, openai-batch, file, or replay (what was answered before).")] = Judge.file,
    model: Annotated[str, Option(help="Who writes: model name.")] = "",
    base_url: Url = None,
    out: _Requests = None,
    replies: Annotated[Path | None, Option(help="file: the writer's replies.")] = None,
    judges: Annotated[list[str] | None, Option("--judge", help="Who judges: model name; several vote.")] = None,
    judge_backend: Annotated[Judge | None, Option(help="How the judges are asked. Default: as the writer.")] = None,
    judge_out: Annotated[Path | None, Option("--judge-out", "--judge-requests", help="file: requests to the judges, as --out.")] = None,
    judge_replies: Annotated[list[Path] | None, Option(help="file: a judge's replies; one file for each --judge.")] = None,
    accept: Annotated[bool, Option("--accept", help="Keep what the judges pass in pipelines/natural.parquet.")] = False,
    by: Annotated[str, Option(help="Who wrote the sets, in words, for the card. Default: the model.")] = "",
    poll: Poll = 20.0,
    dry_run: DryRun = False,
    form: Form = Format.table,
    *,
    limits: "Limits",
) -> None:
    """Have a writer fill a construction's squares in words of its own; check what it wrote; have it judged; keep what is good.

    Replies are kept: an interrupted run goes on where it was. What is refused is in outputs/work/refused_sets.jsonl, with the reasons.

    Examples:  cxgen elicit resultative --n 50 --backend openai --model gpt-4.1 --judge gpt-4.1-mini --accept
               cxgen elicit resultative --n 50 --out requests.jsonl
               cxgen elicit resultative --requests requests.jsonl --replies replies.jsonl
    """
    from cxgen.asking import Consultation, consult
    from cxgen.facade import Constructicon
    from cxgen.natural import writers

    project, settings = open_project(params)
    loaded = Constructicon()[construction].construction
    files = backend is Judge.file
    if files and not (replies or out):
        raise CxgenError("no file for the requests", hint="give --out FILE; then --requests FILE --replies FILE")
    writer = Consultation(
        backend=backend,
        models=(model or _SOMEBODY,) if model or files else (),
        base_url=base_url,
        limits=limits,
        poll=poll,
        replies=(replies,) if replies else (),
        requests=out if replies else None,
    )
    answered = out if files and replies else None
    wanted = writers.of_requests(project, loaded, answered) if answered else writers.of_numbers(project, loaded, seed, start, n)
    if dry_run:
        emit(consult.estimate(wanted.consulting(project, writer), wanted.prompts, wanted.shown), form)
        return
    if files and out and not replies:
        note(f"{consult.write_out(wanted.consulting(project, writer), wanted.prompts, wanted.shown, out)} requests: {out}")
        return
    panel = replace(
        writer,
        backend=judge_backend or backend,
        models=tuple(judges or ()),
        per_request=10,
        replies=tuple(judge_replies or ()),
        requests=judge_out if judge_replies else None,
    )
    if accept and not panel.models:
        raise CxgenError("nobody is named to judge the sets: only what judges pass is kept", hint="give --judge MODEL")
    unasked = judge_out if not judge_replies else None
    answers, outcomes = _answered((project, settings), wanted, writer, panel, unasked)
    emit(writers.table(answers), form)
    tell_outcomes(outcomes, Counter(), "")
    _keep(project, answers, by if accept and not unasked else None)
    require_all_asked(outcomes)


def _answered(
    opened: tuple[Any, Any], wanted: "Elicitation", writer: "Consultation", panel: "Consultation", judge_out: Path | None
) -> tuple[list[Any], list["Outcome"]]:
    """Ask the writer, check, and ask the judges, or write the requests to them to ``judge_out``."""
    from cxgen.asking import Budget, consult
    from cxgen.natural import judged, writers

    project, settings = opened
    budget = Budget(writer.limits)
    answers, outcomes = writers.run(project, wanted, writer, budget)
    if judge_out:
        shown = judged.to_judge(settings, wanted.construction, answers)[1]
        panel = replace(panel, models=panel.models or (_SOMEBODY,), tasks=tuple(shown))
        note(f"{consult.write_out(panel, consult.load_prompts(project, shown), shown, judge_out)} requests to judges: {judge_out}")
    elif panel.models:
        answers, more = judged.judged(project, settings, wanted.construction, answers, panel, budget)
        outcomes = [*outcomes, *more]
    return answers, outcomes


def _keep(project: Any, answers: list[Any], by: str | None) -> None:
    """Note the refused sets, and keep the others as written by ``by``, if it is not None."""
    from cxgen.natural import judged, kept

    if refused := judged.note_refused(project, answers):
        note(f"{refused} sets refused: {layout.REFUSED_SETS}")
    if by is not None:
        count, twice = kept.accept(project.root / layout.NATURAL_SETS, answers, by)
        for name, why in twice.items():
            note(f"not kept: {name}: {why}")
        note(f"{count} sets kept: {layout.NATURAL_SETS}")
