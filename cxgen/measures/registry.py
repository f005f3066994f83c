"""The measures: can the answers be had without understanding? One function each, in the modules of this package, which register themselves.

A new measure is a file here with a function under `measure`; `cxgen report baselines`, the gates of a release, the card and the page take
it from the registry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import polars as pl

from cxgen.measures import __path__ as _folder
from cxgen.measures.fits import Map
from cxgen.measures.gates import CHANCE, Figures, Gates, measured

# Of items, a number of folds, and what maps fits: figures, or what gives them when asked (fits go on until then); None: does not apply.
Function = Callable[[pl.DataFrame, int, Map], Figures | Callable[[], Figures] | None]


@dataclass(frozen=True)
class Measure:
    """A measure.

    Attributes:
        name: as in the metric.
        family: whose items it is taken of.
        meaning: what it is, for card and page.
        gates: what is asked of it.
        chance: what guessing gets.
        published: what it is on the expert-made CxNLI, where that is known.
        function: takes it.
    """

    name: str
    family: str
    meaning: str
    gates: Gates
    chance: float
    published: float | None
    function: Function


MEASURES: dict[str, Measure] = {}


def measure(family: str, gates: Gates, chance: float = CHANCE, published: float | None = None) -> Callable[[Function], Function]:
    """Register a function as the measure of its name; the first line of its docstring says what it is."""

    def register(function: Function) -> Function:
        meaning = (function.__doc__ or "").strip().partition("\n")[0].rstrip(".")
        MEASURES[function.__name__] = Measure(function.__name__, family, meaning, gates, chance, published, function)
        return function

    return register


def measures() -> dict[str, Measure]:
    """All measures by name."""
    for module in iter_modules(_folder):
        import_module(f"cxgen.measures.{module.name}")
    return MEASURES


def take(family: str, rows: pl.DataFrame, folds: int, run: Map = map) -> dict[str, dict[str, Any]]:
    """The measures of a family: name -> what `cxgen.measures.gates.measured` gives.

    Args:
        family: its name.
        rows: its items, with ``config``.
        folds: of cross-validations.
        run: maps the fits, which are all handed in before the first is waited for.
    """
    pending = [(one, one.function(rows, folds, run)) for one in measures().values() if one.family == family]
    report = {}
    for one, waiting in pending:
        figures = waiting() if callable(waiting) else waiting
        if figures is not None:
            report[one.name] = measured(figures, one.gates, one.chance)
    return report
