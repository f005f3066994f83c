"""Word classes in YAML: ``lexicons/classes/*.yaml``, ``classes:`` of a template file; and a lexicon with them added."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import SchemaError
from cxgen.lexicon.scenes import FOLDER, Scenes
from cxgen.lexicon.snapshot import Lexicon, WordClass, missing
from cxgen.lexicon.words import SCHEMA, Reference, blank, inflect, lemma_of, measure
from cxgen.schema import Document, read_yaml
from cxgen.vocabulary import INFLECTIONS, RELATIONS

_CHANGES = (*INFLECTIONS, "article", "countability")


@dataclass(frozen=True)
class Member:
    """A word as a file names it.

    ``key`` is a sense key, ``own:POS:LEMMA`` for a word without one, or ``phrase:`` / ``name:`` and its text; ``lemma`` is empty where only
    the key is said; ``changes`` are the forms, article, countability and gender that are stated; ``keys`` lead to it in ``document``.
    """

    key: str
    pos: str
    lemma: str
    sense: str | None
    changes: dict[str, str]
    document: Document
    keys: tuple[str | int, ...]

    @property
    def line(self) -> int:
        """The line on which it stands."""
        return self.document.line(self.keys)


@dataclass(frozen=True)
class ClassEntry:
    """A class as a file declares it.

    ``extends`` names a class whose members it has, too, before its own (its own name if it adds to that class); ``extended`` are the keys
    of members whose own meaning does not hold that of the construction; ``rejected`` sense keys that were considered and refused.
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
    """What was curated: classes by name, relations of lexemes (key -> relation -> keys), words of scenes, overrides, the files read."""

    classes: dict[str, ClassEntry] = field(default_factory=dict)
    relations: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    words: list[Member] = field(default_factory=list)
    overrides: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    documents: list[Document] = field(default_factory=list)

    def add(self, document: Document) -> None:
        """Take classes and relations from a file that its schema allows; a class that is declared twice is an error."""
        self.documents.append(document)
        for name, raw in document.data.get("classes", {}).items():
            entry = _class(name, raw, document)
            if name in self.classes:
                first = self.classes[name].document.path.name
                message = f"class {name!r} is declared twice (first in {first})"
                raise SchemaError(message, file=document.path, line=entry.line, hint="rename or merge")
            self.classes[name] = entry
        for raw in (*document.data.get("properties", ()), *document.data.get("scales", ())):
            related = self.relations.setdefault(raw["sense"], {})
            for relation in RELATIONS:
                related[relation] = list(dict.fromkeys([*related.get(relation, ()), *raw.get(relation, ())]))

    def chain(self, name: str) -> list[ClassEntry]:
        """A class that is declared here, and those that it extends, here: itself first."""
        entries: list[ClassEntry] = []
        while name in self.classes:
            entry = self.classes[name]
            if entry in entries:
                message = f"class {entries[0].name!r} extends itself by way of {name!r}"
                raise SchemaError(message, file=entries[0].document.path, line=entries[0].line, hint="break the circle")
            entries.append(entry)
            name = "" if entry.extends == name else entry.extends
        return entries

    def members(self, name: str) -> tuple[Member, ...]:
        """The members of a class that is declared here, those of the classes that it extends, here, first."""
        return tuple({member.key: member for entry in reversed(self.chain(name)) for member in entry.members}.values())

    def declared(self) -> Iterator[Member]:
        """Every member of a class, as often as it is one, and every word of a scene."""
        for entry in self.classes.values():
            yield from entry.members
        yield from self.words

    @cached_property
    def stated(self) -> dict[str, dict[str, str]]:
        """Lexeme key -> the forms, article, countability and gender that the files state; later ones win."""
        stated: dict[str, dict[str, str]] = {}
        for member in self.declared():
            if member.changes:
                stated[member.key] = stated.get(member.key, {}) | member.changes
        return stated


