"""From facts and a claim to a label.

A premise kind makes some atoms true and some false. Their consequences follow from the predicates (contrary, asymmetric) and, where a
predicate's last argument is a property, from the lexical relations between the fillers. What neither they nor their negations
reach is open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cxgen.constructicon.model import Atom, Construction, Design, Facts, Kind, Rule
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
    return _closed(_facts(kind, broken), construction, broken)


def misread_truth(kind: Kind, construction: Construction, broken: frozenset[str] = frozenset()) -> dict[Atom, bool]:
    """Every atom that the facts of a misreading of ``kind`` decide, with its truth value; none where it has no misreading.

    Args:
        kind, construction, broken: as for `truth`. A misreading takes the form for the target's, whatever the words mean; it wins over what
            holds.

    Raises:
        Inconsistency: an atom comes out both true and false.
    """
    return {} if kind.misread is None else _closed(kind.misread, construction, broken)


def _facts(kind: Kind, broken: frozenset[str]) -> Facts:
    return Facts() if broken & set(kind.rests_on) else Facts(kind.entails, kind.excludes)


def _closed(facts: Facts, construction: Construction, broken: frozenset[str]) -> dict[Atom, bool]:
    known: dict[Atom, bool] = {}
    todo = [(atom, True) for atom in facts.entails] + [(atom, False) for atom in facts.excludes]
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
    """Kind -> hypothesis rule -> label (0 entailment, 1 neutral, 2 contradiction), as `labels_of`.

    Raises:
        Inconsistency: the facts of a kind contradict each other.
    """
    return {kind: labels_of(construction, design, kind, broken) for kind in design.kinds}


def labels_of(construction: Construction, design: Design, kind: str, broken: frozenset[str] = frozenset()) -> dict[str, int]:
    """Hypothesis rule -> label, of one kind; without the rules whose claims it leaves unasked.

    Raises:
        Inconsistency: its facts contradict each other.
    """
    mine = construction.kinds[kind]
    known = truth(mine, construction, broken)
    rules = map(construction.rules.__getitem__, design.rules)
    return {rule.name: _label(rule, known.get(rule.claim)) for rule in rules if rule.claim not in mine.unasked}


def misread_labels(construction: Construction, design: Design, kind: str, broken: frozenset[str] = frozenset()) -> dict[str, int]:
    """Hypothesis rule -> label under the misreading of one kind; only the rules whose claims the misread facts decide.

    Raises:
        Inconsistency: see `misread_truth`.
    """
    known = misread_truth(construction.kinds[kind], construction, broken)
    rules = map(construction.rules.__getitem__, design.rules)
    return {rule.name: _label(rule, known[rule.claim]) for rule in rules if rule.claim in known}


def _label(rule: Rule, value: bool | None) -> int:
    return NEUTRAL if value is None else ENTAILMENT if value == rule.polarity else CONTRADICTION
