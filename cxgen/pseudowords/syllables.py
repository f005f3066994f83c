"""Spelled syllables and their onsets, nuclei and codas, by rule.

A syllable is written onset + nucleus + coda: consonant letters, vowel letters, the rest. A silent *e* belongs to the coda (*m-a-ke*);
*qu* is an onset; *y* is a consonant before a vowel at the start of a word or between vowels; *sm* and *thm* at the end of a word hold a
syllabic *m*. Boundaries that a hyphenator knows and the number of syllables that a pronouncing dictionary knows can be given; without
them the rules decide.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise

from cxgen.pseudowords.nuclei import nuclei, runs

Segments = tuple[str, ...]  # three for each syllable; any may be empty but the nucleus
# What may start an English syllable; of a longer cluster the longest such tail goes to the syllable that follows.
_ONSET = re.compile(
    r"(?:s[ptc][rh]|spl|squ|thr|shr|sch|chr|phr|phl|[bcfgkps]l|[bcdfgkptw]r|s[cfkmnpqtvw]|[cgpstw]h|kn|gn|wr|tw|dw|qu|[b-df-hj-np-tvwxyz])$"
)


def syllabify(word: str, count: int | None = None, breaks: Collection[int] = ()) -> list[str]:
    """The syllables of ``word``, in order.

    Args:
        word: lower-case ASCII letters.
        count: how many syllables it is known to have; followed as far as the spelling allows.
        breaks: offsets at which the word is known to be divided.

    Returns:
        Parts which joined give the word; empty if nothing in it can be a nucleus.
    """
    vowels = nuclei(word, count)
    spoken = [vowel for vowel in vowels if not vowel.silent]
    if not spoken:
        return []
    cuts = [0]
    for left, right in pairwise(spoken):
        start = max([left.end, *(vowel.end for vowel in vowels if vowel.silent and left.end < vowel.end <= right.start)])
        known = [at for at in breaks if start <= at <= right.start]
        cuts.append(known[-1] if known else _cut(word, start, right.start, silent=start > left.end))
    return [word[start:end] for start, end in pairwise([*cuts, len(word)])]


def segment(syllable: str) -> Segments:
    """Onset, nucleus and coda of one syllable."""
    vowels = runs(syllable)
    if not vowels:
        return (syllable[:-1], syllable[-1:], "")  # a syllabic consonant
    first = vowels[0]
    return syllable[: first.start], syllable[first.start : first.end], syllable[first.end :]


def segments(syllables: list[str]) -> Segments:
    """The segments of all syllables, in order."""
    return tuple(part for syllable in syllables for part in segment(syllable))


def _cut(word: str, start: int, end: int, *, silent: bool) -> int:
    """The boundary within the consonants ``start:end``: after a silent *e*, else before the longest cluster that can start a syllable."""
    cluster = word[start:end]
    if silent or len(cluster) < 2:
        return end if cluster == "x" else start
    if cluster == "ck":
        return end
    return start + next(at for at in range(len(cluster) + 1) if at == len(cluster) or _ONSET.match(cluster[at:]))
