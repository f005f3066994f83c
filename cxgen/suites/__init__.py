"""The suites: configs whose rows are not made from contrast sets. A new one is a file here that calls `register`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import polars as pl

from cxgen.families import columns_of as family_columns
from cxgen.families import family_of
from cxgen.families.scoring import Scoring
from cxgen.project import Project
from cxgen.schema import Column


@dataclass(frozen=True)
class Suite:
    """A config that is audited, packaged and scored beside the families' items: what it is, its tables, and what is asked of them."""

    name: str
    construction: str
    holds: str  # in a sentence for README and card
    sizes: Mapping[str, int]  # what ``params.yaml`` may say of it -> how many where it does not
    columns: tuple[Column, ...]  # ``id, contrast_set, construction, split`` among them
    splits: tuple[str, ...]
    scoring: Scoring
    cluster: pl.Expr  # over rows: what is resampled together
    dimensions: Mapping[str, pl.Expr]  # ways to divide its items: strings
    rows: Callable[[Project, int, Mapping[str, int]], pl.DataFrame]  # of a seed and sizes
    sample: Callable[[Project, int, int], pl.DataFrame]  # of a seed and so many groups that belong together
    violations: Callable[[Project, pl.DataFrame], dict[str, int]]  # how often each rule is broken
    counts: Callable[[pl.DataFrame], dict[str, Any]]
    measures: Callable[[pl.DataFrame], dict[str, dict[str, Any]]]  # what shallow predictors get, see `cxgen.measures.figures.measured`
    shown: Callable[[pl.DataFrame], Iterator[tuple[str, list[tuple[str, str]]]]]  # headings, and (mark, text) below them


SUITES: dict[str, Suite] = {}


def register(suite: Suite) -> None:
    """Add a suite."""
    SUITES[suite.name] = suite


def columns_of(config: str) -> tuple[Column, ...]:
    """The columns of a config's tables, whether it is a family's or a suite's."""
    return SUITES[config].columns if config in SUITES else family_columns(config)


def scoring_of(config: str) -> Scoring:
    """How the items of a config are answered and scored."""
    return SUITES[config].scoring if config in SUITES else family_of(config).scoring


for _module in sorted(module.name for module in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")
