"""Pseudowords: strings that look and sound like English words and are none, matched to words in form."""

from cxgen.wug.generate import pseudowords
from cxgen.wug.inventory import complete, refused
from cxgen.wug.lexicon import WugLexicon, load
from cxgen.wug.spelling import article, inflect

__all__ = ["WugLexicon", "article", "complete", "inflect", "load", "pseudowords", "refused"]
