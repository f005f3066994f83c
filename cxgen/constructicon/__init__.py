"""Constructions as read from their files: form, meaning, slots, premise kinds, templates, hypotheses, designs."""

from cxgen.constructicon.load import load_construction, target_names
from cxgen.constructicon.model import Construction, Design, Place, Slot, square_faults
from cxgen.constructicon.pattern import Part, parse_pattern

__all__ = ["Construction", "Design", "Part", "Place", "Slot", "load_construction", "parse_pattern", "square_faults", "target_names"]
