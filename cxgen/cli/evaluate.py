"""From the dataset to a number."""

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from click import Choice
from typer import Argument, Option, echo

from cxgen.asking import Consultation, Limits
from cxgen.build.tables import drop as leave_out
from cxgen.cli.asking import Cache, DryRun, PerRequest, Poll, Url, kept_in, limited, require_all_asked, tell_estimate, tell_outcomes
from cxgen.cli.options import Form, commands
from cxgen.cli.output import Format, busy, emit, note, print_json
from cxgen.errors import CxgenError
from cxgen.evaluation.likelihood import Measure, Unit
from cxgen.evaluation.model import PLAIN, Examination, estimate, examine, suited
from cxgen.evaluation.predictions import write_predictions
from cxgen.evaluation.report import Evaluated, Part, mistakes, write_baseline
from cxgen.evaluation.rows import divided, few_verbs, further_tables, leaderboard_row, lines, overview, side_by_side, slices
from cxgen.facade import Constructicon
from cxgen.files import STDIN, require_file, require_other, require_place
from cxgen.layout import PREDICTIONS
from cxgen.measures.figures import Resampling
from cxgen.tables import require_ending, write_rows
from cxgen.vocabulary import Judge, Split

_BACKEND = "How a server is asked: call by call, or in OpenAI's batches: slower, half the price."
_BY = "By construction (default), verb_role (lexical, constructional), premise, split, design, band, side, switched, mode, value ..."
app = commands()


