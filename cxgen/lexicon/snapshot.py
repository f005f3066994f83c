"""The lexicon at run time: a table of lexemes, word classes, and the scenes of constructions. Needs no WordNet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.errors import DataError, UnknownNameError
from cxgen.files import read_json
from cxgen.layout import WORDS
from cxgen.lexicon.scenes import FOLDER, Frame, Scenes, read_scenes
from cxgen.lexicon.words import LISTS, SCHEMA, Cuts, Senses, lemma_of, read_senses
from cxgen.project import Project
from cxgen.schema import Column, Contract
from cxgen.tables import read_table
from cxgen.vocabulary import BANDS, INFLECTIONS, POS, RELATIONS

HINT = "run `cxgen lexicon build`, or restore the file"
GENDERS = ("m", "f", "any", "none")
_SURE = ("key", "lemma", "pos", "zipf", "percentile", "band", "top10k", *LISTS)  # columns that have a value in every row
_VALUES: dict[str, tuple[str, ...]] = {"pos": POS, "band": BANDS, "gender": GENDERS}
_LEXEMES = Contract(
    tuple(Column(name, dtype, "", null=name not in _SURE, values=_VALUES.get(name, ())) for name, dtype in SCHEMA.items()),
    ("key",),
    least=1,
)
_WUG = {"key": pl.String, "variant": pl.Int8, "lemma": pl.String, **dict.fromkeys(("article", *INFLECTIONS), pl.String)}
PSEUDOWORDS = Contract(
    tuple(Column(name, dtype, "", null=name in ("article", *INFLECTIONS)) for name, dtype in _WUG.items()), ("key", "variant"), least=1
)


@dataclass(frozen=True)
class WordClass:
    """A curated class: ``ids`` are rows of the lexeme table, ``extended`` those of them that do not hold the construction's meaning."""

    name: str
    pos: str
    ids: tuple[int, ...]
    extended: frozenset[int]
    gloss: str = ""


