"""Sentences from a plan: gather and concatenate whole columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from cxgen.constructicon import Construction, Part
from cxgen.errors import UnknownNameError
from cxgen.sets.forms import Forms, Texts
from cxgen.sets.plan import Plan, Rows
from cxgen.sets.pools import Pools


def pick(chance: np.ndarray, size: int) -> Rows:
    """Numbers in [0, 1) to choices in 0..size-1."""
    choice: Rows = np.minimum((chance * size).astype(np.int64), size - 1)
    return choice


def realise(parts: Sequence[Part], construction: Construction, plan: Plan, pools: Pools, forms: Forms, rows: Rows) -> Texts:
    """The texts of ``parts`` for the sets ``rows``; `scatter` makes sentences of them.

    Raises:
        UnknownNameError: a part names neither a slot nor a word of the frames.
    """
    text = np.full(len(rows), "", dtype=object)
    for part in parts:
        if not part.slot:
            text = text + part.text
        elif part.slot in construction.slots:
            text = text + forms.column(construction.slots[part.slot], part.form, plan, pools, rows)
        else:
            text = text + _frame_word(part.slot, construction, plan, pools, rows)
    return text


def _frame_word(name: str, construction: Construction, plan: Plan, pools: Pools, rows: Rows) -> Texts:
    if not all(name in frame.words for frame in pools.frames):
        raise UnknownNameError(f"{{{name}}} is neither a slot nor a word of every frame", file=construction.document.path)
    return np.array([frame.words[name] for frame in pools.frames], dtype=object)[plan.frame[rows]]


def scatter(pieces: Sequence[tuple[Rows, Texts]], count: int) -> pl.Series:
    """The sentences of ``pieces`` in the order of their row numbers: first letter capital, single spaces."""
    text = np.empty(count, dtype=object)
    for rows, texts in pieces:
        text[rows] = texts
    whole = pl.col("text").str.replace_all("  ", " ", literal=True)
    sentence = whole.str.slice(0, 1).str.to_uppercase() + whole.str.slice(1)
    return pl.DataFrame({"text": text}, schema={"text": pl.String}).select(sentence)["text"]
