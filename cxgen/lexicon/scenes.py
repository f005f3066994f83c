"""Scenes as tables: ``lexicons/scenes/NAME.tsv``, a line a scene, cells divided by tabs.

    words   onto    into=onto | out=off | in=on
    id      designs  agent   verb:verb          things          places          opening:phrase  words  entails_alone
    dogs    chores   @names  call | shoo | lure dog | puppy     kitchen | yard  before dinner   onto   lure

A row that begins with ``id`` names the columns below it: those of ``ABOUT`` or a slot, with what its words are where that is not ``noun``:
a part of speech, or lexicographer files of WordNet's nouns (``agent:person/group``). ``words NAME KEY=TEXT | ...`` names a set of
closed-class words. Several things in a cell stand between `` | ``: words (``coach``), which have WordNet's first sense of the slot's type,
with a pin if they have another (``coach~artifact``, ``coach~1:06:00::``; ``dumpster~own``: none of WordNet's), and classes (``@names``).
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cxgen.errors import UNSEEN, CxgenError, SchemaError, UnknownNameError
from cxgen.files import read_text
from cxgen.lexicon.words import NOUNS, Senses, fits, lexfile
from cxgen.schema import Document
from cxgen.vocabulary import OF_NOUNS, POS

if TYPE_CHECKING:
    from cxgen.lexicon.snapshot import Lexicon

FOLDER, PROPOSED = "scenes", ".proposed"  # NAME.proposed.tsv: what is drawn from only if judges accept
PROPOSED_HEAD = "# Proposed: drawn from only if judges accept (cxgen judge); made by cxgen propose.\n"
ABOUT = ("id", "designs", "words", "entails_alone", "marked", "comment")  # columns that are no slots
_UNSAYABLE = re.compile(f"[{UNSEEN}\x00-\x08\x0b\x0c\x0e-\x1f{{}}]")
_PLAIN = {"noun", "verb", "adjective", "adverb", "name"}  # whose words have no commas
CIRCUMSTANCES = ("opening", "closing")  # slots whose words are about the occasion only
_HINT = "a line a scene, cells divided by tabs; see the shipped tables in lexicons/scenes"
Word = tuple[str, str, str]  # lemma or text, part of speech, which sense (see `cxgen.lexicon.words.fits`; empty: the first)


@dataclass(frozen=True)
class Frame:
    """A scene whose words are lexemes: the one with ``number`` (from 0) in its table.

    ``slots``: slot -> class names and keys of lexemes; ``words``: closed-class words; ``marked``: keys of fillers that fit but are drawn
    less often; ``entails_alone``: lemmas of verbs that by themselves entail what the construction says; ``judged``: verb slot and lemma ->
    the acceptability of the clause that they make, of those that judges accepted (`cxgen.lexicon.verdicts`); ``refused``: how many they
    refused, by task.
    """

    name: str
    designs: tuple[str, ...]
    slots: dict[str, tuple[str, ...]]
    words: dict[str, str]
    source: "SceneTable" = field(repr=False, compare=False)
    number: int = 0
    marked: frozenset[str] = frozenset()
    entails_alone: frozenset[str] = frozenset()
    judged: Mapping[tuple[str, str], str] = field(default_factory=dict, compare=False)
    refused: Mapping[str, int] = field(default_factory=dict, compare=False)

    @property
    def scene(self) -> "Scene":
        """Its row."""
        return self.source.scenes[self.number]

    @property
    def place(self) -> tuple["SceneTable", list[str | int]]:
        """Where it stands."""
        return self.source, [self.number]

    @property
    def proposed(self) -> bool:
        """Whether it is drawn from only as far as judges accept it."""
        return self.source.path.stem.endswith(PROPOSED)

    @property
    def pruned(self) -> bool:
        """Whether judges refused some of the words that its line has."""
        return any(len(words) > len(self.slots[slot]) for slot, words in self.scene.slots.items())

    def clause(self, slot: str, verb: str) -> str:
        """The address of what this scene says with ``verb`` in ``slot``: scene, verb, and a digest of the words that the others slots have.

        Circumstances do not count: neither they nor another verb, design or comment make it another clause.
        """
        return f"{self.scene.cells['id'][0]}/{verb}/{self.scene.beside(slot)}"


@dataclass(frozen=True)
class Scene:
    """A row: its line (from 1); column -> what its filled cells hold; slot -> what its words are; closed-class words, sets resolved."""

    line: int
    cells: dict[str, list[str]]
    types: dict[str, str]
    words: dict[str, str]
    _digests: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def beside(self, slot: str) -> str:
        """A digest of the words that all slots but ``slot`` have; made once, as a scene has many verbs."""
        if slot not in self._digests:
            own = sorted(self.cells.keys() - {*ABOUT, *CIRCUMSTANCES, slot})
            told = {name: [text.partition("~")[0] for text in self.cells[name]] for name in own}  # a pin is not said
            written = repr((slot, told, sorted(self.words.items()))).encode()
            self._digests[slot] = hashlib.blake2b(written, digest_size=4).hexdigest()
        return self._digests[slot]

    @property
    def pairs(self) -> list[str]:
        """Its closed-class words as a cell has them."""
        return [f"{key}={value}" for key, value in self.words.items()]

    @property
    def slots(self) -> dict[str, list[str]]:
        """The filled slots, in alphabetical order: in this order they are drawn."""
        return {name: self.cells[name] for name in sorted(self.cells) if name not in ABOUT}


@dataclass(frozen=True)
class SceneTable(Document):
    """A file of scenes; ``line((N, ...))`` is that of the scene N."""

    scenes: tuple[Scene, ...] = field(default=(), repr=False)

    def line(self, keys: Iterable[str | int]) -> int:
        """1-based line of the scene under ``keys``."""
        number = next((key for key in keys if isinstance(key, int)), len(self.scenes))
        return self.scenes[number].line if number < len(self.scenes) else 1

    def words(self) -> Iterator[tuple[Word, int, str]]:
        """Every word with the number of its scene, from 0, and its slot."""
        for number, scene in enumerate(self.scenes):
            for slot, texts in scene.slots.items():
                yield from ((_as_word(text, scene.types[slot]), number, slot) for text in texts if text[0] != "@")


@dataclass(frozen=True)
class Scenes:
    """The tables of a construction; of each word a place (table, scene, slot), and its lexeme's key (one's own may not be there yet)."""

    tables: tuple[SceneTable, ...]
    places: dict[Word, tuple[SceneTable, int, str]]
    keys: dict[Word, str]

    @classmethod
    def resolve(cls, tables: Iterable[SceneTable], lexicon: "Lexicon") -> "Scenes":
        """Find the lexemes of all words; of one without a sense such as its pin asks for, the error names line and column."""
        tables = tuple(tables)
        scenes = cls(tables, {word: (table, number, slot) for table in tables for word, number, slot in table.words()}, {})
        senses = lexicon.senses(lemma for lemma, _, _ in scenes.places) if scenes.places else {}
        for word, (table, number, slot) in scenes.places.items():
            try:
                scenes.keys[word] = sense_of(word, senses, lexicon)
            except CxgenError as error:
                raise _wrong(f"column {slot}: {error.message}", table.path, table.line((number,)), error.hint) from None
        return scenes

    @cached_property
    def frames(self) -> list[Frame]:
        """All scenes, with their words as keys of lexemes; two with the same id are an error."""
        frames: dict[str, Frame] = {}
        for table, number, scene in ((one, *numbered) for one in self.tables for numbered in enumerate(one.scenes)):
            cells, slots, name = scene.cells, {}, scene.cells["id"][0]
            if name in frames:
                first = frames[name]
                where = "" if first.source.path == table.path else f" in {first.source.path}"
                raise _wrong(
                    f"there is a scene {name!r} already{where}, line {first.scene.line}", table.path, scene.line, "give it another id"
                )
            for slot, texts in scene.slots.items():
                slots[slot] = tuple(text[1:] if text[0] == "@" else self.keys[_as_word(text, scene.types[slot])] for text in texts)
            marked = frozenset(self.keys.get(_as_word(text, "verb"), text) for text in cells.get("marked", ()))
            alone = frozenset(_as_word(text, "verb")[0] for text in cells.get("entails_alone", ()))
            frames[name] = Frame(name, tuple(cells["designs"]), slots, scene.words, table, number, marked, alone)
        return list(frames.values())


def sense_of(word: Word, senses: Senses, lexicon: "Lexicon") -> str:
    """The key of the lexeme that a word of a scene is: WordNet's first sense of its type; ``own:POS:LEMMA`` if it has none at all."""
    lemma, pos, pin = word
    if pos in {"phrase", "name"}:
        return f"{pos}:{lemma}"
    keys = senses.get((lemma.lower(), pos), [])
    if pin == "own" or not keys:
        return next((key for key in lexicon.known(lemma, pos) if pin != "own"), f"own:{pos}:{lemma}")
    for key in keys:
        if not pin or fits(key, pin):
            return key
    pins = dict.fromkeys(lexfile(key).partition(".")[2] for key in keys)
    raise UnknownNameError(f"{lemma!r} has no sense {pin!r}", hint=f"write {' or '.join(f'{lemma}~{pin}' for pin in (*pins, 'own'))}")


