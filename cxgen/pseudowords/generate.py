"""Pseudowords for words; and those of lexemes, chosen once for each, whatever else is added later: no form stands for two."""

import re
from collections.abc import Iterator, Set
from collections.abc import Sequence as List
from contextlib import suppress
from heapq import heappop, heappush, merge
from itertools import chain
from typing import NamedTuple

import polars as pl

from cxgen.errors import CxgenError
from cxgen.lexicon.snapshot import WUG_SCHEMA
from cxgen.lexicon.words import article
from cxgen.pseudowords.lexicon import WugLexicon
from cxgen.pseudowords.refuse import ending, forms, wordlike
from cxgen.pseudowords.search import Sequence
from cxgen.pseudowords.spelling import Segments, inflect
from cxgen.streams import order_key
from cxgen.vocabulary import INFLECTIONS, MODES, Mode

# Segments: onset:nucleus:coda of each syllable, syllables joined by dots; changed: how many differ. Deviations: type counts, output less
# source: the largest, its transition (0 from the start to the first onset), and the sum of absolute ones. OLD20 in letters. Zipf: below 2.
# Widened: 0 all constraints kept; 1 the form occurs; 2 a transition occurs in one word only; 3 segments have other numbers of letters, the
# whole has not; 4 a transition occurs only at other places or in words of other lengths; 5 looks inflected; 6 the whole is longer; the
# highest that applies.
SCHEMA: dict[str, type[pl.DataType]] = {
    **{"word": pl.String, "pseudoword": pl.String, "rank": pl.Int32, "syllables": pl.Int8, "segments": pl.String, "changed": pl.Int8},
    **{"max_deviation": pl.Int32, "max_deviation_at": pl.Int8, "sum_deviation": pl.Int32, "old20_word": pl.Float64, "old20": pl.Float64},
    **{"old20_difference": pl.Float64, "neighbours": pl.Int32, "zipf": pl.Float64, "widened": pl.Int8},
}
_TOGETHER = 128  # sources whose candidates are measured together
_POOL = 2  # candidates measured for each output wanted
_DEARER = 8  # by how much a candidate may cost more than the last that is needed
_OLD20 = 16  # what a difference of 1 in OLD20 costs; a deviation that is 2^(1/8) times as large costs 1
_RARE, _ONCE = (1, 2), (2, 4)  # what ``widened`` says of a form that occurs (zipf below 2) and of a transition that one word has; cost
VARIANTS = 2  # pseudowords for each lexeme, at most
_CHOICE = 6  # looked at for each lexeme
_SOUND = (0, 3)  # values of ``widened``: all constraints kept, or the letters of segments moved
_SHORT, _LONG = 4, 9  # letters: there are too few pseudowords of three letters for all words of three, and long ones are hard to read
_ANY = "gate"  # where there is no other word
_Shape = tuple[int, ...]  # letters of each segment


class _Step(NamedTuple):
    widened: int  # what ``widened`` says of an output that needs it
    cost: int  # how much better an output of it must be than one without
    loose: bool = False  # see `Chain.near`
    moves: int = 0  # letters by which segments are longer, and others shorter
    longer: int = 0  # letters by which the whole is longer
    base: bool = True  # whether an output must look like a base form


# The dearest come into play only where the cheaper have no outputs left.
_STEPS = (
    *(_Step(0, 0), _Step(3, 6, moves=1), _Step(4, 40, True), _Step(4, 56, True, 1), _Step(4, 900, True, 2), _Step(5, 1000, base=False)),
    *(_Step(6, 2000 + 100 * longer, True, longer=longer) for longer in (1, 2, 3)),
)


class _Source(NamedTuple):
    word: str
    parts: Segments
    pos: str | None


class _Candidate(NamedTuple):
    cost: int
    number: int
    form: str
    sequence: Sequence
    widened: int


