"""One design of a construction in one split, which gives any of its contrast sets by number."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cxgen.constructicon import Construction, Design
from cxgen.sampling.draws import Draws
from cxgen.sampling.forms import Forms
from cxgen.sampling.holdout import NOTHING, HoldOut
from cxgen.sampling.plan import Rows, draw_plan
from cxgen.sampling.pools import Pools, design_pools
from cxgen.sampling.wugs import Substitution
from cxgen.vocabulary import SPLITS

PREVIEW = "sample"  # in place of a split: all verbs, and nothing is held out


@dataclass(frozen=True)
class Sampler:
    """Contrast sets of one design for one config, in one split.

    Attributes:
        construction, design, config: what they are sets of.
        split: a split, or `PREVIEW`.
        seed: of the project.
        pools: what fills the slots.
        forms: the words' forms.
        hold_out: what occurs in test only.
    """

    construction: Construction
    design: Design
    config: str
    split: str
    seed: int
    pools: Pools
    forms: Forms
    hold_out: HoldOut = NOTHING

    @classmethod
    def preview(cls, construction: Construction, design: Design, config: str, seed: int, forms: Forms) -> Sampler:
        """One over all verbs."""
        return cls(construction, design, config, PREVIEW, seed, design_pools(construction, design, {}, None), forms)

    @property
    def held(self) -> HoldOut:
        """What is held out of its split; nothing in a preview, which is none."""
        return self.hold_out if self.split in SPLITS else NOTHING

    def draw(self, numbers: Rows) -> Draws:
        """The sets ``numbers`` (from 0, without end): the same ones in whatever company and order they are asked for."""
        stream = (self.seed, self.construction.name, self.design.name, self.split)
        return Draws(self, draw_plan(self.construction, self.design, self.pools, stream, numbers), self.forms)

    def draw_with(self, by: Substitution, modes: list[str], numbers: Rows) -> Draws:
        """The sets ``numbers`` with pseudowords, once in each of ``modes``; in a set, a lexeme has one pseudoword throughout."""
        real = self.draw(np.sort(numbers))
        plan, of = by.plan(real.plan, modes)
        return replace(real, plan=plan, forms=by.forms, broken=by.broken, modes=of)


def span(start: int, count: int) -> Rows:
    """The set numbers from ``start`` on."""
    return np.arange(start, start + count, dtype=np.int64)
