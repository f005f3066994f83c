"""What the tables that stages hand to one another must be like: for each file, its contract, and what makes it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from cxgen import layout
from cxgen.errors import DataError
from cxgen.families import CONFIGS, FAMILIES, NATURAL, REJECTED, columns_of, family_of, own_columns
from cxgen.judge import VERDICTS
from cxgen.project import Project
from cxgen.schema import Column, Contract
from cxgen.schema.columns import LINEAGE, MATERIAL
from cxgen.tables import read_table
from cxgen.vocabulary import PAIR_VERDICTS, PREMISE_VERDICTS

_FIRST = "(or `dvc repro`) first"


def _bare(columns: tuple[Column, ...] | list[Column]) -> tuple[Column, ...]:
    """``columns``, which rows of other configs do not have."""
    return tuple(replace(column, null=True) for column in columns)


_OWN = [column for name in FAMILIES for column in own_columns(name)]
_CANDIDATES = Contract(
    (
        *LINEAGE,
        *_bare(_OWN),
        *(column for column in MATERIAL if column.name != "acceptability"),
        Column("config", pl.String, "the config that the item is for", values=tuple(CONFIGS)),
        Column("set_number", pl.Int64, "number of its contrast set within its source"),
        Column("well_formed", pl.Boolean, "whether its premise has the construction's form"),
    ),
    key=("id",),
    optional=frozenset(column.name for column in _OWN),
    least=1,
)
_SAID = {"premise_verdict": PREMISE_VERDICTS, "pair_verdict": PAIR_VERDICTS}
_VERDICTS = Contract(tuple(Column(name, pl.String, "", values=_SAID.get(name, ())) for name in VERDICTS), key=("id",), least=1)


def read_candidates(project: Project) -> pl.DataFrame:
    """The candidate items.

    Raises:
        DataError: there are none, or they are not as `generate` writes them.
    """
    path, hint = project.root / layout.CANDIDATES, f"run `cxgen generate` {_FIRST}"
    items = read_table(path, _CANDIDATES, hint)
    for config in items["config"].unique().sort():
        own = Contract(family_of(config).columns(config), more=True)
        rows = items.filter(pl.col("config") == config)
        fault = own.misfit(dict(rows.schema)) or own.fault(rows)
        if fault:
            raise DataError(f"items of {config}: {fault}", file=path, hint=hint)
    return items


def read_verdicts(project: Project) -> pl.DataFrame:
    """The verdicts on the candidates.

    Raises:
        DataError: there are none, or they are not as `judge` writes them.
    """
    return read_table(project.root / layout.VERDICTS, _VERDICTS, f"run `cxgen judge` {_FIRST}")


def read_split(path: Path, config: str, split: str) -> pl.DataFrame:
    """A finished table of a config, of one of its splits or of what was refused.

    Raises:
        DataError: there is none, or it is not as `split` (for pseudowords, `substitute`) writes it.
    """
    made_by = "natural" if config == NATURAL else "substitute" if config.endswith("_wug") else "split"
    hint = f"run `cxgen {made_by}` {_FIRST}"
    columns = columns_of(config)
    if config == REJECTED:
        return read_table(path, Contract(_bare(columns), optional=frozenset(column.name for column in columns)), hint)
    rows = read_table(path, Contract(columns, key=("id",)), hint)
    if (rows["split"] != split).any():
        raise DataError(f"holds rows of another split than {split}", file=path, hint=hint)
    return rows


def compared(config: str) -> Contract:
    """What of a table of ``config`` is compared with that of another version, which may have other columns besides."""
    names = {"id", "construction", "split", *family_of(config).compared.values()}
    chosen = tuple(column for column in columns_of(config) if column.name in names)
    return Contract(chosen, key=("id",), optional=frozenset({"split"}), more=True)
