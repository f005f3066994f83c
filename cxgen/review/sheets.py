"""Lists as files to fill in: CSV, JSON lines, Excel workbooks, projects for Label Studio: ``id``, the texts, room for answer and note."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import polars as pl

from cxgen.errors import needs
from cxgen.files import write_atomically
from cxgen.review.tasks import GENERAL, TASKS, Task, guidelines
from cxgen.spreadsheet import as_text

ANSWER, NOTE = "answer", "note"
Rows = list[dict[str, str]]


class Kind(StrEnum):
    """The forms that lists can have."""

    xlsx = "xlsx"
    csv = "csv"
    jsonl = "jsonl"
    studio = "label-studio"


def write_lists(key: pl.DataFrame, folder: Path, kinds: Sequence[Kind]) -> list[Path]:
    """Write every list, once per task, and the guidelines; return the files.

    Args:
        key: see `cxgen.review.sample.KEY`.
        folder: where; what stands there under the same names is replaced.
        kinds: in which forms.
    """
    texts = {folder / "guidelines.md": guidelines()}
    if Kind.studio in kinds:
        texts |= {folder / Kind.studio.value / f"{task.name}.xml": studio_config(task) for task in TASKS.values()}
    for path, text in texts.items():
        write_atomically(path, partial(_write_text, text))
    lists = []
    for (number, name), rows in key.group_by("list", "task", maintain_order=True):
        task = TASKS[str(name)]
        for kind in kinds:
            ending = "json" if kind is Kind.studio else kind.value
            lists.append(folder / kind.value / f"list-{number}-{name}.{ending}")
            write_atomically(lists[-1], partial(_WRITERS[kind], rows_shown(rows, task), task))
    return [*texts, *lists]


def _write_text(text: str, path: Path) -> None:
    path.write_text(text, "utf-8")


def rows_shown(rows: pl.DataFrame, task: Task) -> Rows:
    """What annotators see of rows of the key: ``id``, which is the code, and the texts under the task's headings."""
    columns = ("text", "second")[: len(task.texts)]
    return rows.select("code", *columns).rename({"code": "id", **dict(zip(columns, task.texts, strict=True))}).to_dicts()


def _csv(rows: Rows, task: Task, path: Path) -> None:
    with path.open("w", encoding="utf-8-sig", newline="") as file:  # the mark is by what Excel knows UTF-8
        writer = csv.DictWriter(file, fieldnames=["id", *task.texts, ANSWER, NOTE], restval="")
        writer.writeheader()
        writer.writerows({name: as_text(value) for name, value in row.items()} for row in rows)


def _jsonl(rows: Rows, _task: Task, path: Path) -> None:
    path.write_text("".join(json.dumps({**row, ANSWER: None, NOTE: ""}, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def _studio(rows: Rows, _task: Task, path: Path) -> None:
    path.write_text(json.dumps([{"data": row} for row in rows], ensure_ascii=False, indent=1) + "\n", "utf-8")


def studio_config(task: Task) -> str:
    """The labelling interface of Label Studio for a task."""
    view = Xml.Element("View")
    Xml.SubElement(view, "Header", value=task.question, size="4")
    for heading in task.texts:
        Xml.SubElement(view, "Text", name=heading, value=f"${heading}")
    choices = Xml.SubElement(view, "Choices", name=ANSWER, toName=task.texts[0], choice="single", required="true", showInLine="true")
    for number, choice in enumerate(task.choices, 1):  # in the results the alias takes the place of the value
        Xml.SubElement(choices, "Choice", value=f"{choice.key}: {choice.name}", alias=choice.key, hotkey=str(number))
    Xml.SubElement(view, "TextArea", name=NOTE, toName=task.texts[0], placeholder="note (if you like)", maxSubmissions="1")
    for line in (*(f"{choice.key}: {choice.meaning}" for choice in task.choices), *task.advice, *GENERAL):
        Xml.SubElement(view, "Header", value=line, size="6")
    Xml.indent(view)
    return Xml.tostring(view, encoding="unicode") + "\n"


def _xlsx(rows: Rows, task: Task, path: Path) -> None:
    with needs("Excel workbooks need the package openpyxl", "review"):
        from openpyxl import Workbook
        from openpyxl.styles import Alignment, Font
        from openpyxl.worksheet.datavalidation import DataValidation
    book = Workbook()
    sheet = book.active
    sheet.title = task.name
    names = ["id", *task.texts, ANSWER, NOTE]
    sheet.append(names)
    for row in rows:
        sheet.append([as_text(row.get(name)) for name in names])
    for letter, name in zip("ABCDEFGH", names, strict=False):
        sheet[f"{letter}1"].font = Font(bold=True)
        sheet.column_dimensions[letter].width = {"id": 20, ANSWER: 10, NOTE: 40}.get(name, 65)
    for cell in (cell for line in sheet.iter_rows(min_row=2) for cell in line):
        cell.alignment = Alignment(wrap_text=True, vertical="top")
    sheet.freeze_panes = "B2"
    choices = ",".join(task.keys)
    allowed = DataValidation(type="list", formula1=f'"{choices}"', allow_blank=True, showErrorMessage=True, error=choices)
    column = "ABCDEFGH"[names.index(ANSWER)]
    allowed.add(f"{column}2:{column}{len(rows) + 1}")
    sheet.add_data_validation(allowed)
    guide = book.create_sheet("guidelines")
    guide.column_dimensions["A"].width = 120
    for line in (task.question, *(f"{choice.key}: {choice.name} - {choice.meaning}" for choice in task.choices), *task.advice, *GENERAL):
        guide.append([line])
    book.save(path)


_WRITERS: dict[Kind, Callable[[Rows, Task, Path], Any]] = {Kind.xlsx: _xlsx, Kind.csv: _csv, Kind.jsonl: _jsonl, Kind.studio: _studio}
