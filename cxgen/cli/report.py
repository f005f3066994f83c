"""Commands that measure the finished dataset, and have people read it: report, review."""

from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option, echo, style

from cxgen import layout
from cxgen.asking.judge import descriptions
from cxgen.build.params import Params
from cxgen.build.tables import drop as leave_out
from cxgen.build.tables import packaged, refused, reviewed
from cxgen.check import require_sound
from cxgen.cli.options import Configs, Form, commands, open_project
from cxgen.cli.output import Format, Row, busy, emit, note, print_json, written
from cxgen.errors import CxgenError
from cxgen.facade import Constructicon
from cxgen.families import DEFAULT
from cxgen.files import require_other
from cxgen.measures.figures import Resampling, divided, within
from cxgen.publish import newer_source, stale_reasons
from cxgen.report import baselines as giveaways
from cxgen.report import reading as readings
from cxgen.report import variety as spread
from cxgen.report.page import write_page
from cxgen.review import score as scoring
from cxgen.review.answers import answers_of
from cxgen.review.answers import record as write_reading
from cxgen.review.form import Server
from cxgen.review.sample import ANSWERS, FILE, ITEM, Design
from cxgen.review.sheets import Kind
from cxgen.review.sheets import export as write
from cxgen.schema import TARGET
from cxgen.vocabulary import Split

_ENOUGH = 2400  # items of a construction, from which on figures scatter little enough for the gates
_Folder = Annotated[Path, Argument(help="Folder of the review.")]
app, report, review = commands(), commands(), commands()
app.add_typer(report, name="report")
app.add_typer(review, name="review")


@report.command(epilog="cxgen evaluate --baseline word-pairs --json > word-pairs.json && cxgen report html --evaluation word-pairs.json")
def html(
    output: Annotated[Path | None, Option("--output", "-o", help="File to write; default: outputs/report.html.")] = None,
    evaluations: Annotated[list[Path] | None, Option("--evaluation", help="What `cxgen evaluate --json` printed; repeatable.")] = None,
    sets: Annotated[int, Option(min=1, max=10_000, help="Contrast sets of each design in the browser.")] = 12,
) -> None:
    """One page about the dataset: counts, measures, audit, label matrices, models, and a browser of contrast sets. It needs no network."""
    project = Constructicon().project
    path = output or project.root / layout.PAGE
    with busy("writing the page"):
        size = write_page(project, path, evaluations or (), sets)
    written(path, f"{path}: {size / 1e6:.1f} MB")


@report.command()
def sizes(form: Form = Format.table) -> None:
    """What there is after `dvc repro`: rows per config and split, where they are, and what can be done next."""
    project = Constructicon().project
    counts = packaged(project)
    if newer := newer_source(project):
        piped = (project.root / layout.PIPELINE).is_file()
        for why in stale_reasons(project.root) if piped else ["run `cxgen build` and `cxgen package`"]:
            note(f"warning: these counts are of an older state: {newer} was changed after it; {why}")
    emit([{"config": config, "split": split, "rows": n} for config, splits in counts.items() for split, n in splits.items()], form)
    if form is Format.table:
        load = f'datasets.load_dataset("{layout.HUB}", "{DEFAULT if DEFAULT in counts else next(iter(counts))}")'
        echo(f"\n{layout.HUB}: parquet files, card and dataset_version.json; {layout.METRICS}: what was measured.")
        own = [name for name, path in project.template_files().items() if path.is_relative_to(project.root)]
        shown = own[0] if own and "resultative" not in own else "resultative"
        echo(f"Next: {load}; cxgen sample {shown}; cxgen publish OWNER/NAME --dry-run")
    if form is Format.table and (project.root / "Makefile").exists():
        echo("(`make` puts cxgen at .venv/bin/cxgen; README.md goes on from here)")


