"""The form check as a judge: premises that do not instantiate their construction's form."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from cxgen.annotate import Annotator, Chunks, FormCheck
from cxgen.constructicon import Construction
from cxgen.lexicon import Lexicon

REASON = "the sentence does not have the construction's form"


def form_failures(items: pl.DataFrame, constructions: Iterable[Construction], lexicon: Lexicon, chunks: Chunks) -> pl.DataFrame:
    """Premises of a construction or its look-alikes (whose form is the same) that none of its ``form_check`` patterns matches.

    Constructions without patterns, and opposites, are not checked.

    Args:
        items: columns ``premise_id, construction, contrast_of, kind, template, premise, slots``.
        constructions: those of the items.
        lexicon: word forms.
        chunks: annotation of closed-class words.

    Returns:
        ``premise_id, reason`` (strings).

    Raises:
        DataError: spaCy is missing, or a template has words without annotation.
    """
    failed: list[str] = []
    for construction in constructions:
        if not construction.form_check:
            continue
        check = FormCheck({construction.name: construction.form_check})
        annotator = Annotator(construction, lexicon, chunks)
        mine = items.filter(pl.col("construction").is_in([construction.name, *construction.lookalikes]))
        for item in mine.unique("premise_id", keep="first", maintain_order=True).iter_rows(named=True):
            if not check.holds(annotator.sentence(item), construction.name):
                failed.append(item["premise_id"])
    return pl.DataFrame({"premise_id": failed, "reason": [REASON] * len(failed)}, schema={"premise_id": pl.String, "reason": pl.String})


def with_form(verdicts: pl.DataFrame, items: pl.DataFrame, failures: pl.DataFrame) -> pl.DataFrame:
    """``verdicts`` with the premises of ``failures`` unacceptable, unless they were already."""
    failed = verdicts.join(items.select("id", "premise_id"), on="id", maintain_order="left").join(
        failures, on="premise_id", how="left", maintain_order="left"
    )
    hit = pl.col("reason").is_not_null() & (pl.col("premise_verdict") != "unacceptable")
    return failed.with_columns(
        premise_verdict=pl.when(hit).then(pl.lit("unacceptable")).otherwise("premise_verdict"),
        premise_reason=pl.when(hit).then("reason").otherwise("premise_reason"),
    ).select(verdicts.columns)
