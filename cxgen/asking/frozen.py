"""Frozen judgments (`cxgen.layout.JUDGMENTS`): what DVC tracks and a clone without a key replays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import polars as pl

from cxgen.asking.cache import Judgment
from cxgen.asking.prompts import Prompt
from cxgen.errors import DataError
from cxgen.schema import Column, Contract
from cxgen.tables import read_table, write_table
from cxgen.vocabulary import JUDGING, LABELS, PAIR_VERDICTS, PREMISE_VERDICTS, UNDECIDED

MISSING = "no frozen judgment"
COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "item": pl.String,
    "task": pl.String,
    "value": pl.String,
    "reason": pl.String,
    "judge": pl.String,
    "model": pl.String,
    "fingerprint": pl.String,
    "request_id": pl.String,
    "prompt": pl.String,
    "temperature": pl.Float64,
    "max_tokens": pl.Int64,
    "call": pl.String,
    "asked": pl.Int64,
    "tokens_in": pl.Int64,
    "tokens_out": pl.Int64,
    "logprob": pl.Float64,
    "attempt": pl.Int64,
}
_RECORD = "judge --backend openai --export"
_KEYS = ["item", "task", "judge", "prompt"]
_ANSWERS = {  # task -> what may be said; undecided: nothing
    "acceptability": tuple("" if verdict == UNDECIDED else verdict for verdict in PREMISE_VERDICTS),
    "appropriateness": tuple("" if verdict == UNDECIDED else verdict for verdict in PAIR_VERDICTS),
    "label": (*LABELS, ""),
}
_UNKNOWN = {"model", "fingerprint", "request_id", "temperature", "logprob"}  # where a server does not say
_CONTRACT = Contract(
    tuple(Column(name, kind, "", null=name in _UNKNOWN, values=JUDGING if name == "task" else ()) for name, kind in COLUMNS.items()),
    key=tuple(_KEYS),
)


def as_table(judgments: Iterable[Judgment]) -> pl.DataFrame:
    """Judgments as rows with the columns ``COLUMNS``."""
    return pl.DataFrame([asdict(judgment) for judgment in judgments], schema=COLUMNS, orient="row")


def read_frozen(path: Path) -> pl.DataFrame:
    """The frozen judgments, columns ``COLUMNS``.

    Raises:
        DataError: no such file, not one of ours, or one without judgments.
    """
    table = _read(path)
    if not table.height:
        raise DataError("there are no frozen judgments", file=path, hint=f"record some: cxgen {_RECORD}; or judge by rule: --backend rules")
    return table


def _read(path: Path) -> pl.DataFrame:
    hint = f"restore the file, or record judgments: cxgen {_RECORD}"
    table = read_table(path, _CONTRACT, hint)
    for task, allowed in _ANSWERS.items():
        strange = table.filter((pl.col("task") == task) & ~pl.col("value").is_in(allowed))
        if strange.height:
            value = strange["value"][0][:40]
            raise DataError(f"{value!r} is no answer to the task {task!r}, as {strange.height} judgments have it", file=path, hint=hint)
    return table


def freeze(judgments: pl.DataFrame, path: Path) -> int:
    """Merge ``judgments`` into the file; return its number of rows.

    A decided one replaces what the file held for the same item, task, judge and prompt, an undecided one only another undecided one.
    The same judgments give the same bytes, in whatever order they came.
    """
    old = _read(path) if path.exists() else pl.DataFrame(schema=COLUMNS)
    table = pl.concat([old.with_columns(rank=0), _plain(judgments.select(list(COLUMNS))).with_columns(rank=1)])
    decided = (pl.col("value") != "").cast(pl.Int8)
    table = table.sort([decided, "rank"], maintain_order=True).unique(_KEYS, keep="last", maintain_order=True)
    table = table.drop("rank").sort([*_KEYS, "call"])
    write_table(table, path)
    return table.height


def _plain(judgments: pl.DataFrame) -> pl.DataFrame:
    """What a server said of itself, without what no text of a file may hold, and at a reasonable length."""
    plain = (
        pl.col(name).str.replace_all("[\\x00-\\x1f]", "\ufffd").str.head(1_000) for name in ("reason", "model", "fingerprint", "request_id")
    )
    return judgments.with_columns(plain)


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
        mine = frozen.filter(pl.col("task") == task)
        current = mine.filter(pl.col("prompt") == prompts[task].hash)
        found = current.filter(pl.col("item").is_in(list(things)))
        if things and not found.height:
            raise _nothing(task, mine.height, current.height, models, path)
        decided = set(found["item"])
        kept += [found, as_table(Judgment(name, task, "", MISSING, "") for name in things if name not in decided)]
    return pl.concat(kept) if kept else as_table(())


def _nothing(task: str, mine: int, current: int, models: Sequence[str], path: Path) -> DataError:
    record = f"record them: cxgen {_RECORD}"
    if mine and not current:
        return DataError(
            f"the frozen judgments of {task!r} were made with another prompt",
            file=path,
            hint=f"restore {task}.yaml among the prompts, or {record}",
        )
    of = f" of {', '.join(models)}" if models else ""
    what = "is about these candidates" if mine else f"answers {task!r}"
    return DataError(f"no frozen judgment{of} {what}", file=path, hint=f"{record}; or choose others with --task or --model")
