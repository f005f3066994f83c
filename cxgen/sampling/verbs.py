"""The verbs of a construction, as far as splits hold them apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cxgen.constructicon import Construction, Design, Slot
from cxgen.lexicon import Frame
from cxgen.sampling.pools import crowded, frame_candidates, frames_of, in_band

Verbs = frozenset[str]


def _dividing(construction: Construction) -> list[Design]:
    """The designs whose verbs are divided over the splits; those of pairs about participants take what comes of it."""
    return [design for design in construction.designs.values() if not design.variant]


def _verb_slots(construction: Construction, design: Design) -> list[Slot]:
    return [construction.slots[name] for name in construction.verb_slots if name in construction.design_slots(design)]


def _lemmas(construction: Construction, rows: Iterable[int]) -> Verbs:
    return frozenset(construction.lexicon.lemmas[row] for row in rows)


def _frames(construction: Construction, design: Design, slot: Slot, preset: str) -> Iterator[tuple[Frame, list[int]]]:
    """The frames of ``design``, each with the lexemes of ``slot``."""
    for frame in frames_of(construction, design, preset):
        yield frame, in_band(frame, slot, construction.lexicon, preset)


def verb_pools(construction: Construction, preset: str) -> list[Verbs]:
    """The verb lemmas of every frame, slot by slot, over all designs; then those that the frame does not mark, frame by frame and design by
    design, so that no split is left with marked verbs only; and, design by design, those that by themselves entail what the construction
    says and those that do not, so that every split has its share of both.
    """
    keys = construction.lexicon.keys
    pools: dict[Verbs, None] = {}
    for design in _dividing(construction):
        for slot in _verb_slots(construction, design):
            usual, alone, others = Verbs(), Verbs(), Verbs()
            for frame, rows in _frames(construction, design, slot, preset):
                unmarked = _lemmas(construction, (row for row in rows if keys[row] not in frame.marked))
                pools |= dict.fromkeys([_lemmas(construction, rows), unmarked])
                usual |= unmarked
                alone |= unmarked & frame.entails_alone
                others |= unmarked - frame.entails_alone
            pools |= dict.fromkeys([usual, alone, others])
    return [pool for pool in pools if pool]


def further_verbs(construction: Construction, preset: str) -> Verbs:
    """The verb lemmas of the designs whose verbs are not divided."""
    verbs = Verbs()
    for design in construction.designs.values():
        for slot in _verb_slots(construction, design) if design.variant else ():
            for frame in frames_of(construction, design, preset):
                verbs |= _lemmas(construction, frame_candidates(frame, slot, construction.lexicon))
    return verbs


def joint_verbs(construction: Construction, preset: str) -> list[Verbs]:
    """The verb lemmas of frames that must hold several different ones at once (*didn't sing or dance, let alone juggle*).

    They belong in one split, or the smaller splits would have too few.
    """
    joint: dict[Verbs, None] = {}
    for design in _dividing(construction):
        own = _verb_slots(construction, design)
        for slot in own:
            if any(other.name in slot.distinct and other.source == slot.source for other in own):
                joint |= dict.fromkeys(_lemmas(construction, rows) for _, rows in _frames(construction, design, slot, preset))
    return list(joint)


def frame_verbs(construction: Construction, preset: str, *, marked: bool) -> dict[str, list[list[Verbs]]]:
    """What can be said, with marked fillers or without: design -> frames -> the verbs of each verb slot, the main slot first.

    Frames in which nothing fills some slot, or there are fewer words than slots that must differ, are left out.
    """
    lexicon = construction.lexicon
    usable: dict[str, list[list[Verbs]]] = {}
    for design in _dividing(construction):
        main = construction.kinds[design.kinds[0]].verb
        slots = [construction.slots[name] for name in construction.design_slots(design) if construction.slots[name].from_frame]
        slots.sort(key=lambda slot: slot.name != main)
        for frame in frames_of(construction, design, preset):
            rows = {slot.name: in_band(frame, slot, lexicon, preset) for slot in slots}
            if not marked:
                rows = {name: [row for row in own if lexicon.keys[row] not in frame.marked] for name, own in rows.items()}
            if all(rows.values()) and not crowded(slots, rows, lexicon):
                verbs = [_lemmas(construction, own) for name, own in rows.items() if name in construction.verb_slots]
                usable.setdefault(design.name, []).append(verbs)
    return usable
