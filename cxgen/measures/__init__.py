"""The measures: can the answers be had without understanding? A file here, with a function under `measure`, is a measure more."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import polars as pl

from cxgen.measures.figures import CHANCE, Figures, Gates, measured
from cxgen.measures.fits import Map


class Items:
    """The items of a family (with ``config``), the number of folds of cross-validations, and what maps the fits."""

    def __init__(self, rows: pl.DataFrame, folds: int = 3, run: Map = map) -> None:
        self.rows, self.folds, self.run = rows, folds, run
        self.shared = cache(lambda make: make(rows))  # what a function makes of the rows: once, for several measures


# Figures, or what gives them when asked (fits go on until then); None: does not apply.
Function = Callable[[Items], Figures | Callable[[], Figures] | None]
MEND = (
    "`cxgen report baselines NAME` tries a change in seconds; the kinds of a design must share their words, each equally often, "
    "and a block of templates (docs/tutorial.md, A look-alike; docs/templates.md, Templates)"
)
MEASURES: dict[str, dict[str, Any]] = {}


def measure(
    family: str, gates: Gates, chance: float = CHANCE, published: float | None = None, ungated: str = "", mend: str = MEND
) -> Callable[[Function], Function]:
    """Register a function as the measure of its name; its docstring says what it is; ``published`` is what CxNLI, made by experts, has;
    ``ungated`` is a family of which the figures are told, too; ``mend``: what helps where a gate breaks."""

    def register(function: Function) -> Function:
        about = {"family": family, "gates": gates, "chance": chance, "published": published, "ungated": ungated, "mend": mend}
        MEASURES[function.__name__] = {**about, "function": function, "meaning": (function.__doc__ or "").rstrip(".")}
        return function

    return register


def measures() -> dict[str, dict[str, Any]]:
    """All measures by name: ``family, meaning, gates, chance, published, ungated, mend, function``."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return MEASURES


def begin(family: str, rows: pl.DataFrame, folds: int, run: Map = map) -> Callable[[], dict[str, dict[str, Any]]]:
    """Hand in the fits of a family's measures; what is returned waits for them and gives name -> what `figures.measured` gives."""
    items = Items(rows, folds, run)
    own = {name: about for name, about in measures().items() if family in {about["family"], about["ungated"]}}
    pending = {name: about["function"](items) for name, about in own.items()}

    def taken() -> dict[str, dict[str, Any]]:
        figures = {name: waiting() if callable(waiting) else waiting for name, waiting in pending.items()}
        gates = {name: about["gates"] if about["family"] == family else Gates() for name, about in own.items()}
        return {name: measured(one, gates[name], own[name]["chance"]) for name, one in figures.items() if one}

    return taken
