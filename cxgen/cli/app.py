"""The commands, and how failures reach the user."""

from __future__ import annotations

import copy
import functools
import inspect
import os
import re
import sys
from collections.abc import Sequence
from typing import Annotated

import click
import typer

from cxgen.cli import (
    ask,
    build,
    elicit,
    evaluate,
    explain,
    explore,
    export,
    generate,
    judge,
    lexicon,
    mine,
    pipeline,
    publish,
    report,
    review,
    words,
)
from cxgen.errors import CxgenError

_INTERRUPTED = 130
_EXAMPLE = re.compile(r"\n\n(?=Examples?:)")
_SENTENCE = re.compile(r"(.+?\.)(?= [A-Z]|$)")
app = typer.Typer(
    name="cxgen",
    help="Diagnostic NLI datasets for construction grammar, from readable template files.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
app.command("list")(explore.list_constructions)
app.command()(explore.new)
app.command()(explore.sample)
app.command()(explain.explain)
app.command()(explore.check)
app.command("lint", hidden=True)(explore.check)  # its name up to 0.7
app.add_typer(lexicon.app, name="lexicon")
app.command()(words.wug)
app.command()(generate.capacity)
app.command()(generate.generate)
app.command()(generate.audit)
app.command()(judge.judge)
app.command()(build.build)
app.add_typer(build.splits, name="splits")
for _name_of_old in ("split", "substitute"):
    app.command(_name_of_old, hidden=True)(build.moved)
app.command()(pipeline.natural)
app.command()(pipeline.suites)
app.command()(words.recognise)
app.command()(evaluate.evaluate)
app.add_typer(review.app, name="review")
app.add_typer(report.app, name="report")
app.command()(publish.package)
app.command()(publish.publish)
app.command()(publish.diff)
app.add_typer(ask.app, name="ask")
app.command()(elicit.elicit)
app.command()(mine.mine)
app.add_typer(export.export, name="export")


def _lay_out(group: typer.Typer) -> None:
    """Give every command its docstring as help: examples as they are written, the first sentence as its summary."""
    group.suggest_commands = False  # click does it, too
    for command in group.registered_commands:
        text = inspect.getdoc(command.callback) or ""
        first = _SENTENCE.match(text.partition("\n\n")[0].replace("\n", " "))
        command.help, command.short_help = _EXAMPLE.sub("\n\n\b\n", text), first[1] if first else ""
    for part in group.registered_groups:
        if part.typer_instance is not None:
            part.short_help = str(part.typer_instance.info.help)
            _lay_out(part.typer_instance)


_lay_out(app)


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


def run(arguments: Sequence[str], command: typer.Typer = app, name: str = "cxgen") -> int:
    """Run a command line; expected failures are told on stderr without a traceback.

    Args:
        arguments: what follows its name.
        command: that of cxgen; the recipes have others.
        name: as its help calls it.

    Returns:
        The exit code: 0; 1 where a gate or a bound was broken; 2 for bad input; 130 for Ctrl-C.
    """
    try:
        colour = False if os.environ.get("NO_COLOR") else None
        code = _parser(command, *arguments[:1])(list(arguments), prog_name=name, standalone_mode=False, color=colour)
    except CxgenError as error:
        return _fail(error.render())
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except SystemExit as error:  # of typer and rich: whoever reads has stopped: `cxgen sample conative | head`
        return 0 if isinstance(error.__context__, BrokenPipeError) else int(error.code or 0)
    except (OSError, MemoryError) as error:
        return _fail(_of_the_machine(error))
    if code == _INTERRUPTED:  # typer makes it of Ctrl-C
        _fail("interrupted; finished files are complete, unfinished ones were not written")
    return code if isinstance(code, int) else 0


def _fail(message: str) -> int:
    sys.stderr.write(f"cxgen: {message}\n")
    return 2


def _of_the_machine(error: OSError | MemoryError) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory\n  hint: ask for less (see params.yaml), or use a machine with more"
    return f"{error.filename or 'a file'}: {error.strerror or error}"


@functools.cache
def _parser(command: typer.Typer, first: str = "") -> click.Command:
    """The command line; if ``first`` is one of its commands, with that one only: to build all takes a tenth of a preview's time."""
    part = copy.copy(command)
    part.registered_commands = [entry for entry in command.registered_commands if _name(entry) == first]
    part.registered_groups = [entry for entry in command.registered_groups if entry.name == first]
    one = command.registered_callback and (part.registered_commands or part.registered_groups)
    return typer.main.get_command(part if one else command)


def _name(command: typer.models.CommandInfo) -> str:
    return command.name or typer.main.get_command_name(getattr(command.callback, "__name__", ""))


def main() -> None:
    """The command ``cxgen``."""
    sys.exit(run(sys.argv[1:]))
