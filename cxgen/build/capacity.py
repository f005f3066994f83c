"""How many contrast sets a construction's words and templates can give, counted from its pools; nothing is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from cxgen.build.request import Request
from cxgen.build.samplers import samplers
from cxgen.constructicon import Construction, Slot
from cxgen.sampling import Sampler, held_templates
from cxgen.sampling.pools import ABSENT
from cxgen.sampling.ways import WORD_FORMS, By
from cxgen.vocabulary import Split

# Sets are drawn at random and must share no premise with another one, so that the last ones are hard to find: at a quarter of what can be
# said nearly every draw is still new, in all premises of its set.
EASY = 1 / 4
ANY, PRONOUNS = 2, 3  # of the genders: he, she or they


def capacity(construction: Construction, request: Request) -> list[dict[str, Any]]:
    """What can be said in every config, design and split, beside what is asked for.

    Returns:
        Rows of ``construction, config, design, split`` (strings), ``wanted`` (int: candidate sets that `generate_items` draws),
        ``capacity`` (int: sets that share no premise, at most; two templates or frames that say the same are counted twice), ``used``
        (float: wanted / capacity) and ``enough`` (bool: whether that many are easily drawn).

    Raises:
        EmptySlotError: a design for which nothing is left in a split.
        SchemaError: a design that gives no sets.
    """
    rows = []
    for source in samplers(construction, request):
        wanted = math.ceil(request.sets(construction, source.design, source.config)[source.split] * request.oversample)
        most = sets_at_most(source)
        rows.append(
            {
                "construction": construction.name,
                "config": source.config,
                "design": source.design.name,
                "split": source.split,
                "wanted": wanted,
                "capacity": most,
                "used": wanted / most,
                "enough": wanted <= EASY * most,
            }
        )
    return rows


def sets_at_most(source: Sampler) -> int:
    """The premises of the kind that has fewest: every set needs one of each kind that no other set has."""
    return min(sum(_premises(source, kind)) for kind in source.design.kinds)


def _premises(source: Sampler, kind: str) -> Iterator[int]:
    """Per template and frame, the premises of ``kind``."""
    construction = source.construction
    held = held_templates(construction, source.seed) if source.held.templates and source.split != Split.test else frozenset()
    for template in construction.templates_for(kind):
        if template.name in held:
            continue
        forms: dict[str, set[str]] = {}
        for part in construction.premise_parts(kind, template.name):
            forms.setdefault(part.slot, set()).add(part.form)
        slots = [slot for slot in construction.draw_order(source.design) if slot.name in forms]
        said = {slot.name for slot in slots if any(WORD_FORMS[form].by is By.PRONOUN for form in forms[slot.name])}
        for frame in range(len(source.pools.frames)):
            yield _ways(source, slots, said, frame)


def _ways(source: Sampler, slots: Iterable[Slot], said: set[str], frame: int) -> int:
    """How many ways there are to fill ``slots`` in a frame, at most: a word counts as taken by another slot only where it surely is.

    Args:
        said: slots that are also referred to by a pronoun, of which a person of either sex has three.
    """
    lexicon = source.construction.lexicon
    pools: dict[str, frozenset[str]] = {}
    ways = []
    for slot in slots:
        if slot.lexical:
            parents = source.pools.candidates.get(slot.parent, [[]] * (frame + 1))[frame]
            ways.append(max((len(lexicon.related(slot.lexical, parent)) for parent in parents), default=1))
            continue
        rows = [row for row in source.pools.candidates[slot.name][frame] if row != ABSENT]
        words = {lexicon.lemmas[row]: PRONOUNS if slot.name in said and lexicon.genders[row] == ANY else 1 for row in rows}
        pools[slot.name] = frozenset(words)
        taken = sum(pools[other] <= pools[slot.name] for other in slot.distinct if pools.get(other))
        ways.append(max(sum(words.values()) - taken, 0 if words else 1) + bool(slot.optional))
    return math.prod(ways)
