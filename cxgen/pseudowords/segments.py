"""Spelled syllables and their onsets, nuclei and codas, by rule.

A syllable is written onset + nucleus + coda: consonant letters, vowel letters, the rest. A silent *e* belongs to the coda (*m-a-ke*);
*qu* is an onset; *y* is a consonant before a vowel at the start of a word or between vowels; *sm* and *thm* at the end of a word hold a
syllabic *m*. Boundaries that a hyphenator knows and the number of syllables that a pronouncing dictionary knows can be given; without
them the rules decide.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import groupby, pairwise

Segments = tuple[str, ...]  # three for each syllable; any may be empty but the nucleus
# What may start an English syllable; of a longer cluster the longest such tail goes to the syllable that follows.
_ONSET = re.compile(
    r"(?:s[ptc][rh]|spl|squ|thr|shr|sch|chr|phr|phl|[bcfgkps]l|[bcdfgkptw]r|s[cfkmnpqtvw]|[cgpstw]h|kn|gn|wr|tw|dw|qu|[b-df-hj-np-tvwxyz])$"
)
_GAP = re.compile(r"(?<=[^tscgxqaeou]i)(?=[aou])|(?<=[^qg]u)(?=a|ou)|(?<=[aeou])(?=ing)|(?<=o)(?=e[mt])|(?<=e)(?=[ou]s)")  # two syllables
_SIBILANT = re.compile(r"(?:[sxzcg]|[cs]h)$")
_SUFFIX = re.compile(r"(?:ful|less|ly|ment|ness|some|ship|hood|ward|wise|man|men|dom)(?:s|ly|ness|es)?$")


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


@dataclass
class Vowel:
    """A nucleus: where it starts and ends, and whether it is silent."""

    start: int
    end: int
    silent: bool = False


def nuclei(word: str, count: int | None = None) -> list[Vowel]:
    """The nuclei of ``word``, silent ones included: ``count`` that are spoken, if it is known, as far as the spelling allows."""
    vowels = runs(word)
    _silence(word, vowels)
    if count is None:
        _part(word, vowels)
    _reconcile(word, vowels, count)
    return vowels


def runs(word: str) -> list[Vowel]:
    """Runs of vowel letters; *y* where it is no consonant; not the *u* of *qu*."""
    groups = (list(group) for vocalic, group in groupby(range(len(word)), lambda at: _vocalic(word, at)) if vocalic)
    return [Vowel(group[0], group[-1] + 1) for group in groups]


def _vocalic(word: str, at: int) -> bool:
    letter = word[at]
    following = word[at + 1 : at + 2]
    if letter == "u" and word[at - 1 : at] == "q":
        return not following or following not in "aeiouy"
    if letter == "y":
        between = at == 0 or word[at - 1] in "aeiou"
        return not (between and following and following in "aeiou") or word in {"eye", "eyes"}
    return letter in "aeiou"


def _silence(word: str, vowels: list[Vowel]) -> None:
    """Mark the silent *e* of *make*, *makes*, *baked*, *basement*."""
    for before, vowel in pairwise(vowels):
        letters = word[vowel.start : vowel.end]
        if letters == "ue" and word[vowel.start - 1] in "gq" and word[vowel.end :] in {"", "s", "d"}:
            vowel.silent = True  # vague
        if letters != "e" or before.silent:
            continue
        cluster, rest = word[before.end : vowel.start], word[vowel.end :]
        syllabic = len(cluster) > 1 and cluster[-1] == "l" and cluster[-2] not in "lr"
        if rest in {"", "s"}:
            vowel.silent = not syllabic and not (rest and _SIBILANT.search(cluster))
        elif rest == "d":
            vowel.silent = cluster[-1] not in "td" and not syllabic
        else:
            vowel.silent = bool(_SUFFIX.match(rest)) and not syllabic


def _part(word: str, vowels: list[Vowel]) -> None:
    """Divide the runs of vowels that are usually two nuclei: *idi-ot*, *do-ing*."""
    for gap in _GAP.finditer(word):
        at = gap.start()
        number = next((n for n, vowel in enumerate(vowels) if vowel.start < at < vowel.end), None)
        if number is not None:
            _divide(vowels, number, at)


def _divide(vowels: list[Vowel], number: int, at: int) -> None:
    vowels.insert(number + 1, Vowel(at, vowels[number].end))
    vowels[number].end = at


def _reconcile(word: str, vowels: list[Vowel], count: int | None) -> None:
    """Bring the number of spoken nuclei to ``count`` by what English spelling leaves open."""
    syllabic = re.search(r"(?:s|th)m(?=s?$)", word)
    spoken = sum(not vowel.silent for vowel in vowels)
    if syllabic and vowels and not vowels[-1].silent and (count is None or count > spoken):
        vowels.append(Vowel(syllabic.end() - 1, syllabic.end()))
        spoken += 1
    while spoken != (spoken if count is None else count):
        changed = _split(word, vowels) or _voice(vowels) if spoken < (count or 0) else _hush(word, vowels)
        if not changed:
            return
        spoken = sum(not vowel.silent for vowel in vowels)


def _split(word: str, vowels: list[Vowel]) -> bool:
    """Divide the run of vowels that is most probably two: *i-a* before *o-i* before *e-e*."""
    places = [(number, at) for number, vowel in enumerate(vowels) for at in range(vowel.start + 1, vowel.end)]
    if places:
        _divide(vowels, *min(places, key=lambda place: _hiatus(word[place[1] - 1 : place[1] + 1], word[place[1] + 1 :])))
    return bool(places)


def _hiatus(pair: str, rest: str) -> int:
    """How probably ``pair`` before ``rest`` is two syllables: 0 most."""
    if rest.startswith("ng") and pair[1] == "i":
        return 0
    order = ("ia", "io", "iu", "eo", "ua", "uo", "ea", "ue", "ui", "oe", "oa", "ae", "ie", "ei", "ai", "oi", "au", "ou", "oo", "ee")
    return order.index(pair) + 1 if pair in order else len(order) + 1


def _voice(vowels: list[Vowel]) -> bool:
    """Let the last silent *e* be spoken: *recipe*."""
    silent = [vowel for vowel in vowels if vowel.silent]
    for vowel in silent[-1:]:
        vowel.silent = False
    return bool(silent)


def _hush(word: str, vowels: list[Vowel]) -> bool:
    """Let an inner *e* or a final *-ed* be silent: *every*, *vegetable*."""
    inner = [vowel for vowel in vowels[1:] if not vowel.silent and word[vowel.start : vowel.end] == "e"]
    for vowel in inner:
        rest = word[vowel.end :]
        if rest in {"", "s", "d"} or (len(rest) > 1 and re.match(r"[rln][aeiouy]|[b-df-hj-np-tv-z]+[aeiouy]", rest)):
            vowel.silent = True
            return True
    return False
