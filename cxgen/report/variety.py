"""How varied the sentences are."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import polars as pl


def variety(dataset: pl.DataFrame) -> dict[str, Any]:
    """Per construction: distinct-2 (distinct bigrams / bigrams; Li et al. 2016) of premises and hypotheses, and the largest
    share of a template.

    Args:
        dataset: columns ``construction, contrast_of, premise, hypothesis, template``.
    """
    report: dict[str, Any] = {}
    for (name,), rows in dataset.group_by("construction", maintain_order=True):
        premises = rows.unique("premise", maintain_order=True)
        largest = premises["template"].value_counts(sort=True)
        report[str(name)] = {
            "premises": premises.height,
            "hypotheses": rows["hypothesis"].n_unique(),
            "distinct-2 premises": distinct(premises["premise"]),
            "distinct-2 hypotheses": distinct(rows["hypothesis"].unique(maintain_order=True)),
            "templates": largest.height,
            "largest template share": round(largest["count"][0] / premises.height, 4),
            "lexemes": rows.select(pl.col("slots").list.eval(pl.element().struct.field("sense")).explode().n_unique()).item(),
        }
    return dict(sorted(report.items()))


def distinct(texts: pl.Series) -> float:
    """Distinct bigrams over bigrams."""
    seen: set[tuple[str, str]] = set()
    total = 0
    for text in texts:
        words = text.lower().rstrip(".").split()
        pairs = list(pairwise(words))
        seen.update(pairs)
        total += len(pairs)
    return round(len(seen) / max(total, 1), 4)
