"""Curated words in YAML: class files, frame files and overrides of a ``lexicons/`` folder, and what a template file brings of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from cxgen.errors import SchemaError
from cxgen.schema import Document, read_yaml
from cxgen.vocabulary import INFLECTIONS, RELATIONS

Keys = tuple[str | int, ...]
_SENSE_POS = {"1": "noun", "2": "verb", "3": "adjective", "4": "adverb", "5": "adjective"}
_CHANGES = (*INFLECTIONS, "article", "countability")
_LONGEST = 50  # classes that extend one another
_SECTIONS = {"verbs": "verb", "nouns": "noun", "adjectives": "adjective", "adverbs": "adverb", "phrases": "phrase"}  # of a frame


@dataclass(frozen=True)
class Member:
    """A word as a file names it.

    Attributes:
        key: the lexeme: a sense key, ``own:POS:LEMMA`` for a word without one, or ``phrase:`` / ``name:`` and its text.
        pos: its part of speech.
        lemma: as declared; empty if the file says only the key.
        sense: the WordNet sense key, if it has one.
        gender: m, f or any, of a person.
        changes: inflected forms, article and countability that are stated.
        document, keys: where it stands.
    """

    key: str
    pos: str
    lemma: str
    sense: str | None
    gender: str | None
    changes: dict[str, str]
    document: Document
    keys: Keys

    @property
    def line(self) -> int:
        """The line on which it stands."""
        return self.document.line(self.keys)


@dataclass(frozen=True)
class ClassEntry:
    """A class as a file declares it.

    Attributes:
        gloss: what its members have in common.
        extends: a class whose members it has, too, before its own; its own name if it adds to that class; or empty.
        members: in order, each once, the extended ones last.
        extended: keys of those whose own meaning does not hold that of the construction.
        rejected: sense keys that were considered and refused.
        document: the file.
    """

    name: str
    pos: str
    gloss: str
    extends: str
    members: tuple[Member, ...]
    extended: frozenset[str]
    rejected: frozenset[str]
    document: Document

    @property
    def line(self) -> int:
        """The line on which it is declared."""
        return self.document.line(["classes", self.name])


@dataclass
class Sources:
    """Everything that was curated.

    Attributes:
        classes: by name.
        relations: lexeme key -> relation -> lexeme keys.
        frames: construction -> raw frames, the words declared in them replaced by their keys, with the file and the number in it.
        words: the words declared in frames.
        senses: the sense keys that frames name.
        plain: the words that frames name by lemma and part of speech only, with the list and the place in it where their key belongs.
        overrides: part of speech -> lemma -> forms.
        documents: every file read, in order.
    """

    classes: dict[str, ClassEntry] = field(default_factory=dict)
    relations: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    frames: dict[str, list[tuple[dict[str, Any], Document, int]]] = field(default_factory=dict)
    words: list[Member] = field(default_factory=list)
    senses: list[Member] = field(default_factory=list)
    plain: list[tuple[Member, list[str], int]] = field(default_factory=list)
    overrides: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    documents: list[Document] = field(default_factory=list)

    def add(self, document: Document, construction: str) -> None:
        """Take classes, relations and frames (those of ``construction``) from a file that its schema allows.

        Raises:
            SchemaError: a class is declared twice, or a member is of another part of speech than its class.
        """
        self.documents.append(document)
        for name, raw in document.data.get("classes", {}).items():
            entry = _class(name, raw, document)
            if name in self.classes:
                first = self.classes[name].document.path.name
                message = f"class {name!r} is declared twice (first in {first})"
                raise SchemaError(message, file=document.path, line=entry.line, hint="rename or merge")
            self.classes[name] = entry
        for section in ("properties", "scales"):
            self._relate(document.data.get(section, ()))
        for number, raw in enumerate(document.data.get("frames", ())):
            self.frames.setdefault(construction, []).append((self._frame(raw, document, number), document, number))

    def _relate(self, entries: Sequence[Mapping[str, Any]]) -> None:
        for entry in entries:
            known = self.relations.setdefault(entry["sense"], {})
            for relation in RELATIONS:
                merged = known.setdefault(relation, [])
                merged.extend(value for value in entry.get(relation, []) if value not in merged)

    def _frame(self, raw: dict[str, Any], document: Document, number: int) -> dict[str, Any]:
        """``raw`` with all its words under ``slots``."""
        slots: dict[str, Any] = {}
        for slot, value in raw.get("slots", {}).items():
            filled = []
            for name, keys in fillers(value, ("frames", number, "slots", slot)):
                if isinstance(name, str):
                    filled.append(name)
                    if "%" in name:
                        self.senses.append(_member(name, "", document, keys))
                    continue
                word = _member(name, "", document, keys)
                self.words.append(word)
                filled.append(word.key)
            slots[slot] = filled if isinstance(value, list) else filled[0]
        for section, pos in _SECTIONS.items():
            for slot, value in raw.get(section, {}).items():
                if slot in slots:
                    line = document.line(["frames", number, section, slot])
                    message = f"frame {raw['name']!r} fills the slot {slot!r} twice"
                    raise SchemaError(message, file=document.path, line=line, hint="put all its words into one section")
                slots[slot] = self._plain(value, pos, document, ("frames", number, section, slot))
        return {**{key: value for key, value in raw.items() if key not in _SECTIONS}, "slots": slots}

    def _plain(self, value: Any, pos: str, document: Document, keys: Keys) -> list[str]:
        """Places for the keys of words of which lemma and part of speech are known; `settle` fills them."""
        found: list[str] = []
        for name, at in fillers(value, keys):
            raw = name if isinstance(name, dict) else {"text" if pos == "phrase" else "lemma": name}
            word = _member(raw if "text" in raw else {"pos": pos, **raw}, pos, document, at)
            self.plain.append((word, found, len(found)))
            found.append(word.key)
        return found

    def settle(self, find: Callable[[str, str], str | None]) -> None:
        """Decide which lexemes the plain words of the frames are.

        Args:
            find: (lemma, part of speech) -> the key of the lexeme that is meant; None where there is none, and the word is one's own.
        """
        for word, filled, place in self.plain:
            key = None if word.sense else find(word.lemma, word.pos)
            known = replace(word, key=key) if key else word
            filled[place] = known.key
            self.words.append(known)
        self.plain.clear()

    def chain(self, name: str) -> list[ClassEntry]:
        """A class that is declared here, and those that it extends, here: itself first.

        Raises:
            SchemaError: classes extend one another in a circle.
        """
        found: list[ClassEntry] = []
        while name in self.classes:
            entry = self.classes[name]
            if any(entry is other for other in found) or len(found) == _LONGEST:
                message = f"class {found[0].name!r} extends itself by way of {name!r}"
                if len(found) == _LONGEST:
                    message = f"class {found[0].name!r} extends more than {_LONGEST} classes, one by way of the other"
                raise SchemaError(message, file=found[0].document.path, line=found[0].line, hint="break the circle")
            found.append(entry)
            name = "" if entry.extends == name else entry.extends
        return found

    def members(self, name: str) -> tuple[Member, ...]:
        """The members of a class that is declared here, those of the classes that it extends, here, first."""
        return tuple({member.key: member for entry in reversed(self.chain(name)) for member in entry.members}.values())

    def stated(self, key: str) -> dict[str, str]:
        """The forms, article and countability that the files state for a lexeme, later ones win."""
        return self._stated.get(key, {})

    @cached_property
    def _stated(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        for member in self.declared():
            if member.changes:
                found[member.key] = found.get(member.key, {}) | member.changes
        return found

    def declared(self) -> Iterator[Member]:
        """Every member of a class, as often as it is one, and every word declared in a frame."""
        for entry in self.classes.values():
            yield from entry.members
        yield from self.words


def fillers(value: Any, keys: Keys) -> Iterator[tuple[Any, Keys]]:
    """What stands in a slot, one or a list, each with the keys under which it stands."""
    if isinstance(value, list):
        yield from ((one, (*keys, number)) for number, one in enumerate(value))
    else:
        yield value, keys


def read_sources(folder: Path) -> Sources:
    """Read ``classes/*.yaml`` and ``overrides.yaml`` below ``folder``, as far as they are there.

    Raises:
        SchemaError: a file breaks its schema, two files declare the same class, or a member is of another part of speech than its class.
    """
    sources = Sources()
    for path in sorted((folder / "classes").glob("*.yaml")):
        sources.add(read_yaml(path, "classes"), "")
    for path in sorted((folder / "frames").glob("*.yaml")):
        hint = "write a line a scene, in words as the shipped tables have them; `cxgen check scenes FILE` looks at it"
        raise SchemaError(f"scenes stand in {folder / 'scenes'}/NAME.tsv now", file=path, hint=hint)
    if (folder / "overrides.yaml").exists():
        sources.overrides = read_yaml(folder / "overrides.yaml", "overrides").data
    return sources


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


def _class(name: str, raw: Mapping[str, Any], document: Document) -> ClassEntry:
    found: dict[str, Member] = {}
    extended: set[str] = set()
    for section in ("members", "extended"):
        for number, one in enumerate(raw.get(section, ())):
            member = _member(one, raw["pos"], document, ("classes", name, section, number))
            found.setdefault(member.key, member)
            if section == "extended":
                extended.add(member.key)
    rejected = frozenset(raw.get("rejected", ()))
    return ClassEntry(
        name, raw["pos"], raw.get("gloss", ""), raw.get("extends", ""), tuple(found.values()), frozenset(extended), rejected, document
    )


def _member(raw: str | Mapping[str, Any], pos: str, document: Document, keys: Keys) -> Member:
    """A word of a class, whose part of speech is ``pos``, or of a frame (``pos`` empty: it must say so itself)."""
    if isinstance(raw, str):
        raw = {"sense": raw} if "%" in raw else {"key": raw}
    sense = raw.get("sense")
    if "text" in raw:
        key, lemma = f"{'name' if 'gender' in raw else 'phrase'}:{raw['text']}", raw["text"]
    else:
        lemma = raw.get("lemma", "")
        key = sense or raw.get("key") or f"own:{raw.get('pos', pos)}:{lemma}"
    named, own = lemma_of(key)
    if "lemma" in raw and named.lower() != lemma.lower():
        raise SchemaError(f"{key} is not a sense of {lemma!r}", file=document.path, line=document.line(keys), hint="change one of them")
    for stated in (raw.get("pos"), pos):
        if stated and stated != own:
            raise SchemaError(
                f"{key} is a {own}, not a {stated}",
                file=document.path,
                line=document.line(keys),
                hint="give a word of the class's part of speech, or another part of speech",
            )
    changes = {name: raw[name] for name in _CHANGES if name in raw}
    return Member(key, own, lemma, sense, raw.get("gender"), changes, document, keys)
