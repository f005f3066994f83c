"""Contrast sets before they are items: verbs are split, a plan is drawn, premises are realised column by column."""

from cxgen.sets.block import Block, digest, digests, said_alike
from cxgen.sets.forms import Forms
from cxgen.sets.holdout import NOTHING, USUAL, HoldOut, held_templates
from cxgen.sets.letters import letters
from cxgen.sets.partition import best_partition, near_counts, partition_verbs, set_counts, split_of
from cxgen.sets.plan import Plan, Rows, draw_plan
from cxgen.sets.pools import MARKED, Pools, design_pools, frame_verbs, further_verbs, joint_verbs, verb_pools
from cxgen.sets.substitution import Substitution

__all__ = [
    "MARKED",
    "NOTHING",
    "USUAL",
    "Block",
    "Forms",
    "HoldOut",
    "Plan",
    "Pools",
    "Rows",
    "Substitution",
    "best_partition",
    "design_pools",
    "digest",
    "digests",
    "draw_plan",
    "frame_verbs",
    "further_verbs",
    "held_templates",
    "joint_verbs",
    "letters",
    "near_counts",
    "partition_verbs",
    "said_alike",
    "set_counts",
    "split_of",
    "verb_pools",
]
