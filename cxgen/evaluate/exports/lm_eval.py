"""A folder of tasks for lm-evaluation-harness: one per construction, a group per config, and the group cxgen.

Example: cxgen export lm-eval harness && lm-eval run --include_path harness --tasks cxgen_nli --model hf --model_args pretrained=FOLDER
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from cxgen.evaluate.exports import Exported, copy, write_rows
from cxgen.families.scoring import Item
from cxgen.files import write_text

_LOADER, _ALL = "cxgen_data", "cxgen"
_METRICS = ("acc", "acc_norm")


class _Function(str):
    """The name of a function, as the harness's YAML has it."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(_Function, lambda dumper, name: dumper.represent_scalar("!function", str(name)))


def write(folder: Path, exported: Sequence[Exported], version: str) -> list[str]:
    """Write tasks that compare the likelihood of each answer after the text of the wording (``acc``), and the same by length
    (``acc_norm``); groups take the mean over constructions. Returns the names of the groups.
    """
    groups = []
    for one in exported:
        for name, rows in (("items", one.items), ("examples", one.examples)):
            write_rows(folder / "data" / f"{one.config}-{name}.jsonl", rows, lambda item, one=one: _row(one, item))  # type: ignore[misc]
        tasks = {name: f"{_ALL}_{one.config}_{name.replace('-', '_')}" for name in one.items}
        for construction, task in tasks.items():
            _write_yaml(folder / f"{task}.yaml", _task(task, construction, one, version))
        group = f"{_ALL}_{one.config}"
        _write_yaml(folder / f"_{group}.yaml", _group(group, list(tasks.values()), version))
        groups.append(group)
    _write_yaml(folder / f"_{_ALL}.yaml", _group(_ALL, groups, version))
    copy(f"{_LOADER}.py", folder)
    return [*groups, _ALL]


def _row(one: Exported, item: Item) -> dict[str, Any]:
    """``id``, the fields of the wording, ``choices``, ``answer``."""
    fields = {field: text for field, text in one.scoring.shown(item).items() if f"{{{field}}}" in one.cloze.text}
    choice = one.choice(item, one.cloze.text, one.cloze.words)
    return {"id": item["id"], **fields, "choices": choice["choices"], "answer": choice["answer"]}


def _task(name: str, construction: str, one: Exported, version: str) -> dict[str, Any]:
    text = one.cloze.text
    for field in one.scoring.shown(next(iter(one.items[construction]))):
        text = text.replace(f"{{{field}}}", f"{{{{{field}}}}}")
    return {
        "task": name,
        "task_alias": construction,
        "custom_dataset": _Function(f"{_LOADER}.load"),
        "dataset_kwargs": {"config": one.config, "construction": construction},
        "test_split": "items",
        "fewshot_split": "examples",
        "output_type": "multiple_choice",
        "doc_to_text": text,
        "doc_to_choice": "choices",
        "doc_to_target": "answer",
        "metric_list": [{"metric": metric, "aggregation": "mean", "higher_is_better": True} for metric in _METRICS],
        "metadata": {"version": version},
    }


def _group(name: str, tasks: list[str], version: str) -> dict[str, Any]:
    metrics = [{"metric": metric, "aggregation": "mean", "weight_by_size": False} for metric in _METRICS]
    return {"group": name, "task": tasks, "aggregate_metric_list": metrics, "metadata": {"version": version}}


def _write_yaml(path: Path, data: Mapping[str, Any]) -> None:
    write_text(path, yaml.dump(dict(data), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000))
