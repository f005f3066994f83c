"""Commands that are the pipeline's stages. `dvc repro` runs them in order."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cxgen.cli.output import Format, busy, emit

ParamsFile = Annotated[Path | None, typer.Option("--params", help="Parameter file; default: params.yaml.")]
Form = Annotated[Format, typer.Option("--format", help="Output format.")]
report = typer.Typer(help="Measures of the finished dataset.", no_args_is_help=True)


def _open(params: Path | None) -> Any:
    from cxgen.project import Project
    from cxgen.stages.params import Params

    project = Project.find()
    return project, Params.read(params or project.params)


def generate(
    params: ParamsFile = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; the rows do not depend on it.")] = None,
) -> None:
    """Draw candidate contrast sets: outputs/work/candidates.parquet.

    Example: cxgen generate --workers 2
    """
    from cxgen.stages import generate as stage

    project, settings = _open(params)
    table = stage.run(project, settings, workers)
    typer.echo(f"{table.height} items in {table['contrast_set'].n_unique()} contrast sets: {stage.CANDIDATES}")


def split(params: ParamsFile = None, form: Form = Format.table) -> None:
    """Keep whole accepted contrast sets, split by verb, audit, write outputs/dataset.

    Example: cxgen split
    """
    from cxgen.stages import split as stage

    project, settings = _open(params)
    audit = stage.run(project, settings)
    rows = [
        {
            "construction": name,
            **{f"{s} triples": n for s, n in found["triples"].items()},
            **{f"{s} verbs": n for s, n in found["verbs"].items()},
        }
        for name, found in audit["constructions"].items()
    ]
    emit(rows, form)


@report.command()
def baselines(params: ParamsFile = None, form: Form = Format.table) -> None:
    """Give-away classifiers: hypothesis only, and overlap / negation / length only. They should fail (chance: 33%).

    Example: cxgen report baselines
    """
    from cxgen.stages.report import run_baselines

    project, settings = _open(params)
    with busy("training the give-away classifiers"):
        found = run_baselines(project, settings.folds)
    names = ("hypothesis_only", "overlap_only")
    rows: list[dict[str, Any]] = [{"config": "(all)", "construction": "(all)", **{name: found[name]["overall"] for name in names}}]
    rows += [
        {"config": config, "construction": c, **{name: found[name]["configs"][config][c] for name in names}}
        for config, each in found[names[0]]["configs"].items()
        for c in each
    ]
    emit(rows, form)
    if not all(found[name]["passed"] for name in names):
        typer.echo("a gate is broken: see outputs/metrics/baselines.json", err=True)
        raise typer.Exit(1)


@report.command()
def variety(params: ParamsFile = None, form: Form = Format.table) -> None:
    """Numbers of sentences, the largest share of a template, distinct-2 and self-BLEU beside those of a plain single-template fill.

    Example: cxgen report variety --format json
    """
    from cxgen.stages.report import run_variety

    project, settings = _open(params)
    with busy("measuring how varied the sentences are"):
        found = run_variety(project, settings.request.seed)
    rows = [
        {
            "construction": name,
            "premises": entry["premises"],
            "templates": entry["templates"],
            "largest": entry["largest template share"],
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


def diff(
    old: Annotated[Path, typer.Argument(help="Dataset folder, or a project's.")],
    new: Annotated[Path, typer.Argument(help="The same, newer.")],
    items: Annotated[bool, typer.Option("--items", help="List the items that changed instead of counting.")] = False,
    form: Form = Format.table,
) -> None:
    """What changed between two datasets: counts per config, split, construction and label, or the items themselves.

    Example: cxgen diff ../release-1/outputs/dataset outputs/dataset --items --format jsonl
    """
    from cxgen.stages import diff as stage

    before, after = stage.read_dataset(old), stage.read_dataset(new)
    changes = stage.changed_items(before, after)
    emit((changes if items else stage.counts(before, after)).to_dicts(), form)
    kinds = dict(changes["change"].value_counts().iter_rows())
    same = after.height - sum(kinds.get(kind, 0) for kind in ("added", "relabelled", "moved"))
    told = ", ".join(f"{kinds.get(kind, 0)} {kind}" for kind in ("added", "removed", "relabelled", "moved"))
    typer.echo(f"{told}, {same} the same", err=True)
