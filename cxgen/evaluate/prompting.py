"""How items are put to a model: which wording, after which examples."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.asking import Prompt
from cxgen.errors import DataError, unknown
from cxgen.families.scoring import Item, Scoring
from cxgen.files import json_lines
from cxgen.project import Project
from cxgen.schema import TARGET, read_yaml
from cxgen.streams import order_key, order_keys
from cxgen.vocabulary import LABELS

PLAIN = "plain"  # the wording whose file is called like its task


@dataclass(frozen=True)
class Cloze:
    """How a model that continues texts is asked.

    Attributes:
        text: what comes before the answer, with ``{field}`` for the fields of the prompt.
        words: verdict -> what is said for it; empty where the item brings what may follow.
    """

    text: str
    words: Mapping[str, str]


def wordings(project: Project, task: str) -> list[str]:
    """The wordings that a task has, those of the project included: ``plain`` is ``TASK.yaml`` among the prompts, others
    ``TASK-NAME.yaml``."""
    names = [stem.removeprefix(f"{task}-") for stem in project.prompt_files() if stem.startswith(f"{task}-")]
    return [PLAIN, *names]


def load_wording(project: Project, task: str, wording: str) -> tuple[Prompt, Cloze]:
    """A wording, for models that are talked to and for models that continue texts.

    Raises:
        UnknownNameError: the task has no such wording.
        SchemaError: the file breaks its schema.
        DataError: there is no task: the items are put to no model.
    """
    if not task:
        raise DataError("sentences for classifiers, which are put to no model", hint="train a probe on train; score what it says of test")
    if wording not in wordings(project, task):
        raise unknown("wording", wording, wordings(project, task))
    path = project.prompt_file(task if wording == PLAIN else f"{task}-{wording}")
    cloze = read_yaml(path).data["cloze"]
    return Prompt.load(path, task), Cloze(cloze["text"], cloze.get("words", {}))


def chosen_examples(rows: pl.DataFrame, scoring: Scoring, count: int, seed: int) -> list[Item]:
    """Examples from train, each of another construction as far as there are so many, their verdicts taken in turn.

    Args:
        rows: items of ``train``: ``id, construction, contrast_of`` and what the scoring needs.
        scoring: the family's.
        count: how many.
        seed: another seed, other examples.
    """
    columns = list(dict.fromkeys(("id", *scoring.needs)))
    order = pl.Series("order", order_keys((seed, "example"), rows["id"]))
    items = rows.select(*columns, TARGET.alias("target"), order).sort("order").drop("order").to_dicts()
    verdicts = cycle(sorted({scoring.verdict(item) for item in items}, key=lambda verdict: order_key(seed, verdict)))
    examples: list[dict[str, Any]] = []
    for verdict in verdicts:
        left = [item for item in items if scoring.verdict(item) == verdict and item not in examples]
        if len(examples) == count or not left:
            return [{name: item[name] for name in columns} for item in examples]
        seen = {item["target"] for item in examples}
        examples.append(next((item for item in left if item["target"] not in seen), left[0]))
    return []


def read_examples(path: Path, scoring: Scoring, count: int | None) -> list[Item]:
    """Examples of the user's own: JSON lines with the columns that the scoring needs; labels by name.

    Args:
        path: the file.
        scoring: the family's.
        count: only so many, the first; None: all.

    Raises:
        DataError: a line is no such example, or there are fewer.
    """
    examples: list[Item] = []
    hint = f"an example is a JSON object with {', '.join(scoring.needs)}"
    for number, row in json_lines(path, hint):
        examples.append(_example(row, scoring, path, number, hint))
    if len(examples) < max(count or 1, 1):
        raise DataError(f"has {len(examples)} examples", file=path, hint=f"{max(count or 1, 1)} or more are needed, a JSON object a line")
    return examples[:count]


def _example(given: dict[str, Any], scoring: Scoring, path: Path, number: int, hint: str) -> Item:
    if not all(isinstance(given.get(name), str) and given[name].strip() for name in scoring.needs):
        raise DataError("not an example", file=path, line=number, hint=f"{hint}, all texts")
    if "label" in scoring.needs:
        if given["label"] not in LABELS:
            raise DataError(f"label {given['label']!r}", file=path, line=number, hint=f"expected {', '.join(LABELS)}")
        given = {**given, "label": LABELS.index(given["label"])}
    # Which continuation comes first depends on the id: that of an example is what it says.
    return {"id": json.dumps(given, sort_keys=True), **{name: given[name] for name in scoring.needs}}


def as_continuations(item: Item, scoring: Scoring, cloze: Cloze, examples: Sequence[Item]) -> tuple[str, list[str]]:
    """The text before the answers to ``item``, examples first and a blank line after each, and one continuation per answer."""
    before = ""
    for example in examples:
        text, answers = scoring.continuations(example, cloze.text, cloze.words)
        before += f"{text}{answers[scoring.meant(example, scoring.verdict(example))]}\n\n"
    text, answers = scoring.continuations(item, cloze.text, cloze.words)
    return before + text, answers
