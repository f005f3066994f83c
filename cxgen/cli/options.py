"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cxgen.cli.output import Format
from cxgen.vocabulary import Mode

if TYPE_CHECKING:
    from cxgen.build.params import Params
    from cxgen.project import Project


def completions(incomplete: str) -> list[str]:
    """The names of constructions that begin so, for the shell."""
    from cxgen.facade import Constructicon

    return [name for name in Constructicon() if name.startswith(incomplete)]


Name = Annotated[
    str, typer.Argument(metavar="CONSTRUCTION", help="A name that `cxgen list` shows, such as resultative.", autocompletion=completions)
]
Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[CONSTRUCTION]...", help="Names that `cxgen list` shows; default: all.", autocompletion=completions),
]
Form = Annotated[Format, typer.Option("--format", help="Output format.")]
ParamsFile = Annotated[Path | None, typer.Option("--params", help="Parameter file; default: params.yaml.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes; what is made does not depend on it. Default: as params.yaml says.")]
Wug = Annotated[Mode | None, typer.Option("--wug", help="Pseudowords for these words; content: nouns, verbs and adjectives.")]


def open_project(params: Path | None) -> tuple[Project, Params]:
    """The project, and its parameters or those of the given file."""
    from cxgen.build.params import Params
    from cxgen.project import Project

    project = Project.find()
    return project, Params.read(params or project.params)
