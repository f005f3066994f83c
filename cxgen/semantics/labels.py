"""From facts and a claim to a label.

A premise kind makes some atoms true and some false. Their consequences follow from the predicates (contrary, asymmetric) and, where a
predicate's last argument is a property, from the lexical relations between the fillers. What neither they nor their negations
reach is open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cxgen.constructicon.model import Atom, Construction, Design, Kind
from cxgen.vocabulary import CONTRADICTION, ENTAILMENT, NEUTRAL


class Inconsistency(ValueError):  # noqa: N818 - it names a property of the facts
    """Facts from which an atom follows together with its negation; the argument is the atom."""


def truth(kind: Kind, construction: Construction, broken: frozenset[str] = frozenset()) -> dict[Atom, bool]:
    """Every atom that ``kind`` decides, with its truth value.

    Args:
        kind: the premise kind.
        construction: gives the predicates and the slots' lexical relations.
        broken: slots whose words were replaced (pseudowords): lexical relations to and from them no longer hold, nor do the facts of a
            kind that rests on them.

    Raises:
        Inconsistency: an atom comes out both true and false.
    """
    known: dict[Atom, bool] = {}
    if broken & set(kind.rests_on):
        return known
    todo = [(atom, True) for atom in kind.entails] + [(atom, False) for atom in kind.excludes]
    relations = _relations(construction, broken)
    while todo:
        atom, value = todo.pop()
        if atom in known:
            if known[atom] != value:
                raise Inconsistency(str(atom))
            continue
        known[atom] = value
        todo.extend(_consequences(atom, value, construction, relations))
    return known


_Relations = Mapping[str, tuple[tuple[str, str], ...]]


def _relations(construction: Construction, broken: frozenset[str]) -> _Relations:
    """Slot -> (relation, other slot), both ways: every relation used here is symmetric."""
    pairs: dict[str, tuple[tuple[str, str], ...]] = {}
    for slot in construction.slots.values():
        if slot.lexical and not broken & {slot.name, slot.parent}:
            pairs[slot.name] = (*pairs.get(slot.name, ()), (slot.lexical, slot.parent))
            pairs[slot.parent] = (*pairs.get(slot.parent, ()), (slot.lexical, slot.name))
    return pairs


def _consequences(atom: Atom, value: bool, construction: Construction, relations: _Relations) -> Iterator[tuple[Atom, bool]]:
    predicate = construction.predicates[atom.predicate]
    if value and predicate.contrary:
        yield Atom(predicate.contrary, atom.args), False
    if value:
        for other in construction.predicates.values():
            if other.contrary == predicate.name:
                yield Atom(other.name, atom.args), False
    if value and predicate.asymmetric:
        yield Atom(atom.predicate, atom.args[::-1]), False
    if predicate.lexical:
        *rest, last = atom.args
        for relation, partner in relations.get(last, ()):
            moved = Atom(atom.predicate, (*rest, partner))
            if relation == "near" or (relation == "complement" and predicate.either_way):
                yield moved, value
            elif relation == "complement":
                yield moved, not value
            elif value and not predicate.either_way:  # contrary
                yield moved, False


def label_matrix(construction: Construction, design: Design, broken: frozenset[str] = frozenset()) -> dict[str, dict[str, int]]:
    """Kind -> hypothesis rule -> label (0 entailment, 1 neutral, 2 contradiction).

    Raises:
        Inconsistency: the facts of a kind contradict each other.
    """
    return {kind: labels_of(construction, design, kind, broken) for kind in design.kinds}


def labels_of(construction: Construction, design: Design, kind: str, broken: frozenset[str] = frozenset()) -> dict[str, int]:
    """Hypothesis rule -> label, of one kind.

    Raises:
        Inconsistency: its facts contradict each other.
    """
    known = truth(construction.kinds[kind], construction, broken)
    found: dict[str, int] = {}
    for rule in map(construction.rules.__getitem__, design.rules):
        value = known.get(rule.claim)
        found[rule.name] = NEUTRAL if value is None else ENTAILMENT if value == rule.polarity else CONTRADICTION
    return found
