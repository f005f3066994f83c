"""Contrast sets in a writer's own words: what it is told, and whether what it wrote is what was asked for."""

from cxgen.natural.check import Written, check
from cxgen.natural.requests import Asked, asked, shape_of

__all__ = ["Asked", "Written", "asked", "check", "shape_of"]
