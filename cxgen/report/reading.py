"""Blind readings: how far readers who saw premise and hypothesis only agree with the labels, and how natural they find the sentences."""

from __future__ import annotations

from typing import Any

import polars as pl

from cxgen.schema import TARGET
from cxgen.vocabulary import LABELS

ANSWERS = {
    "id": pl.String,
    "relation": pl.String,
    "prem_nat": pl.Int8,
    "hyp_nat": pl.Int8,
    "reader": pl.String,
    "kind": pl.String,
}
NATURAL = 4
WRITTEN = "natural"  # the config of what writers wrote: groups of its own
_GROUP = (
    pl.when(pl.col("config") == "distinction")
    .then("construction")
    .when(pl.col("config") == WRITTEN)
    .then(pl.format("{} ({})", TARGET, pl.lit(WRITTEN)))
    .otherwise(TARGET)
)


def reading(answers: pl.DataFrame, dataset: pl.DataFrame) -> dict[str, Any]:
    """Agreement and naturalness.

    Args:
        answers: ``id, relation`` (E, N or C), ``prem_nat, hyp_nat`` (1 to 5), null where a reader was not asked; ``reader, kind`` (human
            or model).
        dataset: rows of all configs, with the column ``config``.

    Returns:
        ``answers`` and ``items`` that they are about; ``gone``: answers about items that are no longer in the dataset, which do not
        count; ``readers``: kind -> how many;
        ``labelled``: answers that give a label;
        ``overall`` and ``groups`` (construction or look-alike ->): ``answers``, ``labels`` (share of answers that agree with the label),
        ``premises`` and ``hypotheses`` (shares rated 4 or 5), each of the answers that there are, None if there are none.
    """
    found = answers.join(items_read(dataset), on="id", how="inner", maintain_order="left")
    letters = {name[0].upper(): number for number, name in enumerate(LABELS)}
    found = found.with_columns(
        labels=pl.col("relation").replace_strict(letters, return_dtype=pl.Int8) == pl.col("label"),
        premises=pl.col("prem_nat") >= NATURAL,
        hypotheses=pl.col("hyp_nat") >= NATURAL,
    )
    kinds = found.select("kind", "reader").unique().group_by("kind").len().sort("kind")
    groups = {str(name): _shares(rows) for (name,), rows in found.sort("group").group_by("group", maintain_order=True)}
    return {
        "answers": found.height,
        "items": found["id"].n_unique(),
        "gone": answers.height - found.height,
        "readers": dict(kinds.iter_rows()),
        "overall": _shares(found),
        "groups": groups,
        "labelled": found["labels"].count(),
    }


def _shares(rows: pl.DataFrame) -> dict[str, Any]:
    shares = {name: round(rows[name].sum() / n, 4) if (n := rows[name].count()) else None for name in ("labels", "premises", "hypotheses")}
    return {"answers": rows.height} | (shares if rows.height else {})


def items_read(dataset: pl.DataFrame) -> pl.DataFrame:
    """The items that readers judge: in ``distinction`` the look-alikes' only, since their targets' are like those of ``nli``."""
    mine = (pl.col("config") != "distinction") | pl.col("contrast_of").is_not_null()
    return dataset.filter(mine).select("id", "contrast_set", "premise", "hypothesis", "label", group=_GROUP)
