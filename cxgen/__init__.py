"""cxgen: diagnostic datasets for construction grammar, generated from readable template files.

>>> import cxgen
>>> cxgen.Constructicon()["conative"].sample(3).columns[:3]
['id', 'contrast_set', 'construction']
"""

from cxgen.errors import CxgenError
from cxgen.facade import Constructicon, Entry, constructions, explain, load, sample, score, wug
from cxgen.version import __version__

__all__ = ["Constructicon", "CxgenError", "Entry", "__version__", "constructions", "explain", "load", "sample", "score", "wug"]
