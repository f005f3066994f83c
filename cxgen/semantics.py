"""Labels follow from meaning: facts and claims to entailment, neutral, contradiction; label matrices to contrast sets.

What follows from the predicates (contrary, asymmetric) is true or false; the rest is open. Cells of a label matrix make a contrast set,
one E, N and C per premise and each hypothesis equally often each; or it is told why none do.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, islice, pairwise, product
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
_NONE = frozenset[str]()


class Inconsistency(ValueError):  # noqa: N818 - it names a property of the facts
    """Facts from which an atom follows together with its negation; the argument is the atom."""


def truth(kind: Kind, construction: Construction, broken: frozenset[str] = _NONE) -> dict[Atom, bool]:
    """Every atom that ``kind`` decides, with its value; the words of ``broken`` slots are pseudowords, on which nothing rests."""
    return _closed(Facts(kind.entails, kind.excludes), construction) if broken.isdisjoint(kind.rests_on) else {}


def misread_truth(kind: Kind, construction: Construction) -> dict[Atom, bool]:
    """What a misreading of ``kind`` decides, as `truth`; it takes the form for the target's, whatever the words mean."""
    return _closed(kind.misread, construction) if kind.misread else {}


def label_matrix(construction: Construction, design: Design, broken: frozenset[str] = _NONE) -> dict[str, dict[str, int]]:
    """Kind -> hypothesis rule -> label (0 entailment, 1 neutral, 2 contradiction), without the rules whose claims a kind leaves unasked."""
    rules, matrix = [construction.rules[name] for name in design.rules], {}
    for kind in map(construction.kinds.__getitem__, design.kinds):
        known = truth(kind, construction, broken)
        matrix[kind.name] = {rule.name: _label(rule, known.get(rule.claim)) for rule in rules if rule.claim not in kind.unasked}
    return matrix


def misread_labels(construction: Construction, design: Design, kind: str) -> dict[str, int]:
    """Hypothesis rule -> label under the misreading of one kind; only the rules whose claims the misread facts decide."""
    known = misread_truth(construction.kinds[kind], construction)
    rules = (construction.rules[name] for name in design.rules)
    return {rule.name: _label(rule, known[rule.claim]) for rule in rules if rule.claim in known}


def _label(rule: Rule, value: bool | None) -> int:
    return NEUTRAL if value is None else ENTAILMENT if value == rule.polarity else CONTRADICTION


def _closed(facts: Facts, construction: Construction) -> dict[Atom, bool]:
    """The facts and all that follows from them."""
    known = dict.fromkeys(facts.entails, True)
    for atom in (*facts.excludes, *(other for fact in facts.entails for other in _excluded(fact, construction))):
        if known.setdefault(atom, False):
            raise Inconsistency(str(atom))
    return known


def _excluded(atom: Atom, construction: Construction) -> Iterator[Atom]:
    """What is false if ``atom`` is true."""
    predicate = construction.predicates[atom.predicate]
    for other in construction.predicates.values():
        if predicate.name == other.contrary or predicate.contrary == other.name:
            yield Atom(other.name, atom.args)
    if predicate.asymmetric:
        yield Atom(atom.predicate, atom.args[::-1])


class Cell(NamedTuple):
    """A premise kind with the hypothesis rule that gives it ``label``."""

    kind: str
    rule: str
    label: int


Selection = tuple[Cell, ...]
_Count = tuple[int, ...]  # how often a hypothesis is E, N and C, the least of them taken off


def solve(matrix: Mapping[str, Mapping[str, int]], most: int = 512) -> list[Selection]:
    """The balanced selections (3 cells a kind, by kind and label) of a matrix (kind -> rule -> label); empty when none is balanced.

    They are counted before they are read off by number. Of more than ``most``, one is drawn from each of ``most`` equal stretches of the
    numbers, always the same ones: so no cell comes up more often than among all, but for chance.
    """
    return list(_solved(tuple((kind, tuple(row.items())) for kind, row in matrix.items()), most))


def every(matrix: Mapping[str, Mapping[str, int]]) -> list[Selection]:
    """All selections of 3 cells a kind, by kind and label, balanced or not."""
    return [tuple(chain.from_iterable(chosen)) for chosen in product(*(_options(kind, row) for kind, row in matrix.items()))]


def _options(kind: str, row: Mapping[str, int]) -> list[Selection]:
    """What a kind can give to a selection: one cell of each label."""
    return list(product(*([Cell(kind, rule, label) for rule, own in row.items() if own == label] for label in _LABELS)))


