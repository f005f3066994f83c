"""The command that starts a construction."""

from __future__ import annotations

import re
from importlib import resources
from typing import Annotated

import typer

from cxgen.errors import CxgenError
from cxgen.layout import TEMPLATES

_NAME = re.compile(r"[a-z][a-z0-9-]*")


def new(name: Annotated[str, typer.Argument(metavar="NAME", help="A name for it: lower-case letters, digits and hyphens.")]) -> None:
    """Write templates/NAME.yaml: a small construction, with comments, to change into one of your own.

    Example: cxgen new ditransitive
    """
    from cxgen.files import write_atomically
    from cxgen.project import Project

    if not _NAME.fullmatch(name):
        raise CxgenError(f"not a name: {name!r}", hint="lower-case letters, digits and hyphens, a letter first: my-construction")
    project = Project.find()
    taken = project.template_files().get(name)
    if taken is not None:
        raise CxgenError(f"there is a construction {name!r} already", file=taken, hint="take another name")
    path = project.root / TEMPLATES / f"{name}.yaml"
    text = resources.files("cxgen.constructicon").joinpath("skeleton.yaml").read_text("utf-8")
    text = text.replace("NAME", name).replace("TITLE", name.replace("-", " ").capitalize())
    write_atomically(path, lambda temporary: temporary.write_text(text, "utf-8"))
    typer.echo(f"{path}: written; look at it with `cxgen sample {name}`")
