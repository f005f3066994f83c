"""Commands that ask models and writers: judge, ask, elicit."""

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from click import Choice
from typer import Argument, Option

from cxgen.asking import Budget, Consultation, Limits, Outcome, consult
from cxgen.asking import judge as judging
from cxgen.asking.audit import AUDIT, score
from cxgen.build.clauses import tally
from cxgen.build.run import construction_names
from cxgen.cli.options import Form, Names, commands, open_project
from cxgen.cli.output import Format, emit, note, print_table
from cxgen.constructicon import load_construction
from cxgen.curate.scenes import accept_words, accepted, proposals, put, slot_questions
from cxgen.curate.written import add_scenes, pair_questions
from cxgen.errors import CxgenError
from cxgen.facade import Constructicon
from cxgen.layout import ANSWERS, NATURAL_SETS, REFUSED_SETS
from cxgen.lexicon import Lexicon
from cxgen.lexicon.verdicts import read_votes
from cxgen.natural import elicit as writers
from cxgen.natural.sets import asked as asked_sets
from cxgen.vocabulary import CLAUSES, INTERPRETATION, Judge

DryRun = Annotated[bool, Option("--dry-run", help="Print requests, tokens and cost; send nothing.")]
PerRequest = Annotated[int, Option("--items-per-request", min=1, max=200, help="Items in a request.")]
Poll = Annotated[float, Option(min=0.05, help="openai-batch: seconds between two looks at a batch.")]
Cache = Annotated[Path | None, Option(help="File of kept answers; default: .cxgen/answers.jsonl, of hf: models .cxgen/hf-NAME.jsonl.")]
Url = Annotated[str | None, Option(envvar="OPENAI_BASE_URL", help="OpenAI-compatible server; key: OPENAI_API_KEY.")]
_LIMITS: dict[str, Any] = {  # the options of whatever asks models: fields of Limits
    "concurrency": Option(min=1, help="Requests under way at most."),
    "requests_per_minute": Option("--rpm", min=0.1, help="Requests per minute."),
    "tokens_per_minute": Option("--tpm", min=1, help="Tokens per minute."),
    "tries": Option(min=1, help="How often a request is sent before it counts as failed."),
    "timeout": Option(min=0.1, help="Seconds for one try."),
    "deadline": Option(min=0.1, help="Seconds for a request with all its tries."),
    "max_requests": Option(min=0, help="Stop before more are sent, retries counted."),
    "max_tokens": Option(min=0, help="Stop before more are used."),
    "max_cost": Option(min=0.0, help="Stop before more is spent; needs the prices."),
    "price_in": Option(min=0.0, help="Per million prompt tokens."),
    "price_out": Option(min=0.0, help="Per million reply tokens."),
    "max_failures": Option(min=0.0, max=1.0, help="Stop when a larger share of requests failed for good."),
}
_SOMEBODY = "a writer"  # of whom no more is known
_Requests = Annotated[Path | None, Option("--out", "--requests", help="file: the requests; written, and read again with --replies.")]
app, ask = commands(), commands()
app.add_typer(ask, name="ask")


def limited(command: Callable[..., None]) -> Callable[..., None]:
    """Give ``command`` the options that bound what is asked; it gets them as its first argument."""

    @functools.wraps(command)
    def bounded(**given: Any) -> None:
        command(Limits(**{name: given.pop(name) for name in _LIMITS}), **given)

    _, *own = inspect.signature(command).parameters.values()
    kinds, limits, last = get_type_hints(Limits), Limits(), inspect.Parameter.KEYWORD_ONLY
    for name, option in _LIMITS.items():
        own.append(inspect.Parameter(name, last, default=getattr(limits, name), annotation=Annotated[kinds[name], option]))
    bounded.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    return bounded


def kept_in(cache: Path | None) -> Path:
    """Where answers are kept: the file that is named, else the project's."""
    return cache.absolute() if cache else ANSWERS


