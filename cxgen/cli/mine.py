"""Looking for constructions in raw text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from cxgen.cli.output import Format, emit
from cxgen.errors import CxgenError

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

    Candidates are written as they come: an interrupted run goes on where it was. False comparatives (the former, all the more) are dropped
    and counted.

    Examples:  cxgen mine cc corpus/*.txt.gz --format csv > groups.csv
               cxgen mine cc --label groups.csv -o labelled.csv
               cxgen mine caused-motion novel.txt --paragraphs --model en_core_web_md -o found.parquet
    """
    from cxgen.mining import search as search_
    from cxgen.project import Project

    if (labels is None) == (not files):
        raise CxgenError("no text to read, or text and labels at once", hint="give FILES, or --label FILE")
    if candidates is not None and labels is None:
        raise CxgenError("--candidates is for --label", hint="-o names the file that is written")
    project = Project.find()
    if labels is not None:
        path = output or search_.default_output(project, f"{construction}-labelled")
        counts = search_.label(project, construction, labels, candidates, path)
        emit([{"label": text, "candidates": number} for text, number in counts.items()], form)
        typer.echo(str(path), err=True)
        return
    search = search_.Search(construction, model, width, most_between, whole, paragraphs, field)
    path = output or search_.default_output(project, construction)
    try:
        result = search_.mine(project, search, files or [], path)
    except KeyboardInterrupt:
        typer.echo("the candidates so far are kept: run it again, and it goes on from there", err=True)
        raise
    if report:
        typer.echo(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        _groups(result["groups"], form)
    _summary(result, path)


def _groups(groups: list[dict[str, Any]], form: Format) -> None:
    if form is Format.csv:
        emit([{"group": row["group"], "count": row["count"], "label": "", "examples": row["examples"]} for row in groups], form, _COLUMNS)
    elif form is not Format.table:
        emit(groups, form)
    else:
        emit([{**row, "examples": row["examples"][0]} for row in groups[:_SHOWN]], form)
        if len(groups) > _SHOWN:
            typer.echo(f"... and {len(groups) - _SHOWN} smaller groups: --format csv", err=True)


def _summary(result: dict[str, Any], path: Path) -> None:
    counts = f"{result['candidates']} candidates in {len(result['groups'])} groups, {sum(result['dropped'].values())} dropped"
    typer.echo(f"{counts}; {result['lines']} lines, of which the pipeline read {result['passages']} passages: {path}", err=True)
    for reason, number in sorted(result["dropped"].items(), key=lambda item: (-item[1], item[0])):
        typer.echo(f"  dropped {number}: {reason}", err=True)
    if result["damaged"]:
        typer.echo(f"warning: {result['damaged']} lines have bytes that are not UTF-8", err=True)
