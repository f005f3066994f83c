"""What the local form does, apart from HTTP: annotators get lists, rows and their earlier answers, and leave answers."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import DataError
from cxgen.review.kept import Kept
from cxgen.review.key import ANSWERS, read_key
from cxgen.review.sheets import ANSWER, NOTE, rows_shown
from cxgen.review.tasks import TASKS

MOST_NOTE = 500  # characters


class Form:
    """The form of a review.

    Args:
        folder: of the review.

    Raises:
        DataError: there is no key.
    """

    def __init__(self, folder: Path) -> None:
        self._key = read_key(folder)
        self._lists = self._key["list"].unique().sort().to_list()
        self._tasks = dict(self._key.select("code", "task").iter_rows())
        self._list_of = dict(self._key.select("code", "list").iter_rows())
        self._kept = Kept(folder / ANSWERS)
        self._begun: dict[str, int] = {}
        self._lock = threading.Lock()

    def start(self, reader: str) -> dict[str, Any]:
        """What a reader sees: ``list``; ``tasks``: one after the other, each with ``name`` and its ``rows`` (``id`` and texts);
        ``answers``: row id -> ``answer, note``.

        A new reader gets the list that the fewest have.

        Raises:
            DataError: not a name.
        """
        with self._lock:
            lines = self._kept.of(reader)
            number = self._begin(reader, lines)
        mine = self._key.filter(pl.col("list") == number)
        tasks = [
            {"name": name, "rows": rows_shown(rows, task)}
            for name, task in TASKS.items()
            if (rows := mine.filter(pl.col("task") == name)).height
        ]
        answers = {row["id"]: {ANSWER: row[ANSWER], NOTE: row[NOTE]} for row in lines if row.get("id") in self._tasks}
        return {"list": number, "tasks": tasks, "answers": answers}

    def answer(self, reader: str, code: str, given: str, note: str) -> None:
        """Keep an answer; an empty one takes an earlier one back.

        Raises:
            DataError: it is none, or the row is not of the reader's list.
        """
        number = self._begun.get(reader) or self.start(reader)["list"]
        if self._list_of.get(code) != number:
            raise DataError("no row of this list")
        if given and given not in TASKS[self._tasks[code]].keys:
            raise DataError("no answer to this question")
        if len(note) > MOST_NOTE:
            raise DataError(f"a note of more than {MOST_NOTE} characters")
        self._kept.add(reader, **{"id": code, ANSWER: given, NOTE: " ".join(note.split())})

    def _begin(self, reader: str, lines: list[dict[str, Any]]) -> int:
        if reader not in self._begun:
            number = next((row["list"] for row in lines if row.get("list") in self._lists), None)
            if number is None:
                taken = Counter(self._number(name) for name in self._kept.readers())
                number = min(self._lists, key=lambda each: (taken[each], each))
                self._kept.add(reader, list=number)
            self._begun[reader] = number
        return self._begun[reader]

    def _number(self, reader: str) -> int | None:
        return next((row["list"] for row in self._kept.of(reader) if "list" in row), None)
