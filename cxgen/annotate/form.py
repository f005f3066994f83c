"""Does a premise instantiate the construction's form? spaCy dependency patterns, declared in the template files, decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cxgen.annotate.document import to_doc, vocabulary
from cxgen.annotate.sentence import Sentence
from cxgen.errors import SchemaError

Pattern = Sequence[Mapping[str, Any]]


class FormCheck:
    """The form patterns of constructions, ready to match."""

    def __init__(self, patterns: Mapping[str, Sequence[Pattern]]) -> None:
        """Compile the patterns.

        Args:
            patterns: construction -> dependency patterns, one of which must match.

        Raises:
            DataError: spaCy is not installed.
            SchemaError: spaCy does not accept a pattern.
        """
        vocab = vocabulary()
        from spacy.matcher import DependencyMatcher

        self._matchers: dict[str, DependencyMatcher] = {}
        for name, each in patterns.items():
            matcher = DependencyMatcher(vocab, validate=True)
            try:
                matcher.add(name, [[dict(node) for node in pattern] for pattern in each])
            except ValueError as error:
                raise SchemaError(
                    f"{name}: form: spaCy does not accept the pattern: {error}", hint="see spaCy's DependencyMatcher"
                ) from error
            self._matchers[name] = matcher

    def holds(self, sentence: Sentence, construction: str) -> bool:
        """Whether a pattern of ``construction`` matches, with its first node on the sentence's verb."""
        if construction not in self._matchers:
            return True
        return any(tokens[0] == sentence.verb - 1 for _, tokens in self._matchers[construction](to_doc(sentence)))
