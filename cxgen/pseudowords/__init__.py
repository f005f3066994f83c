"""Pseudowords: strings that look and sound like English words and are none, matched to words in form."""

from cxgen.pseudowords.generate import complete, pseudowords
from cxgen.pseudowords.lexicon import WugLexicon, load
from cxgen.pseudowords.spelling import inflect

__all__ = ["WugLexicon", "complete", "inflect", "load", "pseudowords"]
