"""Word classes in YAML: ``lexicons/classes/*.yaml``, ``classes:`` of a template file; and a lexicon with them added."""

import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import SchemaError
from cxgen.files import listed
from cxgen.lexicon.scenes import FOLDER, gender_of
from cxgen.lexicon.snapshot import Lexicon, StatedForms, WordClass, missing
from cxgen.lexicon.words import SCHEMA, Reference, blank, inflect, lemma_of, measure
from cxgen.schema import Document, read_yaml
from cxgen.vocabulary import INFLECTIONS, RELATIONS

_CHANGES = (*INFLECTIONS, "article", "countability", "gender")
_Overrides = dict[str, dict[str, dict[str, str]]]  # part of speech -> lemma -> forms, article, countability
_Row = dict[str, Any]


@dataclass(frozen=True)
class Member:
    """A word as a file names it: its key, lemma (empty where only the key is said), forms etc. as stated, ``keys`` to it in the file."""

    key: str
    lemma: str
    sense: str | None
    changes: dict[str, str]
    document: Document
    keys: tuple[str | int, ...]


@dataclass(frozen=True)
class ClassEntry:
    """A class as a file declares it, after the members of the one that it ``extends``."""

    name: str
    pos: str
    gloss: str
    extends: str
    members: tuple[Member, ...]
    rejected: frozenset[str]
    document: Document

    def wrong(self, message: str, hint: str) -> SchemaError:
        """An error on the line of the class."""
        return self.document.wrong(("classes", self.name), message, hint)


@dataclass
class Sources:
    """What was curated: classes by name, relations of lexemes (key -> relation -> keys), words of scenes, overrides, the files read."""

    classes: dict[str, ClassEntry] = field(default_factory=dict)
    relations: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    words: list[Member] = field(default_factory=list)
    overrides: _Overrides = field(default_factory=dict)
    stated_forms: list[StatedForms] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)

    def add(self, document: Document) -> None:
        """Take classes and relations from a file that its schema allows; a class that is declared twice is an error."""
        self.documents.append(document)
        for name, raw in document.data.get("classes", {}).items():
            entry = _class(name, raw, document)
            first = self.classes.setdefault(name, entry)
            if first is not entry:
                raise entry.wrong(f"class {name!r} is declared twice (first in {first.document.path.name})", "rename or merge")
        for raw in (*document.data.get("properties", ()), *document.data.get("scales", ())):
            _relate(self.relations.setdefault(raw["sense"], {}), {relation: raw.get(relation, []) for relation in RELATIONS})

    def chain(self, name: str) -> list[ClassEntry]:
        """A class that is declared here, and those that it extends, here: itself first."""
        entries: list[ClassEntry] = []
        while name in self.classes:
            entry = self.classes[name]
            if entry in entries:
                raise entry.wrong(f"class {name!r} extends itself by way of {entries[-1].name!r}", "break the circle")
            entries.append(entry)
            name = "" if entry.extends == name else entry.extends
        return entries

    def members(self, name: str) -> tuple[Member, ...]:
        """The members of a class that is declared here, those of the classes that it extends, here, first."""
        return tuple({member.key: member for entry in reversed(self.chain(name)) for member in entry.members}.values())

    @property
    def declared(self) -> list[Member]:
        """Every member of a class, as often as it is one, and every word of a scene."""
        return [*(member for entry in self.classes.values() for member in entry.members), *self.words]

    @cached_property
    def stated(self) -> dict[str, dict[str, str]]:
        """Lexeme key -> the forms, article, countability and gender that the files state; later ones win."""
        stated: dict[str, dict[str, str]] = defaultdict(dict)
        for member in self.declared:
            stated[member.key].update(member.changes)
        return dict(stated)


def read_sources(folder: Path) -> Sources:
    """Read ``classes/*.yaml`` and ``overrides.yaml`` below ``folder``, as far as they are there."""
    sources = Sources()
    for path in listed(folder / "classes", ".yaml"):
        sources.add(read_yaml(path, "classes"))
    for path in listed(folder / "frames", ".yaml"):
        hint = "write a line a scene, in words as the shipped tables have them; `cxgen check scenes FILE` looks at it"
        raise SchemaError(f"scenes stand in {folder / FOLDER}/NAME.tsv now", file=path, hint=hint)
    if os.path.lexists(folder / "overrides.yaml"):
        document = read_yaml(folder / "overrides.yaml", "overrides")
        sources.overrides = document.data
        every = ((pos, lemma, forms) for pos, lemmas in document.data.items() for lemma, forms in lemmas.items())
        sources.stated_forms = [(lemma, pos, forms, (document, [pos, lemma])) for pos, lemma, forms in every]
    return sources


