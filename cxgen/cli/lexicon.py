"""Commands on the lexicon: build, propose, show."""

from __future__ import annotations

from typing import Annotated

import typer

from cxgen.cli.output import Format, busy, emit
from cxgen.errors import unknown

app = typer.Typer(help="The lexicon: rebuild the snapshot, propose candidates, look up a word.", no_args_is_help=True)


@app.command()
def build() -> None:
    """Rebuild lexicons/snapshot from the curated YAML and WordNet 3.0.

    The same sources give the same bytes.
    """
    from cxgen.curate.build import build as run
    from cxgen.curate.pseudowords import build_inventory
    from cxgen.curate.wug import build_wug
    from cxgen.project import Project

    folder = Project.find().lexicons
    with busy("building the lexicon"):
        counts = run(folder) | build_wug(folder) | build_inventory(folder)
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
def show(
    lemma: Annotated[str, typer.Argument(metavar="LEMMA", help="A word of the lexicon, such as gate.")],
    form: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.table,
) -> None:
    """Show every lexeme of LEMMA: sense key, frequency, band, forms, relations, classes, frames.

    Example: cxgen lexicon show roll --format json
    """
    import polars as pl

    from cxgen.lexicon import Lexicon
    from cxgen.project import Project

    table = Lexicon.of(Project.find()).table
    rows = table.filter(pl.col("lemma").str.to_lowercase() == lemma.lower()).to_dicts()
    if not rows:
        raise unknown("lemma", lemma, table["lemma"].unique())
    if form is not Format.table:
        emit(rows, form)
        return
    for row in rows:
        typer.echo(typer.style(row["key"], bold=True))
        for name, value in row.items():
            if name != "key" and value not in (None, [], ""):
                typer.echo(f"  {name.ljust(14)} {', '.join(value) if isinstance(value, list) else value}")