@app.command(
    epilog="cxgen evaluate --baseline word-pairs --config nli\n"
    "cxgen evaluate --model MODEL --base-url http://localhost:8000/v1 --config nli --limit 1500 --shots 3 --wrong wrong.csv\n"
    "cxgen evaluate --model hf:FOLDER --config nli --dry-run\n"
    "cxgen evaluate outputs/predictions/word-pairs-nli.jsonl --config nli --by band --by design"
)
@limited
def evaluate(
    limits: Limits,
    predictions: Annotated[
        list[Path] | None, Argument(help="Tables: id, and label or a number per answer; - reads JSON lines; several: side by side.")
    ] = None,
    configs: Annotated[list[str] | None, Option("--config", help="Only this config; repeatable. Default: all but the suites.")] = None,
    items: Annotated[list[Path] | None, Option(help="Items of your own: premise, hypothesis, label; or good, bad. Repeatable.")] = None,
    splits: Annotated[list[Split] | None, Option("--split", help="Which splits; several times for several. Default: test.")] = None,
    limit: Annotated[
        int | None, Option(min=1, help="At most so many items of each config: whole contrast sets, spread over constructions.")
    ] = None,
    against: Annotated[Path | None, Option(help="Other predictions of the same items: the difference, with interval and test.")] = None,
    baselines: Annotated[
        list[str] | None,
        Option("--baseline", help="A shallow one, trained on train: majority, hypothesis-only, word-pairs. Repeatable."),
    ] = None,
    model: Annotated[str | None, Option(help="Ask this model: a server's, or hf:FOLDER for one of this machine.")] = None,
    wording: Annotated[str, Option(help="How items are put: plain, told, quiz, scene, pair, variation-1 to -4, or your own.")] = PLAIN,
    shots: Annotated[int, Option(min=0, max=32, help="Examples shown first, from train or --examples.")] = 0,
    examples: Annotated[Path | None, Option(help="Your own examples, a table like those of --items.")] = None,
    thinks: Annotated[bool, Option("--think", help="Let the model think aloud before it answers.")] = False,
    backend: Annotated[str, Option(click_type=Choice(["openai", "openai-batch"]), help=_BACKEND)] = "openai",
    base_url: Url = None,
    per_request: PerRequest = 1,
    poll: Poll = 20.0,
    cache: Cache = None,
    dry_run: DryRun = False,
    measure: Annotated[
        Measure, Option(help="hf: likelihood, normalised (by tokens); masked: pll, pll_original; head: a classifier's.")
    ] = Measure.likelihood,
    unit: Annotated[Unit, Option(help="hf: answers given what is before (answer), texts (text), words that differ (word).")] = Unit.answer,
    batch: Annotated[int, Option(min=1, help="hf: texts at a time.")] = 16,
    labels: Annotated[str, Option(help="hf: what a classifier's outputs stand for: entailment,neutral,contradiction in their order.")] = "",
    output: Annotated[Path | None, Option("--output", "-o", help="Where predictions go; default: outputs/predictions/NAME.jsonl.")] = None,
    wrong: Annotated[Path | None, Option(help="Write the items that are answered wrong, construction by construction: a table.")] = None,
    drop: Annotated[Path | None, Option(help="Add the sets that are all right to this list: pipelines/dropped.csv.")] = None,
    hard: Annotated[Path | None, Option(help="Write the items of the other sets: a table.")] = None,
    by: Annotated[list[str] | None, Option(help=_BY)] = None,
    name: Annotated[str | None, Option(help="What the results are called; default: the file's or the model's name.")] = None,
    resamples: Annotated[int, Option(min=0, max=100_000, help="Resamples of verbs for the intervals; 0: no intervals.")] = 1000,
    seed: Annotated[int, Option(help="Of the resamples and of the choice of examples.")] = 1,
    whole: Annotated[bool, Option("--json", help="The whole report as one JSON object.")] = False,
    row: Annotated[bool, Option("--row", help="One row for a leaderboard.")] = False,
    form: Form = Format.table,
) -> None:
    """Score predictions, a baseline or a model: accuracy, contrast sets all right, look-alikes taken for their targets.

    Accuracy is the mean over constructions, intervals resample verbs. Predictions must be there for the whole part that is scored: all
    configs' test items, unless --config, --split, --items and --limit say otherwise. Several predictions, a baseline, a model come side by
    side in one table.
    """
    paths, about = [STDIN if path == Path("-") else path for path in predictions or []], dict[Path, dict[str, Any]]()
    count = len(paths) + len(baselines or ()) + (model is not None)
    if not count or (count > 1 and (name or output)):
        hint = "give files of predictions, --baseline or --model; --name and --output are for one"
        raise CxgenError("several things to score, and one name" if count else "nothing to score", hint=hint)
    if model is None and (dry_run or shots or examples or thinks or wording != PLAIN):
        raise CxgenError("--dry-run, --wording, --shots, --examples and --think are for a model", hint="give --model, or leave them out")
    _require_files((wrong, hard, drop), against)
    part = Part(tuple(configs or ()), _splits(splits, bool(items) and not configs), limit)
    evaluated = Evaluated.read(Constructicon().project, part, items or (), by or ())
    if limit:
        note(f"a part (--limit {limit}): {_counted(evaluated)}")
    beside = [*paths, *(items or ()), *filter(None, (against, examples, cache, wrong, drop, hard))]
    trained = {baseline: _place(evaluated, baseline, output, beside) for baseline in dict.fromkeys(baselines or ())}
    if model is not None:
        server = Consultation(Judge(backend), (), (), base_url, per_request, limits, kept_in(cache), poll)
        given = tuple(filter(None, labels.split(",")))
        asked = Examination(model, wording, shots, examples, thinks, seed, server, measure, unit, batch, given)
        if asked.local and (thinks or backend != "openai"):
            raise CxgenError("--think and --backend are for models behind a server", hint="leave them out with hf:")
        asked = suited(evaluated, asked)
        path = _place(evaluated, asked.name, output, [*beside, *trained.values()])
        _tell_sums(evaluated, asked)
        if dry_run:
            (emit if asked.local else tell_estimate)(estimate(evaluated, asked), form)
            return
        _ask(evaluated, asked, path)
        paths.append(path)
        about = {path: asked.about}
    for baseline, path in trained.items():
        with busy(f"training {baseline}"):
            write_baseline(evaluated, baseline, path)
        note(f"predictions: {path}")
        paths.append(path)
    with busy("resampling verbs"):
        other = (against.stem, evaluated.answers(against, note)) if against else None
        told, how = {name or called: evaluated.answers(path, note) for called, path in _named(paths).items()}, Resampling(resamples, seed)
        reports = [evaluated.report(*own, how, other, about.get(path, {})) for own, path in zip(told.items(), paths, strict=True)]
    if wrong is not None:
        write_rows(mistakes(evaluated, told), wrong)
        note(f"answered wrong: {wrong}")
    if drop or hard:
        solved = {name: why for called, answers in told.items() for name, why in evaluated.solved(called, answers).items()}
        _leave_out(evaluated, solved, drop, hard)
    if whole:
        print_json(reports if len(reports) > 1 else reports[0], sort_keys=True)
    elif row:
        emit([leaderboard_row(report) for report in reports], form)
    else:
        _show(reports, by or [], form)


def _splits(named: list[Split] | None, own: bool) -> tuple[str, ...]:
    """The splits that are named (none: test); ``own``: all that is scored are items of the user's, which are in none."""
    if named and own:
        raise CxgenError("--split is for the dataset: items of your own are in no split", hint="leave it out, or name a --config")
    return tuple(split.value for split in named) if named else Part.splits


