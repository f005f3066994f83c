"""What the generator knows, read from the committed snapshot; needs neither WordNet, wordfreq, CMUdict nor a hyphenator."""

from __future__ import annotations

import re
from itertools import accumulate, pairwise
from pathlib import Path

import polars as pl

from cxgen.errors import CxgenError
from cxgen.project import Project
from cxgen.pseudowords.chain import Chain
from cxgen.pseudowords.distance import Distances
from cxgen.pseudowords.segments import Segments, segments, syllabify
from cxgen.pseudowords.sound import HEAD, Readings
from cxgen.schema import Column, Contract
from cxgen.tables import read_table

_SOURCE = re.compile(r"[A-Za-z]+")
_HINT = "run `cxgen lexicon build`, or restore the file"
_OPEN = {"skeleton", "zipf", "unit", "share"}  # columns that may be empty
_TABLES = {
    "lexicon": {"form": pl.String, "lengths": pl.String, "zipf": pl.UInt16, "skeleton": pl.String},
    "chain": {"syllables": pl.UInt8, "place": pl.UInt8, "left": pl.String, "right": pl.String, "types": pl.UInt16},
    "forms": {"form": pl.String, "zipf": pl.UInt8, "rude": pl.Boolean},
    "sounds": {"unit": pl.String, "sound": pl.String, "share": pl.UInt8},
}


class WugLexicon:
    """The snapshot in memory.

    Attributes:
        table: the words that pseudowords are modelled on: ``form`` (str), ``lengths`` (str: letters of each segment, a digit each),
            ``zipf`` (u16, hundredths), ``skeleton`` (str: see ``cxgen.pseudowords.spelling``; null below zipf 2.5).
        chain: the transitions between their segments.
        distances: measures forms against them.
        stems, common: those of three letters or more with a zipf value of 2 or more, and of 3 or more.
        skeletons: of the more frequent words.
        refused: all forms that no output may be: those words, WordNet's with their inflected forms, CMUdict's, names, rude words, whatever
            has a zipf value of 2 or more.
        rare: other forms that occur, with their zipf value, below 2.
        rude: matches what no output may contain.
        sounds, heads: the pronunciations of real words, and the beginnings of these.
        readings: how clusters and nuclei are pronounced (see ``cxgen.pseudowords.sound``).
    """

    def __init__(self, words: pl.DataFrame, chain: pl.DataFrame, forms: pl.DataFrame, sounds: pl.DataFrame) -> None:
        """From the tables that ``cxgen.curate.wug`` makes."""
        self.table, self.chain, self.distances = words, Chain(chain), Distances(words["form"])
        self._lengths: dict[str, str] = dict(words.select("form", "lengths").iter_rows())
        whole = words.filter(pl.col("form").str.len_bytes() > 2)
        self.stems, self.common = (frozenset(whole.filter(pl.col("zipf") >= least)["form"]) for least in (200, 300))
        self.skeletons = frozenset(words["skeleton"].drop_nulls())
        self.refused = frozenset([*self._lengths, *forms.filter(pl.col("zipf").is_null())["form"]])
        rare = forms.filter(pl.col("zipf").is_not_null()).select("form", (pl.col("zipf") / 100).round(2))
        self.rare: dict[str, float] = dict(rare.iter_rows())
        self.rude = re.compile("|".join(forms.filter(pl.col("rude"))["form"]))
        self.sounds = frozenset(sounds.filter(pl.col("unit").is_null())["sound"])
        self.heads = frozenset(sound[:size] for sound in self.sounds for size in range(HEAD + 1))
        self.readings: Readings = {}
        for unit, sound, share in sounds.filter(pl.col("unit").is_not_null()).iter_rows():
            self.readings[unit] = (*self.readings.get(unit, ()), (sound, share / 100))

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
            cuts = [0, *accumulate(map(int, self._lengths[plain]))]
            return tuple([plain[start:end] for start, end in pairwise(cuts)])
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
    tables = []
    for name, schema in _TABLES.items():
        columns = tuple(Column(column, dtype, "", null=column in _OPEN) for column, dtype in schema.items())
        tables.append(read_table(folder / f"wug_{name}.parquet", Contract(columns, least=1), _HINT))
    return WugLexicon(*tables)
