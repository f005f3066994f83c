"""Does a premise instantiate the construction's form? spaCy dependency patterns, declared in the template files, decide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cxgen.constructicon import Construction
from cxgen.errors import SchemaError
from cxgen.trees.chunks import Chunk, Word
from cxgen.trees.document import to_doc, vocabulary
from cxgen.trees.relations import NOMINAL
from cxgen.trees.sentence import Sentence
from cxgen.trees.steps import MOST_LETTERS, MOST_STEPS, cost, regexes
from cxgen.trees.surface import Piece
from cxgen.trees.units import Token

if TYPE_CHECKING:
    from spacy.matcher import DependencyMatcher
    from spacy.vocab import Vocab

Pattern = Sequence[Mapping[str, Any]]

MOST_NODES = 8
MOST_FAR = 3  # nodes that can be nearly any word of the sentence
_NEAR = frozenset({"<", ">", ".", ";", "$+", "$-", ">+", ">-", "<+", "<-"})
_BESIDE = _NEAR - {"<", ">"}
_TAGS = frozenset({"POS", "TAG"})
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
    """What patterns can tell of words: the tags and the words that they name."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        patterns = list(patterns)
        self._named: dict[str, set[str]] = {}
        self._all = False
        for pattern in patterns:
            for node in pattern:
                for attribute, value in node["RIGHT_ATTRS"].items():
                    self._note(attribute.upper(), value)
        # Where a node asks for what stands right beside another one, any word matters, for its place.
        self._beside = any(node.get("REL_OP") in _BESIDE for pattern in patterns for node in pattern)
        self._dependents = [node["RIGHT_ATTRS"] for pattern in patterns for node in pattern[1:]]

    def _note(self, attribute: str, value: Any) -> None:
        if attribute in {"DEP", "OP"}:
            return
        texts = _texts(value)
        if attribute in {"POS", "TAG", "LEMMA", "ORTH", "TEXT", "LOWER"} and texts is not None:
            self._named.setdefault(attribute, set()).update(texts)
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
            if attribute not in _TAGS and (piece.lemma in named if attribute == "LEMMA" else forms & named)
        )

    def tags(self, piece: Piece | Word | Token) -> tuple[str, ...]:
        """The tags of ``piece`` that a pattern names; all of them where one may ask for anything."""
        tags = {"POS": piece.upos, "TAG": piece.xpos}
        return tuple(tag if self._all or tag in self._named.get(attribute, ()) else "" for attribute, tag in tags.items())

    def telling(self, chunk: Chunk) -> tuple[Word, ...]:
        """The words of ``chunk`` without those inside it that are inert and no nominals, heads counted as if these were not there."""
        inner = [word.link.head.isdigit() and word.link.head != "0" and word.upos not in NOMINAL for word in chunk.words]
        idle = [within and not word.predicate and self.inert(word) for within, word in zip(inner, chunk.words, strict=True)]
        heads = {int(word.link.head) for word, skip in zip(chunk.words, idle, strict=True) if word.link.head.isdigit() and not skip}
        if any(idle[head - 1] for head in heads if head):
            return chunk.words
        kept = [number for number, skip in enumerate(idle, 1) if not skip]
        places = {str(number): str(place) for place, number in enumerate(kept, 1)}
        words = (chunk.words[number - 1] for number in kept)
        return tuple(replace(word, link=replace(word.link, head=places.get(word.link.head, word.link.head))) for word in words)

    def inert(self, piece: Piece | Word) -> bool:
        """Whether no pattern could ever match ``piece``, which depends on another one of its filler, or tell that it is there."""
        if self._all or self._beside:
            return False
        relation = piece.relation if isinstance(piece, Piece) else piece.link.relation
        known = {"DEP": {relation}, "POS": {piece.upos}, "TAG": {piece.xpos}, "LEMMA": {piece.lemma}}
        return all(any(_refuses(attrs, attribute, mine) for attribute, mine in known.items()) for attrs in self._dependents)


def _texts(value: Any) -> list[str] | None:
    """The texts that an attribute of a pattern asks for, or refuses; None where it asks in another way."""
    texts = next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 and value.keys() <= {"IN", "NOT_IN"} else value
    return [texts] if isinstance(texts, str) else texts if isinstance(texts, list) else None


def _refuses(attrs: Mapping[str, Any], attribute: str, mine: set[str]) -> bool:
    """Whether ``attrs`` ask for texts of ``attribute``, and ``mine`` is none of them."""
    value = next((value for name, value in attrs.items() if name.upper() == attribute), None)
    texts = _texts(value)
    return texts is not None and not (isinstance(value, dict) and "NOT_IN" in value) and mine.isdisjoint(texts)
