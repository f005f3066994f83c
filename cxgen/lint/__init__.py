"""Checks on constructions that need no generating. One function per check, one stable code per kind of finding."""

from cxgen.lint.core import CHECKS, lint, require_sound
from cxgen.lint.finding import Finding

__all__ = ["CHECKS", "Finding", "lint", "require_sound"]