@report.command(epilog="cxgen report baselines conative")
def baselines(
    construction: Annotated[str | None, Argument(help="Items of this one, drawn now, nothing written. Default: the dataset.")] = None,
    form: Form = Format.table,
) -> None:
    """What can be had without understanding: give-away classifiers, and what words alone decide. Gates that break stop the pipeline.

    `gate` is what a figure may be: over all, in a config or in a construction, those farthest off first; `kept`: whether it is. A line
    without a gate is only told.
    """
    project, settings = open_project()
    with busy("training the give-away classifiers"):
        if construction is None:
            if newer := newer_source(project):
                note(f"measured: the dataset as it was built; {newer} was changed after it; `report baselines NAME` draws anew")
            result = giveaways.run(project, settings.folds, settings.workers)
        else:
            loaded = Constructicon()[construction].construction
            require_sound(loaded)
            result = giveaways.preview(loaded, settings.request, settings.folds)
    rows: list[Row] = []
    for family, name, measure in ((family, name, measure) for family, measures in result.items() for name, measure in measures.items()):
        gates, least = measure["gates"], measure["gates"].get("least", False)
        groups = divided(measure)
        groups["construction"].sort(key=itemgetter(2), reverse=not least)
        alone = len(measure["configs"]) == 1 and not gates.keys().isdisjoint(groups)
        for what, parts in groups.items():
            gate = gates.get(what)
            if gate is None and (alone if what == "overall" else len(parts) == 1):
                continue  # the same figure stands in another line
            bound = None if gate is None else f"at {'least' if least else 'most'} {gate}"
            for config, part, figure in parts:
                row = {"family": family, "measure": name, "config": config, "construction": part, "figure": figure}
                kept = None if gate is None else within(figure, gate, least=least)
                rows.append({**row, "chance": measure["chance"], "gate": bound, "kept": kept})
    emit(rows, form)
    _require_gates(result, settings)


def _require_gates(result: dict[str, Any], settings: Params) -> None:
    """End with exit code 1 where a gate is broken."""
    faults = list(giveaways.broken(result))
    for line in faults:
        note(f"gate broken: {line}")
    if faults and (n := settings.request.rows(DEFAULT)) < _ENOUGH:
        note(f"figures of few items scatter: n_per_construction is {n} in params.yaml, and gates are meant for {_ENOUGH} and more")
    if faults:
        raise typer.Exit(1)


@report.command("all")
def everything() -> None:
    """All of these in one process, as the pipeline does: baselines, variety, reading, plots. Gates that break stop the pipeline."""
    project, settings = open_project()
    with busy("measuring the dataset"):
        meanwhile = (partial(spread.run, project, settings.request.seed), partial(readings.run, project))
        result = giveaways.run(project, settings.folds, settings.workers, meanwhile)
        giveaways.plots(project)
    echo(f"{layout.METRICS}: baselines.json, variety.json, reading.json; {layout.PLOTS}")
    _require_gates(result, settings)


@report.command()
def variety(form: Form = Format.table) -> None:
    """Numbers of sentences, and the largest share of a template.

    Breadth: shapes (a template with a kind of opening and of closing phrase), place pairs, results, verbs, scenes, the largest shares. And
    texture: distinct bigrams and skeletons, lengths, first words, joined clauses, the commonest mould of a hypothesis. Its gates only warn:
    they are for the constructions that come with cxgen, from 400 premises on.
    """
    project, settings = open_project()
    with busy("measuring how varied the sentences are"):
        result = spread.run(project, settings.request.seed)
    rows = []
    for name, entry in result.items():
        figures = {what: value for part in ("breadth", "reach") for what, value in entry[part].items() if not isinstance(value, dict)}
        head = {"premises": entry["premises"], "templates": entry["templates"], "largest": entry["largest template share"]}
        rows.append({"construction": name, **head, **figures, **entry.get("texture", {})})
    emit(rows, form)
    if not spread.gated(result):
        note(f"no gates: they are for the constructions that come with cxgen, from {spread.ENOUGH} premises on")
    for line in spread.broken(result):
        note(f"gate not kept: {line}")


@report.command(epilog="cxgen report plots && dvc plots show --open")
def plots(form: Form = Format.table) -> None:
    """The main figures of the metrics as tables for `dvc plots show` and `dvc plots diff`: outputs/plots."""
    result = giveaways.plots(Constructicon().project)
    emit([{"file": f"{layout.PLOTS}/{name}.json", "rows": len(rows)} for name, rows in result.items()], form)


@report.command()
def reading(form: Form = Format.table) -> None:
    """Blind readings recorded in pipelines/readings/*.csv: agreement with the labels, and shares of sentences rated natural."""
    with busy("comparing readings with labels"):
        result = readings.run(Constructicon().project)
    emit([{"group": name, **shares} for name, shares in [("(all)", result["overall"]), *result["groups"].items()]], form)
    if result["gone"]:
        note(f"{result['gone']} answers are left out: their items are no longer there, or are targets in distinction")


