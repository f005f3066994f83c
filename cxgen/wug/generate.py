"""Pseudowords for words."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heappop, heappush, heapreplace
from itertools import chain
from typing import NamedTuple

import polars as pl

from cxgen.errors import CxgenError
from cxgen.wug.lexicon import WugLexicon
from cxgen.wug.listed import Listed
from cxgen.wug.refuse import Refusal
from cxgen.wug.search import Found, Search, States
from cxgen.wug.syllables import Segments
from cxgen.wug.table import Row, table

POS = ("noun", "verb", "adjective", None)


@dataclass(frozen=True)
class _Step:
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
    _Step(0, 0),
    _Step(3, 6, moved=2),
    _Step(4, 40, loose=True),
    _Step(4, 56, loose=True, moved=2),
    _Step(4, 900, loose=True, moved=4),
    _Step(5, 1000, base=False),
    *(_Step(6, 2000 + 100 * abs(by) + 30 * more, True, abs(by) + more, by) for by in (1, 2, 3, -1, -2) for more in (0, 2)),
)
_RARE = 1, 2  # number and cost of a form that occurs, with a zipf value below 2
_ONCE = 2, 4  # of a transition that only one word has

_TOGETHER = 512  # sources whose candidates are measured together
_POOL = 2  # candidates measured for each output wanted
_DEARER = 8  # by how many rungs a candidate may be worse than the last that is needed
_OLD20 = 16  # rungs that a difference of 1 in OLD20 is worth


@dataclass(frozen=True)
class _Source:
    """A word to be replaced."""

    word: str
    parts: Segments
    pos: str | None


class _Output(NamedTuple):
    """A pseudoword, its cost, and the step that gave it."""

    form: str
    parts: Segments
    cost: int
    step: int


_Measured = tuple[_Output, float, int]  # with OLD20 and number of neighbours


def pseudowords(
    lexicon: WugLexicon,
    words: Sequence[str],
    n: int = 10,
    *,
    seed: int = 0,
    pos: str | Sequence[str | None] | None = None,
    taken: Set[str] = frozenset(),
) -> pl.DataFrame:
    """``n`` pseudowords for each of ``words``, the best first.

    An output has its source's number of syllables and letters, and of letters in each segment, and differs from it in a third of the
    segments or more. The candidates are all such sequences of segments, in the order of their largest deviation from the source's
    transition frequencies, by the steps of ``cxgen.wug.search.RUNGS``; of the first acceptable ones, twice as many as are wanted, those
    are taken that are best in deviation and OLD20 together. Where that fails, and where it pays, constraints are widened: see ``STEPS``.

    The same arguments give the same outputs. No form occurs twice, inflected forms included: of two sources that would get the same
    output, the earlier one does; the outputs for a word depend on those for the words before it in this and in no other way.

    Statistics as in Wuggy (Keuleers & Brysbaert 2010, Behavior Research Methods 42, 627-633) and Yarkoni et al. (2008).

    Args:
        lexicon: from ``cxgen.wug.load``.
        words: single words of the letters a to z; capitals count as small letters.
        n: outputs per word.
        seed: another seed gives other outputs among equally good ones, where there are any.
        pos: noun, verb, adjective or None, for all words or for each: inflected forms, too, are then new and no output looks inflected.
        taken: forms that may not be used.

    Returns:
        One row per output: ``word`` (str), ``pseudoword`` (str, lower case), ``rank`` (i32, from 1), ``syllables`` (i8), ``segments`` (str:
        onset:nucleus:coda of each syllable, syllables joined by dots), ``changed`` (i8, segments that differ), ``max_deviation`` (i32, of
        type counts, signed: output less source), ``max_deviation_at`` (i8, the transition: 0 from the start to the first onset),
        ``sum_deviation`` (i32, of absolute deviations), ``old20_word``, ``old20``, ``old20_difference`` (f64, letters; output less
        source), ``neighbours`` (i32, words at distance 1), ``zipf`` (f64, below 2), ``widened`` (i8: 0 all constraints kept; 1 the form
        occurs, with a zipf value below 2; 2 a transition occurs in one word only; 3 segments have other numbers of letters, the whole
        has not; 4 a transition occurs only at other places or in words of other lengths; 5 looks inflected; 6 the whole is longer or
        shorter; the highest that applies).

    Raises:
        CxgenError: a source that is no such word, an unknown part of speech, or no pseudoword even under the widest constraints.
    """
    each = [pos] * len(words) if pos is None or isinstance(pos, str) else list(pos)
    if len(each) != len(words) or not set(each) <= set(POS):
        raise CxgenError("pos: expected noun, verb, adjective or None, for all words or one for each word")
    sources = [_Source(word, lexicon.segments(word), kind) for word, kind in zip(words, each, strict=True)]
    refusal, used = Refusal(lexicon), set(taken)
    refusal.known.update(taken)
    rows: list[Row] = []
    with _uncollected():
        for start in range(0, len(sources), _TOGETHER):
            rows.extend(_together(lexicon, refusal, sources[start : start + _TOGETHER], n, used, seed))
        return table(lexicon.chain, rows)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Nothing here refers to itself, and to look for what does takes a tenth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _together(
    lexicon: WugLexicon, refusal: Refusal, sources: list[_Source], n: int, used: set[str], seed: int
) -> Iterator[Row]:
    """The rows of some sources; the outputs' forms are added to ``used``."""
    streams = [_pools(lexicon, refusal, source, n, used, seed) for source in sources]
    lexicon.distances.prepare(source.word.lower() for source in sources)
    pools = []
    for stream in streams:
        pools.append(next(stream, []))
        lexicon.distances.prepare(output.form for output in pools[-1])
    for source, first, later in zip(sources, pools, streams, strict=True):
        distance = lexicon.distances.measure([source.word.lower()])[0][0]
        chosen: list[_Measured] = []
        for pool in chain([first], later):
            measured = lexicon.distances.measure([output.form for output in pool])
            found = [(output, *figures) for output, figures in zip(pool, measured, strict=True)]
            chosen += _choose(refusal, source, found, distance, n - len(chosen), used)
            if len(chosen) == n:
                break
        else:
            raise CxgenError(f"only {len(chosen)} of {n} pseudowords for {source.word!r}", mend="ask for fewer")
        for rank, (output, old20, neighbours) in enumerate(chosen, 1):
            zipf = lexicon.rare.get(output.form, 0.0)
            yield Row(source.word, source.parts, output.form, output.parts, rank, distance, old20, neighbours, zipf, output.step)


