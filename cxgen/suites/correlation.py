"""What follows from comparative correlatives and a comparison: two signs multiplied.

*The A-er, the B-er* says that two properties rise together (+1), or that one falls as the other rises (-1); *x is A-er than y* says that x
has more of a property than y (+1) or less (-1). Then x has more of the second property than y, or less, by the product; y the reverse.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Correlation:
    """The property ``then`` goes with the property ``given``: up with it (``sign`` 1) or down (-1)."""

    given: str
    then: str
    sign: int


@dataclass(frozen=True)
class Comparison:
    """``who`` has more of ``what`` than ``whom`` (``sign`` 1), or less (-1)."""

    who: str
    whom: str
    what: str
    sign: int


def correlation(given: str, given_pole: int, then: str, then_pole: int) -> Correlation:
    """What *the more of this pole, the more of that one* says; poles are 1 or -1."""
    return Correlation(given, then, given_pole * then_pole)


def follows(correlations: Iterable[Correlation], known: Comparison | None, who: str, whom: str, what: str) -> int:
    """Whether ``who`` has more of ``what`` than ``whom``.

    Args:
        correlations: what is said of the properties.
        known: what is said of the two, if anything is.
        who, whom, what: what is asked.

    Returns:
        1: more; -1: less; 0: nothing that was said decides.

    Raises:
        ValueError: the correlations contradict each other.
    """
    if known is None or {known.who, known.whom} != {who, whom}:
        return 0
    signs = {each.sign for each in correlations if (each.given, each.then) == (known.what, what)}
    if len(signs) > 1:
        raise ValueError(f"{known.what} and {what} rise together, and do not")
    turned = 1 if known.who == who else -1
    return signs.pop() * known.sign * turned if signs else 0
