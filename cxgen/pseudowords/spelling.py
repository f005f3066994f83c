"""Spelling: regular inflection, the skeleton that a word shares with its misspellings, and syllables with onset, nucleus and coda.

A syllable is written onset + nucleus + coda: consonant letters, vowel letters, the rest. A silent *e* belongs to the coda (*m-a-ke*);
*qu* is an onset; *y* is a consonant before a vowel at the start of a word or between vowels; *sm* and *thm* at the end of a word hold a
syllabic *m*.
"""

import re
from itertools import chain, pairwise

from cxgen.lexicon.words import is_synthetic

_SIBILANT = re.compile(r"(?:[sxz]|[cs]h)$")
_Y = re.compile(r"(?<=[b-df-hj-np-tv-z])y$")
_DOUBLED = re.compile(r"^(?:[^aeiou]|(?<=q)u)*[aeiouy][b-df-hj-np-tvz]$")
_CONFUSED = [  # spellings that writers of English confuse, and the one that stands for them, in this order
    (re.compile(pattern), plain)
    for pattern, plain in (
        *(
            (r"(.)(?=\1)", ""),
            (r"ck|qu?e$|c(?![eiyh])|k", "k"),
            ("qu", "kw"),
            ("ph", "f"),
            ("^(?:[kg](?=n)|w(?=r))", ""),
            ("([rw])h", r"\1"),
        ),
        *(("dg|g(?=[eiy])", "j"), ("c(?=[eiy])|z", "s"), ("mb$", "m"), ("ea|ie|ei|ey$", "e"), ("ay|ai", "a"), ("ow|ou", "o"), ("y", "i")),
        *((r"^(.*[aeiou].*[^aeiou])[aeiou]([lrn])$", r"\1e\2"), (r"(.)(?=\1)", "")),
    )
]


def skeleton(word: str) -> str:
    """What remains of ``word`` when the spellings that writers of English confuse are made one: *begining*, *biginning*, *beginning*."""
    for pattern, plain in _CONFUSED:
        word = pattern.sub(plain, word)
    return word


def _suffixed(base: str, suffix: str) -> str:
    """``base`` with *ed*, *ing*, *er* or *est*: e-drop, y to i, doubling in monosyllables."""
    if suffix == "ing":
        stem = f"{base[:-2]}y" if base.endswith("ie") else re.sub("(?<![eoy])e$", "", base)
    else:
        stem = base.removesuffix("e") if base.endswith("e") else _Y.sub("i", base)
    return stem + (base[-1] if _DOUBLED.match(base) else "") + suffix


def inflect(base: str, pos: str) -> dict[str, str]:
    """The regular inflected forms of a word (*gorps*, *gorped*, *gorping*), under the names that the lexicon's table has."""
    if pos in {"noun", "verb"}:
        double = "z" if base[-1:] == "z" and _DOUBLED.match(base) else ""  # quizzes
        plural = f"{base}{double}es" if _SIBILANT.search(base) else f"{_Y.sub('ie', base)}s"
        if pos == "noun":
            return {"plural": plural}
        past = _suffixed(base, "ed")
        return {"third": plural, "ing": _suffixed(base, "ing"), "past": past, "participle": past}
    if pos == "adjective":
        compared = (_suffixed(base, "er"), _suffixed(base, "est")) if is_synthetic(base) else (f"more {base}", f"most {base}")
        return dict(zip(("comparative", "superlative"), compared, strict=True))
    return {}


# syllables

Segments = tuple[str, ...]  # three for each syllable; any may be empty but the nucleus
_Span = tuple[int, int]

# What may start an English syllable; of a longer cluster the longest such tail goes to the syllable that follows.
_ONSET = re.compile(
    r"(?:s[ptc][rh]|spl|squ|thr|shr|sch|chr|phr|phl|[bcfgkps]l|[bcdfgkptw]r|s[cfkmnpqtvw]|[cgpstw]h|kn|gn|wr|tw|dw|qu|[b-df-hj-np-tvwxyz])$"
)
_RUN = re.compile(r"(?:[aeio]|(?<!q)u|(?<=q)u(?![aeiouy])|(?<=[^aeiou])y|(?<=[aeiou])y(?![aeiou]))+|^eye")
_HIATUS = re.compile(r"(?<=[^tscgxqaeou]i)(?=[aou])|(?<=[^qg]u)(?=a|ou)|(?<=[aeou])(?=ing)|(?<=o)(?=e[mt])|(?<=e)(?=[ou]s)")
_HISS = re.compile(r"(?:[sxzcg]|[cs]h)$")
_SUFFIX = re.compile(r"(?:ful|less|ly|ment|ness|some|ship|hood|ward|wise|man|men|dom)(?:s|ly|ness|es)?$")
_SYLLABIC = re.compile(r"(?:s|th)m(?=s?$)")


def segments(word: str) -> Segments:
    """Onset, nucleus and coda of each syllable of ``word`` (small letters); empty if nothing in it can be a nucleus."""
    nuclei, silent = _nuclei(word)
    cuts = [0]
    for (_, left), (right, _) in pairwise(nuclei):
        start = max([left, *(end for end in silent if left < end <= right)])
        cuts.append(_cut(word, start, right, after_silent=start > left))
    ends = [*cuts[1:], len(word)]
    parts = ((word[cut:start], word[start:end], word[end:stop]) for cut, (start, end), stop in zip(cuts, nuclei, ends, strict=False))
    return tuple(chain.from_iterable(parts))


def _nuclei(word: str) -> tuple[list[_Span], list[int]]:
    """The spoken nuclei of ``word``, and where each silent *e* ends."""
    spoken: list[_Span] = []
    silent: list[int] = []
    for run in (match.span() for match in _RUN.finditer(word)):
        if spoken and silent[-1:] != [spoken[-1][1]] and _is_silent(word, spoken[-1][1], run):
            silent.append(run[1])
        else:
            spoken.append(run)
    for at in (gap.start() for gap in _HIATUS.finditer(word)):
        spoken = [part for start, end in spoken for part in (((start, at), (at, end)) if start < at < end else ((start, end),))]
    syllabic = _SYLLABIC.search(word)
    if syllabic and spoken and not (silent and silent[-1] > spoken[-1][1]):
        spoken.append((syllabic.end() - 1, syllabic.end()))
    return spoken, silent


def _is_silent(word: str, before: int, run: _Span) -> bool:
    """Whether the run of vowels is the silent *e* of *make, makes, baked, basement, vague*; ``before`` it a nucleus ends."""
    letters, cluster, rest = word[slice(*run)], word[before : run[0]], word[run[1] :]
    if letters == "ue" and cluster[-1:] in {"g", "q"} and rest in {"", "s", "d"}:
        return True
    syllabic = len(cluster) > 1 and cluster[-1] == "l" and cluster[-2] not in "lr"
    if letters != "e" or not cluster or syllabic:
        return False
    if rest in {"", "s"}:
        return not (rest and _HISS.search(cluster))
    return cluster[-1] not in "td" if rest == "d" else bool(_SUFFIX.match(rest))


def _cut(word: str, start: int, end: int, *, after_silent: bool) -> int:
    """The boundary within the consonants ``start:end``: after a silent *e*, else before the longest cluster that can start a syllable."""
    cluster = word[start:end]
    if after_silent or len(cluster) < 2:
        return end if cluster == "x" else start
    if cluster == "ck":
        return end
    return start + next(at for at in range(len(cluster) + 1) if at == len(cluster) or _ONSET.match(cluster[at:]))
