"""Labels follow from meaning: facts and claims to entailment, neutral, contradiction; label matrices to contrast sets."""

from cxgen.semantics.labels import Inconsistency, label_matrix, misread_labels, misread_truth, truth
from cxgen.semantics.squares import RULE, Selection, every, solve, unbalanced

__all__ = ["RULE", "Inconsistency", "Selection", "every", "label_matrix", "misread_labels", "misread_truth", "solve", "truth", "unbalanced"]
