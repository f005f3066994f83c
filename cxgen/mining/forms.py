"""Constructions by the dependency patterns of their template files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cxgen.annotate.form import dependency_matcher
from cxgen.annotate.steps import MOST_LETTERS, regexes
from cxgen.constructicon import Construction
from cxgen.errors import CxgenError
from cxgen.mining.found import Dropped, Found
from cxgen.mining.universal import as_universal, is_clearnlp

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

_CLOSED = frozenset({"ADP", "SCONJ", "CCONJ", "PART"})  # of these the word itself tells a group
_TOO_LONG = "a word too long for a regular expression"


class Forms:
    """Finds verbs with a construction's form.

    Attributes:
        rules: the patterns.
    """

    def __init__(self, construction: Construction, nlp: Language) -> None:
        """Compile the patterns for the pipeline's vocabulary.

        Raises:
            CxgenError: the construction has no patterns.
            SchemaError: a pattern that is none.
        """
        self.rules = construction.form_check
        if not self.rules:
            hint = "docs/annotation.md: patterns over Universal Dependencies"
            raise CxgenError(f"{construction.name} has no form_check: nothing says what to look for", hint=hint)
        self._regexes = any(regexes(self.rules))
        self._matcher = dependency_matcher(construction, nlp.vocab)
        self._convert = is_clearnlp(label for labels in nlp.pipe_labels.values() for label in labels)

    def may_have(self, text: str) -> bool:
        """Whether a passage need be parsed: any that has words."""
        return bool(text.strip())

    def find(self, doc: Doc) -> Iterator[tuple[list[Token], Found | Dropped]]:
        """The sentences in which a pattern matches, once for every verb."""
        for sentence in (as_universal(doc) if self._convert else doc).sents:
            tokens = [token for token in sentence if not token.is_space]
            if self._regexes and any(len(token) > MOST_LETTERS for token in tokens):
                yield tokens, Dropped(_TOO_LONG)
                continue
            seen: set[int] = set()
            for key, matched in sorted(self._matcher(sentence), key=lambda match: (match[1][0], match[0], match[1])):
                if matched[0] not in seen:
                    seen.add(matched[0])
                    yield tokens, self._found(sentence.doc, key, [sentence.start + place for place in matched])

    def _found(self, doc: Doc, key: int, matched: list[int]) -> Found:
        pattern = self.rules[int(doc.vocab.strings[key])]
        nodes = sorted((place, str(node["RIGHT_ID"])) for place, node in zip(matched, pattern, strict=True))
        group = [f"{name}:{doc[place].lower_ if doc[place].pos_ in _CLOSED else doc[place].tag_}" for place, name in nodes]
        return Found(" ".join(group), tuple((name, doc[place], doc[place]) for place, name in nodes))