@dataclass(eq=False)
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

    table: pl.DataFrame
    classes: dict[str, WordClass]
    cuts: Cuts = field(default_factory=lambda: Cuts(()))
    overrides: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    folders: tuple[Path, ...] = ()
    memory: Path | None = None
    known_scenes: dict[str, Scenes] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, project: Project) -> Lexicon:
        """The lexicon of ``project``: a snapshot, and what the project's own ``lexicons/`` adds to it."""
        lexicon = cls.load(project.snapshot, project.root / WORDS)
        own = project.own_lexicons
        if own is None:
            return lexicon
        from cxgen.lexicon.own import extended, read_sources

        lexicon = extended(lexicon, read_sources(own))
        return replace(lexicon, folders=(*lexicon.folders, own), known_scenes={}) if (own / FOLDER).is_dir() else lexicon

    @classmethod
    def load(cls, folder: Path, memory: Path | None = None) -> Lexicon:
        """Read a snapshot folder."""
        table, path = read_table(folder / "lexemes.parquet", _LEXEMES, HINT), folder / "classes.json"
        raw = read_json(path, HINT)
        if not isinstance(raw, dict) or "classes" not in raw:
            raise DataError("expected an object with classes", file=path, hint=HINT)
        classes = {
            name: WordClass(name, entry["pos"], tuple(entry["ids"]), frozenset(entry["extended"]), entry.get("gloss", ""))
            for name, entry in raw["classes"].items()
        }
        return cls(table, classes, Cuts(raw.get("bands", ())), raw.get("overrides", {}), (folder.parent,), memory)

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
    def lemmas(self) -> list[str]:
        """Lemma of each row."""
        return self.table["lemma"].to_list()

    @cached_property
    def _pos(self) -> list[str]:
        return self.table["pos"].to_list()

    def row(self, key: str) -> dict[str, Any]:
        """The row of a lexeme, as a mapping."""
        return self.table.row(self.index[key], named=True)

    def rows_of(self, lemma: str) -> list[int]:
        """Row numbers of the lexemes of ``lemma``, capitals or not."""
        return [row for row, other in enumerate(self.lemmas) if other.lower() == lemma.lower()]

    @property
    def constructions(self) -> list[str]:
        """The constructions that have scenes here."""
        return list(dict.fromkeys(path.stem for folder in self.folders for path in sorted((folder / FOLDER).glob("*.tsv"))))

    def scenes(self, construction: str) -> Scenes:
        """The tables of a construction's scenes, and which lexemes their words are."""
        if construction not in self.known_scenes:
            files = [path for folder in self.folders if (path := folder / FOLDER / f"{construction}.tsv").is_file()]
            self.known_scenes[construction] = Scenes.resolve([read_scenes(path) for path in files], self)
        return self.known_scenes[construction]

    def frames(self, construction: str) -> list[Frame]:
        """The scenes of a construction; empty if it has none here."""
        return self.scenes(construction).frames

    @cached_property
    def first(self) -> dict[tuple[str, str], str]:
        """(lemma, part of speech) -> key of the first such lexeme."""
        return {word: keys[0] for word, keys in self._known.items()}

    def known(self, lemma: str, pos: str) -> list[str]:
        """The keys of the lexemes of a word, in the order of the table."""
        return self._known.get((lemma, pos), [])

    @cached_property
    def _known(self) -> dict[tuple[str, str], list[str]]:
        known: dict[tuple[str, str], list[str]] = {}
        for lemma, pos, key in zip(self.lemmas, self._pos, self.keys, strict=True):
            known.setdefault((lemma, pos), []).append(key)
        return known

    def senses(self, lemmas: Iterable[str]) -> Senses:
        """The senses of some lemmas in WordNet's order."""
        return read_senses(self.folders[0] / "snapshot" if self.folders else None, lemmas)

    def has(self, name: str) -> bool:
        """Whether ``name`` is a class or the key of a lexeme."""
        return name in self.classes or name in self.index

    def resolve(self, name: str) -> WordClass:
        """A class by name, or a class of one lexeme by its key; the error names near classes, or how to declare the word."""
        if name in self.classes:
            return self.classes[name]
        if name in self.index:
            row = self.index[name]
            return WordClass(name, self._pos[row], (row,), frozenset())
        raise missing(self, name)

    @cached_property
    def bands(self) -> NDArray[np.int8]:
        """Band number of each lexeme (0 low, 1 mid, 2 high)."""
        return self.table["band"].replace_strict(list(BANDS), list(range(len(BANDS))), return_dtype=pl.Int8).to_numpy()

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
        return self.table["gender"].fill_null("none").replace_strict(list(GENDERS), [0, 1, 2, 3], return_dtype=pl.Int64).to_numpy()

    def related(self, relation: str, row: int) -> tuple[int, ...]:
        """Row numbers of the lexemes which stand in ``relation`` to ``row``, in curated order."""
        return self._relations[relation].get(row, ())

    @cached_property
    def _relations(self) -> dict[str, dict[int, tuple[int, ...]]]:
        related: dict[str, dict[int, tuple[int, ...]]] = {}
        for relation in RELATIONS:
            rows = self.table[relation]
            filled = (rows.list.len() > 0).arg_true().to_list()
            related[relation] = {row: tuple(self.index[key] for key in rows[row]) for row in filled}
        return related


def missing(lexicon: Lexicon, name: str, file: Path | None = None, line: int | None = None) -> UnknownNameError:
    """The error about ``name``, a class name or the key of a lexeme, which ``lexicon`` does not have."""
    lemma, pos = lemma_of(name)
    if pos in {"phrase", "name"}:
        return UnknownNameError(f"{name} is not in the lexicon", file=file, line=line, hint=f'add {{text: "{lemma}"}} to a class')
    known = [lexicon.keys[row] for row in lexicon.rows_of(lemma) if pos in {"", lexicon.table["pos"][row]}]
    if pos:
        sense = "" if name.startswith("own:") else f', sense: "{name}"'
        message = f"{lemma} ({pos}) is not in the lexicon: add it under classes: in this file"
        hint = f"add {{lemma: {lemma}{sense}}} to the members of a class of {pos}s"
        hint += f"; the lexicon has {', '.join(known)}" if known else ""
        return UnknownNameError(message, file=file, line=line, hint=hint)
    if known:
        return UnknownNameError(f"{name!r} is a word, not a word class", file=file, line=line, hint=f"write {' or '.join(known)}")
    alike = get_close_matches(name, lexicon.classes)
    declare = "declare it under classes: in this file; `cxgen lexicon classes` lists the others"
    hint = f"did you mean {' or '.join(alike)}?" if alike else declare
    return UnknownNameError(f"unknown word class {name!r}", file=file, line=line, hint=hint)
