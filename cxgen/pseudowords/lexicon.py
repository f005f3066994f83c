"""What the generator knows, read from the committed snapshot (``wug_*.parquet``).

``wug_lexicon``: 63,704 words of WordNet with their inflected forms, zipf 1.5 or more, divided into segments by a hyphenator and CMUdict.
``wug_chain``: the transitions between their segments. ``wug_forms``: what no output may be, or should rather not be. ``wug_sounds``: how
segments are read, and the sounds of real words, from CMUdict. They were made once, by version 0.7 (``cxgen/curate/wug.py``).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import polars as pl

from cxgen.errors import CxgenError, needs
from cxgen.project import Project
from cxgen.pseudowords.search import Chain
from cxgen.pseudowords.spelling import Segments, segments
from cxgen.schema import Column, Contract
from cxgen.tables import read_table

HEAD = 5  # characters by which the beginning of a pronunciation is told
_TABLES = {
    "lexicon": {"form": pl.String, "lengths": pl.String, "zipf": pl.UInt16, "skeleton": pl.String},
    "chain": {"syllables": pl.UInt8, "place": pl.UInt8, "left": pl.String, "right": pl.String, "types": pl.UInt16},
    "forms": {"form": pl.String, "zipf": pl.UInt8, "rude": pl.Boolean},
    "sounds": {"unit": pl.String, "sound": pl.String, "share": pl.UInt8},
}
_NULL = {"skeleton", "zipf", "unit", "share"}
_NEAREST = 20
_TOGETHER = 128  # forms compared together: what they give should not be too large for the memory
_FURTHEST = 255  # what stands for the distance of a word to itself


class WugLexicon:
    """The snapshot in memory.

    ``table``: ``form``, ``lengths`` (letters of each segment, a digit each), ``zipf`` (hundredths), ``skeleton`` (null below zipf 2.5);
    ``refused``: the forms that no output may be: words, names, rude words, what has a zipf of 2 or more.
    """

    def __init__(self, words: pl.DataFrame, chain: pl.DataFrame, forms: pl.DataFrame, sounds: pl.DataFrame) -> None:
        self.table, self.chain, self.distances = words, Chain(chain), Distances(words["form"])
        self._lengths: dict[str, str] = dict(words.select("form", "lengths").iter_rows())
        whole = words.filter(pl.col("form").str.len_bytes() > 2)
        self.stems, self.common = (frozenset(whole.filter(pl.col("zipf") >= least)["form"]) for least in (200, 300))
        self.skeletons = frozenset(words["skeleton"].drop_nulls())
        self.refused = frozenset([*self._lengths, *forms.filter(pl.col("zipf").is_null())["form"]])
        self.rare: dict[str, float] = dict(forms.drop_nulls("zipf").select("form", (pl.col("zipf") / 100).round(2)).iter_rows())
        self.rude = re.compile("|".join(forms.filter(pl.col("rude"))["form"]))
        self.sounds = frozenset(sounds.filter(pl.col("unit").is_null())["sound"])
        self.heads = frozenset(sound[:size] for sound in self.sounds for size in range(HEAD + 1))
        self.readings: dict[str, list[tuple[str, float]]] = defaultdict(list)
        for unit, sound, share in sounds.drop_nulls("unit").iter_rows():
            self.readings[unit].append((sound, share / 100))

    def segments(self, word: str) -> Segments:
        """Onset, nucleus and coda of each syllable of ``word``: as listed, or by rule if it is no word of the lexicon."""
        if not re.fullmatch("[A-Za-z]{1,40}", word):
            message = f"no pseudoword for {word!r}: expected a single word of the letters a to z, at most 40"
            raise CxgenError(message, hint="give one word at a time, without accents and signs")
        plain = word.lower()
        if plain in self._lengths:
            return tuple(plain[start:end] for start, end in pairwise([0, *accumulate(map(int, self._lengths[plain]))]))
        if parts := segments(plain):
            return parts
        raise CxgenError(f"no pseudoword for {word!r}: expected a word with a vowel", hint="leave abbreviations as they are")


def load(where: Project | Path | None = None) -> WugLexicon:
    """Read the generator's tables from a project (by default that of the working directory) or a snapshot folder."""
    folder = where if isinstance(where, Path) else (where or Project.find()).snapshot
    tables = []
    for name, schema in _TABLES.items():
        columns = (Column(column, dtype, "", null=column in _NULL) for column, dtype in schema.items())
        tables.append(read_table(folder / f"wug_{name}.parquet", Contract(tuple(columns), least=1), "restore the file"))
    return WugLexicon(*tables)


class Distances:
    """Levenshtein distances of forms to the words of a lexicon.

    OLD20 is the mean distance to the 20 nearest words, the word itself excluded (Yarkoni, Balota & Yap 2008, Psychonomic Bulletin & Review
    15, 971-979); neighbours are the words at distance 1.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = list(words)
        self._known: dict[str, tuple[float, int]] = {}

    def measure(self, forms: Sequence[str]) -> list[tuple[float, int]]:
        """OLD20 and the number of neighbours of each form; many at once take less time."""
        with needs("pseudowords need rapidfuzz", "wug"):
            from rapidfuzz.distance import Levenshtein
            from rapidfuzz.process import cdist
        new = sorted({*forms} - self._known.keys())
        for start in range(0, len(new), _TOGETHER):
            some = new[start : start + _TOGETHER]
            distances = cdist(some, self._words, scorer=Levenshtein.distance, dtype=np.uint8, workers=-1)
            distances[distances == 0] = _FURTHEST
            neighbours = np.count_nonzero(distances == 1, axis=1)
            distances.partition(min(_NEAREST, len(self._words)) - 1, axis=1)
            nearest = distances[:, :_NEAREST].mean(axis=1)
            self._known.update(zip(some, zip(nearest.tolist(), neighbours.tolist(), strict=True), strict=True))
        return [self._known[form] for form in forms]
