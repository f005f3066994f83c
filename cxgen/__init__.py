"""cxgen: diagnostic datasets for construction grammar, generated from readable template files.

>>> import cxgen
>>> resultative = cxgen.Constructicon()["resultative"]  # cxgen.constructions() names them all
>>> items = resultative.sample(4)  # a polars table: premise, hypothesis, label first
>>> page = cxgen.show(items)  # whole sentences, labels in colour; a notebook shows it by itself
>>> matrix = resultative.explain()  # why the labels are what they are
>>> resultative.check()  # what is wrong with its file
[]

``cxgen.load("nli", "test")`` reads the finished dataset, ``cxgen.score(predictions)`` says what predictions of it are worth,
``cxgen.wug("flower")`` makes pseudowords. docs/quickstart.ipynb has all of it.
"""

from typing import TYPE_CHECKING, Any

from cxgen.errors import CxgenError
from cxgen.version import __version__

if TYPE_CHECKING:
    from cxgen.facade import Constructicon, Entry, constructions, evaluate, explain, load, sample, score, show, wug

__all__ = [
    "Constructicon",
    "CxgenError",
    "Entry",
    "__version__",
    "constructions",
    "evaluate",
    "explain",
    "load",
    "sample",
    "score",
    "show",
    "wug",
]


def __getattr__(name: str) -> Any:  # what the facade has, which takes half a second to load
    if name not in __all__:
        raise AttributeError(f"module 'cxgen' has no attribute {name!r}")
    from cxgen import facade

    return getattr(facade, name)


def __dir__() -> list[str]:  # for help() and completion
    return sorted({*globals(), *__all__})
