"""The lexicon at run time: lexemes, classes, relations, and the scenes of constructions. Needs no WordNet."""

from cxgen.lexicon.frames import Frame
from cxgen.lexicon.snapshot import Lexicon, WordClass

__all__ = ["Frame", "Lexicon", "WordClass"]
