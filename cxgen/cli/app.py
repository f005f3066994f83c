"""The commands, and how failures reach the user."""

from __future__ import annotations

import copy
import errno
import functools
import gc
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import click
import typer

from cxgen.cli import (
    ask,
    audit,
    capacity,
    elicit,
    evaluate,
    explore,
    export,
    generate,
    judge,
    lexicon,
    mine,
    new,
    pipeline,
    publish,
    review,
    suites,
    wug,
)
from cxgen.cli.help import lay_out
from cxgen.cli.interrupt import listening
from cxgen.errors import CxgenError, plain

_INTERRUPTED = 130
_YOUNG = 50_000  # objects between two looks for garbage: a lexicon is as many, none of which is, and 700 cost a tenth of a preview's time
_PREVIEWS = frozenset(["list", "sample", "explain"])  # mostly of some hundred rows: threads that wait for each other cost another tenth
app = typer.Typer(
    name="cxgen",
    help="Diagnostic NLI datasets for construction grammar, from readable template files.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
app.command("list")(explore.list_constructions)
app.command()(new.new)
app.command()(explore.sample)
app.command()(explore.explain)
app.command()(explore.lint)
app.add_typer(lexicon.app, name="lexicon")
app.command()(wug.wug)
app.command()(capacity.capacity)
app.command()(generate.generate)
app.command()(audit.audit)
app.command()(judge.judge)
app.command()(pipeline.split)
app.command()(pipeline.substitute)
app.command()(pipeline.natural)
app.command()(suites.suites)
app.command()(suites.recognise)
app.command()(evaluate.evaluate)
app.add_typer(review.app, name="review")
app.add_typer(pipeline.report, name="report")
app.command()(publish.package)
app.command()(publish.publish)
app.command()(publish.diff)
app.add_typer(ask.app, name="ask")
app.command()(elicit.elicit)
app.command()(mine.mine)
app.add_typer(export.export, name="export")
lay_out(app)


def _version(show: bool) -> None:
    if show:
        from cxgen import __version__

        typer.echo(f"cxgen {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Diagnostic NLI datasets for construction grammar, from readable template files."""


def run(arguments: Sequence[str], command: typer.Typer | None = None, name: str = "cxgen") -> int:
    """Run a command line; expected failures are told on stderr without a traceback.

    Args:
        arguments: what follows its name.
        command: by default that of cxgen; the recipes have others.
        name: as its help calls it.

    Returns:
        The exit code: 0; 1 where a gate or a bound was broken; 2 for bad input; 130 for Ctrl-C.
    """
    code: object
    with listening() as interrupted:
        try:
            colour = False if os.environ.get("NO_COLOR") else None
            code = _built(command or app, *arguments[:1])(list(arguments), prog_name=name, standalone_mode=False, color=colour)
        except BaseException as error:
            code = _INTERRUPTED if interrupted.is_set() else _told(error)
    if interrupted.is_set() or code == _INTERRUPTED:
        sys.stderr.write("cxgen: interrupted; finished files are complete, unfinished ones were not written\n")
        code = _INTERRUPTED
    return code if isinstance(code, int) else 0


@functools.cache
def _built(command: typer.Typer, first: str = "") -> click.Command:
    """The command line that its functions declare; where ``first`` names one of several commands, that one alone: the others take time."""
    part = copy.copy(command)
    part.registered_commands = [each for each in command.registered_commands if _name(each) == first]
    part.registered_groups = [each for each in command.registered_groups if each.name == first]
    one = command.registered_callback and (part.registered_commands or part.registered_groups)
    return typer.main.get_command(part if one else command)


def _name(command: typer.models.CommandInfo) -> str:
    return command.name or typer.main.get_command_name(getattr(command.callback, "__name__", ""))


def _told(error: BaseException) -> object:
    """Tell the user; the exit code. What is a bug is raised."""
    if isinstance(error, CxgenError):
        sys.stderr.write(f"cxgen: {error.render()}\n")
        return 2
    if isinstance(error, click.exceptions.Abort):
        return _INTERRUPTED
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, SystemExit):  # of typer and rich, where nobody reads on: `cxgen sample conative | head`
        return 0 if isinstance(error.__context__, BrokenPipeError) else error.code
    if isinstance(error, OSError) and error.errno != errno.EBADF:  # of a file or of the machine, wherever it was met
        where, what = error.filename or "a file", error.strerror or error
        sys.stderr.write(f"cxgen: {plain(str(where))}: {plain(str(what))}\n")
        return 2
    if isinstance(error, MemoryError):
        sys.stderr.write("cxgen: not enough memory\n  hint: ask for less (see params.yaml), or use a machine with more\n")
        return 2
    raise error


def main() -> None:
    """The command ``cxgen``."""
    gc.set_threshold(_YOUNG)
    if sys.argv[1:2] and sys.argv[1] in _PREVIEWS:
        for library in ("POLARS_MAX_THREADS", *(["OPENBLAS_NUM_THREADS"] if "OMP_NUM_THREADS" not in os.environ else [])):
            os.environ.setdefault(library, "1")
    sys.exit(run(sys.argv[1:]))
