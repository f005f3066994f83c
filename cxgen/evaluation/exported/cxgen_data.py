"""Reads the items that lie beside this file, for lm-evaluation-harness: wherever it is run, and without a copy in its cache."""

import json
from pathlib import Path
from typing import Any

from datasets import Dataset


def load(config: str, construction: str, **_: Any) -> dict[str, Dataset]:
    """The items of a construction: ``items`` to be answered, ``examples`` from train for few-shot prompts."""
    parts = {}
    for part in ("items", "examples"):
        lines = (Path(__file__).resolve().parent / f"data/{config}-{part}.jsonl").read_text("utf-8").split("\n")
        rows = [json.loads(line) for line in lines if line]
        parts[part] = Dataset.from_list([row for row in rows if row["construction"] == construction])
    return parts
