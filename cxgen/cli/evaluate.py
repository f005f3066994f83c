"""From the dataset to a number."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cxgen.cli import asking
from cxgen.cli.options import Form
from cxgen.cli.output import Format, busy, emit, summarise
from cxgen.errors import CxgenError
from cxgen.vocabulary import Judge, Split

if TYPE_CHECKING:
    from cxgen.evaluate.model import Examination
    from cxgen.evaluate.report import Evaluated


class Server(StrEnum):
    """How a model behind a server is asked."""

    openai = "openai"
    batch = "openai-batch"


Predictions = Annotated[Path | None, typer.Argument(help="JSON lines, CSV or parquet: id, and label or a number per answer.")]
Configs = Annotated[
    list[str] | None, typer.Option("--config", help="Only this config; several times for several. Default: all but the suites.")
]
Splits = Annotated[list[Split] | None, typer.Option("--split", help="Which splits; several times for several. Default: test.")]
Against = Annotated[Path | None, typer.Option(help="Other predictions of the same items: the difference, with interval and test.")]
Baseline = Annotated[str | None, typer.Option(help="Score a shallow predictor, trained on train: majority, hypothesis-only, word-pairs.")]
Model = Annotated[str | None, typer.Option(help="Ask this model: a server's, or hf:FOLDER for one of this machine.")]
Backend = Annotated[Server, typer.Option(help="How a server is asked: call by call, or in OpenAI's batches: slower, half the price.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Predictions to write; default: outputs/predictions/NAME.jsonl.")]
By = Annotated[
    list[str] | None,
    typer.Option(
        help="Divide by construction (default), premise, split, design, band, side, entity_type, switched, mode, value, scenario ..."
    ),
]
Name = Annotated[str | None, typer.Option(help="What the results are called; default: the file's or the model's name.")]
Resamples = Annotated[int, typer.Option(min=0, max=100_000, help="Resamples of verbs for the intervals; 0: no intervals.")]
Seed = Annotated[int, typer.Option(help="Of the resamples and of the choice of examples.")]
Whole = Annotated[bool, typer.Option("--json", help="The whole report as one JSON object.")]
Row = Annotated[bool, typer.Option("--row", help="One row for a leaderboard.")]
Wording = Annotated[str, typer.Option(help="How items are put: plain, told, quiz, scene, pair, or one of your own (pipelines/prompts).")]
Shots = Annotated[int, typer.Option(min=0, max=32, help="Examples shown first, from train or --examples.")]
Examples = Annotated[Path | None, typer.Option(help="Your own examples: JSON lines with premise, hypothesis, label (or context, ...).")]
Think = Annotated[bool, typer.Option("--think", help="Let the model think aloud before it answers.")]
MeasureName = Annotated[str, typer.Option("--measure", help="hf: likelihood, normalised (by tokens); masked models: pll, pll_original.")]
UnitName = Annotated[
    str, typer.Option("--unit", help="hf: compare answers given what is before (answer), texts (text), words that differ (word).")
]
Batch = Annotated[int, typer.Option(min=1, help="hf: texts at a time.")]


def evaluate(
    predictions: Predictions = None,
    configs: Configs = None,
    splits: Splits = None,
    against: Against = None,
    baseline: Baseline = None,
    model: Model = None,
    wording: Wording = "plain",
    shots: Shots = 0,
    examples: Examples = None,
    thinks: Think = False,
    backend: Backend = Server.openai,
    base_url: asking.Url = None,
    per_request: asking.PerRequest = 1,
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
    dry_run: asking.DryRun = False,
    measure: MeasureName = "likelihood",
    unit: UnitName = "answer",
    batch: Batch = 16,
    output: Output = None,
    by: By = None,
    name: Name = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    whole: Whole = False,
    row: Row = False,
    form: Form = Format.table,
) -> None:
    """Score predictions, a baseline or a model: accuracy, contrast sets all right, look-alikes taken for their targets.

    Accuracy is the mean over constructions, intervals resample verbs. What is predicted must be just the part that is scored: all configs'
    test items, unless --config and --split say otherwise.

    Examples:  cxgen evaluate --baseline word-pairs
               cxgen evaluate predictions.jsonl --config nli --by construction --by band
               cxgen evaluate mine.csv --config nli --against outputs/predictions/word-pairs-nli.jsonl
               cxgen evaluate --model MODEL --base-url http://localhost:8000/v1 --config nli --shots 3
               cxgen evaluate --model gpt-4.1-mini --backend openai-batch --config nli
    """
    given = dict(locals())
    from cxgen.evaluate.report import Evaluated, Part, write_baseline
    from cxgen.measures.figures import Resampling
    from cxgen.project import Project

    if sum(option is not None for option in (predictions, baseline, model)) != 1:
        raise CxgenError("nothing, or more than one thing, to score", hint="give a file of predictions, --baseline or --model")
    part = Part(tuple(configs or ()), tuple(split.value for split in splits) if splits else Part.splits)
    evaluated = Evaluated.read(Project.find(), part)
    if model is not None:
        asked = _examination(given)
        if dry_run:
            from cxgen.evaluate.model import estimate

            emit(estimate(evaluated, asked), form)
            return
        path = _written(evaluated, asked.name, output, lambda file: _ask(evaluated, asked, file))
    elif baseline is not None:
        with busy(f"training {baseline}"):
            path = _written(evaluated, baseline, output, lambda file: write_baseline(evaluated, baseline, file))
    else:
        path = Path(str(predictions))
    with busy("resampling verbs"):
        other = (against.stem, evaluated.answers(against)) if against else None
        report = evaluated.report(name or path.stem, evaluated.answers(path), Resampling(resamples, seed), other)
    _show(report, by or [], whole=whole, row=row, form=form)


def _written(evaluated: Evaluated, name: str, output: Path | None, write: Callable[[Path], None]) -> Path:
    """Where the predictions were written: the part is named where it is not the whole of test."""
    from cxgen.files import require_place
    from cxgen.layout import PREDICTIONS

    if output is not None and output.suffix != ".jsonl":
        raise CxgenError(f"--output {output}", hint="predictions are written as JSON lines: NAME.jsonl")
    path = output or evaluated.project.root / PREDICTIONS / f"{'-'.join([name, *evaluated.chosen])}.jsonl"
    require_place(path)
    write(path)
    typer.echo(f"predictions: {path}", err=True)
    return path


def _examination(given: dict[str, Any]) -> Examination:
    from cxgen.evaluate.likelihood import Measure, Unit
    from cxgen.evaluate.model import Examination

    given |= {"cache": asking.cache_of(given), "limits": asking.limits_of(given), "backend": Judge(given["backend"])}
    for option, kind in (("measure", Measure), ("unit", Unit)):
        if given[option] not in list(kind):
            raise CxgenError(f"--{option} {given[option]}", hint=f"one of {', '.join(kind)}")
        given[option] = kind(given[option])
    asked = Examination(**{field.name: given[field.name] for field in fields(Examination)})
    if asked.local and (asked.thinks or given["dry_run"] or asked.backend is Judge.batch):
        raise CxgenError("--think, --dry-run and --backend are for models behind a server", hint="leave them out with hf:")
    return asked


def _ask(evaluated: Evaluated, asked: Examination, path: Path) -> None:
    """Ask and write; what a bound ended early is not scored."""
    from cxgen.asking.consult import summary
    from cxgen.evaluate.model import examine, partial_of
    from cxgen.evaluate.predictions import write_predictions

    examined = examine(evaluated, asked, path)
    if examined.outcomes:
        summarise([summary(outcome) for outcome in examined.outcomes])
    if examined.undecided:
        why = "; ".join(f"{reason}: {number}" for reason, number in examined.undecided.most_common(3))
        typer.echo(f"{examined.undecided.total()} undecided ({why}), which count as wrong", err=True)
    if examined.stopped:
        typer.echo(f"stopped by {examined.stopped}; what was answered is kept, nothing is scored: run again with a higher bound", err=True)
        raise typer.Exit(1)
    write_predictions(examined.rows, path)
    partial_of(path).unlink(missing_ok=True)


def _show(report: dict[str, Any], by: list[str], *, whole: bool, row: bool, form: Format) -> None:
    from cxgen.evaluate.report import further_tables, leaderboard_row, slices

    dimensions = by or (["construction"] if any("construction" in config["by"] for config in report["configs"].values()) else [])
    rows = slices(report, dimensions)
    if whole:
        typer.echo(json.dumps(report, ensure_ascii=False, indent=2, sort_keys=True))
    elif row:
        emit([leaderboard_row(report)], form)
    elif form is not Format.table:
        emit(rows, form)
    else:
        for table in (rows, *further_tables(report)):
            if table:
                emit([_brief(line) for line in table], form)
                typer.echo()


def _brief(line: dict[str, Any]) -> dict[str, Any]:
    """Figures with their intervals in one cell; what does not apply is left out."""
    cells = {name: value for name, value in line.items() if not name.endswith(" interval") and value is not None}
    spans = {name: line.get(f"{name} interval") for name in cells}
    return {name: f"{value:.3f} ({spans[name]})" if spans[name] else value for name, value in cells.items()}
