"""From facts to labels: what follows from the predicates (contrary, asymmetric) and the fillers' lexical relations; the rest is open."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from cxgen.constructicon.model import Atom, Construction, Design, Facts, Kind, Rule
from cxgen.vocabulary import CONTRADICTION, ENTAILMENT, NEUTRAL

_Relations = Mapping[str, list[tuple[str, str]]]  # slot -> (relation, other slot), both ways: all of them are symmetric
_NONE = frozenset[str]()


class Inconsistency(ValueError):  # noqa: N818 - it names a property of the facts
    """Facts from which an atom follows together with its negation; the argument is the atom."""


def truth(kind: Kind, construction: Construction, broken: frozenset[str] = _NONE) -> dict[Atom, bool]:
    """Every atom that ``kind`` decides, with its value; the words of ``broken`` slots are pseudowords, on which nothing rests."""
    return _closed(Facts(kind.entails, kind.excludes), construction, broken) if broken.isdisjoint(kind.rests_on) else {}


def misread_truth(kind: Kind, construction: Construction, broken: frozenset[str] = _NONE) -> dict[Atom, bool]:
    """What a misreading of ``kind`` decides, as `truth`; it takes the form for the target's, whatever the words mean."""
    return _closed(kind.misread, construction, broken) if kind.misread else {}


def label_matrix(construction: Construction, design: Design, broken: frozenset[str] = _NONE) -> dict[str, dict[str, int]]:
    """Kind -> hypothesis rule -> label (0 entailment, 1 neutral, 2 contradiction), without the rules whose claims a kind leaves unasked."""
    rules, matrix = [construction.rules[name] for name in design.rules], {}
    for kind in map(construction.kinds.__getitem__, design.kinds):
        known = truth(kind, construction, broken)
        matrix[kind.name] = {rule.name: _label(rule, known.get(rule.claim)) for rule in rules if rule.claim not in kind.unasked}
    return matrix


def misread_labels(construction: Construction, design: Design, kind: str, broken: frozenset[str] = _NONE) -> dict[str, int]:
    """Hypothesis rule -> label under the misreading of one kind; only the rules whose claims the misread facts decide."""
    known = misread_truth(construction.kinds[kind], construction, broken)
    rules = (construction.rules[name] for name in design.rules)
    return {rule.name: _label(rule, known[rule.claim]) for rule in rules if rule.claim in known}


def _label(rule: Rule, value: bool | None) -> int:
    return NEUTRAL if value is None else ENTAILMENT if value == rule.polarity else CONTRADICTION


def _closed(facts: Facts, construction: Construction, broken: frozenset[str]) -> dict[Atom, bool]:
    """The facts and all that follows from them."""
    relations: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for slot in construction.slots.values():
        if slot.lexical and not broken & {slot.name, slot.parent}:
            relations[slot.name].append((slot.lexical, slot.parent))
            relations[slot.parent].append((slot.lexical, slot.name))
    known: dict[Atom, bool] = {}
    todo = [(atom, True) for atom in facts.entails] + [(atom, False) for atom in facts.excludes]
    while todo:
        atom, value = todo.pop()
        if known.setdefault(atom, value) != value:
            raise Inconsistency(str(atom))
        todo += [(other, so) for other, so in _consequences(atom, value, construction, relations) if known.get(other) != so]
    return known


def _consequences(atom: Atom, value: bool, construction: Construction, relations: _Relations) -> Iterator[tuple[Atom, bool]]:
    predicate = construction.predicates[atom.predicate]
    for other in construction.predicates.values() if value else ():
        if predicate.name == other.contrary or predicate.contrary == other.name:
            yield Atom(other.name, atom.args), False
    if value and predicate.asymmetric:
        yield Atom(atom.predicate, atom.args[::-1]), False
    for relation, partner in relations.get(atom.args[-1], ()) if predicate.lexical else ():
        moved = Atom(atom.predicate, (*atom.args[:-1], partner))
        if relation == "near" or (relation == "complement" and predicate.either_way):
            yield moved, value
        elif relation == "complement":
            yield moved, not value
        elif value and not predicate.either_way:  # contrary
            yield moved, False
