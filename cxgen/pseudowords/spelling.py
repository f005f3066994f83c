"""Spelling: regular inflection, and the skeleton that a word shares with its misspellings."""

import re

from cxgen.lexicon.words import article, is_synthetic

__all__ = ["article", "inflect", "skeleton"]

_SIBILANT = re.compile(r"(?:[sxz]|[cs]h)$")
_Y = re.compile(r"(?<=[b-df-hj-np-tv-z])y$")
_DOUBLED = re.compile(r"^(?:[^aeiou]|(?<=q)u)*[aeiouy][b-df-hj-np-tvz]$")
_TWICE = re.compile(r"(.)(?=\1)")
_AS_K = re.compile(r"ck|qu?e$|c(?![eiyh])|k")
_AS_J = re.compile(r"dg|g(?=[eiy])")
_AS_S = re.compile(r"c(?=[eiy])|z")
_AS_E = re.compile(r"ea|ie|ei|ey$")
_AS_A = re.compile(r"ay|ai")
_AS_O = re.compile(r"ow|ou")
_VOWELS = frozenset("aeiou")


def skeleton(word: str) -> str:
    """What remains of ``word`` when the spellings that writers of English confuse are made one: *begining*, *biginning*, *beginning*."""
    word = _AS_K.sub("k", _TWICE.sub("", word)).replace("qu", "kw").replace("ph", "f")
    if word.startswith(("kn", "gn", "wr")):
        word = word[1:]
    word = _AS_S.sub("s", _AS_J.sub("j", word.replace("rh", "r").replace("wh", "w")))
    word = _AS_O.sub("o", _AS_A.sub("a", _AS_E.sub("e", word.removesuffix("b") if word.endswith("mb") else word))).replace("y", "i")
    start, vowel, last = word[:-2], word[-2:-1], word[-1:]
    if last in {"l", "r", "n"} and vowel in _VOWELS and start[-1:] not in _VOWELS and not _VOWELS.isdisjoint(start):
        word = f"{start}e{last}"
    return _TWICE.sub("", word)


def _suffixed(base: str, suffix: str) -> str:
    """``base`` with *ed*, *ing*, *er* or *est*: e-drop, y to i, doubling in monosyllables."""
    if suffix == "ing":
        if base.endswith("ie"):
            return f"{base[:-2]}ying"
        stem = base[:-1] if base.endswith("e") and not base.endswith(("ee", "oe", "ye")) else base
    else:
        stem = base[:-1] if base.endswith("e") else _Y.sub("i", base)
    if _DOUBLED.match(base):
        stem += base[-1]
    return stem + suffix


def inflect(base: str, pos: str) -> dict[str, str]:
    """The regular inflected forms of a word: *gorp*, *gorps*, *gorped*, *gorping*.

    Args:
        base: a single word in lower case.
        pos: noun (``plural``), verb (``third``, ``ing``, ``past``, ``participle``) or adjective (``comparative``, ``superlative``,
            with *more* and *most* where English adjectives of that length and ending take them); any other has no forms.

    Returns:
        Form name -> string, under the names that the lexicon's table has.
    """
    if pos in {"noun", "verb"}:
        double = base[-1] if base[-1:] == "z" and _DOUBLED.match(base) else ""  # quizzes
        plural = f"{base}{double}es" if _SIBILANT.search(base) else f"{_Y.sub('ie', base)}s"
        if pos == "noun":
            return {"plural": plural}
        past = _suffixed(base, "ed")
        return {"third": plural, "ing": _suffixed(base, "ing"), "past": past, "participle": past}
    if pos == "adjective":
        if is_synthetic(base):
            return {"comparative": _suffixed(base, "er"), "superlative": _suffixed(base, "est")}
        return {"comparative": f"more {base}", "superlative": f"most {base}"}
    return {}