def read_sources(folder: Path) -> Sources:
    """Read ``classes/*.yaml`` and ``overrides.yaml`` below ``folder``, as far as they are there."""
    sources = Sources()
    for path in sorted((folder / "classes").glob("*.yaml")):
        sources.add(read_yaml(path, "classes"))
    for path in sorted((folder / "frames").glob("*.yaml")):
        hint = "write a line a scene, in words as the shipped tables have them; `cxgen check scenes FILE` looks at it"
        raise SchemaError(f"scenes stand in {folder / FOLDER}/NAME.tsv now", file=path, hint=hint)
    if (folder / "overrides.yaml").exists():
        sources.overrides = read_yaml(folder / "overrides.yaml", "overrides").data
    return sources


def _class(name: str, raw: Mapping[str, Any], document: Document) -> ClassEntry:
    members: dict[str, Member] = {}
    extended: set[str] = set()
    for section in ("members", "extended"):
        for number, word in enumerate(raw.get(section, ())):
            member = _member(word, raw["pos"], document, ("classes", name, section, number))
            members.setdefault(member.key, member)
            if section == "extended":
                extended.add(member.key)
    gloss, extends, rejected = raw.get("gloss", ""), raw.get("extends", ""), frozenset(raw.get("rejected", ()))
    return ClassEntry(name, raw["pos"], gloss, extends, tuple(members.values()), frozenset(extended), rejected, document)


def _member(raw: str | Mapping[str, Any], pos: str, document: Document, keys: tuple[str | int, ...]) -> Member:
    """A word of a class, whose part of speech is ``pos``."""
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
    for stated in (raw.get("pos", pos), pos):
        if stated != own:
            message, hint = f"{key} is a {own}, not a {stated}", "give a word of the class's part of speech, or another part of speech"
            raise SchemaError(message, file=document.path, line=document.line(keys), hint=hint)
    changes = {name: raw[name] for name in (*_CHANGES, "gender") if name in raw}
    return Member(key, own, lemma, sense, changes, document, keys)


def extended(lexicon: Lexicon, sources: Sources, construction: str = "") -> Lexicon:
    """``lexicon`` with what ``sources`` declare and the words of the scenes of ``construction``; the same object if that adds nothing.

    New lexemes come after all others, so that no row number changes. A class that ``extends`` another has that one's members, too; if it
    has the same name, it takes its place. Needs neither WordNet nor a build.
    """
    if construction:
        sources.words += _words_of(lexicon.scenes(construction), lexicon)
    if not (sources.classes or sources.overrides or sources.relations or sources.words):
        return lexicon
    named = [member for member in sources.declared() if "%" in member.key and member.key not in lexicon.index]
    wordnet = {key for keys in lexicon.senses(lemma_of(member.key)[0] for member in named).values() for key in keys}
    sources.words += [replace(member, lemma=lemma_of(member.key)[0], sense=member.key) for member in named if member.key in wordnet]
    new, changed = _new_rows(lexicon, sources), _changed_rows(lexicon, sources)
    index = lexicon.index | {key: len(lexicon) + number for number, key in enumerate(new)}
    for key, relations in sources.relations.items():
        _check_related(key, relations, sources, index)
        row = new.get(key) or changed.setdefault(key, lexicon.row(key))
        for relation, others in relations.items():
            row[relation] = list(dict.fromkeys([*row[relation], *others]))
    table = lexicon.table
    if changed:
        table = table.update(pl.DataFrame(list(changed.values()), schema=SCHEMA), on="key", how="left", maintain_order="left")
    if new:
        table = pl.concat([table, pl.DataFrame(list(new.values()), schema=SCHEMA)])
    classes = lexicon.classes | {name: _word_class(entry, lexicon, sources, index) for name, entry in sources.classes.items()}
    scenes = {construction: lexicon.scenes(construction)} if construction else {}
    return replace(lexicon, table=table, classes=classes, overrides=_overrides(lexicon, sources), known_scenes=scenes)


def _words_of(scenes: Scenes, lexicon: Lexicon) -> list[Member]:
    """The words of scenes that the lexicon does not have."""
    words = {}
    for table in scenes.tables:
        for word, number, _ in table.words():
            (lemma, pos, pin), key = word, scenes.keys[word]
            if key not in lexicon.index:
                changes = {"gender": "any"} if "person" in pin.split("/") else {}
                words[key] = Member(key, pos, lemma, key if "%" in key else None, changes, table, (number,))
    return list(words.values())


