"""What this project ships as its own templates and words. ``python -m tests.shipped_digests`` writes it into the package.

The release gate tells by it whose the data are: who changes the data of a clone and makes them a project of their own does not run this.
"""

from __future__ import annotations

import json

from cxgen.publish.identity import source_digests
from tests.mini import ROOT

FILE = ROOT / "cxgen/publish/shipped.json"


def digests() -> str:
    """The file's text."""
    return json.dumps(source_digests(ROOT), indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(digests(), "utf-8")
