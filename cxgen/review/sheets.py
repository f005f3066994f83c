"""A sample of the finished dataset as lists to fill in: CSV, JSON lines, Excel workbooks, projects for Label Studio."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from enum import StrEnum
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import polars as pl

from cxgen.errors import DataError, needs, unknown
from cxgen.families import family_of
from cxgen.families.scoring import Choices
from cxgen.files import as_text, read_text, require_other, require_place, whole_folder, write_atomically, write_text
from cxgen.report.reading import items_read
from cxgen.review.sample import ANSWERS, CHECK, FILE, GENERAL, ITEM, KEYS, NOBODY, REAL, TASKS, TEXTS, Design, sample, write_key
from cxgen.schema import TARGET

ANSWER, NOTE = "answer", "note"
_GUIDELINES = "guidelines.md"
Rows = list[dict[str, str]]
Kind = StrEnum("Kind", {"xlsx": "xlsx", "csv": "csv", "jsonl": "jsonl", "studio": "label-studio"})


def export(
    dataset: pl.DataFrame,
    folder: Path,
    design: Design,
    kinds: Sequence[Kind],
    configs: Sequence[str] = (),
    real: Path | None = None,
    told: Mapping[str, str] = NOBODY,
) -> list[dict[str, Any]]:
    """Draw a sample of ``configs`` (none: all) of ``dataset``, with the attested sentences of ``real``, and write its key and its lists
    into a folder without a review; returns a row per list and task: ``list, task, items, checks, real``."""
    if (folder / FILE).exists():
        raise DataError("there is a review already", file=folder, hint="its answers need its key: take another folder")
    require_place(folder / FILE)
    require_other(folder / _GUIDELINES, [real] if real else [])
    known = dataset["config"].unique().sort().to_list()
    for config in configs:
        if config not in known:
            raise unknown("config", config, known)
    chosen = dataset.filter(pl.col("config").is_in(list(configs) or known))
    paired = [name for name in known if isinstance(family_of(name).scoring, Choices)]
    group = TARGET if len(set(paired) & set(configs)) < 2 else pl.format("{} ({})", TARGET, "config")
    items, others = (chosen.filter(pl.col("config").is_in(paired) == whether) for whether in (False, True))
    key = sample(items_read(items), design, _attested(real) if real else (), others.with_columns(group=group) if paired else None, told)
    with nullcontext(folder) if folder.exists() else whole_folder(folder) as place:
        write_lists(key, place, kinds)
        (place / ANSWERS).mkdir(exist_ok=True)
        write_key(key, place)
    counts = {name: (pl.col("kind") == kind).sum() for name, kind in (("items", ITEM), ("checks", CHECK), ("real", REAL))}
    return key.group_by("list", "task").agg(**counts).sort("list", "task").to_dicts()


def _attested(path: Path) -> list[str]:
    """Sentences, one a line; empty lines and lines that begin with # are left out."""
    hint = "a text file with one sentence a line"
    lines = [" ".join(line.split()) for line in read_text(path, hint).splitlines()]
    for number, line in enumerate(lines, 1):
        if len(line) > 500:
            raise DataError(f"a line of {len(line)} characters", file=path, line=number, hint=hint)
        if unseen := next((letter for letter in line if not letter.isprintable()), ""):  # of a PDF, often in the place of letters
            raise DataError(f"an invisible character (U+{ord(unseen):04X})", file=path, line=number, hint="delete it, or mend the word")
    kept = [line for line in lines if line and not line.startswith("#")]
    if not kept:
        raise DataError("has no sentences", file=path, hint=hint)
    return kept


def write_lists(key: pl.DataFrame, folder: Path, kinds: Sequence[Kind]) -> None:
    """Write every list, once per task, and the guidelines; what stands there under the same names is replaced."""
    tasks = [task for task in TASKS if task in set(key["task"])]
    write_text(folder / _GUIDELINES, _guidelines(tasks))
    for task in tasks if Kind.studio in kinds else ():
        write_text(folder / Kind.studio / f"{task}.xml", _studio_config(task))
    for (number, name), rows in key.group_by("list", "task", maintain_order=True):
        for kind in kinds:
            path = folder / kind / f"list-{number}-{name}.{'json' if kind is Kind.studio else kind}"
            write_atomically(path, partial(_WRITERS[kind], rows_shown(rows, str(name)), str(name)))


