"""Whose data a release is: what this project says of its own data must not stand on somebody else's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping

from cxgen.layout import LEXICONS, TEMPLATES
from cxgen.project import Project, shipped_folder

# Digests of what params.yaml ships under publish:, of this version and of earlier ones. A test says which one is new.
SHIPPED: Mapping[str, frozenset[str]] = {
    "title": frozenset({"28a4c9fa868fb752"}),
    "authors": frozenset({"f7e98ba57a2172bd"}),
    "provenance": frozenset({"b4b9bd66ad778e21"}),
    "canary": frozenset({"c0338264b4d8ec28"}),
}
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
    """A file of templates or words that is not as this cxgen, its clone or its wheel, ships it; empty if there is none."""
    shipped = shipped_folder()
    for path in sorted(path for folder in (TEMPLATES, LEXICONS) for path in (project.root / folder).rglob("*") if path.is_file()):
        name = path.relative_to(project.root)
        if not (shipped / name).is_file() or (shipped / name).read_bytes() != path.read_bytes():
            return name.as_posix()
    return ""
