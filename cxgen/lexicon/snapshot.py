"""The built lexicon: a table of lexemes, word classes and event frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.layout import WORDS
from cxgen.lexicon.bands import Cuts
from cxgen.lexicon.frames import Frame
from cxgen.lexicon.names import missing
from cxgen.lexicon.scenes import FOLDER as SCENES
from cxgen.lexicon.scenes import Scenes, read_scenes
from cxgen.lexicon.senses import Senses, read_senses
from cxgen.lexicon.stored import read_classes, read_lexemes
from cxgen.project import Project
from cxgen.vocabulary import BANDS


@dataclass(frozen=True)
class WordClass:
    """A curated class.

    Attributes:
        name: the class name.
        pos: noun, verb, adjective, adverb, phrase or name.
        ids: row numbers into the lexeme table, in curated order.
        extended: those of ``ids`` whose own meaning does not hold that of the construction.
        gloss: what its members have in common.
    """

    name: str
    pos: str
    ids: tuple[int, ...]
    extended: frozenset[int]
    gloss: str = ""


class Lexicon:
    """The snapshot in memory.

    Attributes:
        table: one row per lexeme: ``key`` (sense key, ``own:POS:LEMMA``, or ``phrase:``/``name:`` + text), ``lemma``, ``pos``, ``sense``
            (sense key or the own word's key), ``lexfile``, ``zipf`` (f64), ``percentile`` (f64, 0-100 within part of speech, by fixed
            cuts), ``band``, ``top10k`` (bool), ``countability``, ``gender``, ``article``, the forms ``plural, third, ing, past,
            participle, comparative, superlative``, and the list columns ``contrary``, ``complement``, ``near``, ``derived``.
            Words that a project or a template file adds come last.
        classes: class name -> :class:`WordClass`.
        cuts: what percentile a frequency is.
        overrides: part of speech -> lemma -> irregular forms, countability, article.
        folders: the folders of words whose ``scenes/`` are read, the shipped one first; beside it is the snapshot.
        memory: the file in which answers of lemminflect and wordfreq about own words are kept, if any.
    """

    def __init__(
        self,
        table: pl.DataFrame,
        classes: dict[str, WordClass],
        frames: Mapping[str, list[Frame]],
        cuts: Cuts | None = None,
        overrides: dict[str, dict[str, dict[str, str]]] | None = None,
        memory: Path | None = None,
        folders: tuple[Path, ...] = (),
        scenes: Mapping[str, Scenes] | None = None,
    ) -> None:
        self.table = table
        self.classes = classes
        self._frames = dict(frames)
        self.cuts = cuts or Cuts(())
        self.overrides = overrides or {}
        self.memory = memory
        self.folders = folders
        self._scenes = dict(scenes or {})

    @classmethod
    def of(cls, project: Project) -> Lexicon:
        """The lexicon of ``project``: a snapshot, and what the project's own ``lexicons/`` adds to it.

        Raises:
            DataError: the snapshot is missing or damaged.
            SchemaError: a file of the project's own breaks its schema, or names what does not exist.
        """
        lexicon = cls.load(project.snapshot, project.root / WORDS)
        own = project.own_lexicons
        if own is None:
            return lexicon
        from cxgen.lexicon.extend import extended
        from cxgen.lexicon.sources import read_sources

        lexicon = extended(lexicon, read_sources(own))
        if (own / SCENES).is_dir():
            folders = (*lexicon.folders, own)
            lexicon = cls(lexicon.table, lexicon.classes, {}, lexicon.cuts, lexicon.overrides, lexicon.memory, folders)
        return lexicon

    @classmethod
    def load(cls, folder: Path, memory: Path | None = None) -> Lexicon:
        """Read a snapshot folder.

        Raises:
            DataError: the snapshot is missing or damaged.
        """
        table = read_lexemes(folder / "lexemes.parquet")
        raw = read_classes(folder / "classes.json")
        classes = {
            name: WordClass(name, entry["pos"], tuple(entry["ids"]), frozenset(entry["extended"]), entry.get("gloss", ""))
            for name, entry in raw["classes"].items()
        }
        return cls(table, classes, {}, Cuts(raw.get("bands", ())), raw.get("overrides"), memory, (folder.parent,))

    def __len__(self) -> int:
        return self.table.height

    @cached_property
    def index(self) -> dict[str, int]:
        """Key -> row number."""
        return {key: row for row, key in enumerate(self.keys)}

    @cached_property
    def keys(self) -> list[str]:
        """Key of each row."""
        return self.table["key"].to_list()

    @cached_property
    def first(self) -> dict[tuple[str, str], str]:
        """(lemma, part of speech) -> key of the first such lexeme."""
        return {word: keys[0] for word, keys in self._known.items()}

    @cached_property
    def lemmas(self) -> list[str]:
        """Lemma of each row."""
        return self.table["lemma"].to_list()

    def row(self, key: str) -> dict[str, Any]:
        """The row of a lexeme, as a mapping."""
        return self.table.row(self.index[key], named=True)

    def rows_of(self, lemma: str) -> list[int]:
        """Row numbers of the lexemes of ``lemma``, capitals or not."""
        return [row for row, other in enumerate(self.lemmas) if other.lower() == lemma.lower()]

    @property
    def constructions(self) -> list[str]:
        """The constructions that have scenes here."""
        files = (path for folder in self.folders for path in sorted((folder / SCENES).glob("*.tsv")))
        return list(dict.fromkeys([*(path.stem for path in files), *self._frames]))

    def scenes(self, construction: str) -> Scenes:
        """The tables of a construction's scenes, and which lexemes their words are.

        Raises:
            SchemaError: a table breaks its form, or a word has not the sense that is asked for.
        """
        if construction not in self._scenes:
            files = [path for folder in self.folders if (path := folder / SCENES / f"{construction}.tsv").is_file()]
            self._scenes[construction] = Scenes.resolve([read_scenes(path) for path in files], self)
        return self._scenes[construction]

    def with_scenes(self, construction: str, scenes: Scenes) -> Lexicon:
        """This lexicon with other scenes for a construction: those of a table that is tried."""
        return Lexicon(self.table, self.classes, {}, self.cuts, self.overrides, self.memory, self.folders, {construction: scenes})

    def frames(self, construction: str) -> list[Frame]:
        """The frames of a construction: its scenes, and what its own file declares; empty if it has none here."""
        if construction not in self._frames:
            self._frames[construction] = self.scenes(construction).frames()
        return self._frames[construction]

    def known(self, lemma: str, pos: str) -> list[str]:
        """The keys of the lexemes of a word, in the order of the table."""
        return self._known.get((lemma, pos), [])

    @cached_property
    def _known(self) -> dict[tuple[str, str], list[str]]:
        known: dict[tuple[str, str], list[str]] = {}
        for lemma, pos, key in self.table.select("lemma", "pos", "key").iter_rows():
            known.setdefault((lemma, pos), []).append(key)
        return known

    def senses(self, lemmas: Iterable[str]) -> Senses:
        """The senses of some lemmas in WordNet's order."""
        return read_senses(self.folders[0] / "snapshot" if self.folders else None, lemmas)

    def has(self, name: str) -> bool:
        """Whether ``name`` is a class or the key of a lexeme."""
        return name in self.classes or name in self.index

    def resolve(self, name: str) -> WordClass:
        """A class by name, or a class of one lexeme by its key.

        Raises:
            UnknownNameError: neither; the hint names near classes, or how to declare the word.
        """
        if name in self.classes:
            return self.classes[name]
        if name in self.index:
            row = self.index[name]
            return WordClass(name, self._parts_of_speech[row], (row,), frozenset())
        raise missing(self, name)

    @cached_property
    def _parts_of_speech(self) -> list[str]:
        return self.table["pos"].to_list()

    @cached_property
    def bands(self) -> NDArray[np.int8]:
        """Band number of each lexeme (0 low, 1 mid, 2 high)."""
        codes = self.table["band"].replace_strict(list(BANDS), list(range(len(BANDS))), return_dtype=pl.Int8)
        return codes.to_numpy()

    @cached_property
    def lemma_codes(self) -> NDArray[np.int64]:
        """A number per lemma, whatever its part of speech and sense: equal numbers, equal words."""
        return self.table["lemma"].str.to_lowercase().rank("dense").to_numpy().astype(np.int64)

    @cached_property
    def phrases(self) -> frozenset[int]:
        """Row numbers of the phrases."""
        return frozenset((self.table["pos"] == "phrase").arg_true().to_list())

    @cached_property
    def genders(self) -> NDArray[np.int64]:
        """Gender of each lexeme's referent: 0 m, 1 f, 2 any, 3 none."""
        known = self.table["gender"].fill_null("none").replace_strict(["m", "f", "any", "none"], [0, 1, 2, 3], return_dtype=pl.Int64)
        return known.to_numpy()

    def related(self, relation: str, row: int) -> tuple[int, ...]:
        """Row numbers of the lexemes which stand in ``relation`` to ``row``, in curated order."""
        return self._relation(relation).get(row, ())

    def _relation(self, relation: str) -> dict[int, tuple[int, ...]]:
        cache = self.__dict__.setdefault("_related", {})
        if relation not in cache:
            rows = self.table[relation]
            filled = (rows.list.len() > 0).arg_true().to_list()
            cache[relation] = {row: tuple(self.index[key] for key in rows[row]) for row in filled}
        related: dict[int, tuple[int, ...]] = cache[relation]
        return related
