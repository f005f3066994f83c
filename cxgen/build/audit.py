"""The audit of a split dataset: sizes, leakage, balance. It finds out by counting, not by trusting the generator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from cxgen.errors import DataError
from cxgen.families import DEFAULT, FAMILIES, Family
from cxgen.schema import TARGET
from cxgen.vocabulary import EXTENDED, SPLITS


def audit(dataset: pl.DataFrame) -> dict[str, Any]:
    """Counts per construction and look-alike, and proof that nothing leaks and everything is balanced.

    Args:
        dataset: rows of all configs, with the column ``config``.

    Returns:
        ``constructions``: name -> ``items`` (config -> its own rows per split), contrast sets and verb lemmas per split, verbs shared
            between splits, share of extended premises; ``lookalikes``: name -> rows per split in ``distinction``; ``opposites``: name ->
            rows; ``violations``: family -> rule -> how often it is broken (all 0).

    Raises:
        DataError: a verb or a contrast set in two splits of a construction, a repeated id, or a rule of a family broken.
    """
    dataset = dataset.with_columns(target=TARGET)
    report: dict[str, Any] = {"constructions": {}, "lookalikes": {}, "opposites": {}}
    problems: list[str] = []
    for name in dataset["target"].unique().sort():
        rows = dataset.filter(pl.col("target") == name)
        verbs = {split: set(rows.filter(pl.col("split") == split)["verb"].unique()) for split in SPLITS}
        shared = sorted((verbs["train"] & verbs["dev"]) | (verbs["train"] & verbs["test"]) | (verbs["dev"] & verbs["test"]))
        own = rows.filter(pl.col("construction") == name)
        plain = own.filter(pl.col("config") == DEFAULT)
        report["constructions"][name] = {
            "items": {str(config): _per_split(mine) for (config,), mine in own.group_by("config", maintain_order=True)},
            "contrast_sets": {split: rows.filter(pl.col("split") == split)["contrast_set"].n_unique() for split in SPLITS},
            "verbs": {split: len(verbs[split]) for split in SPLITS},
            "verbs_shared": shared,
            "extended": round(plain.filter(pl.col("acceptability") == EXTENDED).height / max(plain.height, 1), 4),
        }
        if shared:
            problems.append(f"{name}: verbs in two splits: {', '.join(shared)}")
        for (config, other), found in rows.filter(pl.col("construction") != name).group_by("config", "construction", maintain_order=True):
            if config == "distinction":
                report["lookalikes"][str(other)] = _per_split(found)
            elif config == DEFAULT:
                report["opposites"][str(other)] = found.height
    report["violations"] = {family.name: violations(rows, family) for family, rows in by_family(dataset)}
    problems += [f"{name}: {what}: {count}" for name, each in report["violations"].items() for what, count in each.items() if count]
    if problems:
        raise DataError(
            f"the dataset is not sound: {'; '.join(problems)}",
            hint="this is a bug in cxgen or in an edited intermediate table",
        )
    return report


def by_family(dataset: pl.DataFrame) -> Iterator[tuple[Family, pl.DataFrame]]:
    """The families that ``dataset`` (column ``config``) has items of, with these."""
    present = set(dataset["config"])
    for family in FAMILIES.values():
        if present & set(family.configs):
            yield family, dataset.filter(pl.col("config").is_in(list(family.configs)))


def violations(rows: pl.DataFrame, family: Family) -> dict[str, int]:
    """How often each rule of all families and of ``family`` is broken in its rows."""
    sets = rows.select("config", "contrast_set", "split").unique()
    return {
        "repeated ids": rows.height - rows["id"].n_unique(),
        "contrast sets in two splits": sets.height - sets.select("config", "contrast_set").unique().height,
        **family.violations(rows),
    }


def balance(dataset: pl.DataFrame) -> dict[str, Any]:
    """The counts that prove the balance: family -> what its ``balance`` says."""
    return {family.name: family.balance(rows) for family, rows in by_family(dataset)}


def _per_split(rows: pl.DataFrame) -> dict[str, int]:
    return {split: rows.filter(pl.col("split") == split).height for split in SPLITS} | {"all": rows.height}
