"""The items in the form of evaluation harnesses: folders with data, tasks and a loader, which run from wherever they lie."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from cxgen.errors import DataError
from cxgen.evaluate.prompting import Cloze
from cxgen.families.scoring import Item, Scoring
from cxgen.files import write_atomically

Rows = Mapping[str, Sequence[Item]]  # construction -> items
LOADER, TASKS = "cxgen_data.py", "cxgen_tasks.py"
_ALL = "cxgen"
_VERDICTS = {"entailment": "It is true as well.", "neutral": "It may be true or false.", "contradiction": "It is false."}
# Task of the prompts -> how inspect's multiple choice puts an item, and its choices by verdict; none: the item's own.
_ASKED = {
    "answer": ("{premise}\n\nTake that as true. What about this, on the same occasion: {hypothesis}", _VERDICTS),
    "choose": ("{context}\n\nWhich of these sentences goes with that?", {}),
}


@dataclass(frozen=True)
class Exported:
    """What is exported of a config.

    Attributes:
        config: its name.
        scoring: its family's.
        items: to be answered; ``examples``: from train.
        cloze: how they are put to models that continue texts.
    """

    config: str
    scoring: Scoring
    items: Rows
    examples: Rows
    cloze: Cloze


class _Function(str):
    """The name of a function, as the harness's YAML has it."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(_Function, lambda dumper, name: dumper.represent_scalar("!function", str(name)))


def write_lm_eval(folder: Path, exported: Sequence[Exported], version: str) -> list[str]:
    """Write tasks for lm-evaluation-harness: one per config and construction, a group per config, and the group ``cxgen``.

    The likelihood of each answer after the text of the wording is compared (``acc``), and the same by length (``acc_norm``). Groups take
    the mean over constructions.

    Args:
        folder: empty or not there yet.
        exported: config by config.
        version: of the dataset.

    Returns:
        The names of the groups.

    Raises:
        DataError: the folder holds something.
    """
    _require_empty(folder)
    groups = []
    for each in exported:
        for name, rows in (("items", each.items), ("examples", each.examples)):
            _write_rows(folder, f"{each.config}-{name}", rows, partial(_continued, each))
        tasks = {name: f"{_ALL}_{each.config}_{name.replace('-', '_')}" for name in each.items}
        for construction, task in tasks.items():
            _write_yaml(folder / f"{task}.yaml", _task(task, construction, each, version))
        group = f"{_ALL}_{each.config}"
        _write_yaml(folder / f"_{group}.yaml", _group(group, list(tasks.values()), version))
        groups.append(group)
    _write_yaml(folder / f"_{_ALL}.yaml", _group(_ALL, groups, version))
    _copy(LOADER, folder)
    return [*groups, _ALL]


def write_inspect(folder: Path, exported: Sequence[Exported]) -> None:
    """Write a task for inspect_ai, with its data; arguments as for `write_lm_eval`.

    Raises:
        DataError: the folder holds something.
    """
    _require_empty(folder)
    for each in exported:
        _write_rows(folder, f"{each.config}-items", each.items, partial(_asked, each.scoring))
    _copy(TASKS, folder)


def _require_empty(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError("there is something already", file=folder, hint="name an empty folder, or one that is not there yet")


def _write_rows(folder: Path, name: str, rows: Rows, made: Callable[[Item], dict[str, Any]]) -> None:
    """Write items with their construction as JSON lines."""
    each = [{"construction": construction, **made(item)} for construction, items in rows.items() for item in items]
    _write(folder / "data" / f"{name}.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in each))


def _continued(each: Exported, item: Item) -> dict[str, Any]:
    """An item for a model that continues texts: ``id``, its fields, ``choices`` in the order in which the item shows them, ``answer``."""
    _, said = each.scoring.continuations(item, each.cloze.text, each.cloze.words)
    order = _order(item, each.scoring, each.cloze.words)
    return {
        "id": item["id"],
        **{field: text for field, text in each.scoring.shown(item).items() if f"{{{field}}}" in each.cloze.text},
        "choices": [said[position].strip() for position in order],
        "answer": order.index(each.scoring.meant(item, each.scoring.verdict(item))),
    }


def _asked(scoring: Scoring, item: Item) -> dict[str, Any]:
    """An item as a question: ``id, contrast_set, question, choices, answer``."""
    text, words = _ASKED[scoring.task]
    question, said = scoring.continuations(item, text, words)
    order = _order(item, scoring, words)
    return {
        "id": item["id"],
        "contrast_set": item["contrast_set"],
        "question": question,
        "choices": [said[position].strip() for position in order],
        "answer": order.index(scoring.meant(item, scoring.verdict(item))),
    }


def _order(item: Item, scoring: Scoring, words: Mapping[str, str]) -> list[int]:
    """The answers in the order in which they are shown: where the item brings them, not always the right one first."""
    return list(range(len(scoring.answers))) if words else [scoring.meant(item, verdict) for verdict in ("first", "second")]


def _task(name: str, construction: str, each: Exported, version: str) -> dict[str, Any]:
    text = each.cloze.text
    for field in each.scoring.shown(next(iter(each.items[construction]))):
        text = text.replace(f"{{{field}}}", f"{{{{{field}}}}}")
    measures = [{"metric": metric, "aggregation": "mean", "higher_is_better": True} for metric in ("acc", "acc_norm")]
    return {
        "task": name,
        "task_alias": construction,
        "custom_dataset": _Function(f"{LOADER.removesuffix('.py')}.load"),
        "dataset_kwargs": {"config": each.config, "construction": construction},
        "test_split": "items",
        "fewshot_split": "examples",
        "output_type": "multiple_choice",
        "doc_to_text": text,
        "doc_to_choice": "choices",
        "doc_to_target": "answer",
        "metric_list": measures,
        "metadata": {"version": version},
    }


def _group(name: str, tasks: list[str], version: str) -> dict[str, Any]:
    measures = [{"metric": metric, "aggregation": "mean", "weight_by_size": False} for metric in ("acc", "acc_norm")]
    return {"group": name, "task": tasks, "aggregate_metric_list": measures, "metadata": {"version": version}}


def _write_yaml(path: Path, data: Mapping[str, Any]) -> None:
    _write(path, yaml.dump(dict(data), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000))


def _copy(name: str, folder: Path) -> None:
    _write(folder / name, (resources.files("cxgen.evaluate.exported") / name).read_text("utf-8"))


def _write(path: Path, text: str) -> None:
    write_atomically(path, lambda temporary: temporary.write_text(text, "utf-8"))


def by_construction(items: Iterable[Mapping[str, Any]]) -> dict[str, list[Item]]:
    """Construction (``target``) -> items."""
    found: dict[str, list[Item]] = {}
    for item in items:
        found.setdefault(item["target"], []).append(item)
    return dict(sorted(found.items()))
