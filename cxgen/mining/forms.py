"""Constructions by the dependency patterns of their template files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cxgen.constructicon import Construction
from cxgen.errors import CxgenError
from cxgen.mining.candidates import Candidate
from cxgen.mining.universal import as_universal, is_clearnlp
from cxgen.trees.form import dependency_matcher

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

_CLOSED = frozenset({"ADP", "SCONJ", "CCONJ", "PART"})  # of these the word itself tells a group


class Forms:
    """Finds verbs with a construction's form, in trees of Universal Dependencies or of ClearNLP.

    Attributes:
        patterns: those of the construction.

    Raises:
        CxgenError: the construction has no patterns.
        SchemaError: a pattern that spaCy does not take.
    """

    def __init__(self, construction: Construction, nlp: Language) -> None:
        self.patterns = construction.form_check
        if not self.patterns:
            hint = "docs/annotation.md: patterns over Universal Dependencies"
            raise CxgenError(f"{construction.name} has no form_check: nothing says what to look for", hint=hint)
        self._matcher = dependency_matcher(construction, nlp.vocab)
        self._convert = is_clearnlp(label for labels in nlp.pipe_labels.values() for label in labels)

    def may_have(self, text: str) -> bool:
        """Whether a passage need be parsed: any that has words."""
        return bool(text.strip())

    def find(self, doc: Doc) -> Iterator[tuple[list[Token], Candidate | str]]:
        """The sentences in which a pattern matches, once for every verb."""
        for sentence in (as_universal(doc) if self._convert else doc).sents:
            tokens = [token for token in sentence if not token.is_space]
            verbs: set[int] = set()
            for key, matched in sorted(self._matcher(sentence), key=lambda match: (match[1][0], match[0], match[1])):
                if matched[0] not in verbs:
                    verbs.add(matched[0])
                    yield tokens, self._candidate(sentence.doc, key, [sentence.start + place for place in matched])

    def _candidate(self, doc: Doc, key: int, matched: list[int]) -> Candidate:
        pattern = self.patterns[int(doc.vocab.strings[key])]
        nodes = sorted((place, str(node["RIGHT_ID"])) for place, node in zip(matched, pattern, strict=True))
        group = [f"{name}:{doc[place].lower_ if doc[place].pos_ in _CLOSED else doc[place].tag_}" for place, name in nodes]
        return Candidate(" ".join(group), tuple((name, doc[place], doc[place]) for place, name in nodes))
