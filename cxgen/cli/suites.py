"""Commands for suites: configs that are not made from contrast sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cxgen.cli.output import Format, busy, emit
from cxgen.cli.pipeline import Form, ParamsFile, open_project
from cxgen.errors import CxgenError


def suites(params: ParamsFile = None, form: Form = Format.table) -> None:
    """Make the suites (cc_syntax, cc_semantics), audit and measure them: outputs/suites.

    Example: cxgen suites
    """
    from cxgen.stages import suites as stage

    project, settings = open_project(params)
    with busy("making and auditing the suites"):
        found = stage.run(project, settings)
    rows: list[dict[str, Any]] = []
    for name, entry in found["suites"].items():
        rows += [{"suite": name, "what": what, "figure": number} for what, number in _flat(entry["counts"])]
        rows += [
            {"suite": name, "what": f"{measure} {part}", "figure": figure}
            for measure, each in entry["measures"].items()
            for parts in each["configs"].values()
            for part, figure in parts.items()
        ]
    emit(rows, form, ["suite", "what", "figure"])


def _flat(counts: dict[str, Any], before: str = "") -> list[tuple[str, int]]:
    """Counts within counts, as (path, count)."""
    found: list[tuple[str, int]] = []
    for name, value in counts.items():
        path = f"{before} {name}".strip()
        found += _flat(value, path) if isinstance(value, dict) else [(path, value)]
    return found


def sample(construction: str, suite: str, n: int, seed: int, form: Format, ignored: list[str]) -> None:
    """What ``cxgen sample --family`` prints of a suite: ``n`` groups of rows that belong together.

    Args:
        construction: whose.
        suite: its name.
        n, seed, form: as for `sample`.
        ignored: options that suites have no use for, and that were given.

    Raises:
        CxgenError: it is another construction's suite, or such an option was given.
    """
    from cxgen.project import Project
    from cxgen.suites import suite_of

    chosen = suite_of(suite, construction)
    if ignored:
        raise CxgenError(f"{', '.join(ignored)}: not for {suite}", hint="suites have --n, --seed and --format")
    rows = chosen.sample(Project.find(), seed, n)
    if form is not Format.table:
        emit(rows.iter_rows(named=True), form, rows.columns)
        return
    for number, (heading, lines) in enumerate(chosen.shown(rows), 1):
        typer.echo(f"{number:3d}. {typer.style(heading, dim=True)}")
        for mark, text in lines:
            typer.echo(f"     {mark.ljust(9)} {text}")


Sentences = Annotated[list[str] | None, typer.Argument(help="Sentences, each in quotes; none: one a line from stdin or --file.")]
File = Annotated[Path | None, typer.Option("--file", help="A file with one sentence a line.")]


def recognise(
    sentences: Sentences = None,
    file: File = None,
    any_words: Annotated[bool, typer.Option("--any-words", help="Take unknown words for what they look like: -er, -s.")] = False,
    form: Form = Format.table,
) -> None:
    """Say whether the grammar of the comparative correlative has a sentence: as an instance, or as the same words in another order.

    Examples:  cxgen recognise "The longer the two cats wait, the louder the six dogs bark."
               cxgen recognise --file sentences.txt --format jsonl
    """
    import sys

    from cxgen.files import read_text
    from cxgen.project import Project
    from cxgen.suites.cc_syntax import GRAMMAR
    from cxgen.suites.grammar import Grammar

    loaded = Grammar.load(Project.find(), GRAMMAR)
    given = sentences or (read_text(file) if file else sys.stdin.read()).splitlines()
    rows = [{"sentence": text.strip(), "is": loaded.recognises(text.strip(), any_words=any_words)} for text in given if text.strip()]
    emit(rows, form, ["sentence", "is"])
    if not all(row["is"] for row in rows):
        raise typer.Exit(1)
