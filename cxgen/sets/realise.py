"""Sentences from a plan: gather and concatenate whole columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from cxgen.constructicon import Construction, Part
from cxgen.errors import UnknownNameError
from cxgen.sets.forms import Forms
from cxgen.sets.plan import Plan, Rows
from cxgen.sets.pools import Pools


def pick(chance: np.ndarray, size: int) -> Rows:
    """Numbers in [0, 1) to choices in 0..size-1."""
    choice: Rows = np.minimum((chance * size).astype(np.int64), size - 1)
    return choice


def realise(parts: Sequence[Part], construction: Construction, plan: Plan, pools: Pools, forms: Forms, rows: Rows) -> pl.Series:
    """The sentence of ``parts`` for the sets ``rows``: first letter capital, single spaces.

    Raises:
        UnknownNameError: a part names neither a slot nor a word of the frames.
    """
    columns: list[pl.Expr] = [pl.repeat("", len(rows))]  # fixes the height where a pattern has no slot
    for part in parts:
        if not part.slot:
            columns.append(pl.lit(part.text))
        elif part.slot in construction.slots:
            columns.append(forms.column(construction.slots[part.slot], part.form, plan, pools, rows))
        else:
            columns.append(_frame_word(part.slot, construction, plan, pools, rows))
    text = pl.concat_str(columns).str.replace_all("  ", " ", literal=True)
    return pl.select((text.str.slice(0, 1).str.to_uppercase() + text.str.slice(1)).alias("text"))["text"]


def _frame_word(name: str, construction: Construction, plan: Plan, pools: Pools, rows: Rows) -> pl.Expr:
    if not all(name in frame.words for frame in pools.frames):
        raise UnknownNameError(f"{{{name}}} is neither a slot nor a word of every frame", file=construction.document.path)
    return pl.lit(pl.Series([frame.words[name] for frame in pools.frames], dtype=pl.String)).gather(pl.lit(pl.Series(plan.frame[rows])))


def scatter(pieces: Sequence[tuple[Rows, pl.Series]], count: int) -> pl.Series:
    """Strings put back in the order of their row numbers."""
    rows = np.concatenate([rows for rows, _ in pieces])
    text = pl.concat([text for _, text in pieces])
    order = np.empty(count, dtype=np.int64)
    order[rows] = np.arange(len(rows))
    return text.gather(order)
