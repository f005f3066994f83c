"""The samplers of a construction: every design, config and split, verbs divided over the splits first."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import polars as pl

from cxgen.build.request import Request
from cxgen.constructicon import Construction, Design
from cxgen.errors import EmptySlotError, SchemaError
from cxgen.families import CONFIGS, DEFAULT, family_of
from cxgen.sampling import (
    Draws,
    Forms,
    Sampler,
    best_partition,
    design_pools,
    frame_verbs,
    further_verbs,
    joint_verbs,
    split_of,
    verb_pools,
)
from cxgen.vocabulary import PRESETS, SPLITS


def samplers(construction: Construction, request: Request, configs: Collection[str] = tuple(CONFIGS)) -> list[Sampler]:
    """Those of every design, config (of ``configs``) and split.

    Raises:
        EmptySlotError: a design for which nothing is left in a split.
        SchemaError: a design that gives no sets.
    """
    construction = fillable(construction, request)
    splits = placed(construction, request)
    forms = Forms(construction.lexicon)
    made = []
    for design, config in wanted_designs(construction, request):
        for split in SPLITS if config in configs else ():
            pools = design_pools(construction, design, splits, split, request.preset, request.marked)
            made.append(Sampler(construction, design, config, split, request.seed, pools, forms, request.hold_out))
    return made


def previews(construction: Construction, seed: int, family: str = "") -> list[Sampler]:
    """Those of the designs over all verbs, each for the first of its configs that belongs to ``family`` (default: its first).

    Raises:
        SchemaError: no design is of that family.
    """
    forms = Forms(construction.lexicon)
    made = []
    for design in construction.designs.values():
        config = next((name for name in design.configs if not family or family_of(name).name == family), None)
        if config is not None:
            require_sets(construction, design, config)
            made.append(Sampler.preview(construction, design, config, seed, forms))
    if not made:
        others = dict.fromkeys(family_of(name).name for design in construction.designs.values() for name in design.configs)
        asked = "".join(f", or ask for the family that it has: --family {other}" for other in list(others)[:1])
        config = next((name for name, each in CONFIGS.items() if each.name == family), DEFAULT)
        raise SchemaError(
            f"{construction.name} has no design for the family {family!r}",
            file=construction.document.path,
            line=construction.document.line(["designs"]),
            hint=f"add {config} to a design's config{asked}",
        )
    return made


def divided(construction: Construction, request: Request) -> dict[str, str]:
    """Verb lemma -> split: as it was before (`Request.splits`), a new verb by hash or with those that it must stay with; the best partition
    where no verb was divided before, and in the strict bands, which have other verbs."""
    verbs, joint = verb_pools(construction, request.preset), joint_verbs(construction, request.preset)
    own = sorted(frozenset().union(*verbs))
    known = dict(request.splits.get(construction.name, {})) if request.preset == PRESETS[0] else {}
    if known.keys().isdisjoint(own):
        usable, usual = (frame_verbs(construction, request.preset, marked=marked) for marked in (True, False))
        return best_partition(verbs, usable, usual, request.shares, (request.seed, construction.name), joint)
    for verb in own:
        company = [other for group in joint if verb in group for other in sorted(group) if other in known]
        known.setdefault(verb, known[company[0]] if company else split_of(verb, {}, request.shares, request.seed, construction.name))
    return known


def placed(construction: Construction, request: Request) -> dict[str, str]:
    """Verb lemma -> split, those included that are not divided (`further_verbs`): they go where `split_of` puts them."""
    splits = divided(construction, request)
    further = sorted(further_verbs(construction, request.preset))
    return {verb: split_of(verb, splits, request.shares, request.seed, construction.name) for verb in further} | splits


def fillable(construction: Construction, request: Request) -> Construction:
    """``construction`` without the designs that the strict bands leave empty in a split; as it is if none would be left."""
    if request.preset == PRESETS[0]:
        return construction
    splits = placed(construction, request)

    def is_filled(design: Design) -> bool:
        try:
            for split in SPLITS:
                design_pools(construction, design, splits, split, request.preset, request.marked)
        except EmptySlotError:
            return False
        return True

    filled = {name: design for name, design in construction.designs.items() if is_filled(design)}
    if len(filled) in {0, len(construction.designs)}:
        return construction
    return fillable(replace(construction, designs=filled), request)


def wanted_designs(construction: Construction, request: Request) -> Iterator[tuple[Design, str]]:
    """The designs and configs that ``request`` wants items of.

    Raises:
        SchemaError: a design that gives no sets.
    """
    for design in construction.designs.values():
        for config in design.configs:
            if request.rows(config):
                require_sets(construction, design, config)
                yield design, config


def require_sets(construction: Construction, design: Design, config: str) -> None:
    """Refuse a design from which the config's family can make no sets.

    Raises:
        SchemaError: with the family's reason.
    """
    known = config in CONFIGS
    why = family_of(config).unsound(construction, design, config) if known else f"unknown config {config!r}"
    if why:
        raise SchemaError(
            f"{construction.name}: design {design.name!r}: {why}",
            file=construction.document.path,
            line=construction.document.line(["designs", design.name]),
            hint=f"see `cxgen explain {construction.name}`" if known else f"configs: {', '.join(CONFIGS)}",
        )


def items_of(draws: Draws) -> pl.DataFrame:
    """The items that the family of their config makes of contrast sets; rows of a set are adjacent."""
    return family_of(draws.sampler.config).items(draws)
