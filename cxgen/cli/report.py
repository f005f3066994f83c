"""Commands that measure the finished dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cxgen import layout
from cxgen.cli.options import Form, ParamsFile, open_project
from cxgen.cli.output import Format, busy, emit
from cxgen.facade import Constructicon
from cxgen.vocabulary import Role

app = typer.Typer(help="Measures of the finished dataset.", no_args_is_help=True)


@app.command()
def html(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; default: outputs/report.html.")] = None,
    evaluations: Annotated[
        list[Path] | None, typer.Option("--evaluation", help="What `cxgen evaluate --json` printed; several times for several models.")
    ] = None,
    sets: Annotated[int, typer.Option(min=1, max=10_000, help="Contrast sets of each design in the browser.")] = 12,
) -> None:
    """One page about the dataset: counts, measures, audit, label matrices, models, and a browser of contrast sets. It needs no network.

    Examples:  cxgen report html
               cxgen evaluate --baseline word-pairs --json > word-pairs.json && cxgen report html --evaluation word-pairs.json
    """
    from cxgen.project import Project
    from cxgen.report.page import write_page

    project = Project.find()
    path = output or project.root / layout.PAGE
    with busy("writing the page"):
        size = write_page(project, path, evaluations or (), sets)
    typer.echo(f"{path}: {size / 1e6:.1f} MB")


@app.command()
def sizes(form: Form = Format.table) -> None:
    """What there is after `make dataset`: rows per config and split, where they are, and what can be done next.

    Example: cxgen report sizes
    """
    from cxgen.build.tables import packaged
    from cxgen.layout import HUB, METRICS
    from cxgen.project import Project

    found = packaged(Project.find())
    rows = [{"config": config, "split": split, "rows": n} for config, splits in found.items() for split, n in splits.items()]
    emit(rows, form)
    if form is Format.table:
        typer.echo(f"\n{HUB}: parquet files, card and dataset_version.json; {METRICS}: what was measured.")
        typer.echo(
            f'Next: datasets.load_dataset("{HUB}", "{next(iter(found))}"); cxgen sample resultative; cxgen publish OWNER/NAME --dry-run'
        )
        typer.echo("(`make` puts cxgen at .venv/bin/cxgen; README.md goes on from here)")


@app.command()
def baselines(
    construction: Annotated[
        str | None,
        typer.Argument(metavar="[CONSTRUCTION]", help="Items of this one, drawn now, nothing written. Default: the dataset."),
    ] = None,
    params: ParamsFile = None,
    form: Form = Format.table,
) -> None:
    """What can be had without understanding: give-away classifiers, and what words alone decide. Gates that break stop the pipeline.

    hypothesis_only, overlap_only: without the premise; by shared words, negations and lengths. words_only: best guess by the premise's
    open-class words. turn_rate: items whose words, put otherwise in another premise of the set, give another label. word_pairs, cues_only,
    cues_transfer: a linear model on pairs of words; of template words; of these, trained on the other constructions.

    Examples:  cxgen report baselines
               cxgen report baselines conative
    """
    from cxgen.check import require_sound
    from cxgen.report import baselines as stage

    project, settings = open_project(params)
    with busy("training the give-away classifiers"):
        if construction is None:
            found = stage.run(project, settings.folds, settings.workers)
        else:
            loaded = Constructicon()[construction].construction
            require_sound(loaded)
            found = stage.preview(loaded, settings.request, settings.folds)
    rows: list[dict[str, Any]] = []
    for family, measures in found.items():
        for name, measure in measures.items():
            wholes = {"(all)": measure["overall"], **measure.get("by_config", {})}
            figures = [(config, "(all)", figure) for config, figure in wholes.items()]
            figures += [(config, part, figure) for config, own in measure["configs"].items() for part, figure in own.items()]
            own = {"family": family, "measure": name, "chance": measure["chance"]}
            rows += [{**own, "config": config, "construction": part, "figure": figure} for config, part, figure in figures]
    emit(rows, form)
    _require_gates(found)


def _require_gates(report: dict[str, Any]) -> None:
    """End with exit code 1 where a gate is broken."""
    from cxgen.report.baselines import broken

    faults = list(broken(report))
    for line in faults:
        typer.echo(f"gate broken: {line}", err=True)
    if faults:
        typer.echo("  hint: `cxgen check` (W308) shows what counting tells apart; `cxgen report baselines NAME` tries a change", err=True)
        raise typer.Exit(1)


@app.command("all")
def everything(params: ParamsFile = None) -> None:
    """All of these in one process, as the pipeline does: baselines, variety, reading, plots. Gates that break stop the pipeline.

    Example: cxgen report all
    """
    from cxgen.report import baselines as giveaways
    from cxgen.report import plots as drawing
    from cxgen.report import reading as readings
    from cxgen.report import variety as varied

    project, settings = open_project(params)
    with busy("measuring the dataset"):
        readings.run(project)
        varied.run(project, settings.request.seed)
        report = giveaways.run(project, settings.folds, settings.workers)
        drawing.run(project)
    typer.echo(f"{layout.METRICS}: baselines.json, variety.json, reading.json; {layout.PLOTS}")
    _require_gates(report)


@app.command()
def variety(params: ParamsFile = None, form: Form = Format.table) -> None:
    """Numbers of sentences, the largest share of a template, distinct-2 and self-BLEU beside those of a plain single-template fill.

    Breadth, too: shapes (a template with a kind of opening and of closing phrase), verbs, place pairs, results, and the largest shares.

    Example: cxgen report variety --format json
    """
    from cxgen.report import variety as stage

    project, settings = open_project(params)
    with busy("measuring how varied the sentences are"):
        found = stage.run(project, settings.request.seed)
    rows = [
        {
            "construction": name,
            "premises": entry["premises"],
            "templates": entry["templates"],
            "largest": entry["largest template share"],
            **{what: figure for what, figure in entry["breadth"].items() if what != "fillers"},
            "largest filler": _largest(entry["breadth"]["fillers"]),
            **{
                f"{what[:4]}. {measure}{' (plain)' if 'plain' in side else ''}": value
                for side in ("spread", "spread of a plain fill")
                for what, measures in entry.get(side, {}).items()
                for measure, value in measures.items()
            },
        }
        for name, entry in found.items()
    ]
    emit(rows, form)


def _largest(fillers: dict[str, dict[str, Any]]) -> str:
    """The commonest filler of any role but modifiers, with its share."""
    found = [(entry["share"], f"{entry['lemma']} ({role})") for role, entry in fillers.items() if role != Role.modifier]
    return "{1} {0:.2f}".format(*max(found)) if found else ""


@app.command()
def plots(form: Form = Format.table) -> None:
    """The main figures of the metrics as tables for `dvc plots show` and `dvc plots diff`: outputs/plots.

    Example: cxgen report plots && dvc plots show --open
    """
    from cxgen.project import Project
    from cxgen.report import plots as stage

    found = stage.run(Project.find())
    emit([{"file": f"{layout.PLOTS}/{name}.json", "rows": len(rows)} for name, rows in found.items()], form)


@app.command()
def reading(params: ParamsFile = None, form: Form = Format.table) -> None:
    """Blind readings recorded in pipelines/readings/*.csv: agreement with the labels, and shares of sentences rated natural.

    Example: cxgen report reading
    """
    from cxgen.report import reading as stage

    project, _ = open_project(params)
    with busy("comparing readings with labels"):
        found = stage.run(project)
    emit([{"group": name, **shares} for name, shares in [("(all)", found["overall"]), *found["groups"].items()]], form)