def _choose(refusal: Refusal, source: _Source, found: list[_Measured], old20: float, n: int, used: set[str]) -> list[_Measured]:
    """Of what was ``found`` the best ``n`` that are new, by cost and OLD20 together."""
    chosen: list[_Measured] = []
    for candidate in sorted(found, key=lambda item: item[0].cost + _OLD20 * abs(item[1] - old20)):
        forms = refusal.forms(candidate[0].form, source.pos)
        if len(chosen) < n and used.isdisjoint(forms):
            chosen.append(candidate)
            used.update(forms)
            refusal.known.update(forms)
    return chosen


def _pools(lexicon: WugLexicon, refusal: Refusal, source: _Source, n: int, used: set[str], seed: int) -> Iterator[list[_Output]]:
    """The acceptable candidates, cheapest first, as many together as are measured for ``n`` outputs."""
    pool: list[_Output] = []
    for output in _ascending(lexicon, refusal, source, used, seed):
        if len(pool) >= n and (len(pool) >= _POOL * n or output.cost > pool[n - 1].cost + _DEARER):
            yield pool
            pool = []
        forms = refusal.forms(output.form, source.pos)
        if not refusal.is_word(*forms) and used.isdisjoint(forms):
            pool.append(output)
    yield pool


def _ascending(lexicon: WugLexicon, refusal: Refusal, source: _Source, used: set[str], seed: int) -> Iterator[_Output]:
    """Candidates that are no words, cheapest first: the rung of the largest deviation, plus the cost of what had to be widened for it."""
    streams = [_candidates(lexicon, refusal, source.parts, step, used, seed) for step in STEPS]
    # Of every stream the next candidate, or what the first costs at least: a stream is opened when it may hold the next candidate of all.
    waiting: list[tuple[int, int, Found | None]] = [(step.cost, order, None) for order, step in enumerate(STEPS)]
    delayed: list[tuple[int, int, _Output]] = []
    allowed = {"", refusal.ending("".join(source.parts), source.pos)}
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
        if form in seen or (step.base and refusal.ending(form, source.pos) not in allowed):
            continue
        seen.add(form)
        number, cost = step.number, floor
        for flaw, (least, dearer) in ((form in lexicon.rare, _RARE), (found.once, _ONCE)):
            if flaw:
                number, cost = max(number, least), cost + dearer
        output = _Output(form, found.parts, cost, number)
        if cost == floor:
            yield output
        else:
            heappush(delayed, (cost, len(seen), output))
    while delayed:
        yield heappop(delayed)[2]


def _candidates(lexicon: WugLexicon, refusal: Refusal, parts: Segments, step: _Step, used: set[str], seed: int) -> Iterator[Found]:
    """The candidates under the constraints of a step that are new and no words nor like words, best first."""
    shape = tuple(len(part) for part in parts)
    key = (shape, 1 - step.loose, min(step.moved // 2 + step.moved % 2, 2))
    layers = lexicon.chain.layers(*key)
    if layers is None:
        return
    owed = (len(parts) // 3, step.longer, step.moved)
    stream = (seed, "".join(parts), step.cost)
    if key not in lexicon.listed:
        lexicon.listed[key] = Listed.of(lexicon.chain, layers)
    listed = lexicon.listed[key]
    if listed is None:
        candidates = Search(lexicon.chain, layers, parts, States.owing(*owed), refusal.known).ascending(*stream)
    else:
        candidates = listed.ascending(parts, owed, refusal.known, *stream)
    for found in candidates:
        form = "".join(found.parts)
        if not form or not (form in used or refusal.is_word(form) or refusal.wordlike(form, found.parts)):
            yield found
