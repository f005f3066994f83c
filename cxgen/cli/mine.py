"""Looking for constructions in raw text."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from cxgen.cli.options import Form, commands
from cxgen.cli.output import Format, emit, note, print_json
from cxgen.errors import CxgenError
from cxgen.facade import Constructicon
from cxgen.mining import search as mining

_OUT = "Candidates: .jsonl, .csv or .parquet. Default: outputs/mined/CONSTRUCTION.jsonl"
_PARAGRAPHS = "Lines up to an empty one belong together: sentences go over line ends."
_SHOWN = 40  # groups in the table
_COLUMNS = ("group", "count", "label", "examples")
app = commands()


@app.command()
def mine(
    construction: Annotated[str, Argument(help="cc: comparative correlatives, by their tags. Any other one: by its form_check.")],
    files: Annotated[list[Path] | None, Argument(metavar="[FILES...]", help="Raw text in UTF-8, plain or gzip.")] = None,
    model: Annotated[str, Option(help="spaCy pipeline: the name of an installed one, or a folder.")] = "en_core_web_sm",
    output: Annotated[Path | None, Option("--out", "-o", help=_OUT)] = None,
    paragraphs: Annotated[bool, Option("--paragraphs", help=_PARAGRAPHS)] = False,
    field: Annotated[str | None, Option(help="The files have JSON lines; their text is in this field.")] = None,
    width: Annotated[int, Option(min=0, max=20, help="cc: tags behind each comparative by which groups differ.")] = 2,
    whole: Annotated[bool, Option("--whole", help="cc: groups differ by all tags between the halves.")] = False,
    most_between: Annotated[int, Option(min=0, max=200, help="cc: words between the halves' beginnings at most.")] = 25,
    labels: Annotated[Path | None, Option("--label", help="Read no text: write candidates whose groups this CSV file labels.")] = None,
    report: Annotated[bool, Option("--json", help="All that was counted, as JSON.")] = False,
    form: Form = Format.table,
) -> None:
    """Candidates for a construction in raw text, in groups of the same tags, for people to label group by group.

    Candidates are written as they come: an interrupted run goes on where it was. False comparatives (the former, all the more) are dropped
    and counted.

    Examples:  cxgen mine cc corpus/*.txt.gz --format csv > groups.csv
               cxgen mine cc --label groups.csv -o labelled.csv
    """
    if (labels is None) == (not files):
        raise CxgenError("no text to read, or text and labels at once", hint="give FILES, or --label FILE")
    project = Constructicon().project
    path = output or mining.default_output(project, construction if labels is None else f"{construction}-labelled")
    if labels is not None:
        counts = mining.label(project, construction, labels, None, path)
        emit([{"label": text, "candidates": number} for text, number in counts.items()], form)
        note(path)
        return
    search = mining.Search(construction, model, width, most_between, whole, paragraphs, field)
    try:
        result = mining.mine(project, search, files or [], path)
    except KeyboardInterrupt:
        note("the candidates so far are kept: run it again, and it goes on from there")
        raise
    groups = result["groups"]
    if report:
        print_json(result)
    elif form is Format.csv:
        emit([{name: row.get(name, "") for name in _COLUMNS} for row in groups], form, _COLUMNS)
    elif form is not Format.table:
        emit(groups, form)
    else:
        emit([{**row, "examples": row["examples"][0]} for row in groups[:_SHOWN]], form)
        if len(groups) > _SHOWN:
            note(f"... and {len(groups) - _SHOWN} smaller groups: --format csv")
    _summary(result, path)


def _summary(result: dict[str, Any], path: Path) -> None:
    counts = f"{result['candidates']} candidates in {len(result['groups'])} groups, {sum(result['dropped'].values())} dropped"
    note(f"{counts}; {result['lines']} lines, of which the pipeline read {result['passages']} passages: {path}")
    for reason, number in sorted(result["dropped"].items(), key=lambda item: (-item[1], item[0])):
        note(f"  dropped {number}: {reason}")
    if result["damaged"]:
        note(f"warning: {result['damaged']} lines have bytes that are not UTF-8")