def rows_shown(rows: pl.DataFrame, task: str) -> Rows:
    """What annotators see of rows of the key: ``id``, which is the code, and the texts under the task's headings."""
    columns = dict(zip(TASKS[task]["texts"], TEXTS, strict=False))
    return rows.select(id="code", **columns).to_dicts()


def _guidelines(tasks: Sequence[str]) -> str:
    lines = ["# Guidelines", "", *(f"- {line}" for line in GENERAL)]
    for name, task in ((name, TASKS[name]) for name in tasks):
        lines += ["", f"## {name.capitalize()}: {task['question']}", "", "| answer | | when |", "|---|---|---|"]
        lines += ["| {key} | {name} | {meaning} |".format(**choice) for choice in task["choices"]]
        lines += ["", *(f"- {line}" for line in task["advice"])]
    return "\n".join(lines) + "\n"


def _csv(rows: Rows, _task: str, path: Path) -> None:
    table = pl.DataFrame([{name: as_text(value) for name, value in row.items()} | {ANSWER: None, NOTE: None} for row in rows])
    table.write_csv(path, include_bom=True, line_terminator="\r\n")  # the mark is by what Excel knows UTF-8


def _jsonl(rows: Rows, _task: str, path: Path) -> None:
    path.write_text("".join(json.dumps({**row, ANSWER: None, NOTE: ""}, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def _studio(rows: Rows, _task: str, path: Path) -> None:
    path.write_text(json.dumps([{"data": row} for row in rows], ensure_ascii=False, indent=1) + "\n", "utf-8")


def _studio_config(name: str) -> str:
    task, view = TASKS[name], Xml.Element("View")
    Xml.SubElement(view, "Header", value=task["question"], size="4")
    for heading in task["texts"]:
        Xml.SubElement(view, "Text", name=heading, value=f"${heading}")
    first = task["texts"][0]
    choices = Xml.SubElement(view, "Choices", name=ANSWER, toName=first, choice="single", required="true", showInLine="true")
    for number, choice in enumerate(task["choices"], 1):  # in the results the alias takes the place of the value
        Xml.SubElement(choices, "Choice", value="{key}: {name}".format(**choice), alias=choice["key"], hotkey=str(number))
    Xml.SubElement(view, "TextArea", name=NOTE, toName=first, placeholder="note (if you like)", maxSubmissions="1")
    for line in ["{key}: {meaning}".format(**choice) for choice in task["choices"]] + task["advice"] + GENERAL:
        Xml.SubElement(view, "Header", value=line, size="6")
    Xml.indent(view)
    return Xml.tostring(view, encoding="unicode") + "\n"


def _xlsx(rows: Rows, name: str, path: Path) -> None:
    with needs("Excel workbooks need the package openpyxl", "review"):
        from openpyxl import Workbook
        from openpyxl.styles import Alignment, Font
        from openpyxl.worksheet.datavalidation import DataValidation
    task, book = TASKS[name], Workbook()
    sheet = book.active
    sheet.title = name
    columns = dict(zip(("id", *task["texts"], ANSWER, NOTE), "ABCDEF", strict=False))
    sheet.append(list(columns))
    for row in rows:
        sheet.append([as_text(row.get(column)) for column in columns])
    for column, letter in columns.items():
        sheet[f"{letter}1"].font = Font(bold=True)
        sheet.column_dimensions[letter].width = {"id": 20, ANSWER: 10, NOTE: 40}.get(column, 65)
    for cell in (cell for line in sheet.iter_rows(min_row=2) for cell in line):
        cell.alignment = Alignment(wrap_text=True, vertical="top")
    sheet.freeze_panes = "B2"
    choices = ",".join(KEYS[name])
    allowed = DataValidation(type="list", formula1=f'"{choices}"', allow_blank=True, showErrorMessage=True, error=choices)
    allowed.add(f"{columns[ANSWER]}2:{columns[ANSWER]}{len(rows) + 1}")
    sheet.add_data_validation(allowed)
    guide = book.create_sheet("guidelines")
    guide.column_dimensions["A"].width = 120
    meanings = ["{key}: {name} - {meaning}".format(**choice) for choice in task["choices"]]
    for line in [task["question"], *meanings, *task["advice"], *GENERAL]:
        guide.append([line])
    book.save(packed := BytesIO())  # on a full disk the library would leave an archive that complains when it is forgotten
    path.write_bytes(packed.getvalue())


_WRITERS: dict[Kind, Callable[[Rows, str, Path], None]] = {Kind.xlsx: _xlsx, Kind.csv: _csv, Kind.jsonl: _jsonl, Kind.studio: _studio}
