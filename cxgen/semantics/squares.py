"""Which cells of a label matrix make a contrast set: one E, N and C per premise, each hypothesis equally often E, N and C."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from cxgen.vocabulary import LABELS

_LABELS = range(len(LABELS))
MOST = 64


@dataclass(frozen=True)
class Cell:
    """A premise kind with the hypothesis rule that gives it ``label``."""

    kind: str
    rule: str
    label: int


Selection = tuple[Cell, ...]


def solve(matrix: Mapping[str, Mapping[str, int]], most: int = MOST) -> list[Selection]:
    """Every balanced selection of cells, in a fixed order, ``most`` at the most.

    Args:
        matrix: kind -> rule -> label.
        most: stop after so many.

    Returns:
        Selections of 3 cells per kind, ordered by kind and label; empty when none is balanced.
    """
    kinds = list(matrix)
    choices = [_choices(matrix[kind]) for kind in kinds]
    if any(not options for options in choices):
        return []
    found = _extend(kinds, choices, [], Counter())
    return list(islice(found, most))


def _choices(row: Mapping[str, int]) -> list[tuple[str, str, str]]:
    by_label = [[rule for rule, label in row.items() if label == wanted] for wanted in _LABELS]
    return [(e, n, c) for e in by_label[0] for n in by_label[1] for c in by_label[2]]


def _extend(
    kinds: list[str],
    choices: list[list[tuple[str, str, str]]],
    chosen: list[tuple[str, str, str]],
    counts: Counter[tuple[str, int]],
) -> Iterator[Selection]:
    depth = len(chosen)
    if depth == len(kinds):
        if _balanced(counts):
            yield tuple(
                Cell(kind, rule, label)
                for kind, rules in zip(kinds, chosen, strict=True)
                for label, rule in zip(_LABELS, rules, strict=True)
            )
        return
    for option in choices[depth]:
        cells = list(zip(option, _LABELS, strict=True))
        counts.update(cells)
        if _hopeful(counts, len(kinds) - depth - 1):
            yield from _extend(kinds, choices, [*chosen, option], counts)
        counts.subtract(cells)


def _balanced(counts: Counter[tuple[str, int]]) -> bool:
    rules = {rule for rule, _ in counts}
    return all(counts[rule, 0] == counts[rule, 1] == counts[rule, 2] for rule in rules)


def _hopeful(counts: Counter[tuple[str, int]], left: int) -> bool:
    """Whether the deficits of the labels can still be made good: every remaining kind gives one cell to each label."""
    deficit = [0, 0, 0]
    for rule in {rule for rule, _ in counts}:
        top = max(counts[rule, label] for label in _LABELS)
        for label in _LABELS:
            deficit[label] += top - counts[rule, label]
    return max(deficit) <= left
