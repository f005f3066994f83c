"""Sentences from a plan: gather and concatenate whole columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from cxgen.constructicon import Construction, Part
from cxgen.errors import UnknownNameError
from cxgen.sets.forms import Forms, Texts, capitalised
from cxgen.sets.plan import Plan, Rows
from cxgen.sets.pools import Pools

LARGE = 500  # sentences of a template, from which on columns of polars are faster than arrays of Python strings


def pick(chance: np.ndarray, size: int) -> Rows:
    """Numbers in [0, 1) to choices in 0..size-1."""
    choice: Rows = np.minimum((chance * size).astype(np.int64), size - 1)
    return choice


def realise(parts: Sequence[Part], construction: Construction, plan: Plan, pools: Pools, forms: Forms, rows: Rows) -> Texts | pl.Series:
    """The texts of ``parts`` for the sets ``rows``: an array for `scatter`, or, if faster, a column of sentences.

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
    pieces: list[pl.Series | pl.Expr] = []
    gaps = False  # whether two spaces may meet, or a first letter stay small: mending takes as long as all the rest
    for number, part in enumerate(parts):
        if not part.slot:
            pieces.append(pl.lit(part.text if number else capital(part.text)))
            gaps = gaps or "  " in part.text
        elif part.slot in construction.slots:
            slot = construction.slots[part.slot]
            pieces.append(forms.series(slot, part.form, plan, pools, rows, capital=not number))
            gaps = gaps or slot.may_lack or slot.wrap != slot.wrap.strip()
        else:
            words = frame_words(part.slot, construction, pools)
            pieces.append(pl.Series(words if number else list(map(capital, words)))[plan.frame[rows]])
            gaps = gaps or any(not word or word != " ".join(word.split()) for word in words)
    if not any(isinstance(piece, pl.Series) for piece in pieces):
        pieces.append(pl.repeat("", len(rows), eager=True))  # literals alone are one text
    text = pl.select(pl.concat_str(pieces)).to_series()
    return sentences(text) if gaps else text


def frame_words(name: str, construction: Construction, pools: Pools) -> list[str]:
    """What every frame says for ``name``."""
    if not all(name in frame.words for frame in pools.frames):
        raise UnknownNameError(f"{{{name}}} is neither a slot nor a word of every frame", file=construction.document.path)
    return [frame.words[name] for frame in pools.frames]


def capital(text: str) -> str:
    """``text`` with a capital for its first letter."""
    return text[:1].upper() + text[1:]


def sentences(texts: pl.Series) -> pl.Series:
    """``texts`` with a capital for their first letters and with single spaces."""
    if texts.str.contains("  ", literal=True).any():  # a quarter of the time of replacing none
        texts = texts.str.replace_all("  ", " ", literal=True)
    return capitalised(texts)


def scatter(pieces: Sequence[tuple[Rows, Texts | pl.Series]], count: int) -> pl.Series:
    """The sentences of ``pieces`` in the order of their row numbers."""
    arrays = [(rows, piece) for rows, piece in pieces if isinstance(piece, np.ndarray)]
    columns = [(rows, piece) for rows, piece in pieces if isinstance(piece, pl.Series)]
    few = [capital(text.replace("  ", " ")) for _, piece in arrays for text in piece]
    texts = [pl.Series(few, dtype=pl.String)] if few else []
    texts += [piece for _, piece in columns]
    places = np.empty(count, dtype=np.uint32)
    places[np.concatenate([rows for rows, _ in arrays + columns])] = np.arange(count, dtype=np.uint32)
    return pl.concat(texts, rechunk=True)[places].alias("text")
