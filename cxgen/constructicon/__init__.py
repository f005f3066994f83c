"""Constructions as read from their files: form, meaning, slots, premise kinds, templates, hypotheses, designs."""

from cxgen.constructicon.load import load_construction, readable_targets, target_names
from cxgen.constructicon.model import Atom, Construction, Design, Facts, Kind, Place, Predicate, Rule, Slot, Template
from cxgen.constructicon.natural import Square, square_faults
from cxgen.constructicon.pattern import Part, parse_pattern

__all__ = [
    "Atom",
    "Construction",
    "Design",
    "Facts",
    "Kind",
    "Part",
    "Place",
    "Predicate",
    "Rule",
    "Slot",
    "Square",
    "Template",
    "load_construction",
    "parse_pattern",
    "readable_targets",
    "square_faults",
    "target_names",
]
