"""Pseudowords for words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

import polars as pl

from cxgen.errors import CxgenError
from cxgen.pseudowords.lexicon import WugLexicon
from cxgen.pseudowords.refuse import Refusal
from cxgen.pseudowords.search import RUNGS, STEPS, Step, sequences
from cxgen.pseudowords.segments import Segments

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
_POOL = 2  # candidates measured for each output wanted
_OLD20 = 16  # rungs that a difference of 1 in OLD20 is worth
_RARE = 1, 2  # number and cost of a form that occurs, with a zipf value below 2
_ONCE = 2, 4  # of a transition that only one word has


@dataclass(frozen=True)
class Candidate:
    """What may replace a word.

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
    segments or more. Candidates come in the order of their largest deviation from the source's transition frequencies
    (`cxgen.pseudowords.search`); of the first acceptable ones, twice as many as are wanted, those are taken that are best in deviation and
    OLD20 together. Where these do not suffice, and where it pays, constraints are widened: `cxgen.pseudowords.search.STEPS`.

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
    kinds = [pos] * len(words) if pos is None or isinstance(pos, str) else list(pos)
    if len(kinds) != len(words) or not set(kinds) <= set(POS):
        raise CxgenError("pos: expected noun, verb, adjective or None, for all words or one for each word")
    refusal, used = Refusal(lexicon), set(taken)
    sources = [(word, lexicon.segments(word), kind) for word, kind in zip(words, kinds, strict=True)]
    pools = [_pool(lexicon, refusal, parts, kind, n, used, seed) for _, parts, kind in sources]
    lexicon.distances.measure([word.lower() for word in words] + [candidate.form for pool in pools for candidate in pool])
    rows: list[tuple[object, ...]] = []
    for (word, parts, kind), pool in zip(sources, pools, strict=True):
        rows.extend(_rows(lexicon, word, parts, _chosen(lexicon, refusal, (word, parts, kind), pool, n, used, seed)))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _pool(lexicon: WugLexicon, refusal: Refusal, parts: Segments, pos: str | None, n: int, used: Set[str], seed: int) -> list[Candidate]:
    """Acceptable candidates, cheapest first: as many as are measured for ``n`` outputs."""
    pool: list[Candidate] = []
    wanted, allowed = _POOL * n, {"", refusal.ending("".join(parts), pos)}
    for step in STEPS:
        last = sorted(candidate.cost for candidate in pool)[wanted - 1] - step.cost if len(pool) >= wanted else len(RUNGS) - 1
        if last < 0:
            break
        seen = {candidate.form for candidate in pool}
        some = 0
        for candidate in _candidates(lexicon, parts, step, min(last, len(RUNGS) - 1), seed):
            forms = refusal.forms(candidate.form, pos)
            new = candidate.form not in seen and used.isdisjoint(forms) and not refusal.is_word(*forms)
            unlike = not step.base or refusal.ending(candidate.form, pos) in allowed
            if new and unlike and not refusal.wordlike(candidate.form, candidate.parts):
                seen.add(candidate.form)
                pool.append(candidate)
                some += 1
                if some == wanted:
                    break
    return sorted(pool, key=lambda candidate: candidate.cost)[:wanted]


def _candidates(lexicon: WugLexicon, parts: Segments, step: Step, last: int, seed: int) -> Iterator[Candidate]:
    for item in sequences(lexicon.chain, parts, step, last, seed):
        form = "".join(item.parts)
        flaws = [flaw for flaw, has in ((_RARE, form in lexicon.rare), (_ONCE, item.once)) if has]
        widened = max([step.number, *(number for number, _ in flaws)])
        yield Candidate(form, item.parts, item.deviations, step.cost + item.rung + sum(cost for _, cost in flaws), widened)


def _chosen(
    lexicon: WugLexicon,
    refusal: Refusal,
    source: tuple[str, Segments, str | None],
    pool: list[Candidate],
    n: int,
    used: set[str],
    seed: int,
) -> list[Candidate]:
    """The best ``n`` candidates that are new, by cost and OLD20 together; their forms are added to ``used``."""
    word, parts, pos = source
    chosen: list[Candidate] = []
    while pool:
        (wanted, _), *distances = lexicon.distances.measure([word.lower(), *(candidate.form for candidate in pool)])
        ranks = [candidate.cost + _OLD20 * abs(old20 - wanted) for candidate, (old20, _) in zip(pool, distances, strict=True)]
        for place in sorted(range(len(pool)), key=ranks.__getitem__):
            forms = refusal.forms(pool[place].form, pos)
            if used.isdisjoint(forms):
                chosen.append(pool[place])
                used.update(forms)
                if len(chosen) == n:
                    return chosen
        pool = _pool(lexicon, refusal, parts, pos, n, used, seed)  # the words before have taken the others
    raise CxgenError(f"only {len(chosen)} of {n} pseudowords for {word!r}", hint="ask for fewer")


def _rows(lexicon: WugLexicon, word: str, parts: Segments, chosen: list[Candidate]) -> Iterator[tuple[object, ...]]:
    """The rows of a source's outputs."""
    (wanted, _), *measured = lexicon.distances.measure([word.lower(), *(candidate.form for candidate in chosen)])
    for rank, (candidate, (old20, neighbours)) in enumerate(zip(chosen, measured, strict=True), 1):
        sizes = [abs(deviation) for deviation in candidate.deviations]
        where = sizes.index(max(sizes))
        changed = sum(a != b for a, b in zip(candidate.parts, parts, strict=True))
        yield (
            *(word, candidate.form, rank, len(parts) // 3, _show(candidate.parts), changed),
            *(candidate.deviations[where], where, sum(sizes)),
            *(wanted, old20, old20 - wanted, neighbours),
            *(lexicon.rare.get(candidate.form, 0.0), candidate.widened),
        )


def _show(parts: Segments) -> str:
    return ".".join(":".join(parts[at : at + 3]) for at in range(0, len(parts), 3))
