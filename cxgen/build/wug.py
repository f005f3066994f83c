"""Contrast sets once more, with pseudowords, and the labels that then hold."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from cxgen.build.samplers import items_of
from cxgen.families import DEFAULT, FAMILIES, columns_of, family_of
from cxgen.sampling import Sampler, Wugs
from cxgen.sampling.plan import Rows
from cxgen.schema import TARGET

SOURCES = tuple(config for family in FAMILIES.values() for config in family.substituted)  # configs whose sets get pseudowords
_CELL = ("config", "design", "split", "set_number", "kind", "rule")  # what tells a set's items apart, as far as a family has it


def substituted(sampler: Sampler, numbers: Rows, wugs: Wugs, modes: Sequence[str]) -> pl.DataFrame:
    """The items of the sets ``numbers`` with pseudowords, mode after mode, with the column ``mode``; only what still holds is there."""
    slots = set(sampler.construction.design_slots(sampler.design))
    by = wugs.substitution(sampler.construction, modes)
    modes = [mode for mode, broken in by.broken.items() if broken & slots]
    items = items_of(sampler.draw_with(by, modes, numbers)) if modes and len(numbers) else pl.DataFrame()
    return items.sort(_place_in(modes), "set_number", maintain_order=True) if items.height else items


def _place_in(modes: Sequence[str]) -> pl.Expr:
    return pl.col("mode").replace_strict(modes, range(len(modes)), return_dtype=pl.Int64)


def changed_sets(items: pl.DataFrame, real: pl.DataFrame) -> pl.DataFrame:
    """The sets of ``items`` (with ``mode``) in which every premise differs from those of ``real``, each in the first mode that does so."""
    if not items.height:
        return items
    same = pl.col("premise").is_in(real["premise"].unique().implode())
    first = pl.col("mode") == pl.col("mode").first().over("config", "contrast_set")
    return items.filter(~same.any().over("mode", "config", "contrast_set") & first)


def eligible(items: pl.DataFrame) -> pl.DataFrame:
    """Those of ``items``, all of one config, that are to have pseudowords: of minimal pairs, those about participants."""
    return items.filter(pl.col("variant") != "") if "variant" in items.columns else items


def sources(items: pl.DataFrame, config: str, share: float) -> pl.DataFrame:
    """The eligible items of ``config`` in the first ``share`` of its sets of each design and split, of one construction."""
    if not (own := items.filter(config=config)).height:
        return own
    own = eligible(own.select(*{column.name for column in columns_of(config)} | {"config", "set_number", "premise"}))
    keys, number = ["design", "split"], pl.col("set_number")
    return own.filter(number.rle_id().over(keys) < (number.n_unique() * share).ceil().over(keys))


def paired(items: pl.DataFrame, real: pl.DataFrame) -> pl.DataFrame:
    """Those of ``items``, from `substituted`, that are changed, with what is known of the ``real`` one of each, and its ``source_id``."""
    if not (items := changed_sets(items, real)).height:
        return items
    cell = [name for name in _CELL if name in real.columns]
    return items.join(real.select(*cell, "verb_role", "acceptability", source_id="id"), on=cell, how="inner", maintain_order="left")


def wug_items(samplers: Sequence[Sampler], wugs: Wugs, modes: Sequence[str], real: pl.DataFrame) -> pl.DataFrame:
    """The sets of ``real`` (items of one config of one construction) once more: what `paired` gives, mode by mode."""
    numbers = real.select("design", "split", "set_number").unique().sort("set_number").partition_by("design", "split", as_dict=True)
    made = [
        substituted(sampler, numbers[sampler.design.name, sampler.split]["set_number"].to_numpy(), wugs, modes)
        for sampler in samplers
        if sampler.config == real["config"].first() and (sampler.design.name, sampler.split) in numbers
    ]
    made = [table for table in made if table.height]
    return paired(pl.concat(made, how="diagonal").sort(_place_in(modes), maintain_order=True), real) if made else pl.DataFrame()


def counts(rows: pl.DataFrame, real: pl.DataFrame, modes: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Mode -> ``items``, ``of`` how many, and the ``hypotheses`` that are left, of one construction."""
    column = "rule" if "rule" in rows.columns else "claim_good"
    own = {mode: rows.filter(mode=mode) for mode in modes}
    return {mode: {"items": part.height, "of": real.height, "hypotheses": sorted(part[column].unique())} for mode, part in own.items()}


def violations(data: pl.DataFrame, real: pl.DataFrame, config: str = DEFAULT) -> dict[str, int]:
    """How often each rule is broken among pseudoword items, given the items of ``config`` that they were made from."""
    family = family_of(config)
    originals = real.select(source_id="id", source_split="split", source_premise=family.text, source_verb="verb")
    pairs = data.join(originals, on="source_id", how="left")
    verbs = pairs.select(TARGET.alias("target"), "source_verb", "split").unique().group_by("target", "source_verb").len()
    own = family.violations(data.with_columns(config="mode"))
    return {
        "items without a source": pairs["source_premise"].null_count(),
        "items in another split than their source": pairs.filter(pl.col("split") != pl.col("source_split")).height,
        "premises without a pseudoword": pairs.filter(pl.col(family.text) == pl.col("source_premise")).height,
        "source verbs in two splits": verbs.filter(pl.col("len") > 1).height,
        "repeated ids": data.height - data["id"].n_unique(),
        **{rule: own[rule] for rule in family.survives},
    }