def tell_estimate(rows: Sequence[dict[str, Any]], form: Format) -> None:
    """What a run would send, and what may come on top."""
    emit(rows, form)
    note("that is with replies which can all be used: one that cannot is asked for twice more, and may be longer (--max-cost bounds it)")


def tell_outcomes(outcomes: Sequence[Outcome], undecided: Counter[str], rest: str = "") -> None:
    """On stderr: what was asked and spent, and how many answers are undecided, and why."""
    if outcomes:
        print_table([outcome.summary for outcome in outcomes], stderr=True)
    if undecided:
        numbers, example = Counter[str](), dict[str, str]()
        for reason, number in undecided.items():
            kind = reason.partition(': "')[0]  # without what was replied, of which one stands for all
            numbers[kind] += number
            example.setdefault(kind, reason)
        why = "; ".join(f"{number} x {example[kind]}" for kind, number in numbers.most_common(3))
        kept = "; those that were before are not asked again: --cache OTHER does" * any(outcome.summary["cached"] for outcome in outcomes)
        note(f"{undecided.total()} undecided ({why}){rest}{kept}")


def _reasons(outcomes: Sequence[Outcome]) -> Counter[str]:
    """Why answers are undecided."""
    return Counter(judgment.reason for outcome in outcomes for judgment in outcome.judgments if not judgment.value)


def require_all_asked(outcomes: Sequence[Outcome], rest: str = "") -> None:
    """End with exit code 1 where a bound ended the asking early."""
    for stopped in (outcome.stopped for outcome in outcomes if outcome.stopped):
        note(f"stopped by {stopped}; what was answered is kept{rest}")
        raise typer.Exit(1)


@app.command(
    epilog="cxgen judge --backend openai --model gpt-4.1-mini --max-cost 5 --price-in 0.4 --price-out 1.6\n"
    "cxgen judge resultative --backend file --model reader --out requests.jsonl\n"
    "cxgen judge"
)
@limited
def judge(
    limits: Limits,
    constructions: Names = None,
    backend: Annotated[Judge, Option(help="Who is asked; replay: nobody, what is frozen is counted.")] = Judge.replay,
    models: Annotated[list[str] | None, Option("--model", help="Model name; several vote.")] = None,
    tasks: Annotated[
        list[str] | None,
        Option("--task", click_type=Choice([*CLAUSES, INTERPRETATION]), help=f"What about. Default: {', '.join(CLAUSES)}."),
    ] = None,
    base_url: Url = None,
    per_request: PerRequest = 10,
    poll: Poll = 20.0,
    cache: Cache = None,
    requests: _Requests = None,
    replies: Annotated[list[Path] | None, Option(help="file: the replies; one file for each --model.")] = None,
    audited: Annotated[bool, Option("--audit", help="Ask about clauses that readers know to be good or bad; count the mistakes.")] = False,
    fresh: Annotated[bool, Option("--unjudged", help="Ask only about clauses that nobody has judged.")] = False,
    dry_run: DryRun = False,
    form: Form = Format.table,
) -> None:
    """Have clauses judged (what each scene says with each of its verbs), freeze the votes, and count what they refuse.

    Votes go to pipelines/judgments.parquet; with judge.backend: replay in params.yaml only accepted clauses are built. What a model has
    judged is not asked again: an interrupted run goes on where it was. With --audit the clauses are those of pipelines/audit.csv.
    """
    project, settings = open_project()
    if (requests or replies) and backend is not Judge.file:
        raise CxgenError(f"--out, --requests and --replies are not for the backend {backend}", hint="say --backend file")
    if models and backend is Judge.replay and not audited:
        raise CxgenError("--model: nobody is asked, frozen votes are counted", hint="say --backend openai, openai-batch or file")
    who, answers = (backend, tuple(models or ()), tuple(tasks or ()), base_url), tuple(replies or ())
    asked = Consultation(*who, per_request, limits, kept_in(cache), poll, answers, requests)
    names = constructions or (() if audited else construction_names(project, settings))
    questions, outcomes = partial(judging.questions, project, asked, names, audited=audited, fresh=fresh), list[Outcome]()
    if dry_run:
        tell_estimate(consult.estimate(*questions()), form)
        return
    if backend is Judge.file and requests and not replies:
        note(f"{consult.write_out(*questions(), requests)} requests: {requests}")
        return
    if backend is not Judge.replay:
        outcomes = judging.run(project, *questions())
    votes, lexicon = read_votes(project, AUDIT if audited else ""), Lexicon.of(project)
    if audited:
        emit(list(score(project, votes, asked.models)), form)
    else:
        loaded = (load_construction(project, name, lexicon, heard=False) for name in names)
        emit([{"construction": one.name, **tally(one, votes)[0]} for one in loaded], form)
    rest = "a reply has the custom_id of its request" if backend is Judge.file else "run again to ask about those without a reply"
    tell_outcomes(outcomes, _reasons(outcomes), f"; {rest}")
    require_all_asked(outcomes)


