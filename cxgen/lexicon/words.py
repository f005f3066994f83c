"""What a word is like by itself: its senses, frequency, forms and article; a row of the table of lexemes."""

import json
import re
import string
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cxgen.errors import CxgenError, DataError
from cxgen.files import read_text, write_atomically
from cxgen.vocabulary import INFLECTIONS, RELATIONS

SENSES = "senses.parquet"  # of a snapshot: lemma (lower case), pos, sense (what follows % in the key); in WordNet's order
# The lexicographer files in the order of their numbers, with their parts of speech: lexnames(5).
_NOUNS = (
    "Tops act animal artifact attribute body cognition communication event feeling food group location motive object person phenomenon"
    " plant possession process quantity relation shape state substance time"
)
_VERBS = (
    "body change cognition communication competition consumption contact creation emotion motion perception possession social stative"
    " weather"
)
_OF_NOUNS, _OF_VERBS = ([f"{pos}.{name}" for name in names.split()] for pos, names in (("noun", _NOUNS), ("verb", _VERBS)))
LEXNAMES = ("adj.all", "adj.pert", "adv.all", *_OF_NOUNS, *_OF_VERBS, "adj.ppl")
NOUNS = frozenset(_NOUNS.split())
LISTS = (*RELATIONS, "derived")
SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("key", "lemma", "pos", "sense", "lexfile"), pl.String),
    **{"zipf": pl.Float64, "percentile": pl.Float64, "band": pl.String, "top10k": pl.Boolean},
    **dict.fromkeys(("countability", "gender", "article", *INFLECTIONS), pl.String),
    **dict.fromkeys(LISTS, pl.List(pl.String)),
}
# Rows of ``lexicons/bands.yaml``: ``at`` (a percentile, ascending) and for every part of speech the zipf there; a word more moves no other.
Cuts = Sequence[Mapping[str, float]]
LOW, HIGH = 20, 60  # percentiles: low < 20 <= mid <= 60 < high
# The zipf values at these percentiles of wordfreq's own list of English, the 28,917 words that occur at least once in a million (3.1); of
# its larger list (321,180) they would be 1.18 and 1.75, where hardly a lexeme is.
CORPUS = (3.18, 3.68)
_SENSE_POS = {"1": "noun", "2": "verb", "3": "adjective", "4": "adverb", "5": "adjective"}
_SILENT_H = ("hour", "honest", "honor", "heir", "herb")
_YOO = re.compile(r"^(?:uni(?!n|m)|us(?:e|u|a)|eu|ewe|ukulele|one\b|once\b|u\b|utensil|utility|uranium|urin)", re.IGNORECASE)
TAGS = {
    "noun": {"plural": "NNS"},
    "verb": {"third": "VBZ", "ing": "VBG", "past": "VBD", "participle": "VBN"},
    "adjective": {"comparative": "JJR", "superlative": "JJS"},
}
Senses = Mapping[tuple[str, str], list[str]]  # lemma in lower case and part of speech -> sense keys, the most frequent first


def lexfile(key: str) -> str:
    """The lexicographer file of a sense key, such as ``noun.person``; empty of any other key."""
    number = re.fullmatch(r"[^%]*%[^:]*:(\d+):[^:]*:[^:]*:[^:]*", key)
    return LEXNAMES[int(number[1])] if number and int(number[1]) < len(LEXNAMES) else ""


def fits(key: str, pin: str) -> bool:
    """Whether a sense is meant by ``pin``: lexicographer files without part of speech (``person/group``), or what follows % in its key."""
    return key.endswith(f"%{pin}") if ":" in pin else lexfile(key).partition(".")[2] in pin.split("/")


def lemma_of(key: str) -> tuple[str, str]:
    """Lemma and part of speech that a lexeme key names; of a sense key, as far as it says them (in lower case)."""
    kind, _, text = key.partition(":")
    if text and kind == "own":
        pos, _, lemma = text.partition(":")
        return lemma, pos
    if text and kind in {"phrase", "name"}:
        return text, kind
    lemma, _, sense = key.partition("%")
    return lemma.replace("_", " "), _SENSE_POS.get(sense[:1], "")


def article(text: str) -> str:
    """``a`` or ``an`` before ``text``, judged from its spelling."""
    vowel = text[:1].lower() in "aeiou" and not _YOO.match(text)
    return "an" if vowel or text.lower().startswith(_SILENT_H) else "a"


def is_synthetic(adjective: str) -> bool:
    """Whether an English adjective compares with *-er* rather than *more*, by its number of syllables and its ending."""
    if " " in adjective or "-" in adjective:
        return False
    syllables = len(re.findall(r"[aeiouy]+", re.sub(r"(?<=[^l])e$", "", adjective)))
    if adjective.endswith(("ed", "ing", "ous", "ful", "less")) and syllables + adjective.endswith("ed") > 1:
        return False
    return syllables <= 1 or (syllables == 2 and adjective.endswith(("y", "le", "ow")))


