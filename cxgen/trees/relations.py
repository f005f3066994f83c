"""The tags and relations of Universal Dependencies 2, and what a relation attaches to unless said otherwise."""

from __future__ import annotations

import difflib
import re

_UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
_RELATIONS = (
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl fixed flat goeswith iobj "
    "list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative xcomp"
)
UPOS, RELATIONS = frozenset(_UPOS.split()), frozenset(_RELATIONS.split())
# Where a head can be, as chunks and templates name it; a number in a chunk is the position of a word in it.
HEADS = {
    "V": "the construction's verb",
    "P": "the predicate of its clause: V, unless a word marked with ! comes before it",
    "R": "the root of the sentence",
    "NEXT": "what the next slot holds",
    "PREV": "what the slot before holds",
    "OBJ": "the object of the verb",
}
# What can be a subject or an object.
NOMINAL = frozenset({"NOUN", "PROPN", "PRON"})
# A verb has one of each.
ONCE = frozenset({"nsubj", "csubj", "obj", "iobj"})
# What a noun is after the verb, but not before it: *Ann was given a cake*.
COMPLEMENTS = frozenset({"obj", "iobj", "ccomp", "xcomp"})

_P = frozenset({"nsubj", "csubj", "expl", "advmod", "advcl", "obl:tmod", "discourse", "vocative", "parataxis", "dislocated"})
_NEXT = frozenset({"det", "amod", "nummod", "compound", "case", "clf", "nmod:poss"})
_PREV = frozenset({"nmod", "appos", "acl", "conj", "flat", "fixed"})
_STATED = re.compile(r"^([a-z]+(?::[a-z]+)?)(?:>([A-Z]+|[a-z][a-z-]*))?$")


def stated(text: str) -> tuple[str, str]:
    """The relation and the head that ``text`` (``iobj``, ``obl:tmod>P``) states. A head in lower case is the slot that holds it.

    Raises:
        ValueError: no relation, or no head, of this name; the message suggests one.
    """
    match = _STATED.match(text)
    if match is None:
        raise ValueError(f"{text!r} is no relation")
    relation, head = match[1], match[2] or usual_head(match[1])
    known(relation)
    if head not in HEADS and head != "0" and not head.islower():
        raise ValueError(f"{head!r} is no head: {', '.join(HEADS)}")
    return relation, head


def known(relation: str) -> None:
    """Nothing, if ``relation`` or what it is a subtype of is a relation.

    Raises:
        ValueError: it is none.
    """
    if base(relation) not in RELATIONS:
        near = difflib.get_close_matches(base(relation), RELATIONS, n=1)
        raise ValueError(f"{relation!r} is no relation of Universal Dependencies{f': {near[0]}?' if near else ''}")


def base(relation: str) -> str:
    """The relation without its subtype."""
    return relation.partition(":")[0]


def usual_head(relation: str) -> str:
    """What ``relation`` attaches to where no head is stated."""
    if relation == "root":
        return "0"
    if relation in _NEXT:
        return "NEXT"
    for heads, names in (("P", _P), ("PREV", _PREV)):
        if relation in names or base(relation) in names:
            return heads
    return "V"
