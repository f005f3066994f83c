"""The one generator: verbs are split, a sampler draws contrast sets by number, premises are rendered column by column."""

from cxgen.sampling.draws import Draws, digest, digests, same_templates_and_slots
from cxgen.sampling.forms import Forms
from cxgen.sampling.holdout import NOTHING, USUAL, HoldOut, held_templates
from cxgen.sampling.partition import best_partition, near_counts, set_counts, split_of
from cxgen.sampling.plan import Plan, Rows, draw_plan
from cxgen.sampling.pools import MARKED, Pools, design_pools
from cxgen.sampling.sampler import PREVIEW, Sampler, span
from cxgen.sampling.verbs import frame_verbs, further_verbs, joint_verbs, verb_pools
from cxgen.sampling.wugs import INVENTORY, Substitution, Wugs, broken_slots

__all__ = [
    "INVENTORY",
    "MARKED",
    "NOTHING",
    "PREVIEW",
    "USUAL",
    "Draws",
    "Forms",
    "HoldOut",
    "Plan",
    "Pools",
    "Rows",
    "Sampler",
    "Substitution",
    "Wugs",
    "best_partition",
    "broken_slots",
    "design_pools",
    "digest",
    "digests",
    "draw_plan",
    "frame_verbs",
    "further_verbs",
    "held_templates",
    "joint_verbs",
    "near_counts",
    "same_templates_and_slots",
    "set_counts",
    "span",
    "split_of",
    "verb_pools",
]
