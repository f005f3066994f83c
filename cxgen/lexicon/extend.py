"""A lexicon with words, classes and frames of a project or of a template file added. Needs neither WordNet nor a build."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import polars as pl

from cxgen.errors import SchemaError
from cxgen.lexicon.frames import Frame
from cxgen.lexicon.names import missing
from cxgen.lexicon.reference import Reference
from cxgen.lexicon.rows import SCHEMA, blank, inflect, measure
from cxgen.lexicon.scenes import Scenes, sense_of
from cxgen.lexicon.snapshot import Lexicon, WordClass
from cxgen.lexicon.sources import ClassEntry, Member, Sources, lemma_of


def extended(lexicon: Lexicon, sources: Sources, construction: str = "") -> Lexicon:
    """``lexicon`` with what ``sources`` declare, and the words of the scenes of ``construction``; the same object if that adds nothing.

    New lexemes come after all others, so that no row number changes. A class that ``extends`` another has that one's members, too; if it
    has the same name, it takes its place.

    Raises:
        SchemaError: a member is in neither, a relation names a word that is in neither, a class has the name of another
            without extending it, or a frame's name is taken.
    """
    if construction:
        sources.words += _words_of(lexicon.scenes(construction), lexicon)
    if not (sources.classes or sources.frames or sources.overrides or sources.relations or sources.words):
        return lexicon
    named = [member for member in (*sources.senses, *sources.declared()) if "%" in member.key and member.key not in lexicon.index]
    senses = lexicon.senses([*(word.lemma for word, _, _ in sources.plain), *(lemma_of(member.key)[0] for member in named)])
    sources.settle(lambda lemma, pos: sense_of((lemma, pos, ""), senses, lexicon))
    wordnet = {key for keys in senses.values() for key in keys}
    sources.words += [replace(member, lemma=lemma_of(member.key)[0], sense=member.key) for member in named if member.key in wordnet]
    new = _new_rows(lexicon, sources)
    changed = _changed_rows(lexicon, sources)
    index = lexicon.index | {key: len(lexicon) + number for number, key in enumerate(new)}
    _check_relations(sources, index)
    for key, relations in sources.relations.items():
        row = new.get(key) or changed.setdefault(key, lexicon.row(key))
        for relation, others in relations.items():
            row[relation] = [*row[relation], *(other for other in others if other not in row[relation])]
    classes = lexicon.classes | {name: _word_class(entry, lexicon, sources, index) for name, entry in sources.classes.items()}
    table = lexicon.table if not changed else _replace(lexicon, changed)
    if new:
        table = pl.concat([table, pl.DataFrame(list(new.values()), schema=SCHEMA)])
    frames = _frames(lexicon, sources)
    scenes = {construction: lexicon.scenes(construction)} if construction else {}
    return Lexicon(table, classes, frames, lexicon.cuts, _overrides(lexicon, sources), lexicon.memory, lexicon.folders, scenes)


def _words_of(scenes: Scenes, lexicon: Lexicon) -> list[Member]:
    """The words of scenes that the lexicon does not have."""
    words = {}
    for table in scenes.tables:
        for word, number, _ in table.words():
            (lemma, pos, pin), key = word, scenes.keys[word]
            if key not in lexicon.index:
                gender = "any" if "person" in pin.split("/") else None
                sense = key if "%" in key else None
                words[key] = Member(key, pos, lemma, sense, gender, {}, table, ("frames", number))
    return list(words.values())


def _new_rows(lexicon: Lexicon, sources: Sources) -> dict[str, dict[str, Any]]:
    """The rows of declared words that ``lexicon`` does not hold, by key, in the order of the files."""
    declared: dict[str, list[Member]] = defaultdict(list)
    for member in sources.declared():
        if member.key not in lexicon.index:
            declared[member.key].append(member)
    overrides, reference = _overrides(lexicon, sources), Reference(lexicon.memory)
    rows: dict[str, dict[str, Any]] = {}
    for key, named in declared.items():
        first = next((member for member in named if member.lemma), None)
        if first is None:
            raise missing(lexicon, key, named[0].document.path, named[0].line)
        row = blank(key, first.lemma, first.pos, first.sense or (key if key.startswith("own:") else None))
        row["gender"] = next((member.gender for member in reversed(named) if member.gender), None)
        inflect(row, overrides.get(first.pos, {}).get(first.lemma, {}) | sources.stated(key), reference)
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
    for member in sources.declared():
        known = member.changes | ({"gender": member.gender} if member.gender else {})
        if known and member.key in lexicon.index:
            changes[member.key] = changes.get(member.key, {}) | known
    rows = {}
    for key, stated in changes.items():
        row = lexicon.row(key)
        mass = stated.get("countability", "count") != "count"
        values = {"plural": row["lemma"], **stated} if mass else stated
        if any(row[name] != value for name, value in values.items()):
            rows[key] = {**row, **values}
    return rows


def _check_relations(sources: Sources, index: dict[str, int]) -> None:
    for key, relations in sources.relations.items():
        for other in (key, *(value for values in relations.values() for value in values)):
            if other not in index:
                document = next(found for found in sources.documents if other in found.text)
                raise SchemaError(
                    f"{other} is not in the lexicon",
                    file=document.path,
                    line=document.line_with(other),
                    hint="declare it as a member of a class",
                )


def _word_class(entry: ClassEntry, lexicon: Lexicon, sources: Sources, index: dict[str, int]) -> WordClass:
    chain = sources.chain(entry.name)
    at = chain[-1]
    base = lexicon.classes.get(at.extends)
    if at.extends and base is None:
        raise missing(lexicon, at.extends, at.document.path, at.document.line(["classes", at.name, "extends"]))
    if base is not None and base.pos != entry.pos:
        message = f"class {entry.name!r} of {entry.pos}s extends {base.name!r} of {base.pos}s"
        raise SchemaError(message, file=entry.document.path, line=entry.line, hint="give both the same part of speech")
    if not entry.extends and entry.name in lexicon.classes:
        message = f"the lexicon has a class {entry.name!r}"
        hint = f"say `extends: {entry.name}` to add members to it, or take another name"
        raise SchemaError(message, file=entry.document.path, line=entry.line, hint=hint)
    ids = [*(base.ids if base else ()), *(index[member.key] for member in sources.members(entry.name))]
    held = frozenset(index[key] for one in chain for key in one.extended) | (base.extended if base else frozenset())
    return WordClass(entry.name, entry.pos, tuple(dict.fromkeys(ids)), held, entry.gloss or (base.gloss if base else ""))


def _overrides(lexicon: Lexicon, sources: Sources) -> dict[str, dict[str, dict[str, str]]]:
    """Those of both, lemma by lemma; the sources' win."""
    return {pos: lexicon.overrides.get(pos, {}) | sources.overrides.get(pos, {}) for pos in (*lexicon.overrides, *sources.overrides)}


def _replace(lexicon: Lexicon, changed: dict[str, dict[str, Any]]) -> pl.DataFrame:
    """The table with the rows of some keys replaced."""
    rows = pl.DataFrame(list(changed.values()), schema=SCHEMA)
    return lexicon.table.update(rows, on="key", how="left", maintain_order="left")


def _frames(lexicon: Lexicon, sources: Sources) -> dict[str, list[Frame]]:
    frames = {}
    for construction, entries in sources.frames.items():
        known = frames[construction] = list(lexicon.frames(construction))
        for raw, document, number in entries:
            if raw["name"] in {frame.name for frame in known}:
                message = f"{construction} has a frame {raw['name']!r} already"
                line = document.line(["frames", number, "name"])
                raise SchemaError(message, file=document.path, line=line, hint="give it another name")
            known.append(Frame.parse(raw, document, number))
    return frames
