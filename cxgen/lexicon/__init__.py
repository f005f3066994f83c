"""The lexicon at run time: lexemes, classes, relations, and the scenes of constructions."""

from cxgen.lexicon.scenes import Frame
from cxgen.lexicon.snapshot import Lexicon, WordClass

__all__ = ["Frame", "Lexicon", "WordClass"]