@review.command(epilog="cxgen review export review --n 20 --as xlsx --split test --real attested.txt")
def export(
    folder: _Folder,
    n: Annotated[int, Option("--n", min=0, max=10_000, help="Items to decide per construction, look-alike and list.")] = 20,
    sentences: Annotated[int, Option(min=0, max=10_000, help="Items whose sentences are rated, per construction and list.")] = 10,
    members: Annotated[int, Option(min=0, max=10_000, help="Premises of which is asked whether they are the construction.")] = 0,
    lists: Annotated[int, Option(min=1, max=200, help="Lists; an annotator gets one, several may get the same.")] = 3,
    checks: Annotated[int, Option(min=0, max=8, help="Attention checks per list and task (there are six of sentences).")] = 4,
    real: Annotated[Path | None, Option(help="Your attested sentences, one a line: mixed among those that are rated.")] = None,
    seed: Annotated[int, Option(help="Another seed, another sample.")] = 1,
    configs: Configs = None,
    splits: Annotated[list[Split] | None, Option("--split", help="Only this split; several times for several. Default: all.")] = None,
    kinds: Annotated[list[Kind] | None, Option("--as", help="xlsx, csv, jsonl, label-studio; repeatable. Default: xlsx.")] = None,
    form: Form = Format.table,
) -> None:
    """Write lists for blind annotators: no list has two items of a contrast set, and none tells a label.

    FOLDER/key.parquet says what stands where: keep it to yourself.
    """
    chosen = list(dict.fromkeys(kinds or [Kind.xlsx]))
    with busy("drawing lists"):
        constructicon = Constructicon()
        dataset = reviewed(constructicon.project, configs or ())
        if splits:
            dataset = dataset.filter(dataset["split"].is_in([split.value for split in splits]))
        names = dataset.select(name=TARGET)["name"].unique() if members else ()
        described = descriptions(constructicon[name].construction for name in names)
        told = {name: "{construction}: {form}. {meaning}".format(**own) for name, own in described.items()}
        rows = write(dataset, folder, Design(n, sentences, lists, checks, seed, members), chosen, configs or (), real, told)
    emit(rows, form)


@review.command()
def serve(
    folder: _Folder,
    port: Annotated[int, Option(min=0, max=65_535, help="Port; 0: any that is free.")] = 8765,
    host: Annotated[str, Option(help="Address to listen on; any but loopback lets others in: there are no passwords.")] = "127.0.0.1",
    names: Annotated[list[str] | None, Option("--name", help="Name by which browsers may call this machine, besides --host.")] = None,
) -> None:
    """A form in the browser, on this machine: every answer is saved at once in FOLDER/answers, and annotators go on where they stopped."""
    with Server(folder, host, port, names or ()) as server:
        note(f"{server.url} (Ctrl-C ends it; answers are in {folder / 'answers'})")
        server.serve_forever()


@review.command(epilog="cxgen review score review anna.xlsx ben.csv --drop pipelines/dropped.csv && dvc repro")
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
    """How far readers agree with the labels and with one another, how natural sentences are, and which items to mend."""
    for path in filter(None, (record, drop)):
        require_other(path, [folder / FILE, *(folder / ANSWERS).rglob("*")])
    if record and record.suffix.lower() != ".csv":
        raise CxgenError(f"--record {record}", hint="readings are pipelines/readings/NAME.csv")
    answers = answers_of(folder, files or [])
    with busy("resampling"):
        result = scoring.score(answers, Resampling(resamples, seed), everybody)
    if len(result["readers"]) > 1 and answers.filter(kind=ITEM)["code"].is_unique().all():
        note("no two readers have answered the same item: agreement needs readers of the same list")
    if record is not None:
        count = write_reading(answers, result, record, "model" if models else "human")
        note(f"{record}: {count} rows; `cxgen report reading` counts them")
    if drop is not None:
        note(leave_out(refused(result["mend"], least), drop))
    if whole:
        print_json(result, sort_keys=True)
    elif form is not Format.table:
        emit([{"table": title, **row} for title, rows in scoring.tables(result).items() for row in rows], form)
    else:
        for title, rows in scoring.tables(result).items():
            if rows:
                echo(style(title, bold=True))
                emit(rows, form)
                echo()
