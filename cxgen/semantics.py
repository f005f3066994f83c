"""Labels follow from meaning: facts and claims to entailment, neutral, contradiction; label matrices to contrast sets.

What follows from the predicates (contrary, asymmetric) and the fillers' lexical relations is true or false; the rest is open. Cells of a
label matrix make a contrast set, one E, N and C per premise and each hypothesis equally often each; or it is told why none do.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import islice, pairwise, product
from typing import NamedTuple

from cxgen.constructicon.model import Atom, Construction, Design, Facts, Kind, Rule
from cxgen.errors import CxgenError
from cxgen.streams import uniform
from cxgen.vocabulary import CONTRADICTION, ENTAILMENT, LABELS, NEUTRAL

RULE = (
    "every kind needs a hypothesis that it entails, one that it leaves open and one that it contradicts, and every hypothesis must be used "
    "equally often as each; as a rule that takes four kinds in two dimensions, where the neutral ones come from the other dimension"
)
_LABELS = (ENTAILMENT, NEUTRAL, CONTRADICTION)
_VERBS = ("entails", "leaves open", "contradicts")  # what a kind does to a hypothesis, by label
LARGEST = 300_000  # states looked at: some seconds
_TRIED = 20_000
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


class Cell(NamedTuple):
    """A premise kind with the hypothesis rule that gives it ``label``."""

    kind: str
    rule: str
    label: int


Selection = tuple[Cell, ...]
_Matrix = Mapping[str, Mapping[str, int]]
_Rows = tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
_Option = tuple[str, str, str]  # the rules that a kind takes for E, N and C
_Count = tuple[int, int, int]  # how often a rule is E, N and C, the least of them taken off


def solve(matrix: _Matrix, most: int = 512) -> list[Selection]:
    """The balanced selections (3 cells a kind, by kind and label) of a matrix (kind -> rule -> label); empty when none is balanced.

    They are counted before they are read off by number. Of more than ``most``, one is drawn from each of ``most`` equal stretches of the
    numbers, always the same ones: so no cell comes up more often than among all, but for chance.
    """
    return list(_solved(tuple((kind, tuple(row.items())) for kind, row in matrix.items()), most))


def every(matrix: _Matrix) -> list[Selection]:
    """All selections of 3 cells a kind, by kind and label, balanced or not."""
    choices = product(*([(kind, option) for option in _options(row)] for kind, row in matrix.items()))
    return [
        tuple(Cell(kind, rule, label) for kind, option in chosen for label, rule in zip(_LABELS, option, strict=True)) for chosen in choices
    ]


@lru_cache(maxsize=256)  # a design's blocks all ask for the same
def _solved(rows: _Rows, most: int) -> tuple[Selection, ...]:
    square = _square(rows)
    total = square.ways(0, square.start)
    if total <= most:
        return tuple(map(square.selection, range(total)))
    edges = pairwise(total * number // most for number in range(most + 1))
    chances = uniform(("selections", *square.kinds), 0, most)
    drawn = (min(start + int(chance * (stop - start)), stop - 1) for chance, (start, stop) in zip(chances, edges, strict=True))
    return tuple(map(square.selection, drawn))


def _options(row: Mapping[str, int]) -> list[_Option]:
    entailed, neutral, contradicted = ([rule for rule, label in row.items() if label == wanted] for wanted in _LABELS)
    return list(product(entailed, neutral, contradicted))


class _Square:
    """Counts the balanced selections kind by kind: what is still possible depends only on how uneven the rules are by then."""

    def __init__(self, rows: _Rows) -> None:
        self.kinds = [kind for kind, _ in rows]
        self._options = [_options(dict(row)) for _, row in rows]
        self._code = {rule: number for number, rule in enumerate(dict.fromkeys(rule for _, row in rows for rule, _ in row))}
        self.start: tuple[_Count, ...] = ((0, 0, 0),) * len(self._code)
        self.ways = cache(self._ways)

    def _ways(self, depth: int, counts: tuple[_Count, ...]) -> int:
        """How many ways there are to go on from ``counts``, the first ``depth`` kinds being settled."""
        left = len(self.kinds) - depth
        if any(sum(max(rule) - rule[label] for rule in counts) > left for label in _LABELS):
            return 0  # every remaining kind gives one cell to each label
        if not left:
            return 1
        if self.ways.cache_info().currsize > LARGEST:
            size = f"{len(self.kinds)} kinds and {len(self._code)} hypotheses"
            raise CxgenError(f"a design of {size} is too large to balance", hint="make two designs of it")
        return sum(self.ways(depth + 1, self._add(counts, option)) for option in self._options[depth])

    def selection(self, number: int) -> Selection:
        """The selection of that number."""
        cells: list[Cell] = []
        counts = self.start
        for depth, kind in enumerate(self.kinds):
            for option in self._options[depth]:
                after = self._add(counts, option)
                ways = self.ways(depth + 1, after)
                if number < ways:
                    break
                number -= ways
            counts = after
            cells += [Cell(kind, rule, label) for label, rule in zip(_LABELS, option, strict=True)]
        return tuple(cells)

    def _add(self, counts: tuple[_Count, ...], option: _Option) -> tuple[_Count, ...]:
        after = list(counts)
        for label, rule in enumerate(option):
            after[self._code[rule]] = _raised(after[self._code[rule]], label)
        return tuple(after)


_square = lru_cache(maxsize=16)(_Square)  # lint asks whether there is one selection, then the drawing for all


@cache  # as few as there are differences between the counts of a rule
def _raised(count: _Count, label: int) -> _Count:
    raised = [number + (label == place) for place, number in enumerate(count)]
    least = min(raised)
    return raised[0] - least, raised[1] - least, raised[2] - least


def unbalanced(matrix: _Matrix) -> list[str]:
    """What stands in the way of a balanced selection: sentences, the first the one to begin with; empty if nothing is seen."""
    reasons: list[str] = []
    left = dict.fromkeys(sorted({rule for row in matrix.values() for rule in row}))
    dropped: list[str] = []
    while left:
        without = f", once {', '.join(map(repr, dropped))} cannot be used" if dropped else ""
        present = {kind: {label for rule, label in row.items() if rule in left} for kind, row in matrix.items()}
        missing = {kind: [name for label, name in enumerate(LABELS) if label not in labels] for kind, labels in present.items()}
        if any(missing.values()):
            lacking = ((kind, " or ".join(names)) for kind, names in missing.items() if names)
            return [*reasons, *(f"kind {kind!r} has no hypothesis labelled {names}{without}" for kind, names in lacking)]
        labels = {rule: {row[rule] for row in matrix.values() if rule in row} for rule in left}
        useless = [rule for rule in left if len(labels[rule]) < len(LABELS)]
        if not useless:
            return [*reasons, _nearest(matrix, left)]
        for rule in useless:
            never = " or ".join(verb for label, verb in enumerate(_VERBS) if label not in labels[rule])
            reasons.append(f"no kind {never} hypothesis {rule!r}, so it cannot be used")
            del left[rule]
        dropped += useless
    return reasons


def _nearest(matrix: _Matrix, left: Mapping[str, None]) -> str:
    """The selection that comes nearest to balance, of the first ones tried."""
    rows = [_options({rule: label for rule, label in row.items() if rule in left}) for row in matrix.values()]
    tried = (Counter((rule, label) for option in chosen for label, rule in enumerate(option)) for chosen in islice(product(*rows), _TRIED))

    def away(counts: Counter[tuple[str, int]]) -> int:
        return sum(3 * max(numbers) - sum(numbers) for numbers in ([counts[rule, label] for label in _LABELS] for rule in left))

    best = min(tried, key=away)
    counts = {rule: [best[rule, label] for label in _LABELS] for rule in left}
    uneven = (
        f"{rule!r}: {', '.join(f'{number} x {name}' for number, name in zip(numbers, LABELS, strict=True))}"
        for rule, numbers in counts.items()
        if len({*numbers}) > 1
    )
    return f"the cells cannot be combined: at best, hypotheses come out as {'; '.join(uneven)}"