def pseudowords(
    lexicon: WugLexicon,
    words: List[str],
    n: int = 10,
    *,
    seed: int = 0,
    pos: str | None = None,
    taken: Set[str] = frozenset(),
) -> pl.DataFrame:
    """``n`` pseudowords for each of ``words`` (of the letters a to z), the best first, with columns as in `SCHEMA`.

    An output has its source's number of syllables and letters, and of letters in each segment, and differs from it in a third of the
    segments or more. Of the first acceptable sequences by largest deviation from the source's transition frequencies, twice as many as are
    wanted, those are taken that are best in deviation and OLD20 together; where that fails, and where it pays, constraints are widened.
    No form occurs twice, inflected ones included, and none of ``taken``: the outputs for a word depend on those for the words before it.
    With ``pos`` (noun, verb or adjective) inflected forms, too, are new and no output looks inflected. Another ``seed`` gives other outputs
    among equally good ones. Statistics as in Wuggy (Keuleers & Brysbaert 2010) and Yarkoni et al. (2008).
    """
    if pos not in {*MODES[Mode.content], None}:
        raise CxgenError("pos: expected noun, verb, adjective or None")
    sources = [_Source(word, lexicon.segments(word), pos) for word in words]
    used, rows = set(taken), list[tuple[object, ...]]()
    for start in range(0, len(sources), _TOGETHER):
        together = sources[start : start + _TOGETHER]
        streams = [_pools(lexicon, source, n, used, seed) for source in together]
        pools = [next(stream) for stream in streams]
        lexicon.distances.measure([one.form for pool in pools for one in pool])
        for source, pool, later in zip(together, pools, streams, strict=True):
            rows += _rows(lexicon, source, _chosen(lexicon, source, chain([pool], later), n, used))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _candidates(lexicon: WugLexicon, source: _Source, seed: int) -> Iterator[_Candidate]:
    """Candidates that are not like words, cheapest first."""
    waiting: list[_Candidate] = []  # until nothing cheaper can come
    endings = {"", ending("".join(source.parts), source.pos)}
    seen: set[str] = set()
    for cost, step, sequence in merge(*(_stream(lexicon, source, step, seed) for step in _STEPS), key=lambda entry: entry[0]):
        while waiting and waiting[0].cost <= cost:
            yield heappop(waiting)
        form = "".join(sequence.parts) if sequence else ""
        if not sequence or form in seen or (step.base and ending(form, source.pos) not in endings):
            continue
        seen.add(form)
        if form not in lexicon.refused and not wordlike(lexicon, form, sequence.parts):
            flaws = [(step.widened, cost), *([_RARE] if form in lexicon.rare else []), *([_ONCE] if sequence.once else [])]
            widened, dearer = max(number for number, _ in flaws), sum(more for _, more in flaws)
            heappush(waiting, _Candidate(dearer, len(seen), form, sequence, widened))
    yield from sorted(waiting)


def _stream(lexicon: WugLexicon, source: _Source, step: _Step, seed: int) -> Iterator[tuple[int, _Step, Sequence | None]]:
    """The sequences of a step with their cost, and what those that follow cost at least: first of all, since a search takes time."""
    yield step.cost, step, None
    shapes = sorted(_shapes(tuple(map(len, source.parts)), step))
    searches = (lexicon.chain.near(source.parts, shape, step.loose, seed, *source.parts) for shape in shapes)
    for cost, sequence in merge(*searches, key=lambda entry: entry[0]):
        yield step.cost + cost, step, sequence


def _shapes(shape: _Shape, step: _Step) -> set[_Shape]:
    """The letters of segments that a step allows: letters move between segments of a syllable or neighbours, or some are added."""
    shapes, places = {shape}, range(len(shape))
    for _ in range(step.moves):
        shapes |= {_changed(_changed(old, at, -1), to, 1) for old in shapes for at in places for to in places if 0 < abs(at - to) < 3}
    for _ in range(step.longer):
        shapes = {_changed(old, to, 1) for old in shapes for to in places}
    if step.moves:
        shapes.remove(shape)
    return {new for new in shapes if all(size >= (at % 3 == 1) for at, size in enumerate(new))}


def _changed(shape: _Shape, at: int, by: int) -> _Shape:
    return (*shape[:at], shape[at] + by, *shape[at + 1 :])


def _pools(lexicon: WugLexicon, source: _Source, n: int, used: Set[str], seed: int) -> Iterator[list[_Candidate]]:
    """The acceptable candidates, cheapest first, as many together as are measured for ``n`` outputs."""
    pool: list[_Candidate] = []
    for candidate in _candidates(lexicon, source, seed):
        if len(pool) >= n and (len(pool) >= _POOL * n or candidate.cost > pool[n - 1].cost + _DEARER):
            yield pool
            pool = []
        new = forms(candidate.form, source.pos)
        if lexicon.refused.isdisjoint(new) and used.isdisjoint(new):
            pool.append(candidate)
    yield pool


def _chosen(lexicon: WugLexicon, source: _Source, pools: Iterator[list[_Candidate]], n: int, used: set[str]) -> list[_Candidate]:
    """The best ``n`` candidates that are new, by cost and OLD20 together; their forms are added to ``used``."""
    ((wanted, _),) = lexicon.distances.measure([source.word.lower()])
    chosen: list[_Candidate] = []
    for pool in pools:
        distances = lexicon.distances.measure([candidate.form for candidate in pool])
        ranks = [candidate.cost + _OLD20 * abs(old20 - wanted) for candidate, (old20, _) in zip(pool, distances, strict=True)]
        for place in sorted(range(len(pool)), key=ranks.__getitem__):
            new = forms(pool[place].form, source.pos)
            if used.isdisjoint(new):
                chosen.append(pool[place])
                used.update(new)
                if len(chosen) == n:
                    return chosen
    raise CxgenError(f"only {len(chosen)} of {n} pseudowords for {source.word!r}", hint="ask for fewer")


