"""Whose data a release is: what this project says of its own data must not stand on somebody else's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from cxgen.layout import LEXICONS, TEMPLATES
from cxgen.project import Project, _shipped

# Digests of what params.yaml ships under publish:, of this version and of earlier ones. A test says which one is new.
SHIPPED: Mapping[str, frozenset[str]] = {
    "title": frozenset({"28a4c9fa868fb752"}),
    "authors": frozenset({"f7e98ba57a2172bd"}),
    "provenance": frozenset({"d781efcc970b5524"}),
    "canary": frozenset({"c0338264b4d8ec28"}),
}
CONSTRUCTIONS = frozenset(
    {
        "causative-with",
        "caused-motion",
        "comparative-correlative",
        "conative",
        "dative-pp",
        "depictive",
        "intransitive-at",
        "intransitive-motion",
        "intransitive-to",
        "let-alone",
        "resultative",
        "transitive-with",
        "way-manner",
    }
)
_UNSET = {"title": "cxgen dataset", "authors": "the authors", "provenance": "", "canary": ""}


def digest(value: str | Iterable[str]) -> str:
    """Of a text, or of several, whatever the white space."""
    text = value if isinstance(value, str) else ", ".join(value)
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]


def identity_reasons(project: Project, about: Mapping[str, str | Iterable[str]]) -> Iterator[str]:
    """Reasons not to release under these names.

    Args:
        project: whose templates and words are released.
        about: title, authors, provenance and canary, as ``publish:`` in the parameters has them.
    """
    own = own_data(project)
    for name, known in SHIPPED.items():
        value = about[name]
        if digest(value) == digest(_UNSET[name]):
            yield f"params.yaml: publish.{name} is not set"
        elif own and digest(value) in known:
            yield f"params.yaml: publish.{name} is that of cxgen's own data, but {own} is yours: say your own"


def own_data(project: Project) -> str:
    """A file of templates or words that is the project's own, not shipped; empty if there is none."""
    shipped = _shipped()
    for folder in (TEMPLATES, LEXICONS):
        for path in sorted((project.root / folder).rglob("*.yaml")):
            name = path.relative_to(project.root)
            if folder == TEMPLATES and path.stem not in CONSTRUCTIONS and not path.stem.startswith("_"):
                return name.as_posix()
            if not _same(path, shipped / name):
                return name.as_posix()
    return ""


def _same(path: Path, other: Path) -> bool:
    return other.is_file() and path.read_bytes() == other.read_bytes()
