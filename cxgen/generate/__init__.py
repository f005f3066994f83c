"""Candidate items: sources of contrast sets, filled block by block; pseudowords in place of words."""

from cxgen.generate.capacity import capacity, sets_at_most
from cxgen.generate.filling import Filling, Job
from cxgen.generate.items import fill, filling, generate_items, preview, sample_items, wug_items
from cxgen.generate.request import Request
from cxgen.generate.source import Source, previews, sources, span
from cxgen.generate.substitute import Wugs
from cxgen.generate.survey import Found, Hasher, Stretch, hashes, survey

__all__ = [
    "Filling",
    "Found",
    "Hasher",
    "Job",
    "Request",
    "Source",
    "Stretch",
    "Wugs",
    "capacity",
    "fill",
    "filling",
    "generate_items",
    "hashes",
    "preview",
    "previews",
    "sample_items",
    "sets_at_most",
    "sources",
    "span",
    "survey",
    "wug_items",
]
