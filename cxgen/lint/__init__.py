"""Checks on constructions that need no generating. One function per check, one stable code per kind of finding."""

from cxgen.lint.core import CHECKS, lint, require_sound
from cxgen.lint.finding import Finding
from cxgen.lint.project import lint_project
from cxgen.lint.trees import TREES, spacy_is_there

__all__ = ["CHECKS", "TREES", "Finding", "lint", "lint_project", "require_sound", "spacy_is_there"]
