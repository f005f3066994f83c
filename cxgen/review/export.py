"""A sample of the finished dataset as a folder of lists with their key."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import DataError, unknown
from cxgen.files import read_text
from cxgen.report.reading import items_read
from cxgen.review.sample import ANSWERS, FILE, Design, sample, write_key
from cxgen.review.sheets import Kind, write_lists

_LONGEST_REAL = 500  # characters


def export(
    dataset: pl.DataFrame, folder: Path, design: Design, kinds: Sequence[Kind], configs: Sequence[str] = (), real: Path | None = None
) -> list[dict[str, Any]]:
    """Draw a sample, write its key and its lists into ``folder``.

    Args:
        dataset: items of the family ``nli``, with the column ``config``.
        folder: without a review in it.
        design: how much.
        kinds: of files.
        configs: of the dataset; none: all.
        real: a text file of attested sentences, one a line.

    Returns:
        a row per list and task: ``list, task, items, checks, real``.

    Raises:
        DataError: nothing to draw, a review in the folder already, or no such sentences.
        UnknownNameError: no such config.
    """
    if (folder / FILE).exists():
        raise DataError("there is a review already", file=folder, hint="its answers need its key: take another folder")
    known = dataset["config"].unique().sort().to_list()
    for config in configs:
        if config not in known:
            raise unknown("config", config, known)
    chosen = dataset.filter(pl.col("config").is_in(list(configs) or known))
    key = sample(items_read(chosen), design, sentences(real) if real else ())
    write_lists(key, folder, kinds)
    (folder / ANSWERS).mkdir(exist_ok=True)
    write_key(key, folder)
    kind = pl.col("kind")
    counts = key.group_by("list", "task").agg(items=(kind == "item").sum(), checks=(kind == "check").sum(), real=(kind == "real").sum())
    return counts.sort("list", "task").to_dicts()


def sentences(path: Path) -> list[str]:
    """Attested sentences, one a line; empty lines and lines that begin with # are left out.

    Raises:
        DataError: a line is too long, or there is none.
    """
    hint = "a text file with one sentence a line"
    kept = []
    for number, line in enumerate(read_text(path, hint).splitlines(), 1):
        text = " ".join(line.split())
        if len(text) > _LONGEST_REAL:
            raise DataError(f"a line of {len(text)} characters", file=path, line=number, hint=hint)
        if text and not text.startswith("#"):
            kept.append(text)
    if not kept:
        raise DataError("has no sentences", file=path, hint=hint)
    return kept