def gender_of(pin: str) -> str | None:
    """The gender of a word that no lexicon has, from the types of its column: somebody is he or she."""
    kinds = pin.split("/")
    return "any" if "person" in kinds and "artifact" not in kinds else None


def _as_word(text: str, kind: str) -> Word:
    """A word of a cell whose column has words of ``kind``; its own ``~PIN``, a part of speech or a sense, wins."""
    lemma, _, pin = text.partition("~")
    if pin in POS:
        return lemma, pin, ""
    return (lemma, kind, pin) if kind in POS else (lemma, "noun", pin or kind)


def _wrong(message: str, path: Path, line: int, hint: str = _HINT) -> SchemaError:
    return SchemaError(message, file=path, line=line, hint=hint)


def read_scenes(path: Path) -> SceneTable:
    """Read a table of scenes; whatever is wrong with its form is told with line and column."""
    text = read_text(path, error=SchemaError)
    if odd := _UNSAYABLE.search(text):
        raise _wrong(f"{odd[0]!r}, which no sentence has", path, text.count("\n", 0, odd.start()) + 1, "delete it")
    columns: dict[str, str] = {}
    sets: dict[str, dict[str, str]] = {}
    scenes = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.split("\t")]
        if not line.strip() or line.startswith("#"):
            continue
        if spaces := re.search(r"[^\s|.]{1,40} {2,}[^\s|]{1,40}", line) or (len(cells) == 1 and re.search(r"\S+ \S+", line)):
            hint = "divide cells by tabs: many editors put spaces in their place when the tab key is pressed"
            raise _wrong(f"spaces between two cells, where a tab should be: {spaces[0]!r}", path, number, hint)
        if cells[0] == "words":
            _, name, pairs, *_ = [*cells, "", ""]
            sets[name] = dict(_pairs(pairs, path, number))
        elif cells[0] == "id":
            columns = _columns(cells, path, number)
        else:
            scenes.append(_scene(cells, columns, sets, path, number))
    return SceneTable(path, {}, text, scenes=tuple(scenes))