def _counted(evaluated: Evaluated) -> str:
    own = evaluated.questions.group_by("config", maintain_order=True).agg(pl.len(), pl.col("construction").n_unique())
    return ", ".join(f"{items:,} items of {config}, of {number} constructions" for config, items, number in own.iter_rows())


def _tell_sums(evaluated: Evaluated, asked: Examination) -> None:
    pairs = [config for config in evaluated.items if evaluated.scoring(config).task == "choose"]
    if asked.local and pairs and (asked.measure, asked.unit) == (Measure.likelihood, Unit.answer):
        note(f"{', '.join(pairs)}: sums favour the shorter text of a pair; as CxMP scores: --measure normalised --unit text")


def _require_files(written: Iterable[Path | None], read: Path | None) -> None:
    """See, before any work, that files can be written, and that one is there."""
    for path in filter(None, written):
        require_ending(path)
        require_place(path)
    if read:
        require_file(read)


def _named(paths: list[Path]) -> dict[str, Path]:
    """What predictions are called: by the name of their file, or if several have the same, by its whole path."""
    if len({*map(os.path.realpath, paths)}) < len(paths):
        raise CxgenError("the same predictions are named twice", hint="name each once")
    called = (lambda path: path.stem), (lambda path: str(path.with_suffix(""))), str
    return next(named for call in called if len(named := {call(path): path for path in paths}) == len(paths))


def _place(evaluated: Evaluated, name: str, output: Path | None, beside: Iterable[Path]) -> Path:
    """Where predictions are written, which is none of the files ``beside``: the part is named where it is not the whole of test."""
    if output is not None and output.suffix != ".jsonl":
        raise CxgenError(f"--output {output}", hint="predictions are written as JSON lines: NAME.jsonl")
    path = output or evaluated.project.root / PREDICTIONS / f"{'-'.join([name, *evaluated.chosen])}.jsonl"
    require_place(path)
    require_other(path, beside)
    return path


def _ask(evaluated: Evaluated, asked: Examination, path: Path) -> None:
    """Ask and write; what a bound ended early is not scored."""
    beforehand = "how long that takes" if asked.local else "how many calls and tokens that takes"
    note(f"asking {asked.name} about {evaluated.questions.height:,} items (--dry-run: {beforehand})")
    try:
        examined = examine(evaluated, asked)
    except KeyboardInterrupt:
        note("stopped; what was answered, if anything was, is kept: the same command goes on there")
        raise
    whole = not any(outcome.stopped for outcome in examined.outcomes)
    think = "; a model that explains itself: --think" * (not asked.local and not asked.thinks)
    tell_outcomes(examined.outcomes, examined.undecided, ", which count as wrong" * whole + think)
    require_all_asked(examined.outcomes, ", nothing is scored: run again with a higher bound")
    write_predictions(examined.rows, path)
    said = Counter(row["label"] for row in examined.rows)
    note(f"predictions: {path}: {', '.join(f'{label} {count:,}' for label, count in said.most_common())}")


def _leave_out(evaluated: Evaluated, solved: dict[str, str], drop: Path | None, hard: Path | None) -> None:
    """The adversarial filter: list the sets that are solved, and write the items of the others."""
    if drop:
        note(leave_out(solved, drop))
    if hard:
        rows = evaluated.rest(solved)
        write_rows(rows, hard)
        note(f"{hard}: {rows.height} items of {rows['contrast_set'].n_unique()} contrast sets, {len(solved)} sets left out")


def _show(reports: list[dict[str, Any]], by: list[str], form: Format) -> None:
    """One report as a whole, of one config by construction, too, and with its further tables; several as one table."""
    report, *others = reports
    one = len(report["configs"]) == 1 and not others
    by = by or (["construction"] if one and all(len(own["by"].get("construction", ())) > 1 for own in report["configs"].values()) else [])
    if others and form is Format.table:
        rows = side_by_side(reports, by, lines)
        emit([{name: value for name, value in row.items() if value is not None} for row in rows], form)
    elif form is not Format.table:
        emit(side_by_side(reports, by) if others else slices(report, by), form)
    else:
        for table in filter(None, (*overview(report), *divided(report, by), *further_tables(report))):
            emit(table, form)
            echo()
        if not by and not one:
            note("each construction: --by construction; all figures of one config: --config NAME")
    for name in (name for name in by if not any(name in whole["by"] for own in reports for whole in own["configs"].values())):
        note(f"{name}: the items of this part have one value of it at most")
    if form is Format.table and report["resampling"]["resamples"]:
        for line in dict.fromkeys(line for own in reports for line in few_verbs(own["configs"])):
            note(line)
