"""Constructions by the dependency patterns of their template files.

spaCy's own English pipelines give ClearNLP's relations; these are made Universal Dependencies as far as the patterns ask: prepositions and
their objects change places, passives, objects and predicates get UD's names, *let alone* becomes a conjunction. Sources: the guidelines of
both schemes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from cxgen.constructicon import Construction
from cxgen.errors import CxgenError
from cxgen.mining.candidates import Candidate
from cxgen.trees.form import dependency_matcher

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

_RENAMED = {
    "dobj": "obj", "dative": "iobj", "nsubjpass": "nsubj:pass", "csubjpass": "csubj:pass", "auxpass": "aux:pass", "acomp": "xcomp",
    "oprd": "xcomp", "relcl": "acl:relcl", "poss": "nmod:poss", "prt": "compound:prt", "neg": "advmod", "predet": "det:predet",
    "preconj": "cc:preconj", "quantmod": "advmod", "npadvmod": "obl:npmod", "intj": "discourse",
}  # fmt: skip
_PREDICATES = frozenset({"VERB", "AUX", "ADJ", "ADV"})
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


def is_clearnlp(labels: Iterable[str]) -> bool:
    """Whether a parser with these labels gives ClearNLP's relations."""
    return not {"dobj", "pobj", "nsubjpass"}.isdisjoint(labels)


def as_universal(doc: Doc) -> Doc:
    """A copy of ``doc`` with the relations of Universal Dependencies; tags, lemmas and sentences stay."""
    from spacy.tokens import Doc

    heads = [token.head.i for token in doc]
    relations = [_renamed(token) for token in doc]
    for token in doc:
        if token.dep_ in {"pobj", "pcomp"} and _is_preposition(token.head):
            _turn(token, heads, relations)
    for token in doc:
        if token.lower_ == "let" and token.i + 1 < len(doc) and doc[token.i + 1].lower_ == "alone":
            _conjoin(token, heads, relations)
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        lemmas=[token.lemma_ for token in doc],
        pos=[token.pos_ for token in doc],
        tags=[token.tag_ for token in doc],
        heads=heads,
        deps=relations,
    )


def _renamed(token: Token) -> str:
    if token.dep_ == "advmod" and token.pos_ == "ADJ" and token.head.pos_ == "VERB" and token.i > token.head.i:
        return "xcomp"  # "swung open": an adjective is no adverbial of a verb there
    if token.dep_ == "dative" and token.pos_ == "ADP":
        return "prep"
    return _RENAMED.get(token.dep_, str(token.dep_))


def _is_preposition(token: Token) -> bool:
    return token.dep_ in {"prep", "agent"} or (token.dep_ == "dative" and token.pos_ == "ADP")


def _turn(token: Token, heads: list[int], relations: list[str]) -> None:
    """Hang an object on what its preposition hangs on, and the preposition on the object; of "out of" the second word on the first."""
    chain = [token.head]
    while _is_preposition(chain[0].head) and chain[0].head.i == chain[0].i - 1:
        chain.insert(0, chain[0].head)
    above = chain[0].head
    clause = token.dep_ == "pcomp" or token.pos_ == "VERB"
    of_predicate, of_noun = ("advcl", "acl") if clause else ("obl", "nmod")
    heads[token.i] = above.i
    relations[token.i] = of_predicate if above.pos_ in _PREDICATES else of_noun
    if chain[0].dep_ == "agent" and not clause:
        relations[token.i] = "obl:agent"
    heads[chain[0].i], relations[chain[0].i] = token.i, "mark" if clause else "case"
    for part in chain[1:]:
        heads[part.i], relations[part.i] = chain[0].i, "fixed"


def _conjoin(let: Token, heads: list[int], relations: list[str]) -> None:
    """Make what follows "let alone" a conjunct below the word on which "let" hangs."""
    after = [token for token in (*let.children, *let.head.children) if token.i > let.i + 1 and not token.is_punct]
    if not after or let.head is let:
        return
    heads[after[0].i], relations[after[0].i] = let.head.i, "conj"
    heads[let.i], relations[let.i] = after[0].i, "cc"
    heads[let.i + 1], relations[let.i + 1] = let.i, "fixed"
