"""Labels follow from meaning: facts and claims to entailment, neutral, contradiction; label matrices to contrast sets."""

from cxgen.semantics.labels import Inconsistency, label_matrix, truth
from cxgen.semantics.squares import Cell, Selection, solve

__all__ = ["Cell", "Inconsistency", "Selection", "label_matrix", "solve", "truth"]
