"""Words that a template file brings of its own: classes, words and frames; and the names in it that the lexicon does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from cxgen.errors import UnknownNameError
from cxgen.lexicon import Lexicon
from cxgen.lexicon.own import Sources, extended
from cxgen.lexicon.snapshot import missing
from cxgen.schema import Document

if TYPE_CHECKING:
    from cxgen.constructicon.model import Construction


def with_own_words(documents: Iterable[Document], name: str, lexicon: Lexicon) -> Lexicon:
    """``lexicon`` with the classes, words and frames that the files of construction ``name`` declare; the same object if they declare none.

    Raises:
        SchemaError: a class or frame of that name exists already, or a member's part of speech is not that of its class.
        UnknownNameError: a class has a member that neither the lexicon nor the files declare.
    """
    sources = Sources()
    for document in documents:
        sources.add(document)
    return extended(lexicon, sources, name)


def unknown_words(construction: Construction) -> Iterator[UnknownNameError]:
    """Every class or word, named in a slot or a frame of ``construction``, that its lexicon does not have; with file and line."""
    lexicon = construction.lexicon
    for document in construction.documents:
        for slot, raw in document.data.get("slots", {}).items():
            classes = raw.get("class", [])
            for number, name in enumerate([classes] if isinstance(classes, str) else classes):
                if not lexicon.has(name):
                    yield missing(lexicon, name, document.path, document.line(("slots", slot, "class", number)))
    for frame in construction.frames:
        for slot, names in frame.slots.items():
            for number, name in enumerate(names):
                if not lexicon.has(name) and frame.source:
                    yield missing(lexicon, name, frame.source.path, frame.source.line(("frames", frame.number, "slots", slot, number)))


def class_users(constructions: Iterable[Construction]) -> dict[str, list[str]]:
    """Class or lexeme key -> the names of the constructions whose slots or frames name it."""
    users: dict[str, list[str]] = {}
    for construction in constructions:
        named = {name for slot in construction.slots.values() for name in slot.classes}
        named |= {name for frame in construction.frames for names in frame.slots.values() for name in names}
        for name in named:
            users.setdefault(name, []).append(construction.name)
    return users
