"""The benchmark families. A new one is a file here and a line in ``FAMILIES``; template files then name its configs."""

from collections.abc import Iterable

from cxgen.constructicon import Design
from cxgen.errors import UnknownNameError, unknown
from cxgen.families.core import Family
from cxgen.families.minimal_pairs import CXMP, MINIMAL_PAIRS
from cxgen.families.nli import CXNLI, NLI
from cxgen.schema.columns import LINEAGE, MATERIAL, REJECTS, WUG, Column

FAMILIES: dict[str, Family] = {family.name: family for family in (NLI, MINIMAL_PAIRS, CXNLI, CXMP)}
CONFIGS: dict[str, Family] = {config: family for family in FAMILIES.values() for config in family.configs}
DEFAULT = "nli"
REJECTED = "rejected"
_WUG = "_wug"
NATURAL = "natural"  # the config of sets that a writer wrote; its items are those of the family `nli`

__all__ = ["CONFIGS", "DEFAULT", "FAMILIES", "NATURAL", "REJECTED", "Family"]
__all__ += ["columns_of", "families_of", "family_named", "family_of", "own_columns", "wug_config"]


def family_of(config: str) -> Family:
    """The family that a config belongs to, that of ``nli_wug`` and of ``natural`` included; `UnknownNameError` if none has it."""
    if (source := _source(config)) not in CONFIGS:
        raise unknown("config", config, CONFIGS)
    return CONFIGS[source]


def families_of(design: Design) -> list[Family]:
    """The families of the configs that a design names; `cxgen check` says which of them do not exist (E204)."""
    return [CONFIGS[config] for config in design.configs if config in CONFIGS]


def _source(config: str) -> str:
    return DEFAULT if config == NATURAL else config.removesuffix(_WUG)


def family_named(name: str, others: Iterable[str] = ()) -> Family:
    """The family ``name``; ``others`` are what else could have been meant. `UnknownNameError` says of which family a config is."""
    if name in CONFIGS and name not in FAMILIES:
        owner = CONFIGS[name].name
        raise UnknownNameError(
            f"unknown family {name!r}", hint=f"{name} is a config of the family {owner}: ask for {owner}, whose items say their config"
        )
    if name == NATURAL:
        raise UnknownNameError(f"unknown family {name!r}", hint="its sets are written, not drawn: `cxgen.load('natural')`")
    if name not in FAMILIES:
        raise unknown("family", name, [*FAMILIES, *others])
    return FAMILIES[name]


def wug_config(config: str) -> str:
    """The config that holds the items of ``config`` with pseudowords."""
    return config + _WUG


def own_columns(family: str) -> list[Column]:
    """The columns that items of ``family`` have in one or other of its configs, besides those of all families."""
    chosen = FAMILIES[family]
    return list({column.name: column for config in chosen.configs for column in chosen.columns(config)}.values())


def columns_of(config: str) -> tuple[Column, ...]:
    """The columns of a config's tables, in order."""
    if config == REJECTED:
        return REJECTS
    return (*LINEAGE, *family_of(config).columns(_source(config)), *MATERIAL, *(WUG if config.endswith(_WUG) else ()))
