"""The commands, and how failures reach the user."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import click
import typer

from cxgen.cli import ask, explore, export, judge, lexicon, new, pipeline, publish, wug
from cxgen.cli.help import lay_out
from cxgen.errors import CxgenError

_INTERRUPTED = 130
_NOT_OURS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT}  # what the system refuses; all else is a bug
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
app.command()(pipeline.generate)
app.command()(judge.judge)
app.command()(pipeline.split)
app.command()(pipeline.substitute)
app.add_typer(pipeline.report, name="report")
app.command()(publish.package)
app.command()(publish.publish)
app.command()(publish.diff)
app.add_typer(ask.app, name="ask")
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


def run(arguments: Sequence[str]) -> int:
    """Run the command line; expected failures are told on stderr without a traceback.

    Returns:
        The exit code: 0; 1 where a gate or a bound was broken; 2 for bad input; 130 for Ctrl-C.
    """
    code: object
    try:
        colour = False if os.environ.get("NO_COLOR") else None
        code = app(list(arguments), prog_name="cxgen", standalone_mode=False, color=colour)
    except CxgenError as error:
        sys.stderr.write(f"cxgen: {error.render()}\n")
        code = 2
    except click.exceptions.Abort:
        code = _INTERRUPTED
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except SystemExit as stop:  # of typer and rich, where nobody reads on: `cxgen sample conative | head`
        code = 0 if isinstance(stop.__context__, BrokenPipeError) else stop.code
    except OSError as error:
        if error.errno not in _NOT_OURS:
            raise
        sys.stderr.write(f"cxgen: {error.filename or 'output'}: {error.strerror}\n")
        code = 2
    if code == _INTERRUPTED:  # typer turns Ctrl-C into this code
        sys.stderr.write("cxgen: interrupted; finished files are complete, unfinished ones were not written\n")
    return code if isinstance(code, int) else 0


def main() -> None:
    """The command ``cxgen``."""
    sys.exit(run(sys.argv[1:]))
