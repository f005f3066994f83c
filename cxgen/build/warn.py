"""What a user should know of a dataset that is sound and yet not what was meant."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator

import polars as pl

FEW = 5  # verbs
MORE = 1.5  # times what was asked for


def warnings(items: pl.DataFrame, wanted: Callable[[str], int], oversample: float = 1.0) -> Iterator[str]:
    """One line for each construction with few verbs in dev or test, or with many more items than were asked for.

    Args:
        items: of a dataset, or candidates; ``config, construction, contrast_of, design, split, contrast_set, verb``, all strings.
        wanted: config -> items wanted of each construction (of ``distinction``: of each look-alike).
        oversample: contrast sets in ``items`` for each that will be kept.
    """
    yield from _few_verbs(items.filter(pl.col("split").is_in(["dev", "test"])))
    yield from _too_many(items, wanted, oversample)


def tell(lines: Iterable[str]) -> None:
    """Print warnings on stderr."""
    for line in lines:
        sys.stderr.write(f"warning: {line}\n")


def _few_verbs(items: pl.DataFrame) -> Iterator[str]:
    found = items.group_by("construction", "split").agg(pl.col("verb").unique().sort()).sort("construction", "split")
    for name, split, verbs in found.iter_rows():
        if len(verbs) < FEW:
            told = f"a single {split} verb" if len(verbs) == 1 else f"only {len(verbs)} {split} verbs"
            yield f"{name}: {told} ({', '.join(verbs)}): results will say more about words than about the construction; add verbs"


def _too_many(items: pl.DataFrame, wanted: Callable[[str], int], oversample: float) -> Iterator[str]:
    counted = items.filter((pl.col("config") == "distinction") == pl.col("contrast_of").is_not_null())
    sets = counted.group_by("config", "construction", "design", "split").agg(rows=pl.len(), sets=pl.col("contrast_set").n_unique())
    kept = (pl.col("sets") / oversample + 1e-9).floor() * pl.col("rows") / pl.col("sets")
    sizes = sets.group_by("config", "construction").agg(made=kept.sum().round().cast(pl.Int64)).sort("config", "construction")
    for config, name, made in sizes.iter_rows():
        if made > MORE * wanted(config):
            yield (
                f"{name}: {made} items in {config}, though {wanted(config)} were asked for: with whole contrast sets and these split shares"
                " it cannot be fewer"
            )
