"""Gold annotation: every token of a premise has a known lemma, tag, head and slot, because its template has."""

from cxgen.trees.export import dependency_matcher, has_form, to_conllu, to_doc, vocabulary
from cxgen.trees.links import Misfit
from cxgen.trees.sentence import UNKNOWN, Annotator, Sentence
from cxgen.trees.words import Chunks

__all__ = ["UNKNOWN", "Annotator", "Chunks", "Misfit", "Sentence", "dependency_matcher", "has_form", "to_conllu", "to_doc", "vocabulary"]
