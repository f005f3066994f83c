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

LARGE = 500  # sentences of a template, from which on columns of polars are faster than arrays of Python strings


def pick(chance: np.ndarray, size: int) -> Rows:
    """Numbers in [0, 1) to choices in 0..size-1."""
    choice: Rows = np.minimum((chance * size).astype(np.int64), size - 1)
    return choice


def realise(parts: Sequence[Part], construction: Construction, plan: Plan, pools: Pools, forms: Forms, rows: Rows) -> Texts | pl.Series:
    """The texts of ``parts`` for the sets ``rows``, in whichever of the two ways is faster; `scatter` makes sentences of them.

    Raises:
        UnknownNameError: a part names neither a slot nor a word of the frames.
    """
    if len(rows) >= LARGE:
        return _as_column(parts, construction, plan, pools, forms, rows)
    text = np.full(len(rows), "", dtype=object)
    for part in parts:
        if not part.slot:
            text = text + part.text
        elif part.slot in construction.slots:
            text = text + forms.column(construction.slots[part.slot], part.form, plan, pools, rows)
        else:
            text = text + np.array(frame_words(part.slot, construction, pools), dtype=object)[plan.frame[rows]]
    return text


def _as_column(parts: Sequence[Part], construction: Construction, plan: Plan, pools: Pools, forms: Forms, rows: Rows) -> pl.Series:
    pieces: list[pl.Series | pl.Expr] = [pl.repeat("", len(rows), eager=True)]  # so that there are as many where all is literal
    for part in parts:
        if not part.slot:
            pieces.append(pl.lit(part.text))
        elif part.slot in construction.slots:
            pieces.append(forms.series(construction.slots[part.slot], part.form, plan, pools, rows))
        else:
            pieces.append(pl.Series(frame_words(part.slot, construction, pools))[plan.frame[rows]])
    return pl.select(pl.concat_str(pieces)).to_series()


def frame_words(name: str, construction: Construction, pools: Pools) -> list[str]:
    """What every frame says for ``name``."""
    if not all(name in frame.words for frame in pools.frames):
        raise UnknownNameError(f"{{{name}}} is neither a slot nor a word of every frame", file=construction.document.path)
    return [frame.words[name] for frame in pools.frames]


def scatter(pieces: Sequence[tuple[Rows, Texts | pl.Series]], count: int) -> pl.Series:
    """The sentences of ``pieces`` in the order of their row numbers: first letter capital, single spaces."""
    if any(isinstance(piece, pl.Series) for _, piece in pieces):
        texts = pl.concat([piece if isinstance(piece, pl.Series) else pl.Series(piece, dtype=pl.String) for _, piece in pieces])
    else:
        texts = pl.Series(np.concatenate([piece for _, piece in pieces]), dtype=pl.String)
    places = np.empty(count, dtype=np.int64)
    places[np.concatenate([rows for rows, _ in pieces])] = np.arange(count)
    whole = pl.col("text").str.replace_all("  ", " ", literal=True)
    sentence = whole.str.slice(0, 1).str.to_uppercase() + whole.str.slice(1)
    return pl.DataFrame({"text": texts[places]}).select(sentence)["text"]
