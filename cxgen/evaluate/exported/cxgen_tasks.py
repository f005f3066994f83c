"""Multiple choice for inspect_ai, from the items that lie beside this file.

inspect eval cxgen_tasks.py@cxgen --model MODEL -T config=nli -T construction=let-alone -T cot=true
"""

from __future__ import annotations

import json
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import accuracy, choice, grouped, stderr
from inspect_ai.solver import multiple_choice

DATA = Path(__file__).resolve().parent / "data"
LETTERS = "ABC"


@task
def cxgen(config: str = "nli", construction: str = "", cot: bool = False) -> Task:
    """Items of a config, each by itself; accuracy by construction, and its mean over constructions.

    Args:
        config: nli, distinction, minimal_pairs ...: see the folder ``data``.
        construction: only this one; empty for all.
        cot: whether the model is to think first.
    """
    lines = (DATA / f"{config}-items.jsonl").read_text("utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    samples = [
        Sample(
            id=row["id"],
            input=row["question"],
            choices=row["choices"],
            target=LETTERS[row["answer"]],
            metadata={name: row[name] for name in ("construction", "contrast_set")},
        )
        for row in rows
        if construction in {"", row["construction"]}
    ]
    if not samples:
        known = sorted({row["construction"] for row in rows})
        raise ValueError(f"no items of {construction!r}: there are {', '.join(known)}")
    metrics = [grouped(accuracy(), "construction"), stderr(cluster="contrast_set")]
    return Task(dataset=MemoryDataset(samples, name=f"cxgen-{config}"), solver=multiple_choice(cot=cot), scorer=choice(), metrics=metrics)
