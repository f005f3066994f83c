"""Designs of pairs about participants: one per entity type, after CxMP's four, each with frames in which such participants take part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cxgen.constructicon.model import Design
from cxgen.lexicon import Frame

# Entity type -> the class that its participants come from; a frame may have common nouns of its own.
ENTITIES = {"humans": "pair-people", "female": "top-female-names", "male": "top-male-names", "letters": "letter-names"}
COMMON = "humans"
VARIANTS = ("A", "B")


def by_entity(designs: Mapping[str, Design], entities: Mapping[str, Sequence[str]]) -> dict[str, Design]:
    """``designs``, those with participants once per entity type.

    Args:
        designs: as the file has them.
        entities: name of a design -> the slots of its participants.
    """
    found: dict[str, Design] = {}
    for name, design in designs.items():
        if name in entities:
            made = (replace(design, name=f"{name}-{kind}", frames=f"{design.frames}-{kind}", entity_type=kind) for kind in ENTITIES)
            found |= {each.name: each for each in made}
        else:
            found[name] = design
    return found


def frames_by_entity(frames: Iterable[Frame], designs: Mapping[str, Design], entities: Mapping[str, Sequence[str]]) -> tuple[Frame, ...]:
    """``frames``, those of designs with participants once per entity type; arguments as for `by_entity`."""
    slots = {designs[name].frames: own for name, own in entities.items()}
    found: list[Frame] = []
    for frame in frames:
        own = [name for name in frame.designs if name in slots]
        others = tuple(name for name in frame.designs if name not in slots)
        if others or not own:
            found.append(replace(frame, designs=others))
        for name in own:
            for kind, group in ENTITIES.items():
                filled = {slot: (group,) for slot in slots[name] if kind != COMMON or slot not in frame.slots}
                found.append(replace(frame, name=f"{frame.name}-{kind}", designs=(f"{name}-{kind}",), slots=frame.slots | filled))
    return tuple(found)
