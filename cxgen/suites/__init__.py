"""The suites: configs whose rows are not made from contrast sets. A new one is a file here that calls `register`.

What reads, publishes or scores a config asks here, whether it is a family's or a suite's.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from cxgen.errors import UnknownNameError
from cxgen.families import columns_of as family_columns
from cxgen.families import family_of
from cxgen.families.scoring import Scoring
from cxgen.schema import Column
from cxgen.suites.core import SUITES, Suite, register

for _module in sorted(module.name for module in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")


def columns_of(config: str) -> tuple[Column, ...]:
    """The columns of a config's tables, in order.

    Raises:
        UnknownNameError: no such config.
    """
    return SUITES[config].columns if config in SUITES else family_columns(config)


def scoring_of(config: str) -> Scoring:
    """How the items of a config are answered and scored.

    Raises:
        UnknownNameError: no such config.
    """
    return SUITES[config].scoring if config in SUITES else family_of(config).scoring


def suite_of(name: str, construction: str) -> Suite:
    """The suite ``name``, if it is one of ``construction``.

    Raises:
        UnknownNameError: it is another construction's.
    """
    suite = SUITES[name]
    if suite.construction != construction:
        raise UnknownNameError(f"{construction} has no suite {name}", hint=f"it is one of {suite.construction}")
    return suite


__all__ = ["SUITES", "Suite", "columns_of", "register", "scoring_of", "suite_of"]
