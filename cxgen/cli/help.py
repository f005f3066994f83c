"""How help is laid out: examples as they were written, summaries whole."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import typer

_EXAMPLE = re.compile(r"\n\n(?=Examples?:)")
_SENTENCE = re.compile(r"(.+?\.)(?= [A-Z]|$)")


def lay_out(app: typer.Typer) -> None:
    """Give every command of ``app``, and of the groups in it, its docstring as help: examples unwrapped, the first sentence as summary."""
    app.suggest_commands = False  # click does it, too
    for command in app.registered_commands:
        command.help, command.short_help = _texts(command.callback)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            group.short_help = str(group.typer_instance.info.help)
            lay_out(group.typer_instance)


def _texts(callback: Callable[..., Any] | None) -> tuple[str, str]:
    text = inspect.getdoc(callback) or ""
    first = _SENTENCE.match(text.partition("\n\n")[0].replace("\n", " "))
    return _EXAMPLE.sub("\n\n\b\n", text), first[1] if first else ""
