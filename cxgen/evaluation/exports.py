"""The items as folders with data, tasks and a loader, which evaluation harnesses run from wherever they lie."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from cxgen.build.params import Params
from cxgen.errors import DataError
from cxgen.evaluation.model import PLAIN, Cloze, chosen_examples, load_wording
from cxgen.evaluation.report import Part, answerable
from cxgen.evaluation.scores import WUG
from cxgen.families.scoring import Item, Scoring
from cxgen.files import whole_folder, write_text
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.suites import scoring_of

_EXAMPLES = 12  # of each construction
_EXPORTED = files("cxgen.evaluation") / "exported"  # files that a harness runs; they import nothing of cxgen
_VERDICTS = {"entailment": "It is true as well.", "neutral": "It may be true or false.", "contradiction": "It is false."}
_ASKED: dict[str, Cloze] = {  # task of the prompts -> how inspect's multiple choice puts an item
    "answer": ("{premise}\n\nTake that as true. What about this, on the same occasion: {hypothesis}", _VERDICTS),
    "choose": ("{context}\n\nWhich of these sentences goes with that?", {}),
}


@dataclass(frozen=True)
class Exported:
    """What is exported of a config: ``items`` to be answered and ``examples`` from train, sorted by their ``target``, the construction;
    ``cloze``: how they are put to models that continue texts."""

    config: str
    scoring: Scoring
    items: Sequence[Item]
    examples: Sequence[Item]
    cloze: Cloze

    def choice(self, item: Item, cloze: Cloze) -> dict[str, Any]:
        """An item as ``construction, id, question, choices`` (in the order in which the item shows them), ``answer`` (a position)."""
        question, texts = self.scoring.continuations(item, *cloze)
        order = list(range(len(texts))) if cloze[1] else [self.scoring.meant(item, verdict) for verdict in ("first", "second")]
        right = order.index(self.scoring.meant(item, self.scoring.verdict(item)))
        choices = [texts[position].strip() for position in order]
        return {"construction": item["target"], "id": item["id"], "question": question, "choices": choices, "answer": right}


def export(name: str, project: Project, part: Part, folder: Path, wording: str = PLAIN) -> list[str]:
    """Write a part of the dataset for a harness into a folder that is empty or not there; returns the names of what was written."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError("there is something already", file=folder, hint="name an empty folder, or one that is not there yet")
    exported = [_exported(project, config, part.splits, wording) for config in part.of(project).configs]
    names, texts = HARNESSES[name](exported, Params.read(project.params).publish.version)
    with whole_folder(folder) as whole:
        for path, text in texts.items():
            write_text(whole / path, text)
    return names


def _exported(project: Project, config: str, splits: Sequence[str], wording: str) -> Exported:
    scoring = scoring_of(config)
    _, cloze = load_wording(project, scoring.task, wording)
    rows = answerable(project, config, splits).with_columns(target=TARGET).sort("target", maintain_order=True)
    train = answerable(project, config.removesuffix(WUG))
    targets = rows["target"].unique(maintain_order=True)
    examples = [example for name in targets for example in chosen_examples(train.filter(TARGET.eq(name)), scoring, _EXAMPLES, seed=1)]
    columns = dict.fromkeys(("id", "target", "contrast_set", *scoring.needs))
    return Exported(config, scoring, rows.select(*columns).to_dicts(), examples, cloze)


def lm_eval(exported: Sequence[Exported], version: str) -> tuple[list[str], dict[str, str]]:
    """Tasks for lm-evaluation-harness, one per construction, that compare the likelihood of each answer after the text of the wording
    (``acc``), and the same by length (``acc_norm``); groups take the mean over constructions."""
    more = {"metadata": {"version": version}}
    groups: dict[str, list[str]] = {}
    texts = {"cxgen_data.py": (_EXPORTED / "cxgen_data.py").read_text("utf-8")}
    for part in exported:
        texts[f"data/{part.config}-items.jsonl"] = _lines(_continued(part, item) for item in part.items)
        texts[f"data/{part.config}-examples.jsonl"] = _lines(_continued(part, item) for item in part.examples)
        wording = {"doc_to_text": re.sub(r"\{(\w+)\}", r"{{\1}}", part.cloze[0])}
        for name in dict.fromkeys(item["target"] for item in part.items):
            task = f"cxgen_{part.config}_{name.replace('-', '_')}"
            about = {"task": task, "task_alias": name, "dataset_kwargs": {"config": part.config, "construction": name}}
            texts[f"{task}.yaml"] = _yaml(about | wording | more) + (_EXPORTED / "lm_eval_task.yaml").read_text("utf-8")
            groups.setdefault(f"cxgen_{part.config}", []).append(task)
    groups["cxgen"] = list(groups)
    metrics = [{"metric": metric, "aggregation": "mean", "weight_by_size": False} for metric in ("acc", "acc_norm")]
    for name, tasks in groups.items():
        means = {} if name == "cxgen" else {"aggregate_metric_list": metrics}  # of configs with other chances there is no mean
        texts[f"_{name}.yaml"] = _yaml({"group": name, "task": tasks} | means | more)
    return list(groups), texts


def _continued(part: Exported, item: Item) -> dict[str, Any]:
    choice = part.choice(item, part.cloze)
    fields = {field: text for field, text in part.scoring.shown(item).items() if f"{{{field}}}" in part.cloze[0]}
    return {name: choice[name] for name in ("construction", "id")} | fields | {name: choice[name] for name in ("choices", "answer")}


def inspect(exported: Sequence[Exported], _version: str) -> tuple[list[str], dict[str, str]]:
    """A task for inspect_ai with its data."""
    texts = {"cxgen_tasks.py": (_EXPORTED / "cxgen_tasks.py").read_text("utf-8")}
    for part in exported:
        rows = (part.choice(item, _ASKED[part.scoring.task]) | {"contrast_set": item["contrast_set"]} for item in part.items)
        texts[f"data/{part.config}-items.jsonl"] = _lines(rows)
    return [part.config for part in exported], texts


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _yaml(data: Mapping[str, Any]) -> str:
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=1000)


# Name -> (what is exported of the configs, version of the dataset) -> (what to print, file -> text).
HARNESSES = {"lm_eval": lm_eval, "inspect": inspect}
