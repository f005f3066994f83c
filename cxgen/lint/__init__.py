"""Checks on constructions that need no generating. One function per check, one stable code per kind of finding."""

from cxgen.lint.core import CHECKS, Finding, lint, require_sound

__all__ = ["CHECKS", "Finding", "lint", "require_sound"]
