"""Which shipped contents are sound. ``python -m tests.sound_files`` checks them and writes their addresses into the package."""

from __future__ import annotations

import json
from unittest.mock import patch

from cxgen.constructicon import load_construction, target_names
from cxgen.lexicon import Lexicon
from cxgen.lexicon.stored import CLASSES, LEXEMES
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

    with patch("cxgen.schema.sound._known", frozenset), patch.object(document, "_known_complaint", noting):
        lexicon = Lexicon.of(project)
        for name in target_names(project):
            load_construction(project, name, lexicon)
    found.add(address((project.snapshot / "lexemes.parquet").read_bytes(), LEXEMES))
    found.add(address((project.snapshot / "classes.json").read_text("utf-8"), CLASSES.format(len(lexicon))))
    return json.dumps(sorted(found), indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(sound(), "utf-8")
