"""The audit of a split dataset: sizes, leakage, balance. It finds out by counting, not by trusting the generator."""

from __future__ import annotations

from typing import Any

import polars as pl

from cxgen.errors import DataError
from cxgen.generate import SPLITS

_TARGET = pl.coalesce("contrast_of", "construction")


def audit(dataset: pl.DataFrame) -> dict[str, Any]:
    """Counts per construction, and proof that nothing leaks and everything is balanced.

    Returns:
        ``constructions``: name -> triples per split, verb lemmas per split, verbs shared between splits; ``balance``:
            violations found (all 0).

    Raises:
        DataError: a verb in two splits of a construction, unequal labels, a premise without exactly one hypothesis per label,
            a repeated pair or id.
    """
    dataset = dataset.with_columns(target=_TARGET)
    report: dict[str, Any] = {"constructions": {}, "look_alikes_and_opposites": {}}
    problems: list[str] = []
    for name in dataset["target"].unique().sort():
        rows = dataset.filter(pl.col("target") == name)
        verbs = {split: set(rows.filter(pl.col("split") == split)["verb"].unique()) for split in SPLITS}
        shared = sorted((verbs["train"] & verbs["dev"]) | (verbs["train"] & verbs["test"]) | (verbs["dev"] & verbs["test"]))
        own = rows.filter(pl.col("construction") == name)
        report["constructions"][name] = {
            "triples": {split: own.filter(pl.col("split") == split).height for split in SPLITS} | {"all": own.height},
            "contrast_sets": {split: rows.filter(pl.col("split") == split)["contrast_set"].n_unique() for split in SPLITS},
            "verbs": {split: len(verbs[split]) for split in SPLITS},
            "verbs_shared": shared,
            "extended": round(own.filter(pl.col("acceptability") == "extended").height / own.height, 4),
        }
        if shared:
            problems.append(f"{name}: verbs in two splits: {', '.join(shared)}")
        others = rows.filter(pl.col("construction") != name).group_by("construction").len().sort("construction")
        report["look_alikes_and_opposites"].update(dict(others.iter_rows()))
    report["violations"] = violations(dataset)
    problems += [f"{what}: {count}" for what, count in report["violations"].items() if count]
    if problems:
        raise DataError(
            f"the dataset is not sound: {'; '.join(problems)}",
            mend="this is a bug in cxgen or in an edited intermediate table",
        )
    return report


def violations(dataset: pl.DataFrame) -> dict[str, int]:
    """How often each rule of balance is broken."""
    labels = [(pl.col("label") == label).sum() for label in range(3)]
    unequal = (labels[0] != labels[1]) | (labels[0] != labels[2])
    one_each = (pl.len() != 3) | (pl.col("label").n_unique() != 3)
    counts = {
        "construction x split with unequal labels": dataset.group_by("construction", "split").agg(bad=unequal)["bad"].sum(),
        "hypothesis x split with unequal labels": dataset.group_by("hypothesis", "split").agg(bad=unequal)["bad"].sum(),
        "premises without one hypothesis per label": dataset.group_by("premise_id").agg(bad=one_each)["bad"].sum(),
        "repeated (premise, hypothesis)": dataset.height - dataset.select("premise", "hypothesis").unique().height,
        "repeated ids": dataset.height - dataset["id"].n_unique(),
    }
    return {what: int(count) for what, count in counts.items()}