@ask.command(epilog="cxgen ask fill resultative --slot x --model gpt-4.1-mini --frame re-b-fence --accept awning --accept hatch")
@limited
def fill(
    limits: Limits,
    construction: Annotated[str, Argument(help="Construction.")],
    slot: Annotated[str, Option(help="The slot to fill.")],
    model: Annotated[str, Option(help="Model name.")],
    base_url: Url = None,
    n: Annotated[int, Option("--n", min=1, help="How many are asked about.")] = 10,
    count: Annotated[int, Option(min=1, max=50, help="Words for each sentence.")] = 8,
    seed: Annotated[int, Option(help="Another seed, other draws.")] = 1,
    frame: Annotated[str, Option(help="Only premises of this frame (cxgen lexicon show WORD names frames).")] = "",
    cache: Cache = None,
    accept: Annotated[list[str] | None, Option(help="Put this one of the proposed words into the frame; all: every one.")] = None,
    form: Form = Format.table,
) -> None:
    """Words for a slot, each with whether the lexicon has it; and those that you accept, into the project's file of frames."""
    if accept and not frame:
        raise CxgenError("no frame is named that is to get the words", hint="give --frame NAME")
    constructicon = Constructicon()
    project, loaded = constructicon.project, constructicon[construction].construction
    questions = slot_questions(loaded, slot, n, count, seed, frame)
    asked = Consultation(Judge.openai, (model,), ("fill",), base_url, limits=limits, cache=kept_in(cache))
    outcome = put(project, questions, asked)
    rows = proposals(loaded.lexicon, questions, outcome)
    emit(rows, form)
    tell_outcomes([outcome], _reasons([outcome]))
    if accept:
        path, entries = accept_words(project, loaded, frame, slot, accepted(rows, accept))
        for entry in entries:
            note(f"{path.relative_to(project.root)}: {entry}")
    require_all_asked([outcome])


@ask.command(
    epilog="cxgen ask pairs causative-with --scene mp-covers --model gpt-4.1 && cxgen judge causative-with --task interpretation ..."
)
@limited
def pairs(
    limits: Limits,
    construction: Annotated[str, Argument(help="Construction.")],
    scene: Annotated[str, Option(help="A scene of its minimal pairs: words of others like it are asked for.")],
    model: Annotated[str, Option(help="Model name.")],
    base_url: Url = None,
    count: Annotated[int, Option(min=1, max=50, help="Sentences in a call.")] = 50,
    seeds: Annotated[int, Option(min=1, max=100, help="Calls.")] = 8,
    cache: Cache = None,
    form: Form = Format.table,
) -> None:
    """Have a model fill a pair's template many times; what it writes goes to the proposed scenes, for judges (cxgen judge)."""
    constructicon = Constructicon()
    project, loaded = constructicon.project, constructicon[construction].construction
    slots, questions = pair_questions(loaded, scene, count, seeds)
    asked = Consultation(Judge.openai, (model,), ("pairs",), base_url, limits=limits, cache=kept_in(cache))
    outcome = put(project, questions, asked)
    path, told = add_scenes(project, loaded, scene, slots, outcome)
    emit([{"scenes": what, "number": number} for what, number in sorted(told.items())], form)
    tell_outcomes([outcome], _reasons([outcome]))
    note(f"{path.relative_to(project.root)}: nothing is drawn from them before `cxgen judge {construction}` has asked about them")
    require_all_asked([outcome])


