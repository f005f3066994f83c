"""Gold annotation: every token of a premise has a known lemma, tag, head and slot, because its template has."""

from cxgen.annotate.chunks import Chunks
from cxgen.annotate.form import FormCheck
from cxgen.annotate.sentence import Annotator, Sentence
from cxgen.annotate.units import Token

__all__ = ["Annotator", "Chunks", "FormCheck", "Sentence", "Token"]