@lru_cache(maxsize=256)  # a design's blocks all ask for the same
def _solved(rows: tuple[tuple[str, tuple[tuple[str, int], ...]], ...], most: int) -> tuple[Selection, ...]:
    options = [_options(kind, dict(row)) for kind, row in rows]
    places = {rule: place for place, rule in enumerate(dict.fromkeys(rule for _, row in rows for rule, _ in row))}
    start: tuple[_Count, ...] = ((0, 0, 0),) * len(places)

    def added(counts: tuple[_Count, ...], cells: Selection) -> tuple[_Count, ...]:
        after = list(counts)
        for _, rule, label in cells:
            after[places[rule]] = _raised(after[places[rule]], label)
        return tuple(after)

    @cache
    def ways(depth: int, counts: tuple[_Count, ...]) -> int:
        """How many ways there are to go on from ``counts``, the first ``depth`` kinds being settled."""
        left = len(rows) - depth  # kinds, each of which gives one cell to each label
        if any(sum(max(rule) - rule[label] for rule in counts) > left for label in _LABELS):
            return 0
        if ways.cache_info().currsize > LARGEST:
            size = f"{len(rows)} kinds and {len(places)} hypotheses"
            raise CxgenError(f"a design of {size} is too large to balance", hint="make two designs of it")
        return sum(ways(depth + 1, added(counts, cells)) for cells in options[depth]) if left else 1

    def selection(number: int) -> Selection:
        counts, chosen = start, Selection()
        for depth, own in enumerate(options, 1):
            for cells in own:
                after = added(counts, cells)
                if number < ways(depth, after):
                    break
                number -= ways(depth, after)
            counts, chosen = after, chosen + cells
        return chosen

    total = ways(0, start)
    if total <= most:
        return tuple(map(selection, range(total)))
    edges = pairwise(total * number // most for number in range(most + 1))
    chances = uniform(("selections", *(kind for kind, _ in rows)), 0, most)
    drawn = (min(first + int(chance * (end - first)), end - 1) for chance, (first, end) in zip(chances, edges, strict=True))
    return tuple(map(selection, drawn))


@cache  # as few as there are differences between the counts of a rule
def _raised(count: _Count, label: int) -> _Count:
    raised = [number + (label == place) for place, number in enumerate(count)]
    return tuple(number - min(raised) for number in raised)


def unbalanced(matrix: Mapping[str, Mapping[str, int]]) -> list[str]:
    """What stands in the way of a balanced selection: sentences, the first the one to begin with; empty if nothing is seen."""
    reasons: list[str] = []
    left, dropped = sorted({rule for row in matrix.values() for rule in row}), list[str]()
    while left:
        without = f", once {', '.join(map(repr, dropped))} cannot be used" if dropped else ""
        present = {kind: {label for rule, label in row.items() if rule in left} for kind, row in matrix.items()}
        missing = {kind: _lacking(LABELS, labels) for kind, labels in present.items()}
        if any(missing.values()):
            return [*reasons, *(f"kind {kind!r} has no hypothesis labelled {names}{without}" for kind, names in missing.items() if names)]
        never = {rule: _lacking(_VERBS, {row[rule] for row in matrix.values() if rule in row}) for rule in left}
        if not any(never.values()):
            return [*reasons, _nearest(matrix, left)]
        reasons += [f"no kind {verbs} hypothesis {rule!r}, so it cannot be used" for rule, verbs in never.items() if verbs]
        left, dropped = [rule for rule in left if not never[rule]], [*dropped, *(rule for rule in left if never[rule])]
    return reasons


def _lacking(names: Sequence[str], labels: set[int]) -> str:
    return " or ".join(name for label, name in enumerate(names) if label not in labels)


def _nearest(matrix: Mapping[str, Mapping[str, int]], left: Sequence[str]) -> str:
    """The selection that comes nearest to balance, of the first ones tried."""
    rows = [_options(kind, {rule: label for rule, label in row.items() if rule in left}) for kind, row in matrix.items()]

    def used(chosen: Iterable[Selection]) -> dict[str, list[int]]:
        counts = Counter((cell.rule, cell.label) for cells in chosen for cell in cells)
        return {rule: [counts[rule, label] for label in _LABELS] for rule in left}

    tried = map(used, islice(product(*rows), _TRIED))
    best = min(tried, key=lambda counts: sum(3 * max(numbers) - sum(numbers) for numbers in counts.values()))
    uneven = (
        f"{rule!r}: {', '.join(f'{number} x {name}' for number, name in zip(numbers, LABELS, strict=True))}"
        for rule, numbers in best.items()
        if len({*numbers}) > 1
    )
    return f"the cells cannot be combined: at best, hypotheses come out as {'; '.join(uneven)}"
