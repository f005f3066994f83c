"""Arguments and options that several commands have, and what they stand for."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from cxgen.cli.output import Format, note
from cxgen.facade import Constructicon
from cxgen.vocabulary import Mode

if TYPE_CHECKING:
    from cxgen.build.params import Params
    from cxgen.constructicon import Construction
    from cxgen.project import Project


def commands() -> typer.Typer:
    """A group of commands."""
    return typer.Typer(no_args_is_help=True, rich_markup_mode=None, suggest_commands=False)


def completions(incomplete: str) -> list[str]:
    """The names of constructions that begin so, for the shell."""
    return [name for name in Constructicon() if name.startswith(incomplete)]


_NAMES = "Names that `cxgen list` shows; default: all."
Name = Annotated[str, Argument(help="A name that `cxgen list` shows, such as resultative.", autocompletion=completions)]
Names = Annotated[list[str] | None, Argument(metavar="[CONSTRUCTION]...", help=_NAMES, autocompletion=completions)]
Form = Annotated[Format, Option("--format", help="Output format.")]
Workers = Annotated[int | None, Option(min=1, help="Processes; what is made does not depend on it. Default: as params.yaml says.")]
Wug = Annotated[Mode | None, Option("--wug", help="Pseudowords for these words; content: nouns, verbs and adjectives.")]
Configs = Annotated[list[str] | None, Option("--config", help="Only this config; several times for several. Default: all.")]
DryRun = Annotated[bool, Option("--dry-run", help="Print requests, tokens and cost; send nothing.")]
PerRequest = Annotated[int, Option("--items-per-request", min=1, max=200, help="Items in a request.")]
Poll = Annotated[float, Option(min=0.05, help="openai-batch: seconds between two looks at a batch.")]
Cache = Annotated[Path | None, Option(help="File of kept answers; default: .cxgen/answers.jsonl.")]
Url = Annotated[str | None, Option(envvar="OPENAI_BASE_URL", help="OpenAI-compatible server; key: OPENAI_API_KEY.")]

# The options of whatever asks models, named as the fields of `cxgen.asking.Limits`: kind, default, what typer shows.
_LIMITS: dict[str, tuple[Any, Any, Any]] = {
    "concurrency": (int, 8, Option(min=1, help="Requests under way at most.")),
    "requests_per_minute": (float | None, None, Option("--rpm", min=0.1, help="Requests per minute.")),
    "tokens_per_minute": (float | None, None, Option("--tpm", min=1, help="Tokens per minute.")),
    "tries": (int, 6, Option(min=1, help="How often a request is sent before it counts as failed.")),
    "timeout": (float, 120.0, Option(min=0.1, help="Seconds for one try.")),
    "deadline": (float, 900.0, Option(min=0.1, help="Seconds for a request with all its tries.")),
    "max_requests": (int | None, None, Option(min=0, help="Stop before more are sent, retries counted.")),
    "max_tokens": (int | None, None, Option(min=0, help="Stop before more are used.")),
    "max_cost": (float | None, None, Option(min=0.0, help="Stop before more is spent; needs the prices.")),
    "price_in": (float, 0.0, Option(min=0.0, help="Per million prompt tokens.")),
    "price_out": (float, 0.0, Option(min=0.0, help="Per million reply tokens.")),
    "max_failures": (float, 0.2, Option(min=0.0, max=1.0, help="Stop when a larger share of requests failed for good.")),
}


def limited(command: Callable[..., None]) -> Callable[..., None]:
    """Give ``command`` the options that bound what is asked; it gets them as its argument ``limits``."""
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, shown])
        for name, (kind, default, shown) in _LIMITS.items()
    ]
    own = [parameter for name, parameter in inspect.signature(command).parameters.items() if name != "limits"]

    @functools.wraps(command)
    def bounded(**given: Any) -> None:
        from cxgen.asking import Limits

        command(limits=Limits(**{name: given.pop(name) for name in _LIMITS}), **given)

    bounded.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
    return bounded


def load_all(constructicon: Constructicon) -> "list[Construction]":
    """Every construction that can be loaded; the others are named on stderr."""
    loaded, errors = constructicon.loaded()
    for line in dict.fromkeys(f"left out: {error.where}: {error.message}" for error in errors):
        note(line)
    return loaded


def open_project() -> "tuple[Project, Params]":
    """The project and its parameters."""
    from cxgen.build.params import Params

    project = Constructicon().project
    return project, Params.read(project.params)
