"""Which shipped contents are sound. ``python -m tests.sound_files`` checks them and writes their addresses into the package."""

from __future__ import annotations

import json
from unittest.mock import patch

from cxgen.check import require_sound
from cxgen.constructicon import load_construction, target_names
from cxgen.constructicon.model import LINTED
from cxgen.lexicon import Lexicon, stored
from cxgen.project import Project
from cxgen.schema import document
from cxgen.schema.sound import address
from tests.mini import ROOT

FILE = ROOT / "cxgen/schema/sound.json"


def sound() -> str:
    """The file's text. What is not sound raises as it does for users."""
    project = Project(ROOT)
    found, known = set(), document._known_complaint.__wrapped__

    def noting(given: document._Data, name: str) -> object:
        found.add(address(given.written, name))
        return known(given, name)

    stored._classes.cache_clear()
    with patch("cxgen.schema.sound._known", frozenset), patch.object(document, "_known_complaint", noting):
        lexemes, _ = stored.read_lexemes(project.snapshot / "lexemes.parquet")
        stored.read_classes(project.snapshot / "classes.json", lexemes.height)
        lexicon = Lexicon.of(project)
        for name in target_names(project):
            construction = load_construction(project, name, lexicon)
            require_sound(construction)
            found.add(address(construction.written, LINTED))
    found.add(address((project.snapshot / "lexemes.parquet").read_bytes(), stored.LEXEMES))
    found.add(address((project.snapshot / "classes.json").read_text("utf-8"), stored.CLASSES.format(len(lexicon))))
    return json.dumps(sorted(found), indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(sound(), "utf-8")
