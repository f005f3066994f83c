"""The command ``build``: everything that the dataset is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cxgen.cli.options import Form, ParamsFile, open_project
from cxgen.cli.output import Format, emit
from cxgen.errors import CxgenError

if TYPE_CHECKING:
    from cxgen.build.params import Params
    from cxgen.build.pool import Executor
    from cxgen.project import Project


splits = typer.Typer(help="Which split each verb is in.", no_args_is_help=True)


def build(
    judged: Annotated[
        bool, typer.Option("--judged", help="From the candidates and verdicts that `cxgen generate` and `cxgen judge` left.")
    ] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; the rows do not depend on it.")] = None,
    params: ParamsFile = None,
    form: Form = Format.table,
) -> None:
    """Make the dataset: contrast sets split by verb and audited, with pseudowords, and what writers wrote; and its suites.

    Writes outputs/dataset, outputs/wug, outputs/natural, outputs/suites and their metrics. Where judge.backend in params.yaml names models,
    candidates are drawn and judged first.

    Example: cxgen build
    """
    from cxgen.build import suites
    from cxgen.build.pool import executor
    from cxgen.natural import build as natural
    from cxgen.suites import SUITES

    project, settings = open_project(params)
    with executor(workers or settings.workers) as pool:
        report = _dataset(project, settings, pool, judged=judged)
        natural.run(project, settings, pool)
    if settings.constructions is None or {suite.construction for suite in SUITES.values()} & set(settings.constructions):
        suites.run(project, settings)
    emit(_rows(report), form)


def _dataset(project: Project, settings: Params, pool: Executor, *, judged: bool) -> dict[str, Any]:
    from cxgen.asking import judge
    from cxgen.build import run
    from cxgen.build.warn import tell, warnings

    if settings.judged and not judged:
        run.generate(project, settings, pool)
        judge.run(project, settings)
    report = run.build(project, settings, pool, judged=judged or settings.judged)
    tell(warnings(report["items"], settings.request.rows))
    return report


def _rows(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Items and verbs of every construction and config."""
    own = [
        {
            "construction": name,
            "config": config,
            **{f"{split} items": number for split, number in items.items()},
            **{f"{split} verbs": number for split, number in entry["verbs"].items()},
        }
        for name, entry in report["splits"]["constructions"].items()
        for config, items in entry["items"].items()
    ]
    wugs = {"nli_wug": report["wug"]["constructions"], "minimal_pairs_wug": report["wug"]["pairs"]}
    return own + [
        {"construction": name, "config": config, "all items": sum(mode["items"] for mode in modes.values())}
        for config, part in wugs.items()
        for name, modes in part.items()
    ]


@splits.command()
def propose(
    constructions: Annotated[
        list[str] | None, typer.Argument(metavar="[CONSTRUCTION]...", help="Default: those of the parameters.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the rows, write nothing.")] = False,
    params: ParamsFile = None,
    form: Form = Format.table,
) -> None:
    """Append verbs that are in no split yet to lexicons/splits.tsv: those of a new construction as evenly as can be, others by hash.

    What is in the file stays as it is, so that a new verb moves no other one between train and test.

    Example: cxgen splits propose resultative
    """
    from cxgen import layout
    from cxgen.build.run import construction_names
    from cxgen.build.samplers import divided
    from cxgen.build.splits import append
    from cxgen.constructicon import load_construction
    from cxgen.lexicon import Lexicon

    project, settings = open_project(params)
    lexicon = Lexicon.of(project)
    names = constructions or construction_names(project, settings)
    proposed = {name: divided(load_construction(project, name, lexicon), settings.request) for name in names}
    path = project.root / layout.SPLITS
    emit(append(None if dry_run else path, settings.request.splits, proposed), form, ["construction", "verb", "split"])
    if not dry_run:
        typer.echo(f"{path}: look at the rows, then commit them", err=True)


def moved() -> None:
    """What became of the commands ``split`` and ``substitute``.

    Raises:
        CxgenError: always.
    """
    raise CxgenError("this command is a part of another one now", hint="`cxgen build`; after `cxgen judge`, `cxgen build --judged`")
