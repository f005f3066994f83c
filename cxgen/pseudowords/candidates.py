"""Candidates for pseudowords: what the searches find, under narrower and wider constraints, less what will not do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush, merge

from cxgen.pseudowords.lexicon import WugLexicon
from cxgen.pseudowords.refuse import Refusal
from cxgen.pseudowords.search import Found, Owed, Search
from cxgen.pseudowords.syllables import Segments


@dataclass(frozen=True)
class Step:
    """How the constraints of a search are widened.

    Attributes:
        number: what ``widened`` says of an output that needs it.
        cost: how many rungs better an output of it must be than one without.
        loose: whether transitions may be attested elsewhere in words only: see ``Chain.layers``.
        moved: by how many letters the segments may differ from the source's, summed.
        longer: by how many letters the whole is longer.
        base: whether an output must look like a base form.
    """

    number: int
    cost: int
    loose: bool = False
    moved: int = 0
    longer: int = 0
    base: bool = True


# The dearest come into play only where the cheaper have no outputs left: 1000 is more than there are rungs.
STEPS = (
    Step(0, 0),
    Step(3, 6, moved=2),
    Step(4, 40, loose=True),
    Step(4, 56, loose=True, moved=2),
    Step(4, 900, loose=True, moved=4),
    Step(5, 1000, base=False),
    *(Step(6, 2000 + 100 * abs(by) + 30 * more, True, abs(by) + more, by) for by in (1, 2, 3, -1, -2) for more in (0, 2)),
)
_RARE = 1, 2  # number and cost of a form that occurs, with a zipf value below 2
_ONCE = 2, 4  # of a transition that only one word has


@dataclass(frozen=True)
class Source:
    """A word to be replaced."""

    word: str
    parts: Segments
    pos: str | None


@dataclass(frozen=True)
class Candidate:
    """What may replace a source.

    Attributes:
        form: its letters.
        parts: its segments.
        deviations: type count of each of its transitions, less the source's.
        cost: the rung of the largest deviation, and what was widened for it.
        widened: the number of the step, or of a flaw, whichever is higher.
    """

    form: str
    parts: Segments
    deviations: list[int]
    cost: int
    widened: int


def ascending(lexicon: WugLexicon, refusal: Refusal, source: Source, seed: int) -> Iterator[Candidate]:
    """Candidates that are not like words, cheapest first."""
    waiting: list[tuple[int, int, Candidate]] = []  # until nothing cheaper can come
    allowed = {"", refusal.ending("".join(source.parts), source.pos)}
    seen: set[str] = set()
    for cost, step, found in merge(*(_found(lexicon, source, step, seed) for step in STEPS), key=lambda item: item[0]):
        while waiting and waiting[0][0] <= cost:
            yield heappop(waiting)[2]
        form = "".join(found.parts) if found else ""
        if not found or form in seen or (step.base and refusal.ending(form, source.pos) not in allowed):
            continue
        seen.add(form)
        if refusal.is_word(form) or refusal.wordlike(form, found.parts):
            continue
        flaws = [flaw for flaw, has in ((_RARE, form in lexicon.rare), (_ONCE, found.once)) if has]
        widened = max([step.number, *(number for number, _ in flaws)])
        dearer = cost + sum(more for _, more in flaws)
        heappush(waiting, (dearer, len(seen), Candidate(form, found.parts, found.deviations, dearer, widened)))
    yield from (candidate for _, _, candidate in sorted(waiting))


def _found(lexicon: WugLexicon, source: Source, step: Step, seed: int) -> Iterator[tuple[int, Step, Found | None]]:
    """What the search under the constraints of a step finds, with its cost; what it costs at least comes first, as a search takes time."""
    yield step.cost, step, None
    shape = tuple(len(part) for part in source.parts)
    layers = lexicon.chain.layers(shape, loose=step.loose, slack=min((step.moved + 1) // 2, 2))
    if layers is None:
        return
    search = Search(lexicon.chain, layers, source.parts, Owed.of(len(shape) // 3, step.longer, step.moved))
    if search.rung is not None:
        yield step.cost + search.rung, step, None
    for found in search.ascending(seed, "".join(source.parts), step.cost):
        yield step.cost + found.rung, step, found