def _relate(row: _Row, relations: Mapping[str, list[str]]) -> None:
    """Add relations to those of a row."""
    for relation, keys in relations.items():
        row[relation] = list(dict.fromkeys([*row.get(relation, ()), *keys]))


def _class(name: str, raw: Mapping[str, Any], document: Document) -> ClassEntry:
    members: dict[str, Member] = {}
    for number, word in enumerate(raw.get("members", ())):
        member = _member(word, raw["pos"], document, ("classes", name, "members", number))
        members.setdefault(member.key, member)
    rejected = frozenset(raw.get("rejected", ()))
    return ClassEntry(name, raw["pos"], raw.get("gloss", ""), raw.get("extends", ""), tuple(members.values()), rejected, document)


def _member(raw: str | Mapping[str, Any], pos: str, document: Document, keys: tuple[str | int, ...]) -> Member:
    """A word of a class, whose part of speech is ``pos``."""
    if isinstance(raw, str):
        raw = {"sense" if "%" in raw else "key": raw}
    if "text" in raw:
        key, lemma = f"{'name' if 'gender' in raw else 'phrase'}:{raw['text']}", raw["text"]
    else:
        lemma = raw.get("lemma", "")
        key = raw.get("sense") or raw.get("key") or f"own:{raw.get('pos', pos)}:{lemma}"
    named, own = lemma_of(key)
    if "lemma" in raw and named.lower() != lemma.lower():
        raise document.wrong(keys, f"{key} is not a sense of {lemma!r}", "change one of them")
    if wrong := {raw.get("pos", pos), pos} - {own}:
        hint = "give a word of the class's part of speech, or another part of speech"
        raise document.wrong(keys, f"{key} is a {own}, not a {min(wrong)}", hint)
    return Member(key, lemma, raw.get("sense"), {name: raw[name] for name in _CHANGES if name in raw}, document, keys)


def extended(lexicon: Lexicon, sources: Sources, construction: str = "") -> Lexicon:
    """``lexicon`` with what ``sources`` declare and the words of the scenes of ``construction``; the same object if that adds nothing.

    New lexemes come after all others, so that no row number changes. A class that ``extends`` another has that one's members, too; if it
    has the same name, it takes its place. Needs neither WordNet nor a build.
    """
    scenes = {construction: lexicon.scenes(construction)} if construction else {}
    for word, key in scenes[construction].keys.items() if construction else ():
        if key not in lexicon.index:
            (lemma, _, pin), (source, number, _) = word, scenes[construction].places[word]
            changes = {"gender": gender} if (gender := gender_of(pin)) else {}
            sources.words.append(Member(key, lemma, key if "%" in key else None, changes, source, (number,)))
    if not (sources.classes or sources.overrides or sources.relations or sources.words):
        return lexicon
    members = (member for member in sources.declared if member.changes)
    sources.stated_forms += [(*lemma_of(member.key), member.changes, (member.document, [*member.keys])) for member in members]
    sources.overrides = {pos: dict(lemmas) for pos, lemmas in sources.overrides.items()}
    for member in (one for entry in sources.classes.values() for one in entry.members if one.key.startswith("own:") and one.changes):
        forms = {name: form for name, form in member.changes.items() if name in INFLECTIONS}  # whichever sense of it a scene takes
        sources.overrides.setdefault(lemma_of(member.key)[1], {})[member.lemma] = forms
    for lemma, _, said, (document, keys) in sources.stated_forms:
        if odd := [form for form in said.values() if not form.isprintable() or form != form.strip()]:
            raise document.wrong(keys, f"{odd[0]!r} is no form of {lemma}", "letters, without line breaks and blanks at its ends")
    own, theirs = sources.overrides, lexicon.overrides
    overrides = {pos: theirs.get(pos, {}) | own.get(pos, {}) for pos in (*theirs, *own)}
    new, changed = _new_rows(lexicon, sources, overrides), _changed_rows(lexicon, sources)
    index = lexicon.index | {key: len(lexicon) + number for number, key in enumerate(new)}
    for key, relations in sources.relations.items():
        for unknown in sorted({key, *(other for keys in relations.values() for other in keys)} - index.keys()):
            document = next(document for document in sources.documents if unknown in document.text)
            line, hint = document.line_with(unknown), "declare it as a member of a class"
            raise SchemaError(f"{unknown} is not in the lexicon", file=document.path, line=line, hint=hint)
        _relate(new.get(key) or changed.setdefault(key, lexicon.row(key)), relations)
    made, others = (pl.DataFrame(list(rows.values()), schema=SCHEMA) for rows in (new, changed))
    table = lexicon.table.update(others, on="key", how="left", maintain_order="left") if changed else lexicon.table
    classes = lexicon.classes | {name: _word_class(entry, lexicon, sources, index) for name, entry in sources.classes.items()}
    stated, whole = (*lexicon.stated_forms, *sources.stated_forms), pl.concat([table, made])
    return replace(lexicon, table=whole, classes=classes, overrides=overrides, known_scenes=scenes, stated_forms=stated)


