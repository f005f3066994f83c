"""What the generator knows, read from the committed snapshot; needs neither WordNet, wordfreq, CMUdict nor a hyphenator."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path

import polars as pl

from cxgen.errors import CxgenError, DataError
from cxgen.project import Project
from cxgen.wug.chain import Chain
from cxgen.wug.distance import Distances
from cxgen.wug.sound import Readings, heads
from cxgen.wug.syllables import Segments, segments, syllabify

_TABLES = ("wug_lexicon", "wug_chain", "wug_forms", "wug_sounds")
_SOURCE = re.compile(r"[A-Za-z]+")


class WugLexicon:
    """The snapshot in memory.

    Attributes:
        table: the words that pseudowords are modelled on: ``form`` (str), ``lengths`` (str: letters of each segment, a digit each),
            ``zipf`` (u16, hundredths), ``skeleton`` (str: see ``cxgen.wug.spelling``; null below zipf 2.5).
        chain: the transitions between their segments.
        refused: all forms that no output may be: those words, WordNet's with their inflected forms, CMUdict's, names, rude words, whatever
            has a zipf value of 2 or more.
        rare: other forms that occur, with their zipf value, below 2.
        rude: matches what no output may contain.
        readings: how clusters and nuclei are pronounced (see ``cxgen.wug.sound``).
        sounds: the pronunciations of real words.
    """

    def __init__(self, tables: dict[str, pl.DataFrame]) -> None:
        self.table = tables["wug_lexicon"]
        self.chain = Chain(tables["wug_chain"])
        self._words: dict[float, frozenset[str]] = {}
        forms = tables["wug_forms"]
        self._lengths = dict(zip(self.table["form"].to_list(), self.table["lengths"].to_list(), strict=True))
        refused = forms.filter(pl.col("zipf").is_null())["form"]
        self.refused = frozenset([*self._lengths, *refused.to_list()])
        rare = forms.filter(pl.col("zipf").is_not_null())
        self.rare = dict(zip(rare["form"].to_list(), (rare["zipf"] / 100).round(2).to_list(), strict=True))
        self.rude = re.compile("|".join(forms.filter(pl.col("rude"))["form"].to_list()))
        sounds = tables["wug_sounds"]
        self.sounds = frozenset(sounds.filter(pl.col("unit").is_null())["sound"].to_list())
        read: dict[str, list[tuple[str, float]]] = {}
        for unit, sound, share in sounds.filter(pl.col("unit").is_not_null()).iter_rows():
            read.setdefault(unit, []).append((sound, share / 100))
        self.readings: Readings = {unit: tuple(found) for unit, found in read.items()}

    @cached_property
    def skeletons(self) -> frozenset[str]:
        """The skeletons of the more frequent words."""
        return frozenset(self.table["skeleton"].drop_nulls().to_list())

    @cached_property
    def heads(self) -> frozenset[str]:
        """The beginnings of ``sounds``."""
        return heads(self.sounds)

    @cached_property
    def distances(self) -> Distances:
        """Measures forms against the words of the lexicon."""
        return Distances(self._lengths)

    def words(self, least: float) -> frozenset[str]:
        """The words of three letters or more with a zipf value of ``least`` or more."""
        if least not in self._words:
            enough = (pl.col("zipf") >= round(100 * least)) & (pl.col("form").str.len_bytes() > 2)
            self._words[least] = frozenset(self.table.filter(enough)["form"].to_list())
        return self._words[least]

    def segments(self, word: str) -> Segments:
        """Onset, nucleus and coda of each syllable of ``word``: as listed, or by rule if it is no word of the lexicon.

        Raises:
            CxgenError: ``word`` is not a single word of the letters a to z, or nothing in it can be a vowel.
        """
        if not _SOURCE.fullmatch(word):
            raise CxgenError(
                f"no pseudoword for {word!r}: expected a single word of the letters a to z", hint="replace its words one by one"
            )
        plain = word.lower()
        if plain in self._lengths:
            parts, at = [], 0
            for length in map(int, self._lengths[plain]):
                parts.append(plain[at : at + length])
                at += length
            return tuple(parts)
        found = segments(syllabify(plain))
        if not found:
            raise CxgenError(f"no pseudoword for {word!r}: expected a word with a vowel", hint="leave abbreviations as they are")
        return found


def load(where: Project | Path | None = None) -> WugLexicon:
    """Read the generator's snapshot.

    Args:
        where: a project, or a snapshot folder; by default the project at or above the working directory.

    Raises:
        DataError: the snapshot is missing or damaged.
    """
    folder = where if isinstance(where, Path) else (where or Project.find()).snapshot
    try:
        return WugLexicon({name: pl.read_parquet(folder / f"{name}.parquet") for name in _TABLES})
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"no usable pseudoword snapshot: {error}", file=folder, hint="run `cxgen lexicon build`") from error
