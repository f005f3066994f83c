"""Does a premise instantiate the construction's form? spaCy dependency patterns, declared in the template files, decide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cxgen.annotate.chunks import Word
from cxgen.annotate.document import to_doc, vocabulary
from cxgen.annotate.sentence import Sentence
from cxgen.annotate.steps import MOST_LETTERS, MOST_STEPS, cost, regexes
from cxgen.annotate.surface import Piece
from cxgen.annotate.units import Token
from cxgen.constructicon import Construction
from cxgen.errors import SchemaError

if TYPE_CHECKING:
    from spacy.matcher import DependencyMatcher
    from spacy.vocab import Vocab

Pattern = Sequence[Mapping[str, Any]]

MOST_NODES = 8
MOST_FAR = 3  # nodes that can be nearly any word of the sentence
_NEAR = frozenset({"<", ">", ".", ";", "$+", "$-", ">+", ">-", "<+", "<-"})
_FAR = frozenset({"<<", ">>", ".*", ";*", "$++", "$--", ">++", ">--", "<++", "<--"})
_HINT = "see docs/annotation.md and spaCy's DependencyMatcher"


def faults(pattern: Pattern) -> Iterator[str]:
    """What is wrong with ``pattern``, as far as can be said without spaCy."""
    if len(pattern) > MOST_NODES:
        yield f"{len(pattern)} nodes, {MOST_NODES} are the most"
    names: list[str] = []
    far = 0
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
        if operator is not None and operator not in _NEAR | _FAR:
            yield f"{operator!r} is no REL_OP: {' '.join(sorted(_NEAR | _FAR))}"
        far += number > 0 and (operator in _FAR or not node["RIGHT_ATTRS"])
        names.append(name)
        if "_" in node["RIGHT_ATTRS"]:
            yield f"the node {name!r} asks for an attribute of one's own (_), which no word has"
        yield from _bad_regex(node["RIGHT_ATTRS"])
    if far > MOST_FAR:
        yield f"{far} nodes that can be nearly any word (a far REL_OP, or no RIGHT_ATTRS), {MOST_FAR} are the most"


def _bad_regex(value: Any) -> Iterator[str]:
    for inner in regexes(value):
        try:
            steps = cost(inner)
        except (re.error, RecursionError, OverflowError) as error:
            yield f"{inner[:80]!r} is no regular expression: {error}"
            continue
        if steps > MOST_STEPS:
            yield f"the regular expression {inner[:80]!r} may take too long: no repetition of what can vary, and two of any length at most"


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
            message = f"{construction.name}: form_check: spaCy does not accept the pattern: {_first(str(error))}"
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
        self._construction, self._regexes = construction, any(regexes(construction.form_check))
        self._matcher = dependency_matcher(construction, vocabulary())

    def holds(self, sentence: Sentence) -> bool:
        """Whether a pattern matches, with its first node on the sentence's verb; so it is if there are no patterns.

        Raises:
            SchemaError: a word that is too long to be matched against a regular expression.
        """
        if not len(self._matcher):
            return True
        long = next((token.form for token in sentence.tokens if len(token.form) > MOST_LETTERS), None) if self._regexes else None
        if long:
            message = f"form_check: the word {long[:20]}... has more than {MOST_LETTERS} letters, too many for a regular expression"
            document = self._construction.document
            line = document.line(["form_check"])
            raise SchemaError(message, file=document.path, line=line, hint="name the words in the pattern, or shorten that one")
        return any(tokens[0] == sentence.verb - 1 for _, tokens in self._matcher(to_doc(sentence)))


def _first(text: str) -> str:
    """spaCy's message on one line."""
    return " ".join(text.split())[:200]


class Words:
    """Which words matter to patterns beyond their tags and relations: those that the patterns name."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._named: dict[str, set[str]] = {}
        self._all = False
        for pattern in patterns:
            for node in pattern:
                for attribute, value in node["RIGHT_ATTRS"].items():
                    self._note(attribute.upper(), value)

    def _note(self, attribute: str, value: Any) -> None:
        if attribute in {"POS", "TAG", "DEP", "OP"}:
            return
        texts = value
        if isinstance(value, dict):
            texts = next(iter(value.values())) if value.keys() <= {"IN", "NOT_IN"} and len(value) == 1 else None
        if attribute in {"LEMMA", "ORTH", "TEXT", "LOWER"} and isinstance(texts, str | list):
            self._named.setdefault(attribute, set()).update([texts] if isinstance(texts, str) else texts)
        else:
            self._all = True

    def matter(self, piece: Piece | Word | Token) -> tuple[tuple[str, str], ...]:
        """What of the word itself a pattern could ask about; equal for two words where none could tell them apart."""
        if self._all:
            return ("LEMMA", piece.lemma), ("ORTH", piece.form)
        forms = {piece.form, piece.form.lower(), piece.form[:1].upper() + piece.form[1:]}
        return tuple(
            (attribute, piece.lemma if attribute == "LEMMA" else piece.form)
            for attribute, named in self._named.items()
            if (piece.lemma in named if attribute == "LEMMA" else forms & named)
        )
