"""Trees as spaCy's own English pipelines give them (ClearNLP's relations), made Universal Dependencies as far as form patterns ask.

Prepositions and their objects change places, passives, objects and predicates get UD's names, *let alone* becomes a conjunction. Relations
that no pattern can sensibly ask for are left as they are. Sources: the guidelines of both schemes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_RENAMED = {
    "dobj": "obj", "dative": "iobj", "nsubjpass": "nsubj:pass", "csubjpass": "csubj:pass", "auxpass": "aux:pass", "acomp": "xcomp",
    "oprd": "xcomp", "relcl": "acl:relcl", "poss": "nmod:poss", "prt": "compound:prt", "neg": "advmod", "predet": "det:predet",
    "preconj": "cc:preconj", "quantmod": "advmod", "npadvmod": "obl:npmod", "intj": "discourse",
}  # fmt: skip
_PREDICATES = frozenset({"VERB", "AUX", "ADJ", "ADV"})


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
