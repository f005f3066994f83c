"""The commands, and how failures reach the user."""

import functools
import importlib
import os
import re
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import click
import typer

from cxgen.errors import CxgenError

_INTERRUPTED = 130
_EXAMPLE = re.compile(r"\n\n(?=Examples?:)")
_SENTENCE = re.compile(r"(.+?\.)(?= [A-Z]|$)")
_MODULES = {  # command -> the module that has it, imported when it is called
    **dict.fromkeys(("list", "new", "sample", "explain", "check"), "explore"),
    "lexicon": "lexicon",
    "wug": "lexicon",
    **dict.fromkeys(("capacity", "generate", "audit"), "generate"),
    "judge": "asking",
    **dict.fromkeys(("build", "splits", "natural", "suites"), "build"),
    "recognise": "lexicon",
    "evaluate": "evaluate",
    "review": "review",
    "report": "report",
    **dict.fromkeys(("package", "publish", "diff"), "publish"),
    "ask": "asking",
    "elicit": "asking",
    "mine": "mine",
    "export": "export",
}


class _Commands(typer.core.TyperGroup):
    """All commands, each imported when it is called or described."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": {name: click.Command(name) for name in _MODULES}})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in ("split", "substitute"):
            raise CxgenError("this command is a part of another one now", hint="`cxgen build`; after `cxgen judge`, `cxgen build --judged`")
        name = "check" if cmd_name == "lint" else cmd_name  # its name up to 0.7
        return _load(name) if name in _MODULES else None


@functools.cache
def _load(name: str) -> click.Command:
    group = typer.main.get_group(importlib.import_module(f"cxgen.cli.{_MODULES[name]}").app)
    return _laid_out(group.commands[name])


def _laid_out(command: click.Command) -> click.Command:
    """A command with its docstring as help: examples as they are written, the first sentence as its summary."""
    text = command.help or ""
    first = _SENTENCE.match(text.partition("\n\n")[0].replace("\n", " "))
    command.help, command.short_help = _EXAMPLE.sub("\n\n\b\n", text), first[1] if first else text
    for part in getattr(command, "commands", {}).values():
        _laid_out(part)
    return command


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


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
    """Run a command line (that of cxgen, or of a recipe); expected failures are told on stderr without a traceback.

    Returns:
        The exit code: 0; 1 where a gate or a bound was broken; 2 for bad input; 130 for Ctrl-C.
    """
    colour = False if os.environ.get("NO_COLOR") else None
    try:
        code = typer.main.get_command(command)(list(arguments), prog_name=name, standalone_mode=False, color=colour)
    except CxgenError as error:
        return _fail(error.render())
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except SystemExit as error:  # of typer and rich: whoever reads has stopped: `cxgen sample conative | head`
        return 0 if isinstance(error.__context__, BrokenPipeError) else int(error.code or 0)
    except OSError as error:
        return _fail(f"{error.filename or 'a file'}: {error.strerror or error}")
    except MemoryError:
        return _fail("not enough memory\n  hint: ask for less (see params.yaml), or use a machine with more")
    if code == _INTERRUPTED:  # typer makes it of Ctrl-C
        _fail("interrupted; finished files are complete, unfinished ones were not written")
    return code if isinstance(code, int) else 0


def _fail(message: str) -> int:
    sys.stderr.write(f"cxgen: {message}\n")
    return 2


def main() -> None:
    """The command ``cxgen``."""
    sys.exit(run(sys.argv[1:]))
