"""Multiple choice for inspect_ai, from the items that lie beside this file.

inspect eval cxgen_tasks.py@cxgen --model MODEL -T config=nli -T construction=let-alone -T cot=true
"""

import json
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import accuracy, choice, grouped, stderr
from inspect_ai.solver import multiple_choice


@task
def cxgen(config: str = "nli", construction: str = "", cot: bool = False) -> Task:
    """The items of a config (nli, minimal_pairs ...: see the folder ``data``), or of one construction, each by itself, thinking first if
    ``cot``; accuracy by construction, and its mean over constructions."""
    lines = (Path(__file__).resolve().parent / f"data/{config}-items.jsonl").read_text("utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    samples = []
    for row in rows:
        if construction in {"", row["construction"]}:
            about = {"construction": row["construction"], "contrast_set": row["contrast_set"]}
            target = "ABC"[row["answer"]]
            samples.append(Sample(id=row["id"], input=row["question"], choices=row["choices"], target=target, metadata=about))
    if not samples:
        raise ValueError(f"no items of {construction!r}: there are {', '.join(sorted({row['construction'] for row in rows}))}")
    metrics = [grouped(accuracy(), "construction"), stderr(cluster="contrast_set")]
    return Task(dataset=MemoryDataset(samples, name=f"cxgen-{config}"), solver=multiple_choice(cot=cot), scorer=choice(), metrics=metrics)
