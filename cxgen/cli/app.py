"""The commands, and how failures reach the user."""

import atexit
import functools
import gc
import importlib
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import click
import typer

from cxgen import layout
from cxgen.cli import INTERRUPTED
from cxgen.cli.output import Format
from cxgen.cli.streams import open_streams
from cxgen.errors import CxgenError, DataError
from cxgen.files import require_other
from cxgen.project import Project

_COMMANDS = {  # name: the module that has it, imported when it is called; what it is for
    "init": ("begin", "Begin a project of your own: parameters, pipeline, a construction to change."),
    "list": ("explore", "List the constructions, most substantive first."),
    "new": ("begin", "Write templates/NAME.yaml: a small construction, with comments, to change into one of your own."),
    "sample": ("explore", "Preview a construction's items: premises with their hypotheses and labels."),
    "explain": ("explore", "Print the premise x hypothesis label matrix, computed from facts and claims."),
    "hypothesise": ("explore", "Hypotheses about premises of your own whose parts you give, as CxNLI makes them, with labels from facts."),
    "check": ("check", "Check constructions without generating: codes E... and W..., file:line, hint."),
    "lexicon": ("lexicon", "The lexicon: find words and classes, rebuild the snapshot, propose candidates."),
    "wug": ("lexicon", "Make pseudowords: of the same length and syllables as a word, as common in their transitions, and no words."),
    "capacity": ("build", "How many contrast sets each construction can give, beside what is asked for."),
    "generate": ("build", "Finished rows, however many, in shards."),
    "audit": ("build", "Count a finished run of `generate --out` again: balance, leaks and repetitions."),
    "propose": ("lexicon", "Propose scenes from the lexicon, by patterns with classes, for judges to decide on."),
    "judge": ("asking", "Have clauses judged, freeze the votes, count what they refuse."),
    "build": ("build", "Make the dataset, with pseudowords, what writers wrote, and its suites."),
    "splits": ("build", "Which split each verb is in."),
    "natural": ("build", "Make items of the sets that writers wrote."),
    "suites": ("build", "Make the suites (cc_syntax, cc_semantics), audit and measure them."),
    "recognise": ("lexicon", "Say what a sentence is by the grammars of the comparative correlative."),
    "evaluate": ("evaluate", "Score predictions, a baseline or a model."),
    "review": ("report", "Have the finished dataset read blind by people, and see what they say."),
    "report": ("report", "Measures of the finished dataset."),
    "package": ("publish", "Write the folder that the Hub will show."),
    "publish": ("publish", "Release the finished dataset to the Hugging Face Hub: one commit with data and card, then a tag."),
    "diff": ("publish", "What changed between two datasets."),
    "ask": ("asking", "Ask a model for material: proposals for people to decide on."),
    "elicit": ("asking", "Have a writer fill a construction's squares in words of its own; check and judge what it wrote."),
    "mine": ("lexicon", "Candidates for a construction in raw text, in groups of the same tags."),
    "export": ("publish", "The finished dataset in other forms: gold annotation, tasks for evaluation harnesses."),
}

_SOURCES = (layout.PARAMS, layout.PIPELINE, layout.TEMPLATES, layout.LEXICONS, layout.PROMPTS, layout.JUDGMENTS, layout.NATURAL_SETS)
_ASIDE = (layout.READINGS, layout.DROPPED, layout.AUDIT, layout.ANSWERS.parent, Path("dvc.lock"), Path(".dvc"), Path(".git"))
_PARTS = (*_SOURCES, *_ASIDE, layout.METRICS, layout.DATASET, layout.WUG, layout.NATURAL, layout.SUITES, layout.HUB)  # of the project
_MEANT = {"record": layout.READINGS, "drop": layout.DROPPED, "output": layout.metric("lint")}  # what an option may write of them
_SHAPES = ("--json", "--row", "--format")  # of what is printed
_WRITTEN = frozenset({"output", "out", "folder", "requests", "judge_out", "wrong", "hard", "drop", "record"})  # what commands write


class _Commands(typer.core.TyperGroup):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": {name: click.Command(name, short_help=text) for name, (_, text) in _COMMANDS.items()}})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in {"split", "substitute"}:  # up to 0.7
            raise CxgenError("this command is a part of another one now", hint="`cxgen build`")
        name = "check" if cmd_name == "lint" else cmd_name
        return _load(name) if name in _COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


@functools.cache
def _load(name: str) -> click.Command:
    group = typer.main.get_group(importlib.import_module(f"cxgen.cli.{_COMMANDS[name][0]}").app)
    command = group.commands[name]
    for part in (command, *getattr(command, "commands", {}).values()):
        part.help = part.help or _COMMANDS[name][1]
        part.short_help = part.help.partition("\n\n")[0].replace("\n", " ")
        if any(option.name == "form" for option in part.params) and not any("--json" in option.opts for option in part.params):
            part.params.append(click.Option(["--json", "form"], flag_value=Format.json, help="Short for --format json."))
        _keep_apart(part)
        if part.epilog:  # its examples, as they are written
            part.epilog = "\b\nExamples:\n  " + part.epilog.replace("\n", "\n  ")
    return command


