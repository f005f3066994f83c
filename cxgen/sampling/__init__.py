"""The one generator: verbs are split, a sampler draws contrast sets by number, premises are rendered column by column."""

from cxgen.sampling.draws import Draws, Sampler, span
from cxgen.sampling.partition import split_of, verb_pools
from cxgen.sampling.plan import HoldOut
from cxgen.sampling.pools import design_pools
from cxgen.sampling.wugs import INVENTORY, Wugs, broken_slots

__all__ = ["INVENTORY", "Draws", "HoldOut", "Sampler", "Wugs", "broken_slots", "design_pools"]
__all__ += ["span", "split_of", "verb_pools"]
