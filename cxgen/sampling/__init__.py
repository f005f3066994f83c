"""The one generator: verbs are split, a sampler draws contrast sets by number, premises are rendered column by column."""

from cxgen.sampling.draws import Draws, Sampler, digest, digests, same_templates_and_slots, span
from cxgen.sampling.partition import best_partition, frame_verbs, further_verbs, joint_verbs, near_counts, set_counts, split_of, verb_pools
from cxgen.sampling.plan import USUAL, HoldOut, Rows, held_templates
from cxgen.sampling.pools import MARKED, Pools, design_pools
from cxgen.sampling.ways import Forms
from cxgen.sampling.wugs import INVENTORY, Wugs, broken_slots

__all__ = [
    "INVENTORY",
    "MARKED",
    "USUAL",
    "Draws",
    "Forms",
    "HoldOut",
    "Pools",
    "Rows",
    "Sampler",
    "Wugs",
    "best_partition",
    "broken_slots",
    "design_pools",
    "digest",
    "digests",
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