def _keep_apart(command: click.Command) -> None:
    """Have a command refuse to write a file that it reads, or that it writes something else to, bounds that bound nothing (nan, inf), and
    a second form of what is printed (--json and --format), before it begins."""
    options = {param.name: param.opts[0] for param in command.params}
    paths = [param.name for param in command.params if isinstance(param.type, click.Path)]
    run = command.callback
    if run is None:
        return

    @functools.wraps(run)
    def apart(**given: Any) -> None:
        if odd := [name for name, value in given.items() if isinstance(value, float) and not math.isfinite(value)]:
            raise CxgenError(f"{options[odd[0]]} is no finite number", hint="give a number, or leave it out")
        shaped = [option for name, option in options.items() if option in _SHAPES and given.get(name) not in {False, None, Format.table}]
        if "--json" in shaped and len(shaped) > 1:
            raise CxgenError(f"{' and '.join(shaped)} at once", hint="give one of them")
        named = {name: given[name] for name in paths if name and given.get(name)}
        files = {name: [Path(path) for path in (value if isinstance(value, list | tuple) else [value])] for name, value in named.items()}
        reads = {"folder"} if command.name in {"audit", "score", "serve"} else set[str]()
        for name in (_WRITTEN - reads) & files.keys():
            require_other(files[name][0], [path for other, own in files.items() if other != name for path in own])
            _require_no_source(files[name][0], _MEANT.get(name))
        run(**given)

    command.callback = apart


def _require_no_source(path: Path, meant: Path | None) -> None:
    """See that what a command is told to write is no part of the project (but for ``meant``), nor a folder of it that holds parts: its
    sources, answers that people gave or that were paid for, and what its pipeline writes."""
    try:
        root, place = (Path(os.path.realpath(file)) for file in (Project.find().root, path))
    except CxgenError:
        return
    parts = [root / part for part in _PARTS]
    holds = not root.is_relative_to(place) and any(part.is_relative_to(place) for part in parts)
    if (holds or any(place.is_relative_to(part) for part in parts)) and not (meant and place.is_relative_to(root / meant)):
        raise DataError("is a part of the project, which this would overwrite", file=path, hint="name another place to write to")


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    epilog="Exit codes: 0 done; 1 a gate broken, a bound reached, a sentence not recognised; 2 bad input, or errors found; 130 Ctrl-C.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    suggest_commands=False,  # click does it, too
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
    """The exit code of a command line (of cxgen, or a recipe): 1 for a broken gate or bound, 2 for bad input, 130 for Ctrl-C."""
    open_streams()
    colour = False if os.environ.get("NO_COLOR") else None
    gc.set_threshold(100_000)  # what modules make at the start stays: to look through it again and again takes a tenth of a second
    atexit.register(gc.freeze)  # nor once more at the end
    try:
        _require_here()
        _require_values(arguments)
        code = typer.main.get_command(command)(list(arguments), prog_name=name, standalone_mode=False, color=colour)
    except CxgenError as error:
        return _fail(error.render())
    except KeyboardInterrupt:
        code = 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except SystemExit as error:  # of typer and rich: whoever reads has stopped: `cxgen sample conative | head`
        return 0 if isinstance(error.__context__, BrokenPipeError) else int(error.code or 0)
    except OSError as error:
        said = error.strerror or next(iter(error.args), error)
        return _fail(f"{error.filename}: {said}" if error.filename else str(said))
    except MemoryError:
        return _fail("not enough memory\n  hint: ask for less (see params.yaml), or use a machine with more")
    if code == 130:  # typer makes it of Ctrl-C
        _fail(INTERRUPTED)
    return code if isinstance(code, int) else 0


def _require_here() -> None:
    try:
        Path.cwd()
    except FileNotFoundError as error:
        raise CxgenError("the working directory is not there any more", hint="change to another one: cd FOLDER") from error


def _require_values(arguments: Sequence[str]) -> None:
    """See that nothing is empty, as of a shell variable that is not set: it would stand for everything, or for this folder."""
    for before, argument in zip(["", *arguments], arguments, strict=False):
        option = argument.startswith("--") and argument.find("=") == len(argument) - 1
        if not argument or option:
            what = argument[:-1] if option else before if before.startswith("-") else "an argument"
            raise CxgenError(f"{what} is empty", hint="give a value, or leave it out")


def _fail(message: str) -> int:
    sys.stderr.write(f"cxgen: {message}\n")
    return 2
