"""Pseudowords for the words that a construction brings of its own: those of lexemes that it cannot draw."""

from __future__ import annotations

import polars as pl

from cxgen.constructicon import Construction
from cxgen.streams import order_key
from cxgen.vocabulary import RELATIONS


def borrowed(construction: Construction, inventory: pl.DataFrame) -> pl.DataFrame:
    """Pseudowords of other lexemes for the lexemes that ``inventory`` has none for.

    Each lends to one: of the same part of speech, as near in length as there is, and none that the construction itself can draw.
    Which one it is does not depend on the other own words, unless two want the same.

    Args:
        construction: with words of its own.
        inventory: ``key, variant`` and the forms, as in the snapshot.

    Returns:
        Rows like those of ``inventory``, under the keys of the own lexemes; none for those that nothing can lend to.
    """
    lexicon = construction.lexicon
    drawn = _drawn(construction)
    known = set(inventory["key"])
    rows = lexicon.table.select("key", "lemma", "pos").rows()
    free: dict[str, dict[str, int]] = {}
    for row, (key, lemma, pos) in enumerate(rows):
        if key in known and row not in drawn:
            free.setdefault(pos, {})[key] = len(lemma)
    lent = {}
    for key, lemma, pos in rows:
        lenders = free.get(pos)
        if key not in known and lenders:
            size = len(lemma)
            lender = min(lenders, key=lambda other: (abs(lenders[other] - size), order_key(key, other)))
            del lenders[lender]
            lent[lender] = key
    return inventory.filter(pl.col("key").is_in(list(lent))).with_columns(pl.col("key").replace(lent))


def _drawn(construction: Construction) -> set[int]:
    """The rows of all lexemes that the construction's slots and frames can hold."""
    lexicon = construction.lexicon
    names = {name for slot in construction.slots.values() for name in slot.classes}
    names |= {name for frame in construction.frames for fillers in frame.slots.values() for name in fillers}
    rows = {row for name in names if lexicon.has(name) for row in lexicon.resolve(name).ids}
    return rows | {other for relation in RELATIONS for row in rows for other in lexicon.related(relation, row)}
