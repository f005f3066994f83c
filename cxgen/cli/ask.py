"""Asking a model for words and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cxgen.cli.explore import load
from cxgen.cli.output import Format, emit, summarise

if TYPE_CHECKING:
    from cxgen.lexicon import Lexicon

app = typer.Typer(help="Ask a model for material: proposals for people to decide on.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Construction.")]
Model = Annotated[str, typer.Option(help="Model name.")]
Url = Annotated[str | None, typer.Option(envvar="OPENAI_BASE_URL", help="OpenAI-compatible server; key: OPENAI_API_KEY.")]
Number = Annotated[int, typer.Option("--n", min=1, help="How many are asked about.")]
Seed = Annotated[int, typer.Option(help="Another seed, other draws.")]
Most = Annotated[int | None, typer.Option(min=0, help="Requests at most, retries counted.")]
Form = Annotated[Format, typer.Option("--format", help="Output format.")]


@app.command()
def fill(
    construction: Name,
    slot: Annotated[str, typer.Option(help="The slot to fill.")],
    model: Model,
    base_url: Url = None,
    n: Number = 10,
    count: Annotated[int, typer.Option(min=1, max=50, help="Words for each sentence.")] = 8,
    seed: Seed = 1,
    max_requests: Most = None,
    form: Form = Format.table,
) -> None:
    """Words for a slot, each with whether the lexicon has it.

    Example: cxgen ask fill resultative --slot patient --model gpt-4.1-mini
    """
    from cxgen.stages.elicit import slot_questions

    loaded = load(construction)
    _put("fill", slot_questions(loaded, slot, n, count, seed), loaded.lexicon, model, base_url, max_requests, form)


@app.command()
def premise(
    construction: Name,
    model: Model,
    base_url: Url = None,
    n: Number = 10,
    seed: Seed = 1,
    max_requests: Most = None,
    form: Form = Format.table,
) -> None:
    """Sentences of the model's own around words drawn from the lexicon.

    Example: cxgen ask premise caused-motion --model gpt-4.1-mini --n 20
    """
    from cxgen.stages.elicit import word_questions

    loaded = load(construction)
    _put("premise", word_questions(loaded, n, seed), loaded.lexicon, model, base_url, max_requests, form)


def _put(
    task: str, asked: dict[str, dict[str, str]], lexicon: Lexicon, model: str, base_url: str | None, most: int | None, form: Format
) -> None:
    from cxgen.llm import Limits
    from cxgen.project import Project
    from cxgen.stages.consult import summary
    from cxgen.stages.elicit import propose

    found, outcome = propose(Project.find(), lexicon, task, asked, model, base_url, Limits(max_requests=most))
    emit(found, form)
    summarise([summary(outcome)])
