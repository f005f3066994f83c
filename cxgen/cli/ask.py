"""Asking a model for words."""

from __future__ import annotations

from typing import Annotated

import typer

from cxgen.cli import asking
from cxgen.cli.explore import load
from cxgen.cli.output import Format, emit, summarise
from cxgen.errors import CxgenError

app = typer.Typer(help="Ask a model for material: proposals for people to decide on.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Construction.")]
Model = Annotated[str, typer.Option(help="Model name.")]
Number = Annotated[int, typer.Option("--n", min=1, help="How many are asked about.")]
Seed = Annotated[int, typer.Option(help="Another seed, other draws.")]
Form = Annotated[Format, typer.Option("--format", help="Output format.")]


@app.command()
def fill(
    construction: Name,
    slot: Annotated[str, typer.Option(help="The slot to fill.")],
    model: Model,
    base_url: asking.Url = None,
    n: Number = 10,
    count: Annotated[int, typer.Option(min=1, max=50, help="Words for each sentence.")] = 8,
    seed: Seed = 1,
    max_requests: asking.MostRequests = None,
    frame: Annotated[str, typer.Option(help="Only premises of this frame (cxgen lexicon show WORD names frames).")] = "",
    accept: Annotated[list[str] | None, typer.Option(help="Put this one of the proposed words into the frame; all: every one.")] = None,
    form: Form = Format.table,
) -> None:
    """Words for a slot, each with whether the lexicon has it; and those that you accept, into the project's file of frames.

    Examples:  cxgen ask fill resultative --slot x --model gpt-4.1-mini --frame re-curtains
               cxgen ask fill resultative --slot x --model gpt-4.1-mini --frame re-curtains --accept awning --accept hatch
    """
    if accept and not frame:
        raise CxgenError("no frame is named that is to get the words", hint="give --frame NAME")
    from cxgen.asking import Limits
    from cxgen.asking.consult import summary
    from cxgen.curate.accept import accept_words
    from cxgen.curate.asked import accepted, propose, slot_questions
    from cxgen.project import Project

    loaded = load(construction)
    project = Project.find()
    asked = slot_questions(loaded, slot, n, count, seed, frame)
    found, outcome = propose(project, loaded.lexicon, asked, model, base_url, Limits(max_requests=max_requests))
    emit(found, form)
    summarise([summary(outcome)])
    if accept:
        words = accepted(found, accept)
        path, entries = accept_words(project, loaded, frame, slot, words)
        for entry in entries:
            told = entry if isinstance(entry, str) else f"{entry['lemma']} ({entry['sense']})"
            typer.echo(f"{path.relative_to(project.root)}: {told}", err=True)