def banded(pos: str, zipf: float, cuts: Cuts) -> tuple[float, str]:
    """How frequent a word is among those of its part of speech: percentile, 0 to 100 with two decimals, and band: low, mid or high."""
    if not cuts:
        raise DataError("the lexicon's snapshot has no cuts of frequency bands", hint="run `cxgen lexicon build`")
    percentile = round(float(np.interp(zipf, [row[pos] for row in cuts], [row["at"] for row in cuts])), 2)
    return percentile, "low" if percentile < LOW else "mid" if percentile <= HIGH else "high"


@cache
def most_frequent() -> frozenset[str]:
    """The 10,000 most frequent tokens of wordfreq."""
    from wordfreq import top_n_list

    return frozenset(top_n_list("en", 10_000))


class Reference:
    """What lemminflect and wordfreq, slow to load, say of words; ``path``, a JSON file, remembers it under their versions."""

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._versions = path, {name: version(name) for name in ("lemminflect", "wordfreq")}
        self._known, self._new = self._read(), dict[str, list[Any]]()

    def inflected(self, word: str, tag: str) -> list[str]:
        """The forms of ``word`` with the Penn Treebank ``tag``, the dictionary's first one first; made by rule for an unknown word."""
        key = f"{tag} {word}"
        if key not in self._known:
            from lemminflect import getInflection

            self._known[key] = self._new[key] = list(getInflection(word, tag, inflect_oov=True))
        return self._known[key]

    def frequency(self, lemma: str) -> tuple[float, bool]:
        """Zipf value (of several words, wordfreq's estimate), and whether it is among the 10,000 most frequent tokens of wordfreq."""
        text = lemma.strip(string.punctuation).lower()
        key = f"zipf {text}"
        if key not in self._known:
            from wordfreq import zipf_frequency

            self._known[key] = self._new[key] = [float(zipf_frequency(text, "en")), text in most_frequent()]
        zipf, top = self._known[key]
        return zipf, top

    def _read(self) -> dict[str, list[Any]]:
        with suppress(CxgenError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            stored = json.loads(read_text(self._path)) if self._path else {"versions": {}}
            words = stored["words"] if stored["versions"] == self._versions else {}
            return {key: value for key, value in words.items() if isinstance(value, list)}
        return {}

    def save(self) -> None:
        """Write what was learnt, beside what others have learnt meanwhile; where that cannot be written, it is only asked again."""
        if self._path and self._new:
            words = {"versions": self._versions, "words": self._read() | self._known}
            text = json.dumps(words, ensure_ascii=False, sort_keys=True)
            with suppress(OSError):
                write_atomically(self._path, lambda path: path.write_text(text, "utf-8"))


def _inflected(word: str, tag: str, reference: Reference) -> str:
    variants = reference.inflected(word, tag)
    if tag == "NNS":  # a zero plural (brush, sponge) is listed for many count nouns: the marked one is meant
        variants = [variant for variant in variants if variant != word] or variants
    # Of several variants (hung / hanged) the dictionary's first: by frequency, homographs win (heaved / hove, crowed / crew).
    return variants[0] if variants else word


def forms(lemma: str, pos: str, overrides: Mapping[str, str], reference: Reference) -> dict[str, str]:
    """Form name -> string, by lemminflect corrected by rule and by ``overrides``; a noun's last word and a verb's first one inflect."""
    result: dict[str, str] = {}
    for form, tag in TAGS.get(pos, {}).items():
        if form in overrides:
            result[form] = overrides[form]
        elif pos == "adjective" and not is_synthetic(lemma):
            result[form] = f"{'more' if form == 'comparative' else 'most'} {lemma}"
        elif pos == "verb":
            head, _, rest = lemma.partition(" ")
            result[form] = f"{_inflected(head, tag, reference)} {rest}".rstrip()
        else:
            rest, _, head = lemma.rpartition(" ")
            result[form] = f"{rest} {_inflected(head, tag, reference)}".lstrip()
    return result


def blank(key: str, lemma: str, pos: str, sense: str | None) -> dict[str, Any]:
    """A row of which nothing else is known yet."""
    empty: dict[str, Any] = {column: [] if column in LISTS else None for column in SCHEMA}
    return empty | {"key": key, "lemma": lemma, "pos": pos, "sense": sense, "lexfile": lexfile(key) or None}


def inflect(row: dict[str, Any], changes: Mapping[str, str], reference: Reference) -> None:
    """Fill in forms, article and countability of ``row``; ``changes`` win."""
    row.update(forms(row["lemma"], row["pos"], changes, reference))
    row["article"] = changes.get("article") or article(row["lemma"])
    if row["lexfile"] in {"noun.person", None}:  # a word of one's own has no file
        row["gender"] = changes.get("gender") or row["gender"] or ("any" if row["lexfile"] else None)
    if row["pos"] == "noun":
        row["countability"] = changes.get("countability", "count")
        if row["countability"] != "count":
            row["plural"] = row["lemma"]


def measure(row: dict[str, Any], cuts: Cuts, reference: Reference) -> None:
    """Fill in frequency, percentile and band of ``row``."""
    row["zipf"], row["top10k"] = reference.frequency(row["lemma"])
    row["percentile"], row["band"] = banded(row["pos"], row["zipf"], cuts)