@app.command(
    epilog="cxgen elicit resultative --n 50 --backend openai --model gpt-4.1 --judge gpt-4.1-mini --accept\n"
    "cxgen elicit resultative --requests requests.jsonl --replies replies.jsonl"
)
@limited
def elicit(
    limits: Limits,
    construction: Annotated[str, Argument(help="Construction; its template file has a section natural.")],
    n: Annotated[int, Option("--n", min=1, max=100_000, help="How many sets.")] = 10,
    start: Annotated[int, Option(min=0, max=2**31, help="Number of the first set.")] = 0,
    seed: Annotated[int, Option(help="Another seed, other seed words.")] = 1,
    backend: Annotated[Judge, Option(help="Who writes: openai, openai-batch, file, replay (what was answered before).")] = Judge.file,
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
) -> None:
    """Have a writer fill a construction's squares in words of its own; check what it wrote; have it judged; keep what is good.

    Replies are kept: an interrupted run goes on where it was. What is refused is in outputs/work/refused_sets.jsonl, with the reasons.
    """
    project, settings = open_project()
    loaded, files = Constructicon()[construction].construction, backend is Judge.file
    if files and not (replies or out):
        raise CxgenError("no file for the requests", hint="give --out FILE; then --requests FILE --replies FILE")
    models, answered = (model or _SOMEBODY,) if model or files else (), out if files and replies else None
    writer = Consultation(backend, models, (), base_url, limits=limits, poll=poll, replies=(replies,) if replies else (), requests=answered)
    sets = writers.asked_in(project, loaded, answered) if answered else asked_sets(loaded, seed, start, n)
    asked = writers.asking(project, loaded, sets, writer)
    if dry_run:
        tell_estimate(consult.estimate(*asked), form)
        return
    if files and out and not replies:
        note(f"{consult.write_out(*asked, out)} requests: {out}")
        return
    if accept and not judges:
        raise CxgenError("nobody is named to judge the sets: only what judges pass is kept", hint="give --judge MODEL")
    budget = Budget(limits)
    answers, outcomes = writers.run(project, loaded, sets, writer, budget)
    who, told = tuple(judges or ()), tuple(judge_replies or ())
    panel = replace(writer, backend=judge_backend or backend, models=who, replies=told, requests=judge_out)
    if judge_out and not told:
        shown = writers.to_judge(settings, loaded, answers)[1]
        panel = replace(panel, models=who or (_SOMEBODY,), tasks=tuple(shown))
        note(f"{consult.write_out(panel, consult.load_prompts(project, shown), shown, judge_out)} requests to judges: {judge_out}")
    elif judges:
        answers, more = writers.judged(project, settings, loaded, answers, panel, budget)
        outcomes = [*outcomes, *more]
    emit(writers.table(answers), form)
    tell_outcomes(outcomes, Counter())
    if refused := writers.note_refused(project, answers):
        note(f"{refused} sets refused: {REFUSED_SETS}")
    if accept and (judge_replies or not judge_out):
        count, twice = writers.accept(project.root / NATURAL_SETS, answers, by)
        for name, why in twice.items():
            note(f"not kept: {name}: {why}")
        note(f"{count} sets kept: {NATURAL_SETS}")
    require_all_asked(outcomes)
