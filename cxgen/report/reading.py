"""Blind readings: how far readers who saw premise and hypothesis only agree with the labels, and how natural they find the sentences."""

from __future__ import annotations

from typing import Any

import polars as pl

from cxgen.schema import TARGET
from cxgen.streams import order_key
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


def sheet(dataset: pl.DataFrame, per_group: int, seed: int) -> pl.DataFrame:
    """A sample to hand to readers, shuffled: at most one item per contrast set, equally many per construction and look-alike, and of what
    writers wrote.

    Args:
        dataset: rows of all configs, with the column ``config``.

    Returns:
        ``id, premise, hypothesis`` (strings) and nothing that tells the label.
    """
    items = _items(dataset)
    order = pl.Series("order", [order_key(seed, name) for name in items["id"]])
    one = items.with_columns(order).sort("order").unique("contrast_set", keep="first", maintain_order=True)
    chosen = one.filter(pl.int_range(pl.len()).over("group") < per_group)
    # Readers open it in a spreadsheet, which would run a text that looks like a formula.
    return chosen.select("id", pl.col("premise", "hypothesis").str.replace("^([=+@-])", "'${1}"))


def reading(answers: pl.DataFrame, dataset: pl.DataFrame) -> dict[str, Any]:
    """Agreement and naturalness.

    Args:
        answers: ``id, relation`` (E, N or C), ``prem_nat, hyp_nat`` (1 to 5), ``reader, kind`` (human or model).
        dataset: rows of all configs, with the column ``config``.

    Returns:
        ``answers`` and ``items`` that they are about; ``gone``: answers about items that are no longer in the dataset, which do not
        count; ``readers``: kind -> how many;
        ``overall`` and ``groups`` (construction or look-alike ->): ``answers``, ``labels`` (share of answers that agree with the label),
        ``premises`` and ``hypotheses`` (shares rated 4 or 5).
    """
    found = answers.join(_items(dataset), on="id", how="inner", maintain_order="left")
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
    }


def _shares(rows: pl.DataFrame) -> dict[str, Any]:
    shares = {name: round(rows[name].sum() / max(rows.height, 1), 4) for name in ("labels", "premises", "hypotheses")}
    return {"answers": rows.height} | (shares if rows.height else {})


def _items(dataset: pl.DataFrame) -> pl.DataFrame:
    """The items that readers judge: in ``distinction`` the look-alikes' only, since their targets' are like those of ``nli``."""
    mine = (pl.col("config") != "distinction") | pl.col("contrast_of").is_not_null()
    return dataset.filter(mine).select("id", "contrast_set", "premise", "hypothesis", "label", group=_GROUP)
