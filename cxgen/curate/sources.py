"""The curated YAML under ``lexicons/``, merged."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cxgen.errors import SchemaError
from cxgen.lexicon.snapshot import RELATIONS
from cxgen.schema import Document, read_yaml


@dataclass
class Sources:
    """Everything that was curated.

    Attributes:
        classes: class name -> raw entry (pos, gloss, members, extended, rejected).
        origin: class name -> the document that it stands in, for error messages.
        relations: sense key -> relation -> sense keys or texts.
        frames: construction -> raw frames.
        overrides: part of speech -> lemma -> forms.
        documents: every file read, in order.
    """

    classes: dict[str, dict[str, Any]] = field(default_factory=dict)
    origin: dict[str, Document] = field(default_factory=dict)
    relations: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    relation_origin: dict[str, Document] = field(default_factory=dict)
    frames: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    overrides: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    documents: list[Document] = field(default_factory=list)


def read_sources(folder: Path) -> Sources:
    """Read ``classes/*.yaml``, ``frames/*.yaml`` and ``overrides.yaml`` below ``folder``.

    Raises:
        SchemaError: a file breaks its schema, or two files declare the same class.
    """
    sources = Sources()
    for path in sorted((folder / "classes").glob("*.yaml")):
        document = read_yaml(path, "classes")
        sources.documents.append(document)
        for name, entry in document.data.get("classes", {}).items():
            if name in sources.classes:
                first = sources.origin[name].path.name
                raise SchemaError(
                    f"class {name!r} is declared twice (first in {first})",
                    file=path,
                    line=document.line(["classes", name]),
                    hint="rename or merge",
                )
            sources.classes[name] = entry
            sources.origin[name] = document
        for section in ("properties", "scales"):
            _merge_relations(sources, document, section)
    for path in sorted((folder / "frames").glob("*.yaml")):
        document = read_yaml(path, "frames")
        sources.documents.append(document)
        sources.frames.setdefault(document.data["construction"], []).extend(document.data["frames"])
    if (folder / "overrides.yaml").is_file():
        sources.overrides = read_yaml(folder / "overrides.yaml", "overrides").data
    return sources


def _merge_relations(sources: Sources, document: Document, section: str) -> None:
    for entry in document.data.get(section, []):
        known = sources.relations.setdefault(entry["sense"], {})
        sources.relation_origin[entry["sense"]] = document
        for relation in RELATIONS:
            merged = known.setdefault(relation, [])
            merged.extend(value for value in entry.get(relation, []) if value not in merged)


def member_key(member: str | dict[str, Any]) -> str:
    """The lexeme key of a class member: its sense key, or ``phrase:`` / ``name:`` and its text."""
    if isinstance(member, str):
        return member
    if "text" in member:
        return f"name:{member['text']}" if "gender" in member else f"phrase:{member['text']}"
    return str(member["sense"])
