"""What the generator knows, read from the committed snapshot (``wug_*.parquet``).

``wug_lexicon``: 63,704 words of WordNet with their inflected forms, zipf 1.5 or more, divided into segments by a hyphenator and CMUdict.
``wug_chain``: the transitions between their segments. ``wug_forms``: what no output may be, or should rather not be. ``wug_sounds``: how
segments are read, and the sounds of real words, from CMUdict. They were made once, by version 0.7 (``cxgen/curate/wug.py``).
"""

import re
from itertools import accumulate, pairwise
from pathlib import Path

import polars as pl

from cxgen.errors import CxgenError
from cxgen.project import Project
from cxgen.pseudowords.distance import Distances
from cxgen.pseudowords.search import Chain
from cxgen.pseudowords.syllables import Segments, segments
from cxgen.schema import Column, Contract
from cxgen.tables import read_table

HEAD = 5  # characters by which the beginning of a pronunciation is told
_SOURCE = re.compile(r"[A-Za-z]+")
_TABLES = {
    "lexicon": {"form": pl.String, "lengths": pl.String, "zipf": pl.UInt16, "skeleton": pl.String},
    "chain": {"syllables": pl.UInt8, "place": pl.UInt8, "left": pl.String, "right": pl.String, "types": pl.UInt16},
    "forms": {"form": pl.String, "zipf": pl.UInt8, "rude": pl.Boolean},
    "sounds": {"unit": pl.String, "sound": pl.String, "share": pl.UInt8},
}
_NULL = {"skeleton", "zipf", "unit", "share"}


class WugLexicon:
    """The snapshot in memory.

    Attributes:
        table: the words that pseudowords are modelled on: ``form``, ``lengths`` (letters of each segment, a digit each), ``zipf``
            (hundredths), ``skeleton`` (see `cxgen.pseudowords.spelling`; null below zipf 2.5).
        chain: the transitions between their segments.
        distances: measures forms against them.
        stems, common: those of three letters or more with a zipf value of 2 or more, and of 3 or more.
        skeletons: of the more frequent words.
        refused: all forms that no output may be: those words, WordNet's with their inflected forms, names, rude words, whatever has a zipf
            value of 2 or more.
        rare: other forms that occur, with their zipf value, below 2.
        rude: matches what no output may contain.
        sounds, heads: the pronunciations of real words, and the beginnings of these.
        readings: how clusters and nuclei are pronounced: unit -> (sound, share), see `cxgen.pseudowords.refuse`.
    """

    def __init__(self, words: pl.DataFrame, chain: pl.DataFrame, forms: pl.DataFrame, sounds: pl.DataFrame) -> None:
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
        self.readings: dict[str, tuple[tuple[str, float], ...]] = {}
        for unit, sound, share in sounds.filter(pl.col("unit").is_not_null()).iter_rows():
            self.readings[unit] = (*self.readings.get(unit, ()), (sound, share / 100))

    def segments(self, word: str) -> Segments:
        """Onset, nucleus and coda of each syllable of ``word``: as listed, or by rule if it is no word of the lexicon."""
        if not _SOURCE.fullmatch(word):
            message = f"no pseudoword for {word!r}: expected a single word of the letters a to z"
            raise CxgenError(message, hint="replace its words one by one")
        plain = word.lower()
        if plain in self._lengths:
            return tuple(plain[start:end] for start, end in pairwise([0, *accumulate(map(int, self._lengths[plain]))]))
        parts = segments(plain)
        if not parts:
            raise CxgenError(f"no pseudoword for {word!r}: expected a word with a vowel", hint="leave abbreviations as they are")
        return parts


def load(where: Project | Path | None = None) -> WugLexicon:
    """Read the generator's tables.

    Args:
        where: a project, or a snapshot folder; by default the project at or above the working directory.
    """
    folder = where if isinstance(where, Path) else (where or Project.find()).snapshot
    contracts = {
        name: Contract(tuple(Column(column, dtype, "", null=column in _NULL) for column, dtype in schema.items()), least=1)
        for name, schema in _TABLES.items()
    }
    return WugLexicon(*(read_table(folder / f"wug_{name}.parquet", contracts[name], "restore the file") for name in _TABLES))
