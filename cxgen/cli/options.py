"""Arguments and options that several commands have, and what they stand for."""

from typing import Annotated

import typer
from typer import Argument, Option

from cxgen.build.params import Params
from cxgen.cli.output import Format, note
from cxgen.constructicon import Construction
from cxgen.facade import Constructicon
from cxgen.project import Project
from cxgen.vocabulary import Mode


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


def load_all(constructicon: Constructicon) -> list[Construction]:
    """Every construction that can be loaded; the others are named on stderr."""
    loaded, errors = constructicon.loaded()
    for line in dict.fromkeys(f"left out: {error.where}: {error.message}" for error in errors):
        note(line)
    return loaded


def open_project() -> tuple[Project, Params]:
    """The project and its parameters."""
    project = Constructicon().project
    return project, Params.read(project.params)
