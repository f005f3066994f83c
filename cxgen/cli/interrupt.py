"""Ctrl-C ends a command at whatever moment it comes."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_AGAIN = 0.05  # seconds after which an interrupt that got lost comes once more


class Interrupt(KeyboardInterrupt):
    """Ctrl-C. A class of its own, because Python ends by the signal once code given as text (dataclasses are) has raised the plain one."""


@contextmanager
def listening() -> Iterator[threading.Event]:
    """Raise `Interrupt` at Ctrl-C while the block runs, and set the event, whatever libraries make of the exception.

    One that Python ignores, because it came in a destructor or a callback, is raised once more.
    """
    came = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield came
        return

    def interrupt(*_: object) -> None:
        came.set()
        raise Interrupt

    def ignored(what: Any) -> None:
        if issubclass(what.exc_type, Interrupt):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN)
        else:
            hook(what)

    hook = sys.unraisablehook
    handlers = {number: signal.signal(number, interrupt) for number in (signal.SIGALRM, signal.SIGINT)}
    sys.unraisablehook = ignored
    try:
        yield came
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = hook
        for number, handler in handlers.items():
            signal.signal(number, handler)
