"""A folder with a task for inspect_ai.

Example: cxgen export inspect tasks && inspect eval tasks/cxgen_tasks.py@cxgen --model MODEL -T config=nli
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cxgen.evaluate.exports import Exported, copy, write_rows
from cxgen.families.scoring import Item

_VERDICTS = {"entailment": "It is true as well.", "neutral": "It may be true or false.", "contradiction": "It is false."}
# Task of the prompts -> how inspect's multiple choice puts an item, and its choices by verdict; none: the item's own.
_ASKED: dict[str, tuple[str, dict[str, str]]] = {
    "answer": ("{premise}\n\nTake that as true. What about this, on the same occasion: {hypothesis}", _VERDICTS),
    "choose": ("{context}\n\nWhich of these sentences goes with that?", {}),
}


def write(folder: Path, exported: Sequence[Exported], version: str) -> list[str]:
    """Write a task with its data; returns the configs."""
    for one in exported:

        def row(item: Item, one: Exported = one) -> dict[str, Any]:
            return {"id": item["id"], "contrast_set": item["contrast_set"], **one.choice(item, *_ASKED[one.scoring.task])}

        write_rows(folder / "data" / f"{one.config}-items.jsonl", one.items, row)
    copy("cxgen_tasks.py", folder)
    return [one.config for one in exported]
