"""The suites: configs whose rows are not made from contrast sets. A new one is a file here that calls `register`.

What reads, publishes or scores a config asks here, whether it is a family's or a suite's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import polars as pl

from cxgen.errors import UnknownNameError
from cxgen.families import columns_of as family_columns
from cxgen.families import family_of
from cxgen.families.scoring import Scoring
from cxgen.project import Project
from cxgen.schema import Column


@dataclass(frozen=True)
class Suite:
    """A config that is audited, packaged and scored beside the families' items.

    Attributes:
        name: of the suite and of its config; ``construction``: whose it is; ``holds``: what, in a sentence for README and card.
        sizes: what ``params.yaml`` may say of it (``suites``) -> how many where it does not.
        columns: of its tables, ``id, contrast_set, construction, split`` among them; ``splits``: those that have rows.
        card: Jinja text of its section of the dataset card.
        scoring: how its items are answered and scored.
        cluster: over rows, what is resampled together; ``dimensions``: ways to divide its items, name -> string over rows.
        rows: (project, seed, sizes) -> all its rows; ``sample``: (project, seed, n) -> those of ``n`` groups that belong together.
        violations: (project, rows) -> how often each rule is broken.
        counts: what there is of what; ``measures``: what shallow predictors get, see `cxgen.measures.gates.measured`.
        shown: rows as ``sample`` prints them: a heading, and (mark, text) below it.
    """

    name: str
    construction: str
    holds: str
    sizes: Mapping[str, int]
    columns: tuple[Column, ...]
    splits: tuple[str, ...]
    card: str
    scoring: Scoring
    cluster: pl.Expr
    dimensions: Mapping[str, pl.Expr]
    rows: Callable[[Project, int, Mapping[str, int]], pl.DataFrame]
    sample: Callable[[Project, int, int], pl.DataFrame]
    violations: Callable[[Project, pl.DataFrame], dict[str, int]]
    counts: Callable[[pl.DataFrame], dict[str, Any]]
    measures: Callable[[pl.DataFrame], dict[str, dict[str, Any]]]
    shown: Callable[[pl.DataFrame], Iterator[tuple[str, list[tuple[str, str]]]]]


SUITES: dict[str, Suite] = {}


def register(suite: Suite) -> None:
    """Add a suite."""
    SUITES[suite.name] = suite


def columns_of(config: str) -> tuple[Column, ...]:
    """The columns of a config's tables, in order.

    Raises:
        UnknownNameError: no such config.
    """
    return SUITES[config].columns if config in SUITES else family_columns(config)


def scoring_of(config: str) -> Scoring:
    """How the items of a config are answered and scored; errors as of `columns_of`."""
    return SUITES[config].scoring if config in SUITES else family_of(config).scoring


def suite_of(name: str, construction: str) -> Suite:
    """The suite ``name``.

    Raises:
        UnknownNameError: it is another construction's.
    """
    suite = SUITES[name]
    if suite.construction != construction:
        raise UnknownNameError(f"{construction} has no suite {name}", hint=f"it is one of {suite.construction}")
    return suite


for _module in sorted(module.name for module in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")
