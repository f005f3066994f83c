"""One design of a construction in one split, as an object that gives any of its contrast sets by number."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from cxgen.constructicon import Construction, Design
from cxgen.errors import EmptySlotError, SchemaError
from cxgen.families import CONFIGS, DEFAULT, Family, family_of
from cxgen.generate.request import Request
from cxgen.sets import (
    NOTHING,
    Block,
    Forms,
    HoldOut,
    Pools,
    Rows,
    Substitution,
    best_partition,
    design_pools,
    draw_plan,
    frame_verbs,
    further_verbs,
    joint_verbs,
    split_of,
    verb_pools,
)
from cxgen.vocabulary import PRESETS, SPLITS

PREVIEW = "sample"


@dataclass(frozen=True)
class Source:
    """Contrast sets of one design for one config, in one split.

    Attributes:
        construction, design, config: what they are sets of.
        split: a split, or `PREVIEW` (all verbs).
        pools: what fills the slots.
        forms: the words' forms.
        seed: of the project.
        hold_out: what occurs in test only.
    """

    construction: Construction
    design: Design
    config: str
    split: str
    pools: Pools
    forms: Forms
    seed: int
    hold_out: HoldOut = NOTHING

    @property
    def family(self) -> Family:
        """The family of its items."""
        return family_of(self.config)

    def block(self, numbers: Rows) -> pl.DataFrame:
        """The items of the sets ``numbers`` (from 0, without end); the same ones whoever asks, whatever else is asked for.

        Returns:
            What the family's ``realise`` gives (``set_number`` included), and ``config, design, split`` (strings).
        """
        return self.items(self.drawn(numbers))

    def drawn(self, numbers: Rows) -> Block:
        """The sets ``numbers`` before they are items."""
        stream = (self.seed, self.construction.name, self.design.name, self.split)
        plan = draw_plan(self.construction, self.design, self.pools, stream, numbers)
        split = "" if self.split == PREVIEW else self.split
        return Block(self.construction, self.design, plan, self.pools, self.forms, self.hold_out, split)

    def substituted(self, numbers: Rows, by: Substitution, modes: Sequence[str]) -> pl.DataFrame:
        """The items of the sets ``numbers`` with pseudowords, once in each of ``modes``.

        Returns:
            As `block`, with ``mode`` (string), mode after mode; no rows where nothing survives.
        """
        real = self.drawn(numbers)
        plan, of = by.plan(real.plan, modes)
        items = self.items(replace(real, plan=plan, forms=by.forms, broken=by.broken, modes=of))
        order = pl.col("mode").replace_strict(modes, range(len(modes)), return_dtype=pl.Int64)
        return items.sort(order, "set_number", maintain_order=True) if items.height else items

    def items(self, block: Block) -> pl.DataFrame:
        """The items of what was ``drawn``."""
        items = self.family.realise(block)
        return (
            items.with_columns(config=pl.lit(self.config), design=pl.lit(self.design.name), split=pl.lit(self.split))
            if items.height
            else items
        )


def sources(construction: Construction, request: Request, configs: Collection[str] = tuple(CONFIGS)) -> list[Source]:
    """Every design, config (of ``configs``) and split of ``construction``, verbs divided over the splits first.

    Raises:
        EmptySlotError: a design for which nothing is left in a split.
        UnknownNameError: a design names a config that no family has.
    """
    construction = fillable(construction, request)
    splits = placed(construction, request)
    forms = Forms(construction.lexicon)
    found = []
    for design, config in wanted_designs(construction, request):
        for split in SPLITS if config in configs else ():
            pools = design_pools(construction, design, splits, split, request.preset, request.marked)
            found.append(Source(construction, design, config, split, pools, forms, request.seed, request.hold_out))
    return found


def previews(construction: Construction, seed: int, family: str = "") -> list[Source]:
    """The designs of ``construction`` over all verbs, each for the first of its configs that belongs to ``family`` (default: its first).

    Raises:
        SchemaError: no design is of that family.
    """
    forms = Forms(construction.lexicon)
    found = []
    for design in construction.designs.values():
        config = next((name for name in design.configs if not family or family_of(name).name == family), None)
        if config is not None:
            require_sets(construction, design, config)
            found.append(Source(construction, design, config, PREVIEW, design_pools(construction, design, {}, None), forms, seed))
    if not found:
        others = dict.fromkeys(family_of(name).name for design in construction.designs.values() for name in design.configs)
        asked = "".join(f", or ask for the family that it has: --family {other}" for other in list(others)[:1])
        raise SchemaError(
            f"{construction.name} has no design for the family {family!r}",
            file=construction.document.path,
            line=construction.document.line(["designs"]),
            hint=f"add {next((name for name, each in CONFIGS.items() if each.name == family), DEFAULT)} to a design's config{asked}",
        )
    return found


def divided(construction: Construction, request: Request) -> dict[str, str]:
    """Verb lemma -> split."""
    usable, usual = (frame_verbs(construction, request.preset, marked=marked) for marked in (True, False))
    verbs, joint = verb_pools(construction, request.preset), joint_verbs(construction, request.preset)
    return best_partition(verbs, usable, usual, request.shares, request.seed, construction.name, joint)


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

    def said(design: Design) -> bool:
        try:
            for split in SPLITS:
                design_pools(construction, design, splits, split, request.preset, request.marked)
        except EmptySlotError:
            return False
        return True

    enough = {name: design for name, design in construction.designs.items() if said(design)}
    if len(enough) in {0, len(construction.designs)}:
        return construction
    return fillable(replace(construction, designs=enough), request)


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
    if config not in CONFIGS or (why := family_of(config).unsound(construction, design, config)):
        raise SchemaError(
            f"{construction.name}: design {design.name!r}: {why if config in CONFIGS else f'unknown config {config!r}'}",
            file=construction.document.path,
            line=construction.document.line(["designs", design.name]),
            hint=f"see `cxgen explain {construction.name}`" if config in CONFIGS else f"configs: {', '.join(CONFIGS)}",
        )


def span(start: int, count: int) -> Rows:
    """The set numbers from ``start`` on."""
    return np.arange(start, start + count, dtype=np.int64)
