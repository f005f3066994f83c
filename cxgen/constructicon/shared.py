"""What several template files have in common stands in ``templates/_shared.yaml`` and is taken in by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cxgen.constructicon.model import Place
from cxgen.errors import SchemaError, unknown
from cxgen.project import Project
from cxgen.schema import Document, read_yaml, validate

SECTIONS = ("predicates", "slots", "kinds", "templates", "hypotheses")
_WORD = "shared"


@dataclass(frozen=True)
class Source:
    """A construction's or look-alike's part of a file, shared entries taken in.

    Attributes:
        document: the part; its lines are those of the file.
        places: (section, name) -> where the entry stands: here, or in the shared file.
    """

    document: Document
    places: dict[tuple[str, str], Place]


@dataclass(frozen=True)
class Shared:
    """The shared entries of a project: the shipped ones and its own, which win.

    Attributes:
        entries: section -> name -> (file, entry).
    """

    entries: dict[str, dict[str, tuple[Document, Any]]]

    @classmethod
    def of(cls, project: Project) -> Shared:
        """Read them.

        Raises:
            SchemaError: a shared file breaks its schema.
        """
        entries: dict[str, dict[str, tuple[Document, Any]]] = {section: {} for section in SECTIONS}
        for path in project.shared_files():
            document = read_yaml(path, "shared")
            for section, named in document.data.items():
                entries[section].update({name: (document, raw) for name, raw in named.items()})
        return cls(entries)

    def take_in(self, document: Document) -> Source:
        """``document`` with ``NAME: shared`` and ``NAME: {shared: NAME, ...}`` replaced by what they stand for; its own keys win.

        Raises:
            UnknownNameError: no such shared entry.
            SchemaError: the result breaks the schema of constructions.
        """
        data, places = dict(document.data), {}
        for section in SECTIONS:
            named = data.get(section)
            if not isinstance(named, dict):
                continue
            data[section] = {}
            for name, raw in named.items():
                wanted = _wanted(name, raw)
                place: Place = (document, [section, name])
                if wanted is not None:
                    known = self.entries[section]
                    if wanted not in known:
                        line = document.line([section, name])
                        raise unknown(f"shared entry of {section}", wanted, known, file=document.path, line=line)
                    origin, entry = known[wanted]
                    if isinstance(raw, dict):
                        raw = _merged(section, entry, raw)  # noqa: PLW2901 - the entry as it is meant
                    else:
                        raw, place = entry, (origin, [section, wanted])  # noqa: PLW2901
                data[section][name] = raw
                places[section, str(name)] = place
        whole = replace(document, data=data)
        validate(whole, "construction")
        return Source(whole, places)


def _wanted(name: str, raw: object) -> str | None:
    """The shared entry that ``raw`` asks for."""
    if raw == _WORD:
        return name
    if isinstance(raw, Mapping) and _WORD in raw:
        return name if raw[_WORD] is True else str(raw[_WORD])
    return None


_FILLED = ("class", "frame", "related")  # a slot is filled in one of these ways


def _merged(section: str, entry: Any, own: dict[str, Any]) -> dict[str, Any]:
    base = {"pattern": entry} if section == "templates" and isinstance(entry, str) else dict(entry)
    if section == "slots" and any(key in own for key in _FILLED):
        base = {key: value for key, value in base.items() if key not in _FILLED}
    return {**base, **{key: value for key, value in own.items() if key != _WORD}}


def parts(document: Document) -> list[Document]:
    """The look-alikes that ``document`` brings itself, as documents of their own."""
    inline = document.data.get("lookalikes", ())
    if not isinstance(inline, dict):
        return []
    found = []
    for name, raw in inline.items():
        if not isinstance(raw, dict):
            line = document.line(["lookalikes", name])
            raise SchemaError(f"lookalikes.{name}: not a mapping", file=document.path, line=line, hint="see docs/templates.md, look-alikes")
        data = {"name": name, "lookalike_of": document.data["name"], **raw}
        found.append(replace(document, data=data, at=(*document.at, "lookalikes", name)))
    return found
