"""What the files of a snapshot must be like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import DataError
from cxgen.files import read_json
from cxgen.schema import Column, Contract
from cxgen.tables import read_table
from cxgen.vocabulary import BANDS, INFLECTIONS, POS, RELATIONS

HINT = "run `cxgen lexicon build`, or restore the file"
_TEXTS = pl.List(pl.String)
_LEXEMES = Contract(
    (
        Column("key", pl.String, ""),
        Column("lemma", pl.String, ""),
        Column("pos", pl.String, "", values=POS),
        *(Column(name, pl.String, "", null=True) for name in ("sense", "lexfile")),
        Column("zipf", pl.Float64, ""),
        Column("percentile", pl.Float64, ""),
        Column("band", pl.String, "", values=BANDS),
        Column("top10k", pl.Boolean, ""),
        Column("countability", pl.String, "", null=True),
        Column("gender", pl.String, "", null=True, values=("m", "f", "any", "none")),
        *(Column(name, pl.String, "", null=True) for name in ("article", *INFLECTIONS)),
        *(Column(name, _TEXTS, "") for name in (*RELATIONS, "derived")),
    ),
    key=("key",),
    least=1,
)
PSEUDOWORDS = Contract(
    (
        Column("key", pl.String, ""),
        Column("variant", pl.Int8, ""),
        Column("lemma", pl.String, ""),
        *(Column(name, pl.String, "", null=True) for name in ("article", *INFLECTIONS)),
    ),
    key=("key", "variant"),
    least=1,
)


def read_lexemes(path: Path) -> pl.DataFrame:
    """The lexemes.

    Raises:
        DataError: there are none, or they are not as `lexicon build` writes them.
    """
    return read_table(path, _LEXEMES, HINT)


def read_classes(path: Path) -> dict[str, Any]:
    """Classes, cuts of bands and overrides.

    Raises:
        DataError: missing, or not as `lexicon build` writes it.
    """
    data = read_json(path, HINT)
    if not isinstance(data, dict) or "classes" not in data:
        raise DataError("expected an object with classes", file=path, hint=HINT)
    return data
