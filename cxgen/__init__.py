"""cxgen: diagnostic datasets for construction grammar, generated from readable template files.

>>> import cxgen
>>> cxgen.Constructicon()["conative"].sample(3).columns[:3]
['id', 'contrast_set', 'construction']
"""

from typing import TYPE_CHECKING, Any

from cxgen.errors import CxgenError
from cxgen.version import __version__

if TYPE_CHECKING:
    from cxgen.facade import Constructicon, Entry, constructions, evaluate, explain, load, sample, score, wug

__all__ = ["Constructicon", "CxgenError", "Entry", "__version__", "constructions", "evaluate", "explain", "load", "sample", "score", "wug"]


def __getattr__(name: str) -> Any:  # what the facade has, which takes half a second to load
    if name not in __all__:
        raise AttributeError(f"module 'cxgen' has no attribute {name!r}")
    from cxgen import facade

    return getattr(facade, name)
