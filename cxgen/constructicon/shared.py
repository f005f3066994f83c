"""From what a template file says to what it means: shared entries taken in, entries that stand for several written out.

What several files have in common stands in ``templates/_shared.yaml``. Errors name the line of the entry as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cxgen.constructicon.clauses import joined
from cxgen.constructicon.expand import expand
from cxgen.constructicon.model import Atom, Place
from cxgen.errors import SchemaError, unknown
from cxgen.project import Project
from cxgen.schema import Document, read_yaml
from cxgen.schema.document import complaint

SECTIONS = ("predicates", "slots", "kinds", "templates", "hypotheses", "designs")
_SHARED = "shared"
_CLAUSES = ("clause", "also")  # that a block of templates has
_FILLED = ("class", "frame", "related")  # a slot is filled in one of these ways
_NAME = re.compile(r"[a-z][a-z0-9-]*")
Places = dict[tuple[str, str], Place]


@dataclass(frozen=True)
class Source:
    """A construction's or look-alike's part of a file, with everything written out.

    Attributes:
        document: the part; its lines are those of the file.
        places: (section, name) -> where the entry stands: here, or in the shared file.
    """

    document: Document
    places: Places


@dataclass(frozen=True)
class Shared:
    """The shared entries of a project: the shipped ones and its own, which win.

    Attributes:
        entries: section -> name -> (file, entry).
        joins: a word between clauses -> what it makes of the one behind it, see `cxgen.constructicon.clauses`.
    """

    entries: dict[str, dict[str, tuple[Document, Any]]] = field(default_factory=lambda: {section: {} for section in SECTIONS})
    joins: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project) -> Shared:
        """Read them.

        Raises:
            SchemaError: a shared file breaks its schema.
        """
        shared = cls()
        for path in project.shared_files():
            document = read_yaml(path, "shared")
            for section, named in document.data.items():
                if section == "joins":
                    shared.joins.update(named)
                else:
                    shared.entries[section].update({name: (document, raw) for name, raw in named.items()})
        return shared

    def take_in(self, document: Document) -> Source:
        """``document`` with shared entries in their places, and every entry that stands for several written out.

        Raises:
            UnknownNameError: no such shared entry.
            SchemaError: an entry breaks the schema of constructions, or cannot be written out.
        """
        data = dict(document.data)
        places: Places = {}
        for section in SECTIONS:
            if isinstance(data.get(section), dict):
                data[section] = dict(self._merged(document, section, places))
        _require_valid(document, data, places)
        for section in SECTIONS:
            if section in data:
                data[section] = dict(_expanded(document, data, section, places))
        data["groups"] = _groups(data)
        data["templates"] = {
            name: self._with_clauses(raw, data.get("clauses", {}), places["templates", name])
            for name, raw in data.get("templates", {}).items()
        }
        return Source(replace(document, data=data), places)

    def _merged(self, document: Document, section: str, places: Places) -> Iterator[tuple[str, Any]]:
        """The entries of a section, those of shared files among them as those have them; a file's own keys win."""
        for name, raw, keys in _flat(section, document.data[section]):
            wanted = _wanted(name, raw)
            place: Place = (document, [section, *keys])
            entry = raw
            if wanted is not None:
                known = {**self.entries[section], **(_sentences(document) if section == "templates" else {})}
                if wanted not in known:
                    raise unknown(f"shared entry of {section}", wanted, known, file=document.path, line=document.line(place[1]))
                origin, entry = known[wanted]
                if isinstance(raw, dict):
                    entry = _both(section, entry, raw)
                else:
                    place = (origin, [section, wanted])
            places[section, str(name)] = place
            yield name, entry

    def _with_clauses(self, raw: Any, clauses: Mapping[str, str], place: Place) -> dict[str, Any]:
        entry: dict[str, Any] = {"pattern": raw} if isinstance(raw, str) else dict(raw)
        if "pattern" not in entry:
            raise _fault(f"a template without a pattern: {', '.join(entry)}", place)
        try:
            entry["pattern"] = joined(entry["pattern"], {"clause": "{@clause}", **clauses, **entry.pop("clauses", {})}, self.joins)
        except ValueError as error:
            raise _fault(str(error), place) from error
        return entry


def _flat(section: str, entries: Mapping[str, Any]) -> Iterator[tuple[str, Any, list[str]]]:
    """Entries with the keys that lead to them; a block of templates as its templates."""
    for name, raw in entries.items():
        if name == _SHARED and isinstance(raw, list):
            yield from ((each, _SHARED, [name]) for each in raw)
        elif section == "templates" and _is_block(raw):
            yield from _templates(name, raw)
        else:
            yield name, raw, [name]


def _sentences(document: Document) -> dict[str, tuple[Document, Any]]:
    """The file's own sentences, for its blocks."""
    return {name: (document, pattern) for name, pattern in document.data.get("sentences", {}).items()}


def _is_block(raw: Any) -> bool:
    return isinstance(raw, dict) and "pattern" not in raw and _SHARED not in raw


