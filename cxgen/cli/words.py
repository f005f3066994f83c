"""Commands about words and sentences: pseudowords, and what the grammar of the comparative correlative has."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from cxgen.cli.options import Form
from cxgen.cli.output import Format, busy, emit


class Pos(StrEnum):
    """Parts of speech with inflected forms."""

    noun = "noun"
    verb = "verb"
    adjective = "adjective"


def wug(
    words: Annotated[list[str], typer.Argument(metavar="WORD...", help="Words to imitate; they need not be in any lexicon.")],
    n: Annotated[int, typer.Option("--n", min=1, help="Pseudowords per word.")] = 10,
    pos: Annotated[Pos | None, typer.Option(help="Inflected forms are shown, and none of them is a word either.")] = None,
    seed: Annotated[int, typer.Option(help="Another seed, other pseudowords among equally good ones.")] = 0,
    stats: Annotated[bool, typer.Option("--stats", help="Lengths, segments, transition deviations, OLD20, neighbours.")] = False,
    form: Form = Format.table,
) -> None:
    """Make pseudowords: of the same length and syllables as a word, as common in their transitions, and no words.

    Examples:  cxgen wug flower --n 10 --stats
               cxgen wug stride --pos verb --format json
    """
    with busy("searching"):
        from cxgen.pseudowords import inflect, load, pseudowords

        made = pseudowords(load(), words, n, seed=seed, pos=pos.value if pos else None)
    rows = []
    for row in made.iter_rows(named=True):
        shown = {"word": row["word"], "pseudoword": row["pseudoword"]}
        if stats:
            shown = _narrow(row) if form is Format.table else row
        rows.append({**shown, **(inflect(row["pseudoword"], pos.value) if pos else {})})
    emit(rows, form)


def _narrow(row: dict[str, Any]) -> dict[str, Any]:
    """A row of statistics that fits a terminal; the other formats give all columns in full."""
    old20 = f"{row['old20']:.2f} ({row['old20_difference']:+.2f})"
    deviation = f"{row['max_deviation']:+d} of {row['sum_deviation']}"
    return {
        **{name: row[name] for name in ("word", "pseudoword", "segments")},
        **{"new": row["changed"], "deviation": deviation, "OLD20": old20, "N": row["neighbours"], "zipf": row["zipf"], "w": row["widened"]},
    }


def recognise(
    sentences: Annotated[list[str] | None, typer.Argument(help="Sentences, each in quotes; none: one a line from stdin or --file.")] = None,
    file: Annotated[Path | None, typer.Option("--file", help="A file with one sentence a line.")] = None,
    any_words: Annotated[bool, typer.Option("--any-words", help="Take unknown words for what they look like: -er, -s.")] = False,
    form: Form = Format.table,
) -> None:
    """Say whether the grammar of the comparative correlative has a sentence: as an instance, or as the same words in another order.

    Examples:  cxgen recognise "The longer the two cats wait, the louder the six dogs bark."
               cxgen recognise --file sentences.txt --format jsonl
    """
    from cxgen.files import read_text
    from cxgen.project import Project
    from cxgen.suites.cc_syntax import GRAMMAR
    from cxgen.suites.grammar import Grammar

    grammar = Grammar.load(Project.find(), GRAMMAR)
    given = sentences or (read_text(file) if file else sys.stdin.read()).splitlines()
    rows = [{"sentence": text.strip(), "is": grammar.recognises(text.strip(), any_words=any_words)} for text in given if text.strip()]
    emit(rows, form, ["sentence", "is"])
    if not all(row["is"] for row in rows):
        raise typer.Exit(1)
