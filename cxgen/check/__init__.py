"""Checks on constructions that need no generating. One function per check, one stable code per kind of finding."""

from cxgen.check.core import CHECKS, explanations, lint, lint_project, require_sound
from cxgen.check.finding import Finding
from cxgen.check.trees import TREES, spacy_is_there

__all__ = ["CHECKS", "TREES", "Finding", "explanations", "lint", "lint_project", "require_sound", "spacy_is_there"]
