"""Reads the items that lie beside this file, for lm-evaluation-harness: wherever it is run, and without a copy in its cache."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from datasets import Dataset

DATA = Path(__file__).resolve().parent / "data"


def load(config: str, construction: str, **_: Any) -> dict[str, Dataset]:
    """The items of a construction: ``items`` to be answered, ``examples`` from train for few-shot prompts."""
    return {part: Dataset.from_list(_rows(part, config, construction)) for part in ("items", "examples")}


def _rows(part: str, config: str, construction: str) -> list[dict[str, Any]]:
    lines = (DATA / f"{config}-{part}.jsonl").read_text("utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    return [row for row in rows if row["construction"] == construction]
