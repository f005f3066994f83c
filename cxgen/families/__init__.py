"""The benchmark families. A new one is a file here and a line in ``FAMILIES``; template files then name its configs."""

from __future__ import annotations

from collections.abc import Iterable

from cxgen.errors import UnknownNameError, unknown
from cxgen.families.core import Family, Shown
from cxgen.families.minimal_pairs import MinimalPairs
from cxgen.families.nli import NLI
from cxgen.schema.columns import LINEAGE, MATERIAL, REJECTS, WUG, Column

FAMILIES: dict[str, Family] = {family.name: family for family in (NLI(), MinimalPairs())}
CONFIGS: dict[str, Family] = {config: family for family in FAMILIES.values() for config in family.configs}
DEFAULT = "nli"
REJECTED = "rejected"
_WUG = "_wug"
NATURAL = "natural"  # the config of sets that a writer wrote; its items are those of the family `nli`


def family_of(config: str) -> Family:
    """The family that a config belongs to; that of ``nli_wug`` and of ``natural`` is the family of ``nli``.

    Raises:
        UnknownNameError: no family has it.
    """
    name = DEFAULT if config == NATURAL else config.removesuffix(_WUG)
    if name not in CONFIGS:
        raise unknown("config", config, CONFIGS)
    return CONFIGS[name]


def family_named(name: str, others: Iterable[str] = ()) -> Family:
    """The family ``name``; ``others`` are what else could have been meant.

    Raises:
        UnknownNameError: there is none; if it is a config, the hint says of which family.
    """
    if name in FAMILIES:
        return FAMILIES[name]
    if name in CONFIGS:
        owner = CONFIGS[name].name
        raise UnknownNameError(f"unknown family {name!r}", hint=f"{name} is a config of the family {owner}: ask for {owner}")
    raise unknown("family", name, [*FAMILIES, *others])


def wug_config(config: str) -> str:
    """The config that holds the items of ``config`` with pseudowords."""
    return config + _WUG


def own_columns(family: str) -> list[Column]:
    """The columns that items of ``family`` have in one or other of its configs, besides those of all families."""
    chosen = FAMILIES[family]
    return list({column.name: column for config in chosen.configs for column in chosen.columns(config)}.values())


def columns_of(config: str) -> tuple[Column, ...]:
    """The columns of a config's tables, in order; of ``rejected``: those that an item of any family can have."""
    if config == REJECTED:
        return (*LINEAGE, *(column for name in FAMILIES for column in own_columns(name)), *MATERIAL, *REJECTS)
    more = WUG if config.endswith(_WUG) else ()
    own = DEFAULT if config == NATURAL else config.removesuffix(_WUG)
    return (*LINEAGE, *family_of(config).columns(own), *MATERIAL, *more)


__all__ = [
    "CONFIGS",
    "DEFAULT",
    "FAMILIES",
    "NATURAL",
    "REJECTED",
    "Family",
    "Shown",
    "columns_of",
    "family_named",
    "family_of",
    "own_columns",
    "wug_config",
]
