"""The command check: what is wrong with constructions and tables of scenes."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option, echo

from cxgen.build.params import Params, own_constructions
from cxgen.build.pool import executor
from cxgen.build.samplers import unfilled, unjudged
from cxgen.check import Finding, announced, check_project, explanations, telling_words
from cxgen.cli.options import Form, commands, completions, open_project
from cxgen.cli.output import Format, emit, note
from cxgen.curate.scenes import check_scenes
from cxgen.errors import CxgenError, install, lacking
from cxgen.facade import Constructicon
from cxgen.layout import PARAMS
from cxgen.project import Project
from cxgen.tables import write_json

_FINDING = ("code", "file", "line", "message", "hint")
app = commands()


@app.command(epilog="cxgen check resultative --strict\ncxgen check scenes lexicons/scenes/resultative.tsv")
def check(
    construction: Annotated[
        str | None, Argument(metavar="[CONSTRUCTION]", help="Default: those of the project.", autocompletion=completions)
    ] = None,
    file: Annotated[Path | None, Argument(metavar="[FILE]", help="After `scenes`: a table of scenes.")] = None,
    form: Form = Format.table,
    strict: Annotated[bool, Option(help="Warnings fail too.")] = False,
    output: Annotated[Path | None, Option("--output", "-o", help="Write the findings here, as JSON, whole or not at all.")] = None,
    codes: Annotated[bool, Option("--codes", help="List the codes and what they find.")] = False,
) -> None:
    """Check constructions without generating: codes E... and W..., file:line, hint. Exit code 2 if there are errors.

    Without a name: those that the project has files of or params.yaml names; a file that cannot be read is a finding, too (E000).
    `cxgen check scenes FILE` looks at a table of scenes (NAME.tsv, after its construction): what is wrong where, the forms of new words,
    the verbs that a build draws in each design and split (and those left out: no verb of their split stands beside them), some premises.
    """
    if codes:
        _list_codes(form, beside=construction or output)
        return
    if file is not None:
        _check_scenes(construction or "", file, form, output, strict=strict)
        return
    constructicon = Constructicon()
    project = constructicon.project
    if construction is not None:
        _ = constructicon[construction]
    if lacking("spacy"):
        note(f"form_check is not tried on the premises, which needs spaCy; {install('annotate')}")
    params = Params.read(project.params)
    names, among = ([construction], ()) if construction else (constructicon, _own(project, params))
    with executor(1 if construction else params.workers) as pool:
        checked, findings = check_project(project, constructicon.lexicon, construction or "", among, pool.map)
    sound = not any(item.code.startswith("E") for item in findings)
    findings += _unfilled(constructicon, params, (name for name in names if not among or name in among)) if sound else []
    rows = [{name: getattr(item, name) for name in _FINDING} | {"file": CxgenError("", file=item.file).where} for item in findings]
    errors = sum(item.code.startswith("E") for item in findings)
    if output is not None:
        write_json(rows, output)
    if form is Format.table:
        for row in rows:
            echo(f"{row['file']}:{row['line']}: {row['code']} {row['message']}" + f"\n  hint: {row['hint']}" * bool(row["hint"]))
        counts = {"construction": checked, "error": errors, "warning": len(findings) - errors}
        echo(", ".join(f"{number} {what}{'s' * (number != 1)}" for what, number in counts.items()))
    elif output is None:
        emit(rows, form, _FINDING)
    if not errors:
        for name in [construction] if construction else own_constructions(project):
            loaded = constructicon[name].construction
            more = (*telling_words(loaded), *unjudged(loaded, params.request)) if construction else ()
            for line in (*islice(announced(loaded), 1), *more):
                note(line if construction else f"{name}: {line}")
    if errors or (strict and findings):
        raise typer.Exit(2)


def _unfilled(constructicon: Constructicon, params: Params, names: Iterable[str]) -> Iterator[Finding]:
    """E201 of the first design that a build cannot fill in a split, as where no verb of its scenes is one of test."""
    for construction in (constructicon[name].construction for name in names):
        for error in unfilled(construction, params.request):
            yield Finding("E201", error.message, error.file or construction.document.path, error.line or 1, error.hint)


def _own(project: Project, params: Params) -> list[str]:
    """The constructions that the project has files of, and those that its parameters name; empty for all."""
    if params.constructions is None and (project.root / PARAMS).exists():
        return []
    own = [name for name, path in project.template_files().items() if path.is_relative_to(project.root)]
    return [*own, *(params.constructions or ())]


def _list_codes(form: Format, beside: str | Path | None) -> None:
    if beside:
        raise CxgenError("--codes lists all codes, and checks nothing", hint="leave the rest out; `--format json > FILE` writes a file")
    emit([{"code": code, "finds": finds} for code, finds in explanations().items()], form, ("code", "finds"))


def _check_scenes(what: str, file: Path, form: Format, output: Path | None, *, strict: bool) -> None:
    if what != "scenes":
        raise CxgenError(f"{what!r} takes no file", hint="write `cxgen check scenes FILE`, or only the construction")
    project, params = open_project()
    report = check_scenes(project, file, params)
    if output is not None:
        write_json([asdict(report)], output)
    if form is Format.table:
        for row in (*report.faults, *report.doubts):
            echo(f"{file}:{row['line']}: {row['column']}{': ' if row['column'] else ''}{row['fault']}\n  hint: {row['hint']}")
        for rows in filter(None, (report.forms, report.verbs)):
            emit(rows, form)
        if report.senses:
            note(f"senses taken (VERB~TYPE takes another): {', '.join(f'{verb} ({kind})' for verb, kind in report.senses.items())}")
        for line in report.unjudged:
            note(line)
        counts = [f"{n} {what}{'s' * (n != 1)}" for n, what in ((len(report.faults), "fault"), (len(report.doubts), "doubt"))]
        echo("\n".join([*report.premises, f"{file}: {', '.join(counts)}"]))
    elif output is None:
        emit([asdict(report)], form)
    if report.faults or (strict and report.doubts):
        raise typer.Exit(2)
