"""Why a label matrix has no balanced selection of cells, in words."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice, product

from cxgen.semantics.squares import options
from cxgen.vocabulary import LABELS

RULE = (
    "every kind needs a hypothesis that it entails, one that it leaves open and one that it contradicts, and every hypothesis must be used "
    "equally often as each; as a rule that takes four kinds in two dimensions, where the neutral ones come from the other dimension"
)
_VERBS = ("entails", "leaves open", "contradicts")  # what a kind does to a hypothesis, by label
_TRIED = 20_000

Matrix = Mapping[str, Mapping[str, int]]


def unbalanced(matrix: Matrix) -> list[str]:
    """What stands in the way of a balanced selection: sentences, the first the one to begin with; empty if nothing is seen."""
    reasons: list[str] = []
    left = {rule for row in matrix.values() for rule in row}
    dropped: list[str] = []
    while left:
        lacking = list(_lacking(matrix, left, dropped))
        if lacking:
            return reasons + lacking
        useless = {rule: labels for rule in left if (labels := _never(matrix, rule))}
        if not useless:
            break
        reasons += [f"no kind {' or '.join(labels)} hypothesis {rule!r}, so it cannot be used" for rule, labels in sorted(useless.items())]
        dropped += sorted(useless)
        left -= useless.keys()
    return [*reasons, _nearest(matrix, left)] if left else reasons


def _lacking(matrix: Matrix, left: set[str], dropped: list[str]) -> Iterator[str]:
    for kind, row in matrix.items():
        present = {label for rule, label in row.items() if rule in left}
        missing = [name for label, name in enumerate(LABELS) if label not in present]
        if missing:
            without = f", once {', '.join(map(repr, dropped))} cannot be used" if dropped else ""
            yield f"kind {kind!r} has no hypothesis labelled {' or '.join(missing)}{without}"


def _never(matrix: Matrix, rule: str) -> list[str]:
    taken = {row[rule] for row in matrix.values() if rule in row}
    return [verb for label, verb in enumerate(_VERBS) if label not in taken]


def _nearest(matrix: Matrix, left: set[str]) -> str:
    """The selection that comes nearest to balance, of the first ones tried."""
    rows = [options({rule: label for rule, label in row.items() if rule in left}) for row in matrix.values()]
    best: Counter[tuple[str, int]] = Counter()
    distance = -1
    for chosen in islice(product(*rows), _TRIED):
        counts = Counter((rule, label) for option in chosen for label, rule in enumerate(option))
        away = sum(max(counts[rule, x] for x in range(3)) - counts[rule, y] for rule in left for y in range(3))
        if distance < 0 or away < distance:
            best, distance = counts, away
    uneven = [
        f"{rule!r}: {', '.join(f'{best[rule, label]} x {name}' for label, name in enumerate(LABELS))}"
        for rule in sorted(left)
        if len({best[rule, label] for label in range(3)}) > 1
    ]
    return f"the cells cannot be combined: at best, hypotheses come out as {'; '.join(uneven)}"
