"""Whose data a release is: what this project says of its own data must not stand on somebody else's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path

from cxgen.layout import LEXICONS, TEMPLATES
from cxgen.project import Project
from cxgen.schema.door import MB, read_bytes

# Digests of what params.yaml ships under publish:, of this version and of earlier ones. A test says which one is new.
SHIPPED: Mapping[str, frozenset[str]] = {
    "title": frozenset({"28a4c9fa868fb752"}),
    "authors": frozenset({"f7e98ba57a2172bd"}),
    "provenance": frozenset({"b4b9bd66ad778e21"}),
    "canary": frozenset({"c0338264b4d8ec28"}),
}
_MOST_BYTES = 64 * MB
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
    """A file of templates or words that is the project's own, not as shipped; empty if there is none.

    The digests of what is shipped are in a file of the package, so that a clone, in which the shipped folder is the project, is
    looked at like any other project.
    """
    shipped = json.loads((resources.files(__package__) / "shipped.json").read_text("utf-8"))
    return next((name for name, found in source_digests(project.root).items() if shipped.get(name) != found), "")


def source_digests(root: Path) -> dict[str, str]:
    """The templates and lexicon sources below ``root``: path -> digest of the text."""
    paths = [path for folder in (TEMPLATES, LEXICONS) for path in sorted((root / folder).rglob("*.yaml"))]
    return {path.relative_to(root).as_posix(): digest(read_bytes(path, _MOST_BYTES).decode("utf-8", "replace")) for path in paths}
