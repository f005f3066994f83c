"""One row of the table of lexemes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from cxgen.lexicon.bands import Cuts
from cxgen.lexicon.inflect import forms
from cxgen.lexicon.reference import Reference
from cxgen.lexicon.senses import lexfile
from cxgen.lexicon.spelling import article
from cxgen.vocabulary import INFLECTIONS, RELATIONS

LISTS = (*RELATIONS, "derived")
SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("key", "lemma", "pos", "sense", "lexfile"), pl.String),
    "zipf": pl.Float64,
    "percentile": pl.Float64,
    "band": pl.String,
    "top10k": pl.Boolean,
    **dict.fromkeys(("countability", "gender", "article", *INFLECTIONS), pl.String),
    **dict.fromkeys(LISTS, pl.List(pl.String)),
}


def blank(key: str, lemma: str, pos: str, sense: str | None) -> dict[str, Any]:
    """A row of which nothing else is known yet."""
    empty: dict[str, Any] = {column: [] if column in LISTS else None for column in SCHEMA}
    return empty | {"key": key, "lemma": lemma, "pos": pos, "sense": sense, "lexfile": lexfile(key) or None}


def inflect(row: dict[str, Any], changes: Mapping[str, str], reference: Reference) -> None:
    """Fill in forms, article and countability of ``row``; ``changes`` win."""
    row.update(forms(row["lemma"], row["pos"], changes, reference))
    row["article"] = changes.get("article") or article(row["lemma"])
    if row["lexfile"] == "noun.person":
        row["gender"] = row["gender"] or "any"
    if row["pos"] == "noun":
        row["countability"] = changes.get("countability", "count")
        if row["countability"] != "count":
            row["plural"] = row["lemma"]


def measure(row: dict[str, Any], cuts: Cuts, reference: Reference) -> None:
    """Fill in frequency, percentile and band of ``row``."""
    row["zipf"], row["top10k"] = reference.frequency(row["lemma"])
    row["percentile"] = cuts.percentile(row["pos"], row["zipf"])
    row["band"] = cuts.band(row["pos"], row["zipf"])
