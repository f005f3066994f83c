"""Which candidates become the dataset: whole contrast sets in which nothing is refused, the first ones of each design and split."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from cxgen.build.request import Request
from cxgen.constructicon import Construction
from cxgen.errors import DataError
from cxgen.families import REJECTED, columns_of
from cxgen.sampling import Sampler
from cxgen.schema import conform
from cxgen.vocabulary import APPROPRIATE, EXTENDED, INAPPROPRIATE, PROTOTYPICAL, UNDECIDED

# One row per item; the verdicts are `cxgen.vocabulary.PREMISE_VERDICTS` and `PAIR_VERDICTS`.
VERDICTS: dict[str, pl.DataType | type[pl.DataType]] = {
    name: pl.String() for name in ("id", "premise_verdict", "premise_reason", "pair_verdict", "pair_reason")
}
_KEYS = ["config", "design", "split"]


def unjudged(items: pl.DataFrame) -> pl.DataFrame:
    """The verdicts on ``items`` where nobody is asked: every premise is as acceptable as its verb makes it, every pair appropriate."""
    return items.select(
        "id", premise_verdict="acceptability", premise_reason=pl.lit(""), pair_verdict=pl.lit(APPROPRIATE), pair_reason=pl.lit("")
    )


def leave_out(judged: pl.DataFrame, dropped: Mapping[str, str]) -> pl.DataFrame:
    """The items with those of ``dropped`` sets (contrast set -> reason) refused, in every config."""
    why = pl.col("contrast_set").replace_strict(dropped, default=None, return_dtype=pl.String)
    refused = why.is_not_null() & (pl.col("pair_verdict") != INAPPROPRIATE)
    return judged.with_columns(
        pair_verdict=pl.when(refused).then(pl.lit(INAPPROPRIATE)).otherwise("pair_verdict"),
        pair_reason=pl.when(refused).then(pl.format("review: {}", why)).otherwise("pair_reason"),
    )


def accept(judged: pl.DataFrame, *, keep_undecided: bool = False) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Items of the sets in which nothing is rejected or undecided, and the rejected items of the others with their reasons.

    With ``keep_undecided`` what is undecided counts as good.
    """
    more = [UNDECIDED] if keep_undecided else []
    good = pl.col("premise_verdict").is_in([PROTOTYPICAL, EXTENDED, *more]) & pl.col("pair_verdict").is_in([APPROPRIATE, *more])
    judged = judged.with_columns(acceptability="premise_verdict")
    rejected = judged.filter(~good)
    columns = [column for column in columns_of(REJECTED) if column.name in rejected.columns]
    return judged.filter(good.all().over("config", "contrast_set")), conform(rejected, columns)


def wanted_sets(samplers: list[Sampler], request: Request) -> pl.DataFrame:
    """How many sets each config, design and split of a construction must have: ``config, design, split, wanted``."""
    needs = [
        (each.config, each.design.name, each.split, request.sets(each.construction, each.design, each.config)[each.split])
        for each in samplers
    ]
    return pl.DataFrame(needs, schema=[*_KEYS, "wanted"], orient="row")


def choose(accepted: pl.DataFrame, wanted: pl.DataFrame, construction: Construction) -> pl.DataFrame:
    """The first ``wanted`` accepted sets of each config, design and split of a construction, in the order of the candidates.

    Raises:
        DataError: there are fewer.
    """
    have = accepted.group_by(_KEYS).agg(have=pl.col("set_number").n_unique())
    short = wanted.join(have, on=_KEYS, how="left").with_columns(pl.col("have").fill_null(0)).filter(pl.col("have") < pl.col("wanted"))
    for row in short.sort(_KEYS).head(1).iter_rows(named=True):
        raise DataError(
            f"{construction.name}, design {row['design']} for {row['config']}, {row['split']}: {row['wanted']} contrast sets are wanted"
            f", {row['have']} were accepted",
            hint="see what was refused and why in outputs/dataset/rejected; mend that, or raise generate.oversample in params.yaml",
        )
    rank = pl.col("set_number").rank("dense").over(_KEYS)
    return accepted.join(wanted, on=_KEYS, how="left", maintain_order="left").filter(rank <= pl.col("wanted")).drop("wanted")