def _columns(cells: list[str], path: Path, line: int) -> dict[str, str]:
    """Column -> what its words are."""
    columns: dict[str, str] = {}
    for name, _, kind in (cell.partition(":") for cell in cells):
        if not name or name in columns:
            raise _wrong(f"the column {name!r} stands there twice" if name else "a column without a name", path, line)
        if kind and kind not in POS and not set(kind.split("/")) <= NOUNS:
            hint = f"{', '.join(POS)}; or of nouns, with / between them, {', '.join(sorted(NOUNS))}"
            raise _wrong(f"column {name}: unknown type {kind!r}", path, line, hint)
        columns[name] = kind or "noun"
    return columns


def _scene(cells: list[str], columns: dict[str, str], sets: dict[str, dict[str, str]], path: Path, line: int) -> Scene:
    if len(cells) > len(columns):
        raise _wrong(f"{len(cells)} cells under {len(columns)} columns" if columns else "no row above names the columns", path, line)
    parts = {column: [part.strip() for part in cell.split(" | ")] for column, cell in zip(columns, cells, strict=False) if cell}
    for column, texts in parts.items():
        if not {"", "@", "~"}.isdisjoint(texts):
            raise _wrong(f"column {column}: an empty word", path, line, "write `one | two | three`")
        if odd := next(
            (text for text in texts if column not in ABOUT and columns[column] in _PLAIN and re.search(r"[|,;]|.{100}", text)), ""
        ):
            hint = "write `one | two | three`: a space before and behind each mark"
            raise _wrong(f"column {column}: {odd!r} is no word", path, line, hint)
    for column in ("id", "designs"):
        if column not in parts:
            raise _wrong(f"column {column}: empty", path, line)
    if re.search(r"[\s/]", cells[0]):  # its clauses are known by it
        raise _wrong(f"column id: a blank or / in {cells[0]!r}", path, line, "join its words with hyphens, and divide cells by tabs")
    words: dict[str, str] = {}
    for part in parts.get("words", ()):
        if "=" not in part and part not in sets:
            raise _wrong(f"column words: no set of words {part!r}", path, line, f"known: {', '.join(sets) or 'none'}; or write KEY=TEXT")
        words.update(dict(_pairs(part, path, line)) if "=" in part else sets[part])
    return Scene(line, parts, columns, dict(sorted(words.items())))


def table_lines(cells: Mapping[str, Iterable[str]], types: Mapping[str, str]) -> tuple[str, str]:
    """The two lines of a table that hold a scene: that with its columns, and its own."""
    columns = (name if types.get(name, "noun") == "noun" else f"{name}:{types[name]}" for name in cells)
    return "\t".join(columns), "\t".join(" | ".join(texts) for texts in cells.values())


def _pairs(text: str, path: Path, line: int) -> Iterator[tuple[str, str]]:
    for part in text.split(" | "):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise _wrong(f"{part!r} is no KEY=TEXT", path, line, "such as into=into | out=out of")
        if value not in OF_NOUNS.get(key, (value,)):
            raise _wrong(f"{key}={value}, which no noun can have", path, line, f"write {key}={f' or {key}='.join(OF_NOUNS[key])}")
        yield key, value
