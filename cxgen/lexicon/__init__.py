"""The lexicon at run time: the built snapshot, its classes, frames, relations and forms. Needs no WordNet."""

from cxgen.lexicon.snapshot import Frame, Lexicon, WordClass

__all__ = ["Frame", "Lexicon", "WordClass"]
