"""Candidates for pseudowords: what the searches find, under narrower and wider constraints, less what will not do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush, heapreplace
from typing import NamedTuple

from cxgen.wug.lexicon import WugLexicon
from cxgen.wug.listed import Listed
from cxgen.wug.refuse import Refusal
from cxgen.wug.search import Found, Search, States
from cxgen.wug.syllables import Segments


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


class Output(NamedTuple):
    """A pseudoword, its cost, and the step that gave it."""

    form: str
    parts: Segments
    cost: int
    step: int


class Candidates:
    """The candidates for sources.

    Attributes:
        refusal: says which will not do.
        used: forms that are no longer new.
    """

    def __init__(self, lexicon: WugLexicon, refusal: Refusal, used: set[str], seed: int) -> None:
        self._lexicon, self.refusal, self.used, self._seed = lexicon, refusal, used, seed

    def ascending(self, source: Source) -> Iterator[Output]:
        """Candidates that are no words, cheapest first: the rung of the largest deviation, plus the cost of what was widened for it."""
        streams = [self._fit(source, step) for step in STEPS]
        # Of every stream the next candidate, or what the first costs at least: one is opened when it may hold the next candidate of all.
        waiting: list[tuple[int, int, Found | None]] = [(step.cost, order, None) for order, step in enumerate(STEPS)]
        delayed: list[tuple[int, int, Output]] = []
        allowed = {"", self.refusal.ending("".join(source.parts), source.pos)}
        seen: set[str] = set()
        while waiting:
            floor, order, found = waiting[0]
            while delayed and delayed[0][0] <= floor:
                yield heappop(delayed)[2]
            step = STEPS[order]
            following = next(streams[order], None)
            if following is None:
                heappop(waiting)
            else:
                heapreplace(waiting, (following.rung + step.cost, order, following))
            if found is None or not found.parts:
                continue
            form = "".join(found.parts)
            if form in seen or (step.base and self.refusal.ending(form, source.pos) not in allowed):
                continue
            seen.add(form)
            number, cost = step.number, floor
            for flaw, (least, dearer) in ((form in self._lexicon.rare, _RARE), (found.once, _ONCE)):
                if flaw:
                    number, cost = max(number, least), cost + dearer
            output = Output(form, found.parts, cost, number)
            if cost == floor:
                yield output
            else:
                heappush(delayed, (cost, len(seen), output))
        while delayed:
            yield heappop(delayed)[2]

    def _fit(self, source: Source, step: Step) -> Iterator[Found]:
        """What the search under the constraints of a step finds that is not like a word; no forms that are known to be no good."""
        for found in self._search(source.parts, step, (self._seed, "".join(source.parts), step.cost)):
            if not found.parts or not self.refusal.wordlike("".join(found.parts), found.parts):
                yield found

    def _search(self, parts: Segments, step: Step, stream: tuple[int | str, ...]) -> Iterator[Found]:
        lexicon = self._lexicon
        key = (tuple(len(part) for part in parts), 1 - step.loose, min(step.moved // 2 + step.moved % 2, 2))
        layers = lexicon.chain.layers(*key)
        if layers is None:
            return iter(())
        if key not in lexicon.listed:
            lexicon.listed[key] = Listed.of(lexicon.chain, layers)
        owed, listed = (len(parts) // 3, step.longer, step.moved), lexicon.listed[key]
        if listed is not None:
            return listed.ascending(parts, owed, self.refusal.known, *stream)
        return Search(lexicon.chain, layers, parts, States.owing(*owed), self.refusal.known).ascending(*stream)
