"""Pseudowords for words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import chain

import polars as pl

from cxgen.errors import CxgenError
from cxgen.pseudowords.candidates import Candidate, Source, ascending
from cxgen.pseudowords.lexicon import WugLexicon
from cxgen.pseudowords.refuse import Refusal
from cxgen.pseudowords.syllables import Segments

SCHEMA: dict[str, type[pl.DataType]] = {
    "word": pl.String,
    "pseudoword": pl.String,
    "rank": pl.Int32,
    "syllables": pl.Int8,
    "segments": pl.String,
    "changed": pl.Int8,
    "max_deviation": pl.Int32,
    "max_deviation_at": pl.Int8,
    "sum_deviation": pl.Int32,
    "old20_word": pl.Float64,
    "old20": pl.Float64,
    "old20_difference": pl.Float64,
    "neighbours": pl.Int32,
    "zipf": pl.Float64,
    "widened": pl.Int8,
}
POS = ("noun", "verb", "adjective", None)
_TOGETHER = 128  # sources whose candidates are measured together
_POOL = 2  # candidates measured for each output wanted
_DEARER = 8  # by how many rungs a candidate may be worse than the last that is needed
_OLD20 = 16  # rungs that a difference of 1 in OLD20 is worth


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
    transition frequencies, by the steps of ``cxgen.pseudowords.search.RUNGS``; of the first acceptable ones, twice as many as are wanted,
    those are taken that are best in deviation and OLD20 together. Where that fails, and where it pays, constraints are widened: see
    ``cxgen.pseudowords.candidates.STEPS``.

    The same arguments give the same outputs. No form occurs twice, inflected forms included: of two sources that would get the same
    output, the earlier one does; the outputs for a word depend on those for the words before it in this and in no other way.

    Statistics as in Wuggy (Keuleers & Brysbaert 2010, Behavior Research Methods 42, 627-633) and Yarkoni et al. (2008).

    Args:
        lexicon: from ``cxgen.pseudowords.load``.
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
        DataError: rapidfuzz is not installed.
    """
    each = [pos] * len(words) if pos is None or isinstance(pos, str) else list(pos)
    if len(each) != len(words) or not set(each) <= set(POS):
        raise CxgenError("pos: expected noun, verb, adjective or None, for all words or one for each word")
    sources = [Source(word, lexicon.segments(word), kind) for word, kind in zip(words, each, strict=True)]
    refusal, used = Refusal(lexicon), set(taken)
    rows: list[tuple[object, ...]] = []
    for start in range(0, len(sources), _TOGETHER):
        together = sources[start : start + _TOGETHER]
        streams = [_pools(lexicon, refusal, source, n, used, seed) for source in together]
        pools = [next(stream) for stream in streams]
        lexicon.distances.measure([*(source.word.lower() for source in together), *(found.form for pool in pools for found in pool)])
        for source, pool, later in zip(together, pools, streams, strict=True):
            rows.extend(_rows(lexicon, source, _chosen(lexicon, refusal, source, chain([pool], later), n, used)))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _pools(lexicon: WugLexicon, refusal: Refusal, source: Source, n: int, used: Set[str], seed: int) -> Iterator[list[Candidate]]:
    """The acceptable candidates, cheapest first, as many together as are measured for ``n`` outputs."""
    pool: list[Candidate] = []
    for candidate in ascending(lexicon, refusal, source, seed):
        if len(pool) >= n and (len(pool) >= _POOL * n or candidate.cost > pool[n - 1].cost + _DEARER):
            yield pool
            pool = []
        forms = refusal.forms(candidate.form, source.pos)
        if not refusal.is_word(*forms) and used.isdisjoint(forms):
            pool.append(candidate)
    yield pool


def _chosen(
    lexicon: WugLexicon, refusal: Refusal, source: Source, pools: Iterator[list[Candidate]], n: int, used: set[str]
) -> list[Candidate]:
    """The best ``n`` candidates that are new, by cost and OLD20 together; their forms are added to ``used``."""
    (wanted, _), *_ = lexicon.distances.measure([source.word.lower()])
    chosen: list[Candidate] = []
    for pool in pools:
        distances = lexicon.distances.measure([candidate.form for candidate in pool])
        ranks = [candidate.cost + _OLD20 * abs(old20 - wanted) for candidate, (old20, _) in zip(pool, distances, strict=True)]
        for place in sorted(range(len(pool)), key=ranks.__getitem__):
            forms = refusal.forms(pool[place].form, source.pos)
            if used.isdisjoint(forms):
                chosen.append(pool[place])
                used.update(forms)
                if len(chosen) == n:
                    return chosen
    raise CxgenError(f"only {len(chosen)} of {n} pseudowords for {source.word!r}", hint="ask for fewer")


def _rows(lexicon: WugLexicon, source: Source, chosen: list[Candidate]) -> Iterator[tuple[object, ...]]:
    """The rows of a source's outputs."""
    (wanted, _), *measured = lexicon.distances.measure([source.word.lower(), *(candidate.form for candidate in chosen)])
    for rank, (candidate, (old20, neighbours)) in enumerate(zip(chosen, measured, strict=True), 1):
        sizes = [abs(deviation) for deviation in candidate.deviations]
        where = sizes.index(max(sizes))
        changed = sum(a != b for a, b in zip(candidate.parts, source.parts, strict=True))
        yield (
            *(source.word, candidate.form, rank, len(source.parts) // 3, _show(candidate.parts), changed),
            *(candidate.deviations[where], where, sum(sizes)),
            *(wanted, old20, old20 - wanted, neighbours),
            *(lexicon.rare.get(candidate.form, 0.0), candidate.widened),
        )


def _show(parts: Segments) -> str:
    return ".".join(":".join(parts[at : at + 3]) for at in range(0, len(parts), 3))
