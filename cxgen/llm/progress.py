"""One line about a run, on a terminal's stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cxgen.llm.runner import Tally


def line(tally: Tally) -> str:
    """done / cached / undecided / cost / time to go."""
    done = tally.decided + tally.undecided
    fresh, spent = done - tally.cached, time.monotonic() - tally.started
    left = f"{(tally.items - done) * spent / fresh:.0f} s" if fresh > 0 else "-"
    cost = f", cost {tally.budget.cost:.4f}" if tally.budget.limits.price_in or tally.budget.limits.price_out else ""
    return (
        f"{done}/{tally.items} judged, {tally.cached} cached, {tally.undecided} undecided, "
        f"{tally.budget.requests} requests{cost}, {left} to go"
    )


@contextmanager
def watching() -> Iterator[Callable[[Tally], None]]:
    """A function that shows a tally; silent when stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("judging") as status:
        yield lambda tally: status.update(line(tally))
