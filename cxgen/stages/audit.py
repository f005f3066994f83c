"""The audit of a split dataset: sizes, leakage, balance. It finds out by counting, not by trusting the generator."""

from __future__ import annotations

from typing import Any

import polars as pl

from cxgen.errors import DataError
from cxgen.generate import SPLITS, TARGET

_LABELS = [(pl.col("label") == label).sum() for label in range(3)]
UNEQUAL = (_LABELS[0] != _LABELS[1]) | (_LABELS[0] != _LABELS[2])


def audit(dataset: pl.DataFrame) -> dict[str, Any]:
    """Counts per construction and look-alike, and proof that nothing leaks and everything is balanced.

    Args:
        dataset: rows of all configs, with the column ``config``.

    Returns:
        ``constructions``: name -> triples per split in ``nli``, contrast sets, verb lemmas per split, verbs shared between splits, share
            of extended premises; ``lookalikes``: name -> triples per split in ``distinction``; ``opposites``: name -> triples;
            ``violations`` (all 0).

    Raises:
        DataError: a verb in two splits of a construction, unequal labels, a premise without exactly one hypothesis per label,
            a repeated pair or id.
    """
    dataset = dataset.with_columns(target=TARGET)
    report: dict[str, Any] = {"constructions": {}, "lookalikes": {}, "opposites": {}}
    problems: list[str] = []
    for name in dataset["target"].unique().sort():
        rows = dataset.filter(pl.col("target") == name)
        verbs = {split: set(rows.filter(pl.col("split") == split)["verb"].unique()) for split in SPLITS}
        shared = sorted((verbs["train"] & verbs["dev"]) | (verbs["train"] & verbs["test"]) | (verbs["dev"] & verbs["test"]))
        own = rows.filter((pl.col("construction") == name) & (pl.col("config") == "nli"))
        report["constructions"][name] = {
            "triples": _per_split(own),
            "contrast_sets": {split: rows.filter(pl.col("split") == split)["contrast_set"].n_unique() for split in SPLITS},
            "verbs": {split: len(verbs[split]) for split in SPLITS},
            "verbs_shared": shared,
            "extended": round(own.filter(pl.col("acceptability") == "extended").height / max(own.height, 1), 4),
        }
        if shared:
            problems.append(f"{name}: verbs in two splits: {', '.join(shared)}")
        for (config, other), found in rows.filter(pl.col("construction") != name).group_by("config", "construction", maintain_order=True):
            if config == "distinction":
                report["lookalikes"][str(other)] = _per_split(found)
            else:
                report["opposites"][str(other)] = found.height
    report["violations"] = violations(dataset)
    problems += [f"{what}: {count}" for what, count in report["violations"].items() if count]
    if problems:
        raise DataError(
            f"the dataset is not sound: {'; '.join(problems)}",
            hint="this is a bug in cxgen or in an edited intermediate table",
        )
    return report


def _per_split(rows: pl.DataFrame) -> dict[str, int]:
    return {split: rows.filter(pl.col("split") == split).height for split in SPLITS} | {"all": rows.height}


def violations(dataset: pl.DataFrame) -> dict[str, int]:
    """How often each rule of balance is broken."""
    one_each = (pl.len() != 3) | (pl.col("label").n_unique() != 3)
    counts = {
        "construction x split with unequal labels": dataset.group_by("construction", "split").agg(bad=UNEQUAL)["bad"].sum(),
        "hypothesis x split with unequal labels": dataset.group_by("config", "hypothesis", "split").agg(bad=UNEQUAL)["bad"].sum(),
        "premises without one hypothesis per label": dataset.group_by("premise_id").agg(bad=one_each)["bad"].sum(),
        "repeated (premise, hypothesis)": dataset.height - dataset.select("premise", "hypothesis").unique().height,
        "repeated ids": dataset.height - dataset["id"].n_unique(),
    }
    return {what: int(count) for what, count in counts.items()}


def balance(dataset: pl.DataFrame) -> dict[str, Any]:
    """The counts that prove the balance of the labels, per config and over all.

    Returns:
        config (or ``all``) -> construction -> ``sentences`` (hypothesis sentence x split), how many of them have ``unequal`` label counts,
            and ``rules``: rule -> split -> [entailment, neutral, contradiction].
    """
    dataset = dataset.with_columns(target=TARGET)
    report: dict[str, Any] = {}
    for config in (*dataset["config"].unique().sort(), "all"):
        rows = dataset if config == "all" else dataset.filter(pl.col("config") == config)
        report[config] = {}
        for (name,), mine in rows.group_by("target", maintain_order=True):
            sentences = mine.group_by("hypothesis", "split").agg(unequal=UNEQUAL)
            rules = mine.group_by("rule", "split", maintain_order=True).agg(*(n.alias(str(i)) for i, n in enumerate(_LABELS)))
            by_rule: dict[str, dict[str, list[int]]] = {}
            for rule, split, *numbers in rules.iter_rows():
                by_rule.setdefault(rule, {})[split] = numbers
            report[config][str(name)] = {"sentences": sentences.height, "unequal": int(sentences["unequal"].sum()), "rules": by_rule}
    return report