def _new_rows(lexicon: Lexicon, sources: Sources, overrides: _Overrides) -> dict[str, _Row]:
    """The rows of declared words that ``lexicon`` does not hold, by key, in the order of the files."""
    declared: dict[str, list[Member]] = defaultdict(list)
    for member in sources.declared:
        if member.key not in lexicon.index:
            declared[member.key].append(member)
    wordnet = {key for keys in lexicon.senses(lemma_of(key)[0] for key in declared if "%" in key).values() for key in keys}
    reference, rows = Reference(lexicon.memory), dict[str, _Row]()
    for key, members in declared.items():
        named = next((member for member in members if member.lemma), None)
        if named is None and key not in wordnet:
            raise missing(lexicon, key, members[0].document.path, members[0].document.line(members[0].keys))
        lemma, pos = lemma_of(key)
        sense = named.sense if named else key
        row = blank(key, named.lemma if named else lemma, pos, sense or (key if key.startswith("own:") else None))
        stated = sources.stated.get(key, {})
        row["gender"] = stated.get("gender")
        inflect(row, overrides.get(pos, {}).get(row["lemma"], {}) | stated, reference)
        measure(row, lexicon.cuts, reference)
        rows[key] = row
    reference.save()
    return rows


def _changed_rows(lexicon: Lexicon, sources: Sources) -> dict[str, _Row]:
    """The rows of ``lexicon`` for which a member states a gender or form, or the overrides one, by key."""
    changes: dict[str, dict[str, str]] = defaultdict(dict)
    for pos, lemmas in sources.overrides.items():
        for lemma, forms in lemmas.items():
            for key in lexicon.known(lemma, pos):
                changes[key].update(forms)
    for key in filter(lexicon.index.__contains__, sources.stated):
        changes[key].update(sources.stated[key])
    rows = {}
    for key, stated in changes.items():
        row = lexicon.row(key)
        mass = stated.get("countability", "count") != "count"
        values = row | ({"plural": row["lemma"]} if mass else {}) | stated
        if values != row:
            rows[key] = values
    return rows


def _word_class(entry: ClassEntry, lexicon: Lexicon, sources: Sources, index: Mapping[str, int]) -> WordClass:
    last = sources.chain(entry.name)[-1]
    base = lexicon.classes.get(last.extends)
    if last.extends and base is None:
        raise missing(lexicon, last.extends, last.document.path, last.document.line(("classes", last.name, "extends")))
    if base is not None and base.pos != entry.pos:
        message = f"class {entry.name!r} of {entry.pos}s extends {base.name!r} of {base.pos}s"
        raise entry.wrong(message, "give both the same part of speech")
    if not entry.extends and entry.name in lexicon.classes:
        hint = f"say `extends: {entry.name}` to add members to it, or take another name"
        raise entry.wrong(f"the lexicon has a class {entry.name!r}", hint)
    ids = [*(base.ids if base else ()), *(index[member.key] for member in sources.members(entry.name))]
    return WordClass(entry.name, entry.pos, tuple(dict.fromkeys(ids)), entry.gloss or (base.gloss if base else ""))
