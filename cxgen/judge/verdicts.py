"""What a judge says, whichever judge it is."""

from __future__ import annotations

import polars as pl

# One row per item; the verdicts are `cxgen.vocabulary.PREMISE_VERDICTS` and `PAIR_VERDICTS`.
VERDICTS: dict[str, pl.DataType | type[pl.DataType]] = {
    "id": pl.String,
    "premise_verdict": pl.String,
    "premise_reason": pl.String,
    "pair_verdict": pl.String,
    "pair_reason": pl.String,
}
