"""What annotators answered, read from whatever they filled in, and held against the key."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import DataError, needs
from cxgen.files import json_lines, parse_json, read_text
from cxgen.review.key import ANSWERS
from cxgen.review.sheets import ANSWER, NOTE, Kind
from cxgen.review.tasks import TASKS
from cxgen.tables import one_line

GIVEN = {"reader": pl.String, "code": pl.String, "answer": pl.String, "note": pl.String, "file": pl.String, "line": pl.Int64}
_MOST_UNPACKED, _LONGEST, _MOST_ROWS = 256 << 20, 2_000, 200_000
_PART = re.compile(r"[-_ ]?(list-\d+)?[-_ ]?(labels|sentences)$")
_NOBODY = {ANSWERS.name, *Kind, ""}  # folders that are called after no reader
_HINT = "expected what `cxgen review export` wrote, with answers: columns id, answer and, if you like, note, reader"
_SHOWN = 3

Row = tuple[int, dict[str, Any]]  # line, cells


def read_answers(paths: list[Path], key: pl.DataFrame) -> pl.DataFrame:
    """The answers in files.

    Args:
        paths: ``.csv``, ``.xlsx``, ``.jsonl`` (of the local form, too: of several answers to a row the last counts), ``.json`` (exported by
            Label Studio). Whose they are is said by a column ``reader``, else by the file's name, less ``list-1-labels``,
            else by the name of its folder.
        key: see `cxgen.review.key.KEY`.

    Returns:
        ``reader, code, answer, note`` (strings; the answer as the task writes it), ``list, task, kind``, ...: the key's columns. Rows
        without an answer are left out.

    Raises:
        DataError: a file is damaged; an answer is none; rows that are not in the key; a reader answers a row twice, or two lists.
    """
    given = [answer for path in paths for answer in _answers(path)]
    table = pl.DataFrame(given, schema=GIVEN, orient="row")
    foreign = table.join(key, on="code", how="anti", maintain_order="left")
    if foreign.height:
        what = f"{foreign.height} rows are not of this review, such as {', '.join(foreign['code'][:_SHOWN])}"
        raise DataError(what, file=Path(foreign["file"][0]), line=foreign["line"][0], hint="score them with the key of their own export")
    table = table.filter(pl.col("answer") != "").join(key, on="code", how="left", maintain_order="left")
    _require_choices(table)
    twice = table.select("reader", "code").is_duplicated()
    if twice.any():
        row = table.filter(twice).row(-1, named=True)
        raise DataError(
            f"{row['reader']} answers {row['code']} twice", file=Path(row["file"]), line=row["line"], hint="keep one of the two"
        )
    lists = table.group_by("reader").agg(pl.col("list").unique().sort()).filter(pl.col("list").list.len() > 1).sort("reader")
    if lists.height:
        reader, numbers = lists.row(0)
        what = f"{reader} answers lists {' and '.join(map(str, numbers))}, which have items of the same contrast sets"
        raise DataError(what, hint="leave one out; two people need two names (column reader, or the file's name)")
    return table.drop("file", "line")


def _require_choices(table: pl.DataFrame) -> None:
    for name, task in TASKS.items():
        wrong = table.filter((pl.col("task") == name) & ~pl.col("answer").is_in(task.keys))
        if wrong.height:
            row = wrong.row(0, named=True)
            what = f"{row['answer'][:40]!r} is no answer ({wrong.height} such)"
            raise DataError(what, file=Path(row["file"]), line=row["line"], hint=f"{name}: {', '.join(task.keys)}, or nothing")


def _answers(path: Path) -> Iterator[tuple[Any, ...]]:
    read = _READERS.get(path.suffix)
    if read is None:
        raise DataError(f"unknown kind of file {path.suffix!r}", file=path, hint=f"answers are {', '.join(_READERS)} files")
    reader = _PART.sub("", path.stem)
    reader = reader or ("" if path.parent.name in _NOBODY else path.parent.name)
    found: dict[Any, tuple[Any, ...]] = {}
    for line, row in read(path):
        code, answer = (_cell(row.get(name)) for name in ("id", ANSWER))
        if not code:
            if answer:
                raise DataError("an answer without an id", file=path, line=line, hint=_HINT)
            continue
        who, note = _cell(row.get("reader")) or reader, _cell(row.get(NOTE))
        if not who:
            raise DataError("nobody knows whose answers these are", file=path, hint="call the file NAME-labels, or add a column reader")
        for text in (who, code, answer, note):
            if len(text) > _LONGEST:
                raise DataError("a cell that is too long", file=path, line=line, hint=_HINT)
        # The form appends, so that there the last word counts; elsewhere two rows are a fault, told with both at hand.
        place = (who, code) if path.suffix == ".jsonl" else line
        found[place] = (who, code, answer.upper(), note, str(path), line)
        if len(found) > _MOST_ROWS:
            raise DataError(f"has more than {_MOST_ROWS} rows", file=path, hint=_HINT)
    yield from found.values()


def _cell(value: Any) -> str:
    """A cell as text: spreadsheets make numbers of digits."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value).strip()


