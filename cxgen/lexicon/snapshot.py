"""The lexicon at run time: a table of lexemes, word classes, and the scenes of constructions. Needs no WordNet."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxgen.errors import DataError, UnknownNameError
from cxgen.files import listed, read_json
from cxgen.layout import WORDS
from cxgen.lexicon.scenes import FOLDER, PROPOSED, Frame, Scenes, read_scenes
from cxgen.lexicon.words import CORPUS, LISTS, SCHEMA, SENSES, Cuts, Senses, lemma_of
from cxgen.project import Project
from cxgen.schema import Column, Contract, Document
from cxgen.tables import read_table
from cxgen.vocabulary import BANDS, INFLECTIONS, POS

HINT = "run `cxgen lexicon build`, or restore the file"
WUG_SCHEMA = {"key": pl.String, "variant": pl.Int8, "lemma": pl.String, **dict.fromkeys(("article", *INFLECTIONS), pl.String)}
_SURE = ("key", "lemma", "pos", "zipf", "percentile", "band", "top10k", *LISTS)  # columns that have a value in every row
_GENDERS = ("m", "f", "any", "none")
_VALUES: dict[str, tuple[str, ...]] = {"pos": POS, "band": BANDS, "gender": _GENDERS}
_COLUMNS = [Column(name, dtype, "", null=name not in _SURE, values=_VALUES.get(name, ())) for name, dtype in SCHEMA.items()]
_LEXEMES = Contract(tuple(_COLUMNS), ("key",), least=1)
_WUG_COLUMNS = [Column(name, dtype, "", null=name in ("article", *INFLECTIONS)) for name, dtype in WUG_SCHEMA.items()]
PSEUDOWORDS = Contract(tuple(_WUG_COLUMNS), ("key", "variant"), least=1)


StatedForms = tuple[str, str, Mapping[str, str], tuple[Document, list[str | int]]]  # lemma, part of speech, form -> text, where


@dataclass(frozen=True)
class WordClass:
    """A curated class: ``ids`` are rows of the lexeme table."""

    name: str
    pos: str
    ids: tuple[int, ...]
    gloss: str = ""


@dataclass(eq=False)
class Lexicon:
    """The snapshot in memory.

    ``table`` has a row per lexeme: ``key`` (sense key, ``own:POS:LEMMA``, or ``phrase:``/``name:`` + text), ``lemma``, ``pos``, ``sense``
    (sense key or the own word's key), ``lexfile``, ``zipf``, ``percentile`` (0-100 within part of speech, by fixed ``cuts``), ``band``,
    ``top10k`` (bool), ``countability``, ``gender``, ``article``, the forms, and the lists ``contrary``, ``complement``, ``near``,
    ``derived``; words that a project or a template file adds come last. Of each row, ``bands`` are 0 low, 1 mid, 2 high; ``genders`` (of
    its referent) 0 m, 1 f, 2 any, 3 none; ``lemma_codes`` equal for equal words. ``overrides``: part of speech -> lemma -> irregular forms.
    ``folders`` of words, the shipped one first, have ``scenes/``; ``memory`` is the file that keeps what libraries say of own words.
    """

    table: pl.DataFrame
    classes: dict[str, WordClass]
    cuts: Cuts = ()
    overrides: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    folders: tuple[Path, ...] = ()
    memory: Path | None = None
    known_scenes: dict[str, Scenes] = field(default_factory=dict, repr=False)
    stated_forms: tuple[StatedForms, ...] = field(default=(), repr=False)  # what the project and a template file say of words
    base: int = -1  # rows that were there before a project or a template file added words

    def __post_init__(self) -> None:
        self.base = self.table.height if self.base < 0 else self.base
        self.keys: list[str] = self.table["key"].to_list()
        self.lemmas: list[str] = self.table["lemma"].to_list()
        self.pos: list[str] = self.table["pos"].to_list()
        self.index = {key: row for row, key in enumerate(self.keys)}
        self._named: dict[tuple[str, ...], tuple[int, ...]] = {}
        self.phrases = frozenset((self.table["pos"] == "phrase").arg_true().to_list())
        numbers = {name: number for names in (BANDS, _GENDERS) for number, name in enumerate(names)}
        self.bands = self.table["band"].replace_strict(numbers, return_dtype=pl.Int8).to_numpy()
        self.genders = self.table["gender"].fill_null("none").replace_strict(numbers, return_dtype=pl.Int64).to_numpy()
        self.lemma_codes = self.table["lemma"].str.to_lowercase().rank("dense").cast(pl.Int64).to_numpy()

    @classmethod
    def of(cls, project: Project) -> "Lexicon":
        """The lexicon of ``project``: a snapshot, and what the project's own ``lexicons/`` adds to it."""
        lexicon, own = cls.load(project.snapshot, project.root / WORDS), project.own_lexicons
        if own is None:
            return lexicon
        from cxgen.lexicon.own import extended, read_sources

        lexicon = extended(lexicon, read_sources(own))
        return replace(lexicon, folders=(*lexicon.folders, own), known_scenes={}) if (own / FOLDER).is_dir() else lexicon

    @classmethod
    def load(cls, folder: Path, memory: Path | None = None) -> "Lexicon":
        """Read a snapshot folder."""
        table, path = read_table(folder / "lexemes.parquet", _LEXEMES, HINT), folder / "classes.json"
        raw = read_json(path, HINT)
        if not isinstance(raw, dict) or "classes" not in raw:
            raise DataError("expected an object with classes", file=path, hint=HINT)
        classes = {name: WordClass(name, one["pos"], tuple(one["ids"]), one.get("gloss", "")) for name, one in raw["classes"].items()}
        return cls(table, classes, raw.get("bands", ()), raw.get("overrides", {}), (folder.parent,), memory)

    def __len__(self) -> int:
        return self.table.height

    def row(self, key: str) -> dict[str, Any]:
        """The row of a lexeme, as a mapping."""
        return self.table.row(self.index[key], named=True)

    def rows_of(self, lemma: str) -> list[int]:
        """Row numbers of the lexemes of ``lemma``, capitals or not."""
        return [row for row, other in enumerate(self.lemmas) if other.lower() == lemma.lower()]

    @property
    def constructions(self) -> list[str]:
        """The constructions that have scenes here."""
        files = (path for folder in self.folders for path in listed(folder / FOLDER, ".tsv"))
        return list(dict.fromkeys(path.stem.removesuffix(PROPOSED) for path in files))

    def scenes(self, construction: str) -> Scenes:
        """The tables of a construction's scenes, and which lexemes their words are."""
        if construction not in self.known_scenes:
            names = [folder / FOLDER / f"{construction}{kind}.tsv" for folder in self.folders for kind in ("", PROPOSED)]
            files = [path for path in names if path in listed(path.parent, ".tsv")]
            self.known_scenes[construction] = Scenes.resolve(map(read_scenes, files), self)
        return self.known_scenes[construction]

    def frames(self, construction: str) -> list[Frame]:
        """The scenes of a construction; empty if it has none here."""
        return self.scenes(construction).frames

    def known(self, lemma: str, pos: str) -> list[str]:
        """The keys of the lexemes of a word, in the order of the table."""
        return self._known.get((lemma, pos), [])

    @cached_property
    def strict(self) -> dict[str, NDArray[np.bool_]]:
        """Preset -> which rows it leaves where a construction is carried: outside the 10,000 most frequent words, in the middle band of
        the project's own words or of a corpus (ConTest-NLI, section 3.1: the 20th to 60th percentile, without the commonest 10,000)."""
        seldom = ~self.table["top10k"].to_numpy()
        return {"contest": seldom & (self.bands == 1), "contest-corpus": seldom & self.table["zipf"].is_between(*CORPUS).to_numpy()}

    @cached_property
    def _known(self) -> dict[tuple[str, str], list[str]]:
        known: dict[tuple[str, str], list[str]] = {}
        for lemma, pos, key in zip(self.lemmas, self.pos, self.keys, strict=True):
            known.setdefault((lemma, pos), []).append(key)
        return known

    def senses(self, lemmas: Iterable[str]) -> Senses:
        """The senses of some lemmas, in any case, in WordNet's order; none where the snapshot has no table of senses."""
        senses: dict[tuple[str, str], list[str]] = {}
        wanted = pl.col("lemma").is_in(sorted({lemma.lower().encode("utf-8", "replace").decode() for lemma in lemmas}))
        for path in (folder / "snapshot" / SENSES for folder in self.folders[:1]):
            for lemma, pos, sense in pl.scan_parquet(path, glob=False).filter(wanted).collect().iter_rows() if path.is_file() else ():
                senses.setdefault((lemma, pos), []).append(f"{lemma.replace(' ', '_')}%{sense}")
        return senses

    def has(self, name: str) -> bool:
        """Whether ``name`` is a class or the key of a lexeme."""
        return name in self.classes or name in self.index

    def resolve(self, name: str) -> WordClass:
        """A class by name, or a class of one lexeme by its key; the error names near classes, or how to declare the word."""
        if not self.has(name):
            raise missing(self, name)
        return self.classes.get(name) or WordClass(name, self.pos[self.index[name]], (self.index[name],))

    def named(self, *names: str) -> tuple[int, ...]:
        """The rows of all that classes and keys name, each once."""
        if names not in self._named:
            self._named[names] = tuple(dict.fromkeys(row for name in names for row in self.resolve(name).ids))
        return self._named[names]


def missing(lexicon: Lexicon, name: str, file: Path | None = None, line: int | None = None) -> UnknownNameError:
    """The error about ``name``, a class name or the key of a lexeme, which ``lexicon`` does not have."""
    lemma, pos = lemma_of(name)
    known = [lexicon.keys[row] for row in lexicon.rows_of(lemma) if pos in {"", lexicon.pos[row]}]
    if pos in {"phrase", "name"}:
        hint = f'add {{text: "{lemma}"}} to a class'
    elif pos and (known := known or lexicon.senses([lemma]).get((lemma, pos), [])):
        hint = f"there is {' and '.join(known)}"
    elif pos:
        hint = f"add {{lemma: {lemma}}} to the members of a class of {pos}s, in a template file"
    elif known:
        alike = get_close_matches(name, lexicon.classes, 1, cutoff=0.8)
        hint = " or ".join([*(f"did you mean {one}?" for one in alike), f"write {' or '.join(known)}"])
    elif alike := get_close_matches(name, lexicon.classes):
        hint = f"did you mean {' or '.join(alike)}?"
    else:
        hint = "declare it under classes: in the template file; `cxgen lexicon classes` lists the others"
    what = f"{name!r} is a word, not a word class" if known else f"unknown word class {name!r}"
    return UnknownNameError(f"{name} is not in the lexicon" if pos else what, file=file, line=line, hint=hint)
