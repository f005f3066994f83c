"""Gold annotation: every token of a premise has a known lemma, tag, head and slot, because its template has."""

from cxgen.trees.export import FormCheck, dependency_matcher, to_conllu, to_doc, vocabulary
from cxgen.trees.sentence import Annotator, Sentence, Token
from cxgen.trees.words import Chunks

__all__ = ["Annotator", "Chunks", "FormCheck", "Sentence", "Token", "dependency_matcher", "to_conllu", "to_doc", "vocabulary"]
