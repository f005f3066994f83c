"""Gold annotation: every token of a premise has a known lemma, tag, head and slot, because its template has."""

from cxgen.trees.chunks import Chunks
from cxgen.trees.form import FormCheck
from cxgen.trees.sentence import Annotator, Sentence
from cxgen.trees.units import Token

__all__ = ["Annotator", "Chunks", "FormCheck", "Sentence", "Token"]
