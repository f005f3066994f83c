"""Frozen judgments (`cxgen.layout.JUDGMENTS`): what DVC tracks and a clone without a key replays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path

import polars as pl

from cxgen.asking.cache import Judgment
from cxgen.asking.prompts import Prompt
from cxgen.errors import DataError
from cxgen.schema import Column, Contract
from cxgen.tables import read_table, write_table
from cxgen.vocabulary import JUDGING, LABELS, PAIR_VERDICTS, PREMISE_VERDICTS

MISSING = "no frozen judgment"
_TYPES: dict[str, type[pl.DataType]] = {"str": pl.String, "int": pl.Int64, "float | None": pl.Float64}
COLUMNS = {field.name: _TYPES[str(field.type)] for field in fields(Judgment)}
_HINT = "record some: cxgen judge --backend openai --export"
_KEYS = ["item", "task", "judge", "prompt"]
_ANSWERS = {"acceptability": PREMISE_VERDICTS, "appropriateness": PAIR_VERDICTS, "label": LABELS}
_UNKNOWN = {"model", "fingerprint", "request_id", "temperature", "logprob"}  # where a server does not say
_CONTRACT = Contract(
    tuple(Column(name, kind, "", null=name in _UNKNOWN, values=JUDGING if name == "task" else ()) for name, kind in COLUMNS.items()),
    key=tuple(_KEYS),
)


def as_table(judgments: Iterable[Judgment]) -> pl.DataFrame:
    """Judgments as rows with the columns ``COLUMNS``."""
    return pl.DataFrame([asdict(judgment) for judgment in judgments], schema=COLUMNS, orient="row")


def read_frozen(path: Path, *, empty: bool = False) -> pl.DataFrame:
    """The frozen judgments, columns ``COLUMNS``.

    Raises:
        DataError: no such file, not one of ours, or (unless ``empty``) one without judgments.
    """
    table = read_table(path, _CONTRACT, f"restore the file, or {_HINT}")
    for task, allowed in _ANSWERS.items():
        strange = table.filter((pl.col("task") == task) & ~pl.col("value").is_in([*allowed, ""]))
        if strange.height:
            raise DataError(
                f"{strange['value'][0][:40]!r} is no answer to the task {task!r}", file=path, hint=f"restore the file, or {_HINT}"
            )
    if not table.height and not empty:
        raise DataError("there are no frozen judgments", file=path, hint=f"{_HINT}; or judge by rule: --backend rules")
    return table


def freeze(judgments: pl.DataFrame, path: Path) -> int:
    """Merge ``judgments`` into the file; return its number of rows.

    A decided one replaces what the file held for the same item, task, judge and prompt, an undecided one only another undecided one.
    The same judgments give the same bytes, in whatever order they came.
    """
    old = read_frozen(path, empty=True) if path.exists() else pl.DataFrame(schema=COLUMNS)
    table = pl.concat([old.with_columns(rank=0), judgments.select(list(COLUMNS)).with_columns(rank=1)])
    decided = (pl.col("value") != "").cast(pl.Int8)
    table = table.sort([decided, "rank"], maintain_order=True).unique(_KEYS, keep="last", maintain_order=True)
    table = table.drop("rank").sort([*_KEYS, "call"])
    write_table(table, path)
    return table.height


def replay(
    frozen: pl.DataFrame, shown: Mapping[str, Mapping[str, object]], prompts: Mapping[str, Prompt], models: Sequence[str], path: Path
) -> pl.DataFrame:
    """The ``frozen`` judgments on what is shown, made with the prompts as they are now.

    Args:
        frozen: columns ``COLUMNS``.
        shown: task -> id -> anything.
        prompts: task -> its wording.
        models: whose judgments count; none: everybody's.
        path: the file, for messages.

    Returns:
        Columns ``COLUMNS``; what has no judgment is undecided, by nobody.

    Raises:
        DataError: a task has judgments of another prompt only, or none of what is shown.
    """
    if models:
        frozen = frozen.filter(pl.col("judge").is_in(models))
    kept: list[pl.DataFrame] = []
    for task, things in shown.items():
        own = frozen.filter(pl.col("task") == task)
        current = own.filter(pl.col("prompt") == prompts[task].hash)
        about = current.filter(pl.col("item").is_in(list(things)))
        if things and not about.height:
            raise _nothing(task, own.height, current.height, models, path)
        decided = set(about["item"])
        kept += [about, as_table(Judgment(name, task, "", MISSING, "") for name in things if name not in decided)]
    return pl.concat(kept) if kept else as_table(())


def _nothing(task: str, own: int, current: int, models: Sequence[str], path: Path) -> DataError:
    if own and not current:
        message = f"the frozen judgments of {task!r} were made with another prompt"
        return DataError(message, file=path, hint=f"restore {task}.yaml among the prompts, or {_HINT}")
    of = f" of {', '.join(models)}" if models else ""
    what = "is about these candidates" if own else f"answers {task!r}"
    return DataError(f"no frozen judgment{of} {what}", file=path, hint=f"{_HINT}; or choose others with --task or --model")