def _csv(path: Path) -> Iterator[Row]:
    text = read_text(path, _HINT)
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)  # spreadsheets write what is usual where they run
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter)
    _require_columns(reader.fieldnames or (), path)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise DataError(f"not a CSV file: {one_line(error)}", file=path, line=reader.line_num, hint=_HINT) from error


def _require_columns(names: Any, path: Path) -> None:
    if not {"id", ANSWER} <= set(names) or len(set(names)) < len(names):
        raise DataError(f"has the columns {', '.join(map(str, names[:8])) or 'none'}", file=path, line=1, hint=_HINT)


def _jsonl(path: Path) -> Iterator[Row]:
    return json_lines(path, _HINT)


def _studio(path: Path) -> Iterator[Row]:
    """Label Studio's export: tasks, each with annotations, each by somebody."""
    data = parse_json(read_text(path, _HINT), path, _HINT)
    try:
        for number, task in enumerate(data, 1):
            for annotation in task["annotations"]:
                if not annotation.get("was_cancelled"):
                    by = annotation.get("completed_by")
                    by = by.get("email") or by["id"] if isinstance(by, dict) else by
                    said = {entry["from_name"]: entry["value"] for entry in annotation["result"]}
                    answer, note = said.get(ANSWER, {}).get("choices", [""]), said.get(NOTE, {}).get("text", "")
                    yield (
                        number,
                        {
                            "id": task["data"]["id"],
                            "reader": "" if by is None else f"annotator-{by}",
                            ANSWER: answer[0],
                            NOTE: note if isinstance(note, str) else " / ".join(note),
                        },
                    )
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise DataError("not an export of Label Studio's", file=path, hint="export the project as JSON (not JSON-MIN)") from error


def _xlsx(path: Path) -> Iterator[Row]:
    raw = path.read_bytes()
    with needs("Excel workbooks need the package openpyxl", "review"):
        from openpyxl import load_workbook
    try:
        _require_bounded(raw, path)
        book = load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
        lines = book.worksheets[0].iter_rows(values_only=True, max_row=_MOST_ROWS + 2, max_col=100)
        names = [_cell(value) for value in next(lines, ())]
        while names and not names[-1]:
            names.pop()
        _require_columns(names, path)
        for number, cells in enumerate(lines, 2):
            yield number, dict(zip(names, cells, strict=False))
    except DataError:
        raise
    except Exception as error:  # whatever a damaged archive makes of the library
        raise DataError(f"not an Excel workbook: {one_line(error)}", file=path, hint=_HINT) from error


def _require_bounded(raw: bytes, path: Path) -> None:
    """A few bytes may become gigabytes; what an archive says of a part's size is all that can be read of it."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        size = sum(part.file_size for part in archive.infolist())
    if size > _MOST_UNPACKED:
        raise DataError(f"becomes {size >> 20} MB when it is unpacked", file=path, hint=_HINT)


_READERS: dict[str, Callable[[Path], Iterator[Row]]] = {".csv": _csv, ".xlsx": _xlsx, ".jsonl": _jsonl, ".json": _studio}