def _new_rows(lexicon: Lexicon, sources: Sources) -> dict[str, dict[str, Any]]:
    """The rows of declared words that ``lexicon`` does not hold, by key, in the order of the files."""
    declared: dict[str, list[Member]] = defaultdict(list)
    for member in sources.declared():
        if member.key not in lexicon.index:
            declared[member.key].append(member)
    overrides, reference = _overrides(lexicon, sources), Reference(lexicon.memory)
    rows: dict[str, dict[str, Any]] = {}
    for key, members in declared.items():
        first = next((member for member in members if member.lemma), None)
        if first is None:
            raise missing(lexicon, key, members[0].document.path, members[0].line)
        row = blank(key, first.lemma, first.pos, first.sense or (key if key.startswith("own:") else None))
        stated = sources.stated.get(key, {})
        row["gender"] = stated.get("gender")
        inflect(row, overrides.get(first.pos, {}).get(first.lemma, {}) | stated, reference)
        measure(row, lexicon.cuts, reference)
        rows[key] = row
    reference.save()
    return rows


def _changed_rows(lexicon: Lexicon, sources: Sources) -> dict[str, dict[str, Any]]:
    """The rows of ``lexicon`` for which a member states a gender or form, or the overrides one, by key."""
    changes: dict[str, dict[str, str]] = {}
    if sources.overrides:
        for key, lemma, pos in lexicon.table.select("key", "lemma", "pos").iter_rows():
            if lemma in sources.overrides.get(pos, {}):
                changes[key] = dict(sources.overrides[pos][lemma])
    for key, stated in sources.stated.items():
        if key in lexicon.index:
            changes[key] = changes.get(key, {}) | stated
    rows = {}
    for key, stated in changes.items():
        row = lexicon.row(key)
        mass = stated.get("countability", "count") != "count"
        values = {"plural": row["lemma"], **stated} if mass else stated
        if any(row[name] != value for name, value in values.items()):
            rows[key] = {**row, **values}
    return rows


def _check_related(key: str, relations: Mapping[str, list[str]], sources: Sources, index: Mapping[str, int]) -> None:
    for other in (key, *(value for values in relations.values() for value in values)):
        if other not in index:
            document = next(document for document in sources.documents if other in document.text)
            line, hint = document.line_with(other), "declare it as a member of a class"
            raise SchemaError(f"{other} is not in the lexicon", file=document.path, line=line, hint=hint)


def _word_class(entry: ClassEntry, lexicon: Lexicon, sources: Sources, index: Mapping[str, int]) -> WordClass:
    chain = sources.chain(entry.name)
    last = chain[-1]
    base = lexicon.classes.get(last.extends)
    if last.extends and base is None:
        raise missing(lexicon, last.extends, last.document.path, last.document.line(["classes", last.name, "extends"]))
    if base is not None and base.pos != entry.pos:
        message = f"class {entry.name!r} of {entry.pos}s extends {base.name!r} of {base.pos}s"
        raise SchemaError(message, file=entry.document.path, line=entry.line, hint="give both the same part of speech")
    if not entry.extends and entry.name in lexicon.classes:
        message = f"the lexicon has a class {entry.name!r}"
        hint = f"say `extends: {entry.name}` to add members to it, or take another name"
        raise SchemaError(message, file=entry.document.path, line=entry.line, hint=hint)
    ids = [*(base.ids if base else ()), *(index[member.key] for member in sources.members(entry.name))]
    held = frozenset(index[key] for link in chain for key in link.extended) | (base.extended if base else frozenset())
    return WordClass(entry.name, entry.pos, tuple(dict.fromkeys(ids)), held, entry.gloss or (base.gloss if base else ""))


def _overrides(lexicon: Lexicon, sources: Sources) -> dict[str, dict[str, dict[str, str]]]:
    """Those of both, lemma by lemma; the sources' win."""
    return {pos: lexicon.overrides.get(pos, {}) | sources.overrides.get(pos, {}) for pos in (*lexicon.overrides, *sources.overrides)}
