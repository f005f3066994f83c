"""Contrast sets as the page's browser shows them: the premises with their slots, the hypotheses, and the grid of labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from cxgen.schema import TARGET
from cxgen.streams import order_keys
from cxgen.vocabulary import LABELS

Pieces = list[list[str]]  # text, and its slot or ""
_LETTERS = [name[0].upper() for name in LABELS]


def some_sets(items: pl.DataFrame, per_design: int, seed: int = 1) -> pl.DataFrame:
    """The items of ``per_design`` contrast sets of each config, construction and design.

    Args:
        items: with ``config``.
        per_design: how many.
        seed: another seed, other sets.
    """
    sets = items.select("config", "design", "contrast_set", target=TARGET).unique().sort("config", "target", "design", "contrast_set")
    order = pl.Series("order", order_keys((seed, "page"), sets["contrast_set"]))
    sets = sets.with_columns(order).sort("config", "target", "design", "order")
    chosen = sets.filter(pl.int_range(pl.len()).over("config", "target", "design") < per_design)
    return items.join(chosen.select("config", "contrast_set"), on=["config", "contrast_set"], how="semi", maintain_order="left")


def grids(items: pl.DataFrame, pieces: Mapping[str, Pieces]) -> list[dict[str, Any]]:
    """Sets for the browser.

    Args:
        items: of whole sets, with ``config``, premise, hypothesis and label.
        pieces: premise id -> the premise, divided by slots; of others the plain text.

    Returns:
        ``id, config, construction, design, split``; ``premises``: ``kind, of`` (construction), ``pieces``; ``hypotheses``: texts;
        ``cells``: per premise a letter for each hypothesis, empty where there is no item.
    """
    shown = []
    for _, rows in items.group_by("config", "contrast_set", maintain_order=True):
        premises = rows.unique("premise_id", keep="first", maintain_order=True).to_dicts()
        hypotheses = rows["hypothesis"].unique(maintain_order=True).to_list()
        labels = {(row["premise_id"], row["hypothesis"]): _LETTERS[row["label"]] for row in rows.to_dicts()}
        first = premises[0]
        shown.append(
            {
                "id": first["contrast_set"],
                "config": first["config"],
                "construction": first["contrast_of"] or first["construction"],
                "design": first["design"],
                "split": first["split"],
                "premises": [
                    {"kind": row["kind"], "of": row["construction"], "pieces": pieces.get(row["premise_id"], [[row["premise"], ""]])}
                    for row in premises
                ],
                "hypotheses": hypotheses,
                "cells": [[labels.get((row["premise_id"], text), "") for text in hypotheses] for row in premises],
            }
        )
    return shown