def _rows(lexicon: WugLexicon, source: _Source, chosen: list[_Candidate]) -> Iterator[tuple[object, ...]]:
    (wanted, _), *measured = lexicon.distances.measure([source.word.lower(), *(candidate.form for candidate in chosen)])
    for rank, (candidate, (old20, neighbours)) in enumerate(zip(chosen, measured, strict=True), 1):
        deviations, parts = candidate.sequence.deviations, candidate.sequence.parts
        sizes = list(map(abs, deviations))
        where = sizes.index(max(sizes))
        written = ".".join(":".join(parts[at : at + 3]) for at in range(0, len(parts), 3))
        changed = sum(a != b for a, b in zip(parts, source.parts, strict=True))
        rare = lexicon.rare.get(candidate.form, 0.0)
        yield (
            *(source.word, candidate.form, rank, len(parts) // 3, written, changed, deviations[where], where, sum(sizes)),
            *(wanted, old20, old20 - wanted, neighbours, rare, candidate.widened),
        )


def complete(lexemes: pl.DataFrame, inventory: pl.DataFrame, lexicon: WugLexicon, refused: Set[str] = frozenset()) -> pl.DataFrame:
    """The pseudowords of ``lexemes`` (``key, lemma, pos``), in their order, as `WUG_SCHEMA` has them: those of ``inventory``, and new ones.

    What a lexeme gets depends on the lexeme and on ``inventory``; on the other new lexemes only where two would get the same form. A phrase
    (*traffic light*) gets words modelled on its last; a very short or long word, or one that cannot be pronounced, words that are modelled
    on another of its part of speech, which ``inventory`` has: always that with the largest digest together with the key, so that one more
    changes the model of few. No new one has a form of ``refused``.
    """
    rows = lexemes.filter(pl.col("pos").is_in(MODES[Mode.content])).select("key", "lemma", "pos")
    lacking = rows.join(inventory, on="key", how="anti")
    models: dict[str, set[str]] = {}
    for lemma, pos in (rows.join(inventory, on="key", how="semi") if inventory.height else rows).select("lemma", "pos").iter_rows():
        if lacking.height and _SHORT < len(word := _head(lemma, lexicon)) < _LONG:
            models.setdefault(pos, set()).add(word)
    taken = {*refused, *inventory.select(pl.concat_list("lemma", *INFLECTIONS).explode().drop_nulls()).to_series()}
    made = []
    for key, lemma, pos in sorted(lacking.iter_rows(), key=lambda row: order_key(row[0])):
        model, others = _head(lemma, lexicon), models.get(pos, {_ANY})
        if not model or not (_SHORT <= len(model) <= _LONG or pos not in models):
            model = max(others, key=lambda other: order_key(key, other))
        for variant, word in enumerate(_coined(model, pos, taken, lexicon)):
            inflected = inflect(word, pos)
            taken.update((word, *inflected.values()))
            made.append({"key": key, "variant": variant, "lemma": word, "article": article(word), **inflected})
    table = pl.concat([inventory.select(list(WUG_SCHEMA)), pl.DataFrame(made, schema=WUG_SCHEMA)])
    return rows.select("key").join(table, on="key", how="inner", maintain_order="left_right").select(list(WUG_SCHEMA))


def _coined(model: str, pos: str, taken: set[str], lexicon: WugLexicon) -> list[str]:
    """New pseudowords without flaws, or the least flawed one."""
    made = pseudowords(lexicon, [model], _CHOICE, pos=pos, taken=taken)
    ranked = made.with_columns(flaws=(~pl.col("widened").is_in(_SOUND)).cast(int) + (pl.col("zipf") > 0)).sort("flaws", "rank")
    flawless = ranked.filter(pl.col("flaws") == 0).head(VARIANTS)
    return (flawless if flawless.height else ranked.head(1))["pseudoword"].to_list()


def _head(lemma: str, lexicon: WugLexicon) -> str:
    """The last word of a phrase; empty if there is none of the letters a to z, or it cannot be pronounced."""
    word = "".join(re.findall(r"[a-z]+", lemma.lower())[-1:])
    with suppress(CxgenError):
        return word if lexicon.segments(word) else ""
    return ""
