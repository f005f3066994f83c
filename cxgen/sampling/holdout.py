"""What occurs in the test split only, beside verbs: wordings of hypotheses, templates of premises.

Of the wordings of a rule the last third are held out, so that the two sides of one claim lose the same numbers; of the templates with which
a kind can be said, a quarter by hash. Half of the test sets use what is held out, half what training has seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cxgen.constructicon import Construction
from cxgen.sampling.plan import Chances, Rows, pick
from cxgen.streams import order_key
from cxgen.vocabulary import SPLITS, Split


@dataclass(frozen=True)
class HoldOut:
    """What is held out.

    Attributes:
        wordings: the last third of every rule's wordings, at least one where there are several.
        templates: a quarter of the templates of each group of kinds that share their templates, at least one where there are several.
    """

    wordings: bool = False
    templates: bool = False


NOTHING = HoldOut()
USUAL = HoldOut(wordings=True)


def seen_wordings(count: int) -> int:
    """How many of ``count`` wordings, from the first on, training may see."""
    return count - max(1, count // 3) if count > 1 else count


def held_templates(construction: Construction, seed: int) -> frozenset[str]:
    """The names of the templates that are held out; every kind keeps one."""
    lists = {tuple(template.name for template in construction.templates_for(kind)) for kind in construction.kinds}
    ordered = [sorted(names, key=lambda name: order_key(seed, construction.name, "template", name)) for names in lists if len(names) > 1]
    held = {name for names in ordered for name in names[: max(1, len(names) // 4)]}
    return frozenset(held - {names[-1] for names in map(list, lists) if names and held.issuperset(names)})


def choose(split: str, chance: Chances, coin: Chances, seen: int, size: int) -> Rows:
    """For every set a number below ``size``: below ``seen`` in train and dev; in test as often below it as not; elsewhere any.

    Args:
        split: of the sets.
        chance, coin: numbers in [0, 1), one per set; the second decides between seen and held out.
        seen, size: how many there are to be seen, and at all.
    """
    if split not in SPLITS or seen == size:
        return pick(chance, size)
    if split != Split.test:
        return pick(chance, seen)
    return np.where(coin < 0.5, seen + pick(chance, size - seen), pick(chance, seen))
