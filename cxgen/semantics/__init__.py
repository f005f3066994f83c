"""Labels follow from meaning: facts and claims to entailment, neutral, contradiction; label matrices to contrast sets."""

from cxgen.semantics.labels import Inconsistency, label_matrix, labels_of, misread_labels, misread_truth, truth
from cxgen.semantics.reasons import RULE, unbalanced
from cxgen.semantics.squares import Cell, Selection, solve

__all__ = [
    "RULE",
    "Cell",
    "Inconsistency",
    "Selection",
    "label_matrix",
    "labels_of",
    "misread_labels",
    "misread_truth",
    "solve",
    "truth",
    "unbalanced",
]
