"""Having the data reviewed by people."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option, echo, style

from cxgen.build.tables import drop as add_refused
from cxgen.build.tables import with_natural
from cxgen.cli.options import Configs, Form, commands
from cxgen.cli.output import Format, busy, emit, note, print_json
from cxgen.facade import Constructicon
from cxgen.families import DEFAULT
from cxgen.measures.figures import Resampling
from cxgen.review import score as scoring
from cxgen.review.answers import answers_of
from cxgen.review.form import Server
from cxgen.review.sample import Design
from cxgen.review.sheets import Kind
from cxgen.review.sheets import export as write
from cxgen.vocabulary import Split

_Folder = Annotated[Path, Argument(help="Folder of the review.")]
_HOST = "Address to listen on. Others than loopback let others in: there are no passwords."
_KINDS = "xlsx, csv, jsonl, label-studio; several times for several. Default: xlsx."
app, review = commands(), commands()
app.add_typer(review, name="review")


@review.command()
def export(
    folder: _Folder,
    n: Annotated[int, Option("--n", min=0, max=10_000, help="Items to label per construction, look-alike and list.")] = 20,
    sentences: Annotated[int, Option(min=0, max=10_000, help="Items whose sentences are rated, per construction and list.")] = 10,
    lists: Annotated[int, Option(min=1, max=12, help="Lists; an annotator gets one, several may get the same.")] = 3,
    checks: Annotated[int, Option(min=0, max=8, help="Attention checks per list and task (there are six of sentences).")] = 4,
    real: Annotated[Path | None, Option(help="Your attested sentences, one a line: mixed among those that are rated.")] = None,
    seed: Annotated[int, Option(help="Another seed, another sample.")] = 1,
    configs: Configs = None,
    splits: Annotated[list[Split] | None, Option("--split", help="Only this split; several times for several. Default: all.")] = None,
    kinds: Annotated[list[Kind] | None, Option("--as", help=_KINDS)] = None,
    form: Form = Format.table,
) -> None:
    """Write lists for blind annotators: no list has two items of a contrast set, and none tells a label.

    FOLDER/key.parquet says what stands where: keep it to yourself.

    Example: cxgen review export review --n 20 --as xlsx --split test --real attested.txt
    """
    chosen = list(dict.fromkeys(kinds or [Kind.xlsx]))
    with busy("drawing lists"):
        dataset = with_natural(Constructicon().project, DEFAULT)
        if splits:
            dataset = dataset.filter(dataset["split"].is_in([split.value for split in splits]))
        rows = write(dataset, folder, Design(n, sentences, lists, checks, seed), chosen, configs or (), real)
    emit(rows, form)


@review.command()
def serve(
    folder: _Folder,
    port: Annotated[int, Option(min=0, max=65_535, help="Port; 0: any that is free.")] = 8765,
    host: Annotated[str, Option(help=_HOST)] = "127.0.0.1",
    names: Annotated[list[str] | None, Option("--name", help="Name by which browsers may call this machine, besides --host.")] = None,
) -> None:
    """A form in the browser, on this machine: every answer is saved at once in FOLDER/answers, and annotators go on where they stopped."""
    with Server(folder, host, port, names or ()) as server:
        note(f"{server.url} (Ctrl-C ends it; answers are in {folder / 'answers'})")
        server.serve_forever()


@review.command()
def score(
    folder: _Folder,
    files: Annotated[list[Path] | None, Argument(help="Filled lists; default: what is in FOLDER/answers.")] = None,
    drop: Annotated[Path | None, Option(help="Add the sets that readers refuse to this list: pipelines/dropped.csv.")] = None,
    least: Annotated[int, Option(min=1, help="--drop: readers of an item, of whom more than half contradict its label.")] = 2,
    record: Annotated[Path | None, Option(help="Write the answers as a reading, for the card: pipelines/readings/NAME.csv.")] = None,
    models: Annotated[bool, Option("--models", help="--record: the readers were language models.")] = False,
    everybody: Annotated[bool, Option("--everybody", help="Count readers who fail the attention checks, too.")] = False,
    resamples: Annotated[int, Option(min=0, max=100_000, help="Resamples of contrast sets for the intervals; 0: none.")] = 1000,
    seed: Annotated[int, Option(help="Of the resamples.")] = 1,
    whole: Annotated[bool, Option("--json", help="The whole report as one JSON object.")] = False,
    form: Form = Format.table,
) -> None:
    """How far readers agree with the labels and with one another, how natural sentences are, and which items to mend.

    Example: cxgen review score review anna.xlsx ben.csv --drop pipelines/dropped.csv && dvc repro
    """
    answers = answers_of(folder, files or [])
    with busy("resampling"):
        report = scoring.score(answers, Resampling(resamples, seed), everybody)
    if record is not None:
        count = scoring.record(answers, report, record, "model" if models else "human")
        note(f"{record}: {count} rows; `cxgen report reading` counts them")
    if drop is not None:
        counts = add_refused(report["mend"], drop, least)
        note(f"{drop}: {counts['added']} contrast sets added, {counts['there']} were there")
    if whole:
        print_json(report, sort_keys=True)
    elif form is not Format.table:
        emit([{"table": title, **row} for title, rows in scoring.tables(report).items() for row in rows], form)
    else:
        for title, rows in scoring.tables(report).items():
            if rows:
                echo(style(title, bold=True))
                emit(rows, form)
                echo()
