"""Everything that the dataset is made of: build, splits, natural, suites."""

from typing import Annotated, Any

from typer import Option

from cxgen import layout
from cxgen.asking import judge
from cxgen.build import run
from cxgen.build.params import append_splits
from cxgen.build.pool import executor
from cxgen.build.samplers import divided
from cxgen.cli.options import Form, Names, commands, open_project
from cxgen.cli.output import Format, Row, busy, emit, note
from cxgen.facade import Constructicon
from cxgen.natural import build as written
from cxgen.suites import SUITES

app, splits = commands(), commands()
app.add_typer(splits, name="splits")


@app.command()
def build(
    judged: Annotated[bool, Option("--judged", help="From the candidates and verdicts of `cxgen generate` and `cxgen judge`.")] = False,
    workers: Annotated[int | None, Option(min=1, help="Processes; the rows do not depend on it.")] = None,
    form: Form = Format.table,
) -> None:
    """Make the dataset: contrast sets split by verb and audited, with pseudowords, and what writers wrote; and its suites.

    Writes outputs/dataset, outputs/wug, outputs/natural, outputs/suites and their metrics. Where judge.backend in params.yaml names models,
    candidates are drawn and judged first.
    """
    project, settings = open_project()
    asked = settings.constructions is None or {suite.construction for suite in SUITES.values()} & set(settings.constructions)
    with executor(workers or settings.workers) as pool:
        begun = run.begin_suites(project, settings, pool) if asked else None
        if settings.judged and not judged:
            run.generate(project, settings, pool)
            judge.run(project, settings)
        report = run.build(project, settings, pool, judged=judged or settings.judged)
        written.run(project, settings, pool)
        if begun is not None:
            run.build_suites(project, settings, begun)
    rows = []
    for name, entry in report["splits"]["constructions"].items():
        for config, items in entry["items"].items():
            rows.append({"construction": name, "config": config, **_by_split({"items": items, "verbs": entry["verbs"]})})
    for config, part in (("nli_wug", "constructions"), ("minimal_pairs_wug", "pairs")):
        for name, modes in report["wug"][part].items():
            rows.append({"construction": name, "config": config, "all items": sum(mode["items"] for mode in modes.values())})
    emit(rows, form)


def _by_split(counts: dict[str, dict[str, int]]) -> Row:
    return {f"{split} {what}": count for what, part in counts.items() for split, count in part.items()}


@splits.command()
def propose(
    constructions: Names = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Show the rows, write nothing.")] = False,
    form: Form = Format.table,
) -> None:
    """Append verbs that are in no split yet to lexicons/splits.tsv: those of a new construction as evenly as can be, others by hash.

    What is in the file stays as it is, so that a new verb moves no other one between train and test.
    """
    project, settings = open_project()
    constructicon = Constructicon()
    names = constructions or run.construction_names(project, settings)
    proposed = {name: divided(constructicon[name].construction, settings.request) for name in names}
    path = project.root / layout.SPLITS
    emit(append_splits(None if dry_run else path, settings.request.splits, proposed), form, ["construction", "verb", "split"])
    if not dry_run:
        note(f"{path}: look at the rows, then commit them")


@app.command()
def natural(form: Form = Format.table) -> None:
    """Make items of the sets that writers wrote (pipelines/natural.parquet), split by verb like nli: outputs/natural."""
    report = written.run(*open_project())
    emit([{"construction": name, **_by_split(counts)} for name, counts in report["constructions"].items()], form, ["construction"])


@app.command()
def suites(form: Form = Format.table) -> None:
    """Make the suites (cc_syntax, cc_semantics), audit and measure them: outputs/suites."""
    with busy("making and auditing the suites"):
        report = run.build_suites(*open_project())
    rows: list[Row] = []
    for name, entry in report["suites"].items():
        figures = _paths(entry["counts"])
        for measure, measured in entry["measures"].items():
            figures |= {f"{measure} {part}": figure for parts in measured["configs"].values() for part, figure in parts.items()}
        rows += [{"suite": name, "what": what, "figure": figure} for what, figure in figures.items()]
    emit(rows, form, ["suite", "what", "figure"])


def _paths(counts: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Counts within counts, by their path."""
    paths: dict[str, Any] = {}
    for name, value in counts.items():
        path = f"{before} {name}".strip()
        paths |= _paths(value, path) if isinstance(value, dict) else {path: value}
    return paths
