"""Which cells of a label matrix make a contrast set: one E, N and C per premise, each hypothesis equally often E, N and C."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from cxgen.errors import CxgenError
from cxgen.streams import uniform
from cxgen.vocabulary import CONTRADICTION, ENTAILMENT, NEUTRAL

_LABELS = (ENTAILMENT, NEUTRAL, CONTRADICTION)
LARGEST = 300_000  # states looked at: some seconds


@dataclass(frozen=True)
class Cell:
    """A premise kind with the hypothesis rule that gives it ``label``."""

    kind: str
    rule: str
    label: int


Selection = tuple[Cell, ...]
_Rows = tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
Option = tuple[int, int, int]  # the rules that a kind takes for E, N and C
Count = tuple[int, int, int]  # how often a rule is E, N and C, the least of them taken off
Counts = tuple[Count, ...]  # rule -> how often


def solve(matrix: Mapping[str, Mapping[str, int]], most: int = 512) -> list[Selection]:
    """The balanced selections (3 cells a kind, by kind and label) of a matrix (kind -> rule -> label); empty when none is balanced.

    They are counted before they are read off by number. Of more than ``most``, one is drawn from each of ``most`` equal stretches of the
    numbers, always the same ones: so no cell comes up more often than among all, but for chance.
    """
    return list(_solved(tuple((kind, tuple(row.items())) for kind, row in matrix.items()), most))


@lru_cache(maxsize=16)  # lint asks whether there is one selection, then the drawing for all
def _square(rows: _Rows) -> "_Square":
    return _Square({kind: dict(row) for kind, row in rows})


@lru_cache(maxsize=256)  # a design's blocks all ask for the same
def _solved(rows: _Rows, most: int) -> tuple[Selection, ...]:
    square = _square(rows)
    total = square.ways(0, square.start)
    if total <= most:
        return tuple(square.selection(number) for number in range(total))
    chances = uniform(("selections", *(kind for kind, _ in rows)), 0, most)
    edges = pairwise(total * number // most for number in range(most + 1))
    return tuple(
        square.selection(start + min(int(chance * (stop - start)), stop - start - 1))
        for chance, (start, stop) in zip(chances, edges, strict=True)
    )


def options(row: Mapping[str, int]) -> list[tuple[str, str, str]]:
    """The rules that a kind can take for E, N and C."""
    by_label = [[rule for rule, label in row.items() if label == wanted] for wanted in _LABELS]
    return [(e, n, c) for e in by_label[0] for n in by_label[1] for c in by_label[2]]


class _Square:
    """Counts the balanced selections kind by kind: what is still possible depends only on how uneven the rules are by then."""

    def __init__(self, matrix: Mapping[str, Mapping[str, int]]) -> None:
        self.kinds = list(matrix)
        self.rules = list(dict.fromkeys(rule for row in matrix.values() for rule in row))
        code = {rule: number for number, rule in enumerate(self.rules)}
        self.options: list[list[Option]] = [[(code[e], code[n], code[c]) for e, n, c in options(row)] for row in matrix.values()]
        self.start: Counts = ((0, 0, 0),) * len(self.rules)
        self.ways = cache(self._ways)

    def _ways(self, depth: int, counts: Counts) -> int:
        """How many ways there are to go on from ``counts``, the first ``depth`` kinds being settled."""
        left = len(self.kinds) - depth
        if any(sum(max(rule) - rule[label] for rule in counts) > left for label in _LABELS):
            return 0  # every remaining kind gives one cell to each label
        if not left:
            return 1
        if self.ways.cache_info().currsize > LARGEST:
            size = f"{len(self.kinds)} kinds and {len(self.rules)} hypotheses"
            raise CxgenError(f"a design of {size} is too large to balance", hint="make two designs of it")
        return sum(self.ways(depth + 1, _add(counts, option)) for option in self.options[depth])

    def selection(self, number: int) -> Selection:
        """The selection of that number."""
        cells: list[Cell] = []
        counts = self.start
        for depth, kind in enumerate(self.kinds):
            for option in self.options[depth]:
                after = _add(counts, option)
                ways = self.ways(depth + 1, after)
                if number < ways:
                    break
                number -= ways
            counts = after
            cells.extend(Cell(kind, self.rules[rule], label) for label, rule in zip(_LABELS, option, strict=True))
        return tuple(cells)


def _add(counts: Counts, option: Option) -> Counts:
    after = list(counts)
    for label, rule in enumerate(option):
        after[rule] = _raised(after[rule], label)
    return tuple(after)


@cache  # as few as there are differences between the counts of a rule
def _raised(count: Count, label: int) -> Count:
    raised = [number + (label == place) for place, number in enumerate(count)]
    least = min(raised)
    return raised[0] - least, raised[1] - least, raised[2] - least
