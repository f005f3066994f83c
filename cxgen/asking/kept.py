"""Judgments that are kept: in a file of JSON lines as they come, since they were paid for; and frozen in a table, which DVC tracks."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any

import polars as pl

from cxgen.asking.prompts import Prompt
from cxgen.errors import DataError
from cxgen.files import json_lines, locked
from cxgen.schema import Column, Contract
from cxgen.tables import read_table, write_table
from cxgen.vocabulary import JUDGING, LABELS, PAIR_VERDICTS, PREMISE_VERDICTS

_REMOVE = "remove the line, or move the file away: a new one is made"
_RECORD = "record some: cxgen judge --backend openai --export"
_ANSWERS = {"acceptability": PREMISE_VERDICTS, "appropriateness": PAIR_VERDICTS, "label": LABELS}


@dataclass(frozen=True)
class Judgment:
    """What one model said about one item; tokens are those of the whole request."""

    item: str
    task: str
    value: str  # the verdict (or free answer); empty if undecided
    reason: str  # why it is undecided
    judge: str  # the model that was asked
    model: str = ""  # that answered, by its own account
    fingerprint: str = ""  # the server's, like the next
    request_id: str = ""
    prompt: str = ""  # content hash
    temperature: float | None = 0.0  # None: the server takes none
    max_tokens: int = 0
    call: str = ""  # content address of the request
    asked: int = 0  # items in it
    tokens_in: int = 0
    tokens_out: int = 0
    logprob: float | None = None  # of the verdict, where the server gives it
    attempt: int = 0  # how often the item had been answered unusably before


class Cache:
    """Judgments by the content address of what was asked of an item, and the batches that are open; without a file nothing is kept."""

    def __init__(self, file: IO[bytes] | None = None) -> None:
        self.file = file
        self.judgments: dict[str, Judgment] = {}
        self.batches: dict[str, dict[str, Any]] = {}  # by the file that a batch is made of

    def take(self, row: Mapping[str, Any]) -> None:
        """Take one line's object. TypeError, KeyError: it is none of ours."""
        if "batch" in row:
            self.batches[row["batch"]] = {"model": row["model"], "keys": row["keys"], "name": row.get("name", row["batch"])}
        elif "closed" in row:
            self.batches.pop(row["closed"], None)
        else:
            self.judgments.setdefault(row["key"], Judgment(**row["judgment"]))

    def put(self, judgments: Mapping[str, Judgment]) -> None:
        """Keep judgments by the address of what was asked."""
        self.append(*({"key": key, "judgment": asdict(judgment)} for key, judgment in judgments.items()))

    def append(self, *rows: dict[str, Any]) -> None:
        """Take lines' objects and write them."""
        for row in rows:
            self.take(row)
        text = "".join(json.dumps(row) + "\n" for row in rows).encode()
        if not self.file:
            return
        with suppress(OSError):
            if self.file.write(text) == len(text):
                return
        hint = "what was answered before is kept: make room and run the same command again"
        raise DataError("cannot be written; is the disk full?", file=Path(self.file.name), hint=hint)


@contextmanager
def opened(path: Path) -> Iterator[Cache]:
    """The cache in ``path``, held for this process: two runs would pay twice. A half-written last line of a killed run is cut off."""
    with locked(path, "is asking models with these answers"):
        try:
            raw = path.read_bytes() if path.exists() else b""
            file = path.open("ab", buffering=0)
        except OSError as error:
            raise DataError(f"cannot be opened: {error.strerror}", file=path, hint="its file and folder must be writable") from error
        with file:
            if raw and not raw.startswith(b'{"'):
                raise DataError("not a file of kept answers", file=path, hint="name another one: --cache FILE")
            cache = Cache(file)
            for number, row in json_lines(path, _REMOVE, torn=True):
                try:
                    cache.take(row)
                except (TypeError, KeyError) as error:
                    raise DataError("not a kept answer", file=path, line=number, hint=_REMOVE) from error
            os.truncate(path, raw.rfind(b"\n") + 1)
            yield cache


# The table of frozen judgments, `cxgen.layout.JUDGMENTS`.

_TYPES = {str: pl.String, int: pl.Int64, float | None: pl.Float64}
COLUMNS: dict[str, Any] = {field.name: _TYPES[field.type] for field in fields(Judgment)}  # type: ignore[index]
_KEYS = ("item", "task", "judge", "prompt")
_UNKNOWN = {"model", "fingerprint", "request_id", "temperature", "logprob"}  # where a server does not say
_CONTRACT = Contract(
    tuple(Column(name, kind, "", null=name in _UNKNOWN, values=JUDGING if name == "task" else ()) for name, kind in COLUMNS.items()),
    key=_KEYS,
)


def as_table(judgments: Iterable[Judgment]) -> pl.DataFrame:
    """Judgments as rows, columns ``COLUMNS``."""
    return pl.DataFrame([asdict(judgment) for judgment in judgments], schema=COLUMNS, orient="row")


def read_frozen(path: Path) -> pl.DataFrame:
    """The frozen judgments, columns ``COLUMNS``."""
    hint = f"restore the file, or {_RECORD}"
    table = read_table(path, _CONTRACT, hint)
    for task, allowed in _ANSWERS.items():
        for value in table.filter((pl.col("task") == task) & ~pl.col("value").is_in([*allowed, ""]))["value"]:
            raise DataError(f"{value[:40]!r} is no answer to the task {task!r}", file=path, hint=hint)
    return table


def freeze(judgments: pl.DataFrame, path: Path) -> int:
    """Merge judgments into the file, in whatever order they come; its number of rows.

    A decided one replaces what the file held for the same item, task, judge and prompt, an undecided one only another undecided one.
    """
    old = [read_frozen(path)] if path.exists() else []
    table = pl.concat([*old, judgments.select(list(COLUMNS))])
    table = table.sort(pl.col("value") != "", maintain_order=True).unique(_KEYS, keep="last").sort(*_KEYS, "call")
    write_table(table, path)
    return table.height


def replay(path: Path, shown: Mapping[str, Mapping[str, object]], prompts: Mapping[str, Prompt], models: Sequence[str]) -> pl.DataFrame:
    """The frozen judgments in ``path`` on what is shown (task -> id -> anything), with the prompts as they are now, by ``models`` or all.

    What has no judgment is undecided, by nobody. It is an error if a task has none at all.
    """
    frozen, parts = read_frozen(path), [as_table(())]
    for task, things in shown.items():
        own = frozen.filter((pl.col("task") == task) & (pl.col("judge").is_in(models) if models else True))
        current = own.filter(pl.col("prompt") == prompts[task].hash)
        about = current.filter(pl.col("item").is_in(list(things)))
        if things and not about.height:
            by = f" by {', '.join(models)}" if models else ""
            found = f"{own.height} answer {task!r}{by}, {current.height} of them with the prompt as it is, none about these candidates"
            hint = f"restore {task}.yaml among the prompts, choose others with --task or --model, or {_RECORD}; or judge by rule"
            raise DataError(f"nothing to replay: of {frozen.height} frozen judgments {found}", file=path, hint=hint)
        judged = set(about["item"])
        parts += [about, as_table(Judgment(name, task, "", "no frozen judgment", "") for name in things if name not in judged)]
    return pl.concat(parts)
