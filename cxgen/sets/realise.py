"""Sentences from a plan: gather and concatenate whole columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import cycle

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
    pieces: list[pl.Series] = []
    texts: list[str | None] = []  # what is the same in all; None for the next piece
    places, frames = (pl.Series(numbers.astype(np.uint32)) for numbers in (rows, plan.frame[rows]))
    between = [""]  # what stands before the next slot: a text, or one for each frame
    gaps = small = False  # whether two spaces may meet, and a first letter stay small: mending takes as long as all the rest

    def put_down() -> None:
        said = between if texts else list(map(capital, between))
        if len(said) > 1:
            pieces.append(pl.Series(said)[frames])
        if said != [""]:
            texts.append(None if len(said) > 1 else said[0])

    for number, part in enumerate(parts):
        if part.slot in construction.slots:
            put_down()
            between = [""]
            slot = construction.slots[part.slot]
            pieces.append(forms.series(slot, part.form, plan, pools, places, capital=not number))
            texts.append(None)
            gaps = gaps or slot.may_lack or slot.wrap != slot.wrap.strip()
        else:
            words = frame_words(part.slot, construction, pools) if part.slot else [part.text]
            longer = max(between, words, key=len)
            between = [before + word for before, word, _ in zip(cycle(between), cycle(words), longer, strict=False)]
            gaps = gaps or any("  " in word or (part.slot and (not word or word != word.strip())) for word in words)
        small = small if number else gaps
    put_down()
    if not pieces:
        return pl.repeat("".join(filter(None, texts)), len(rows), eager=True)
    text = pl.DataFrame([piece.alias(str(number)) for number, piece in enumerate(pieces)]).select(_joined(tuple(texts))).to_series()
    if gaps and text.str.contains("  ", literal=True).any():  # a quarter of the time of replacing none
        text = text.str.replace_all("  ", " ", literal=True)
    return capitalised(text) if small else text


@lru_cache(maxsize=4096)
def _joined(texts: tuple[str | None, ...]) -> pl.Expr:
    """``texts`` in a row, each None being one of the columns 0, 1 ...; made once, which takes as long as joining some thousand rows."""
    columns = map(str, range(len(texts)))
    return pl.concat_str(pl.col(next(columns)) if text is None else pl.lit(text) for text in texts)


def frame_words(name: str, construction: Construction, pools: Pools) -> list[str]:
    """What every frame says for ``name``."""
    if not all(name in frame.words for frame in pools.frames):
        raise UnknownNameError(f"{{{name}}} is neither a slot nor a word of every frame", file=construction.document.path)
    return [frame.words[name] for frame in pools.frames]


def capital(text: str) -> str:
    """``text`` with a capital for its first letter."""
    return text[:1].upper() + text[1:]


def scatter(pieces: Sequence[tuple[Rows, Texts | pl.Series]], count: int) -> pl.Series:
    """The sentences of ``pieces`` in the order of their row numbers."""
    arrays = [(rows, piece) for rows, piece in pieces if isinstance(piece, np.ndarray)]
    columns = [(rows, piece) for rows, piece in pieces if isinstance(piece, pl.Series)]
    few = [capital(text.replace("  ", " ")) for _, piece in arrays for text in piece]
    texts = [pl.Series(few, dtype=pl.String)] if few else []
    texts += [piece for _, piece in columns]
    places = np.empty(count, dtype=np.uint32)
    places[np.concatenate([rows for rows, _ in arrays + columns])] = np.arange(count, dtype=np.uint32)
    return pl.concat(texts, rechunk=True)[pl.Series(places)].alias("text")
