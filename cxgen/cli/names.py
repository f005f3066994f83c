"""Names of constructions as users give them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import typer

from cxgen.errors import CxgenError, UnknownNameError, plain, unknown

if TYPE_CHECKING:
    from cxgen.constructicon import Construction
    from cxgen.lexicon import Lexicon
    from cxgen.project import Project


def completions(incomplete: str) -> list[str]:
    """The names that begin so, for the shell."""
    from cxgen.project import Project

    return [name for name in _targets(_documents(Project.find())) if name.startswith(incomplete)]


def require_known(project: Project, name: str) -> None:
    """Accept the name of a construction or look-alike; say of an opposite whose it is.

    Raises:
        UnknownNameError: no such construction; the names that are suggested are accepted.
    """
    if name in project.template_files():
        return
    found = _documents(project)
    for owner, data in found.items():
        if any(kind.get("construction") == name for kind in data["kinds"].values()):
            raise UnknownNameError(
                f"{name!r} is what the opposite of {owner!r} is called: it has no file of its own",
                hint=f"its items come with those of {owner}: cxgen sample {owner}",
            )
    raise unknown("construction", name, _targets(found))


def sound(project: Project, lexicon: Lexicon) -> Iterator[Construction]:
    """The constructions whose files can be read; on stderr one line for every fault, however many it leaves out."""
    from cxgen.constructicon import load_construction, readable_targets

    names, errors = readable_targets(project)
    told: set[str] = set()
    for error in errors:
        _left_out(error, told)
    for name in names:
        try:
            yield load_construction(project, name, lexicon)
        except CxgenError as error:
            _left_out(error, told)


def _documents(project: Project) -> dict[str, dict[str, Any]]:
    """Name -> what its file says, of every template file that is as its schema says."""
    from cxgen.schema import read_yaml

    found = {}
    for name, path in project.template_files().items():
        with suppress(CxgenError):
            found[name] = read_yaml(path, "construction").data
    return found


def _targets(found: dict[str, dict[str, Any]]) -> list[str]:
    return [name for name, data in found.items() if "lookalike_of" not in data]


def _left_out(error: CxgenError, told: set[str]) -> None:
    line = plain(f"left out: {error.where}: {error.message}")
    if line not in told:
        told.add(line)
        typer.echo(line, err=True)
