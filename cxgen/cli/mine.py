"""Looking for constructions in raw text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cxgen.cli.output import Format, emit
from cxgen.errors import CxgenError

if TYPE_CHECKING:
    from cxgen.project import Project
    from cxgen.stages.mine import Search

_COLUMNS = ("group", "count", "label", "examples")
_SHOWN = 40  # groups in the table


Name = Annotated[str, typer.Argument(help="cc: comparative correlatives, by their tags. Any other one: by its form_check.")]
Files = Annotated[list[Path] | None, typer.Argument(metavar="[FILES...]", help="Raw text in UTF-8, plain or gzip.")]
Model = Annotated[str, typer.Option(help="spaCy pipeline: the name of an installed one, or a folder.")]
Output = Annotated[
    Path | None, typer.Option("--out", "-o", help="Candidates: .jsonl, .csv or .parquet. Default: outputs/mined/CONSTRUCTION.jsonl")
]
Paragraphs = Annotated[bool, typer.Option("--paragraphs", help="Lines up to an empty one belong together: sentences go over line ends.")]
Field = Annotated[str | None, typer.Option(help="The files have JSON lines; their text is in this field.")]
Width = Annotated[int, typer.Option(min=0, max=20, help="cc: tags behind each comparative by which groups differ.")]
Whole = Annotated[bool, typer.Option("--whole", help="cc: groups differ by all tags between the halves.")]
Between = Annotated[int, typer.Option(min=0, max=200, help="cc: words between the halves' beginnings at most.")]
Labels = Annotated[Path | None, typer.Option("--label", help="Read no text: write candidates whose groups this CSV file labels.")]
Candidates = Annotated[Path | None, typer.Option(help="With --label: the candidates. Default: where they are written.")]
Report = Annotated[bool, typer.Option("--json", help="All that was counted, as JSON.")]
Form = Annotated[Format, typer.Option("--format", help="Output format of the groups.")]


def mine(
    construction: Name,
    files: Files = None,
    model: Model = "en_core_web_sm",
    output: Output = None,
    paragraphs: Paragraphs = False,
    field: Field = None,
    width: Width = 2,
    whole: Whole = False,
    most_between: Between = 25,
    labels: Labels = None,
    candidates: Candidates = None,
    report: Report = False,
    form: Form = Format.table,
) -> None:
    """Candidates for a construction in raw text, in groups of the same tags, for people to label group by group.

    What was found is written as it is found: an interrupted run goes on where it was. False comparatives (the former, all the more) are
    dropped and counted.

    Examples:  cxgen mine cc corpus/*.txt.gz --format csv > groups.csv
               cxgen mine cc --label groups.csv -o labelled.csv
               cxgen mine caused-motion novel.txt --paragraphs --model en_core_web_md -o found.parquet
    """
    from cxgen.project import Project
    from cxgen.stages.mine import Search

    if (labels is None) == (not files):
        raise CxgenError("no text to read, or text and labels at once", hint="give FILES, or --label FILE")
    if candidates is not None and labels is None:
        raise CxgenError("--candidates is for --label", hint="-o names the file that is written")
    project = Project.find()
    if labels is not None:
        _label(project, construction, labels, candidates, output, form)
        return
    search = Search(construction, model, width, most_between, whole, paragraphs, field)
    found, path = _mined(project, search, files or [], output)
    if report:
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        _groups(found["groups"], form)
    _tell(found, path)


def _mined(project: Project, search: Search, files: list[Path], output: Path | None) -> tuple[dict[str, Any], Path]:
    from cxgen.stages.mine import default_output, mine

    path = output or default_output(project, search.name)
    try:
        return mine(project, search, files, path), path
    except KeyboardInterrupt:
        typer.echo("what was found is kept: run it again, and it goes on from there", err=True)
        raise


def _groups(groups: list[dict[str, Any]], form: Format) -> None:
    if form is Format.csv:
        emit([{"group": row["group"], "count": row["count"], "label": "", "examples": row["examples"]} for row in groups], form, _COLUMNS)
    elif form is not Format.table:
        emit(groups, form)
    else:
        emit([{**row, "examples": row["examples"][0]} for row in groups[:_SHOWN]], form)
        if len(groups) > _SHOWN:
            typer.echo(f"... and {len(groups) - _SHOWN} smaller groups: --format csv", err=True)


def _tell(report: dict[str, Any], path: Path) -> None:
    dropped = sum(report["dropped"].values())
    found = f"{report['candidates']} candidates in {len(report['groups'])} groups, {dropped} dropped"
    typer.echo(f"{found}; {report['lines']} lines, of which the pipeline read {report['passages']} passages: {path}", err=True)
    for reason, number in sorted(report["dropped"].items(), key=lambda each: (-each[1], each[0])):
        typer.echo(f"  dropped {number}: {reason}", err=True)
    if report["damaged"]:
        typer.echo(f"warning: {report['damaged']} lines have bytes that are no UTF-8", err=True)


def _label(project: Project, name: str, labels: Path, candidates: Path | None, output: Path | None, form: Format) -> None:
    from cxgen.stages.mine import default_output, label

    path = output or default_output(project, f"{name}-labelled")
    found = label(project, name, labels, candidates, path)
    emit([{"label": text, "candidates": number} for text, number in found.items()], form)
    typer.echo(str(path), err=True)