def _templates(kinds: str, block: Mapping[str, Any]) -> Iterator[tuple[str, Any, list[str]]]:
    """The templates of a block: those that it says by their names, and its own."""
    common = {"only": [kind.strip() for kind in kinds.split(",")], "clauses": {key: block[key] for key in _CLAUSES if key in block}}
    for key, value in block.items():
        if key == "say":
            for said in value if isinstance(value, list) else [value]:
                named = said.items() if isinstance(said, dict) else [(said, said)]
                yield from ((name, {_SHARED: pattern, **common}, [kinds, key]) for name, pattern in named)
        elif key not in _CLAUSES:
            own = value if isinstance(value, dict) else {_SHARED if _NAME.fullmatch(value) else "pattern": value}
            yield key, {**common, **own}, [kinds, key]


def _wanted(name: str, raw: object) -> str | None:
    """The shared entry that ``raw`` asks for."""
    if raw == _SHARED:
        return name
    if isinstance(raw, Mapping) and _SHARED in raw:
        return name if raw[_SHARED] is True else str(raw[_SHARED])
    return None


def _both(section: str, entry: Any, own: dict[str, Any]) -> dict[str, Any]:
    base = {"pattern": entry} if section == "templates" and isinstance(entry, str) else dict(entry)
    if section == "slots" and any(key in own for key in _FILLED):
        base = {key: value for key, value in base.items() if key not in _FILLED}
    return {**base, **{key: value for key, value in own.items() if key != _SHARED}}


def _require_valid(document: Document, data: dict[str, Any], places: Places) -> None:
    fault = complaint(data, "construction")
    if fault:
        keys, message, hint = fault
        file, start = places.get((str(keys[0]), str(keys[1])), (document, keys[:2])) if len(keys) > 1 else (document, keys)
        raise SchemaError(message, file=file.path, line=file.line([*start, *keys[2:]]), hint=hint)


def _expanded(document: Document, data: Mapping[str, Any], section: str, places: Places) -> Iterator[tuple[str, Any]]:
    seen: set[str] = set()
    for name, raw in data[section].items():
        place = places[section, name]
        try:
            for made, entry in expand(name, raw, data.get("orders", {})):
                if made in seen:
                    raise _fault(f"{section}: a second {made!r}", place)
                stray = _stray(made if section == "templates" else [made, entry])
                if stray:
                    raise _fault(f"{name}: there is no <{stray}>: say what it is under rotate, pair, vary or with", place)
                _require_readable(made, entry)
                seen.add(made)
                places[section, made] = place
                yield made, entry
        except ValueError as error:
            raise _fault(str(error), place) from error


def _require_readable(name: str, entry: Any) -> None:
    """A name, facts and a weight that are such after their fields were filled in; a ValueError in words if not."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name: lower-case letters, digits and hyphens")
    if isinstance(entry, Mapping):
        misread = entry.get("misread", {})
        for text in (*_facts(entry), *_facts(misread), *([entry["claim"]] if "claim" in entry else ())):
            Atom.parse(text)
        float(entry.get("weight", 1))


def _facts(entry: Mapping[str, Any]) -> list[str]:
    return [text for key in ("entails", "excludes", "unasked") for text in entry.get(key, ())]


def _stray(value: Any) -> str:
    """A field that is left in an entry that was written out."""
    if isinstance(value, Mapping):
        return next(filter(None, (_stray(each) for pair in value.items() for each in pair)), "")
    if isinstance(value, list):
        return next(filter(None, map(_stray, value)), "")
    return value.partition("<")[2].partition(">")[0] if isinstance(value, str) and "<" in value and ">" in value.partition("<")[2] else ""


def _groups(data: Mapping[str, Any]) -> dict[str, list[str]]:
    """The file's groups, and those that its kinds say they are of."""
    groups = {name: list(members) for name, members in data.get("groups", {}).items()}
    for name, raw in data["kinds"].items():
        named = raw.get("group", [])
        for group in [named] if isinstance(named, str) else named:
            groups.setdefault(group, []).append(name)
    return groups


def _fault(what: str, place: Place) -> SchemaError:
    document, keys = place
    return SchemaError(what, file=document.path, line=document.line(keys), hint="see docs/templates.md, entries that stand for several")


def parts(document: Document) -> list[Document]:
    """The look-alikes that ``document`` brings itself, as documents of their own."""
    inline = document.data.get("lookalikes", ())
    if not isinstance(inline, dict):
        return []
    documents = []
    common = {key: document.data[key] for key in ("orders",) if key in document.data}
    for name, raw in inline.items():
        if not isinstance(raw, dict):
            line = document.line(["lookalikes", name])
            raise SchemaError(f"lookalikes.{name}: not a mapping", file=document.path, line=line, hint="see docs/templates.md, look-alikes")
        data = {"name": name, "lookalike_of": document.data["name"], **common, **raw}
        documents.append(replace(document, data=data, at=(*document.at, "lookalikes", name)))
    return documents
