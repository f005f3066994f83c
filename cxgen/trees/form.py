"""Does a premise instantiate the construction's form? spaCy dependency patterns, declared in the template files, decide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cxgen.constructicon import Construction
from cxgen.errors import SchemaError
from cxgen.trees.document import to_doc, vocabulary
from cxgen.trees.sentence import Sentence

if TYPE_CHECKING:
    from spacy.matcher import DependencyMatcher
    from spacy.vocab import Vocab

Pattern = Sequence[Mapping[str, Any]]

_OPERATORS = frozenset(
    ["<", ">", ".", ";", "$+", "$-", ">+", ">-", "<+", "<-", "<<", ">>", ".*", ";*", "$++", "$--", ">++", ">--", "<++", "<--"]
)
_HINT = "see docs/annotation.md and spaCy's DependencyMatcher"


def faults(pattern: Pattern) -> Iterator[str]:
    """What is wrong with ``pattern``, as far as can be said without spaCy."""
    names: list[str] = []
    for number, node in enumerate(pattern):
        name, left, operator = node["RIGHT_ID"], node.get("LEFT_ID"), node.get("REL_OP")
        if name in names:
            yield f"two nodes are called {name!r}"
        if number == 0 and (left or operator):
            yield "the first node is the construction's verb: it has neither LEFT_ID nor REL_OP"
        if number and (left is None or operator is None):
            yield f"the node {name!r} needs a LEFT_ID and a REL_OP"
        elif number and left not in names:
            yield f"LEFT_ID {left!r} is no node before {name!r}"
        if operator is not None and operator not in _OPERATORS:
            yield f"{operator!r} is no REL_OP: {' '.join(sorted(_OPERATORS))}"
        names.append(name)
        if "_" in node["RIGHT_ATTRS"]:
            yield f"the node {name!r} asks for an attribute of one's own (_), which no word has"


def dependency_matcher(construction: Construction, vocab: Vocab) -> DependencyMatcher:
    """The form patterns of a construction, ready to match documents of a vocabulary; the key of a pattern is its number, as a string.

    Raises:
        SchemaError: a pattern that is none.
    """
    from spacy.matcher import DependencyMatcher

    document = construction.document
    matcher = DependencyMatcher(vocab, validate=True)
    for number, pattern in enumerate(construction.form_check):
        line = document.line(["form_check", number])
        for fault in faults(pattern):
            raise SchemaError(f"{construction.name}: form_check: {fault}", file=document.path, line=line, hint=_HINT)
        try:
            matcher.add(str(number), [[dict(node) for node in pattern]])
        except (ValueError, TypeError, KeyError, re.error) as error:
            said = " ".join(str(error).split())[:200]
            message = f"{construction.name}: form_check: spaCy does not accept the pattern: {said}"
            raise SchemaError(message, file=document.path, line=line, hint=_HINT) from error
    return matcher


class FormCheck:
    """The form patterns of a construction, ready to match gold trees."""

    def __init__(self, construction: Construction) -> None:
        """Compile the patterns, one of which must match.

        Raises:
            DataError: spaCy is not installed.
            SchemaError: a pattern that is none.
        """
        self._matcher = dependency_matcher(construction, vocabulary())

    def holds(self, sentence: Sentence) -> bool:
        """Whether a pattern matches, with its first node on the sentence's verb; so it is if there are no patterns."""
        if not len(self._matcher):
            return True
        return any(tokens[0] == sentence.verb - 1 for _, tokens in self._matcher(to_doc(sentence)))
