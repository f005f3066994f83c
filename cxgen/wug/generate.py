"""Pseudowords for words."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from itertools import chain

import polars as pl

from cxgen.errors import CxgenError
from cxgen.wug.candidates import Candidates, Output, Source
from cxgen.wug.lexicon import WugLexicon
from cxgen.wug.refuse import Refusal
from cxgen.wug.table import Row, table

POS = ("noun", "verb", "adjective", None)
_TOGETHER = 512  # sources whose candidates are measured together
_POOL = 2  # candidates measured for each output wanted
_DEARER = 8  # by how many rungs a candidate may be worse than the last that is needed
_OLD20 = 16  # rungs that a difference of 1 in OLD20 is worth

_Measured = tuple[Output, float, int]  # with OLD20 and number of neighbours


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
    are taken that are best in deviation and OLD20 together. Where that fails, and where it pays, constraints are widened: see
    ``cxgen.wug.candidates.STEPS``.

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
    sources = [Source(word, lexicon.segments(word), kind) for word, kind in zip(words, each, strict=True)]
    refusal = Refusal(lexicon)
    refusal.known.update(taken)
    candidates = Candidates(lexicon, refusal, set(taken), seed)
    rows: list[Row] = []
    with _uncollected():
        for start in range(0, len(sources), _TOGETHER):
            rows.extend(_together(lexicon, candidates, sources[start : start + _TOGETHER], n))
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


def _together(lexicon: WugLexicon, candidates: Candidates, sources: list[Source], n: int) -> Iterator[Row]:
    """The rows of some sources; the outputs' forms are added to those that are used."""
    streams = [_pools(candidates, source, n) for source in sources]
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
            chosen += _choose(candidates, source, found, distance, n - len(chosen))
            if len(chosen) == n:
                break
        else:
            raise CxgenError(f"only {len(chosen)} of {n} pseudowords for {source.word!r}", hint="ask for fewer")
        for rank, (output, old20, neighbours) in enumerate(chosen, 1):
            zipf = lexicon.rare.get(output.form, 0.0)
            yield Row(source.word, source.parts, output.form, output.parts, rank, distance, old20, neighbours, zipf, output.step)


def _choose(candidates: Candidates, source: Source, found: list[_Measured], old20: float, n: int) -> list[_Measured]:
    """Of what was ``found`` the best ``n`` that are new, by cost and OLD20 together."""
    chosen: list[_Measured] = []
    for candidate in sorted(found, key=lambda item: item[0].cost + _OLD20 * abs(item[1] - old20)):
        forms = candidates.refusal.forms(candidate[0].form, source.pos)
        if len(chosen) < n and candidates.used.isdisjoint(forms):
            chosen.append(candidate)
            candidates.used.update(forms)
            candidates.refusal.known.update(forms)
    return chosen


def _pools(candidates: Candidates, source: Source, n: int) -> Iterator[list[Output]]:
    """The acceptable candidates, cheapest first, as many together as are measured for ``n`` outputs."""
    pool: list[Output] = []
    for output in candidates.ascending(source):
        if len(pool) >= n and (len(pool) >= _POOL * n or output.cost > pool[n - 1].cost + _DEARER):
            yield pool
            pool = []
        forms = candidates.refusal.forms(output.form, source.pos)
        if not candidates.refusal.is_word(*forms[1:]) and candidates.used.isdisjoint(forms):
            pool.append(output)
    yield pool
