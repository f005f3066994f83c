"""Commands on the lexicon: build, propose, classes, show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cxgen.cli.output import Format, busy, emit
from cxgen.errors import CxgenError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cxgen.constructicon import Construction
    from cxgen.lexicon import Lexicon
    from cxgen.project import Project

app = typer.Typer(help="The lexicon: find words and classes, rebuild the snapshot, propose candidates.", no_args_is_help=True)


@app.command()
def build() -> None:
    """Rebuild lexicons/snapshot from the curated YAML and WordNet 3.0.

    The same sources give the same bytes.
    """
    from cxgen.project import Project

    project = Project.find()
    if project.own_lexicons or not project.lexicons.is_relative_to(project.root):
        raise CxgenError(
            "nothing to build here: the lexicon is the shipped one; classes and frames in a project's own lexicons/ are read as they are",
            file=project.own_lexicons,
            hint="look at it with `cxgen lexicon classes`",
        )
    from cxgen.curate.build import build as run
    from cxgen.curate.pseudowords import build_inventory

    folder = project.lexicons
    with busy("building the lexicon"):
        counts = run(folder) | build_inventory(folder)
    typer.echo(", ".join(f"{number} {what}" for what, number in counts.items()))


@app.command()
def propose(
    name: Annotated[str, typer.Argument(metavar="CLASS", help="A word class, such as landmarks.")],
    n: Annotated[int, typer.Option("--n", min=1, help="How many, most frequent first.")] = 40,
    form: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.table,
) -> None:
    """List WordNet candidates for a class by frequency band: neighbours of its members, less what was accepted or refused.

    Example: cxgen lexicon propose landmarks
    """
    from cxgen.curate.propose import propose as run
    from cxgen.project import Project

    with busy("searching WordNet"):
        table = run(Project.find().lexicons, name)
    emit(table.head(n).to_dicts(), form)


@app.command()
def classes(
    word: Annotated[str | None, typer.Argument(metavar="[WORD]", help="Only classes that hold this word.")] = None,
    form: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.table,
) -> None:
    """List the word classes with their size and the constructions that use them; with WORD those that hold it, lexeme by lexeme.

    Examples:  cxgen lexicon classes gate
               cxgen lexicon classes --format csv
    """
    from cxgen.constructicon.words import class_users
    from cxgen.lexicon import Lexicon
    from cxgen.project import Project

    project = Project.find()
    lexicon = Lexicon.of(project)
    loaded = list(_constructions(project, lexicon))
    users = class_users(loaded)
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for source in [lexicon, *(item.lexicon for item in loaded)]:
        held = {} if word is None else {row: source.table["key"][row] for row in source.rows_of(word)}
        for group in source.classes.values():
            about = {"pos": group.pos, "members": len(group.ids), "constructions": users.get(group.name, []), "gloss": group.gloss}
            if word is None:
                rows[(group.name,)] = {"class": group.name, **about}
            for row in held.keys() & set(group.ids):
                rows[held[row], group.name] = {"lexeme": held[row], "class": group.name, **about}
        for key in held.values():  # in a frame by itself, or nowhere
            if not any(known[0] == key for known in rows) or key in users:
                rows[key, ""] = {
                    "lexeme": key,
                    "class": "",
                    "pos": source.row(key)["pos"],
                    "members": 1,
                    "constructions": users.get(key, []),
                }
                rows[key, ""]["gloss"] = ""
    if word is not None and not rows:
        raise _unknown(word, [lexicon, *(item.lexicon for item in loaded)])
    table = [rows[key] for key in sorted(rows)]
    emit(table if form is not Format.table else [{**row, "constructions": ", ".join(row["constructions"])} for row in table], form)


def _constructions(project: Project, lexicon: Lexicon) -> Iterator[Construction]:
    """Every construction that can be loaded; of the others only the error is shown."""
    from cxgen.constructicon import load_construction
    from cxgen.schema import read_yaml

    for name in project.template_files():
        try:
            if "lookalike_of" not in read_yaml(project.template_file(name)).data:
                yield load_construction(project, name, lexicon)
        except CxgenError as error:
            typer.echo(f"left out: {error.render()}", err=True)


def _unknown(word: str, lexicons: list[Lexicon]) -> UnknownNameError:
    """The error about a word that is in none of ``lexicons``; suggests near words, and classes of such a name."""
    from cxgen.lexicon.snapshot import near

    hints = []
    words = near(word, {lemma for source in lexicons for lemma in source.lemmas})
    groups = near(word, {name for source in lexicons for name in source.classes})
    if words:
        hints.append(f"did you mean {' or '.join(words)}?")
    if groups:
        hints.append(f"classes of such a name: {', '.join(groups)}")
    hints = hints or [f"a template file can bring it: {{lemma: {word}}} in a class of its own"]
    return UnknownNameError(f"unknown word {word!r}", hint="; ".join(hints))


@app.command()
def show(
    lemma: Annotated[str, typer.Argument(metavar="LEMMA", help="A word of the lexicon, such as gate.")],
    form: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.table,
) -> None:
    """Show every lexeme of LEMMA: sense key, frequency, band, forms, relations, classes, scenes.

    Example: cxgen lexicon show roll --format json
    """
    from cxgen.lexicon import Lexicon
    from cxgen.project import Project

    project = Project.find()
    lexicon = Lexicon.of(project)
    rows = _lexemes(lemma, [lexicon]) or _lexemes(lemma, sources := [item.lexicon for item in _constructions(project, lexicon)])
    if not rows:
        raise _unknown(lemma, [lexicon, *sources])
    if form is not Format.table:
        emit(rows, form)
        return
    for row in rows:
        typer.echo(typer.style(row["key"], bold=True))
        for name, value in row.items():
            if name != "key" and value not in (None, [], ""):
                typer.echo(f"  {name.ljust(14)} {', '.join(value) if isinstance(value, list) else value}")


def _lexemes(lemma: str, lexicons: list[Lexicon]) -> list[dict[str, Any]]:
    """The rows of ``lemma``, each once, with all classes and scenes that hold it."""
    found: dict[str, dict[str, Any]] = {}
    for source in lexicons:
        for number in source.rows_of(lemma):
            row = source.row(source.table["key"][number])
            held = [group.name for group in source.classes.values() if number in group.ids]
            scenes = [
                f"{construction}/{frame.name}"
                for construction in source.constructions
                for frame in source.frames(construction)
                if any(row["key"] in fillers for fillers in frame.slots.values())
            ]
            found.setdefault(row["key"], {**row, "classes": held, "scenes": scenes})
    return list(found.values())
