"""What annotators answered, read from whatever they filled in, and compared with the key: ids, texts, possible answers."""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unicodedata import normalize

import polars as pl

from cxgen.errors import CxgenError, DataError, needs
from cxgen.files import as_text, json_lines, read_json, require_file, visible, write_atomically
from cxgen.report.reading import ANSWERS as READING
from cxgen.review.sample import ANSWERS, HYPOTHESIS, ITEM, KEYS, PAIR, PREMISE, TASKS, TEXTS, read_key
from cxgen.review.sheets import ANSWER, NOTE, Kind
from cxgen.tables import csv_lines

_TEXTS = [text for task in TASKS.values() for text in task["texts"]]
_GIVEN = dict.fromkeys(("reader", "id", ANSWER, NOTE, "at", *_TEXTS, "default", "file"), pl.String) | {"line": pl.Int64}
_TASK = re.compile(rf"[-_ ]*(?:list-\d+)?[-_ ]*(?:{'|'.join(TASKS)})[-_ ]*", re.IGNORECASE)
# How systems and browsers call a second one, and Label Studio what it exports: nobody's name.
_COPY = re.compile(r"^(copy of )+|( -)?( copy)?( ?\(\d+\))?$|^project-\d+-at-.*", re.IGNORECASE)
_ALIKE = 5  # answers to a task that are all the same are hardly two people's
_HINT = "expected what `cxgen review export` wrote, with answers: columns id, answer and, if you like, note, reader"

Row = tuple[int, dict[Any, Any]]  # line, cells


def answers_of(folder: Path, files: list[Path]) -> pl.DataFrame:
    """The answers in ``files`` (none: in the folder of answers) of the review in ``folder``, see `read_answers`."""
    key, own = read_key(folder), folder / ANSWERS
    answers = read_answers(files or list(_lying_in(own)), key)
    if not answers.height:
        hint = "fill in the column answer" if files else f"`cxgen review serve {folder}` collects them, or put filled lists there"
        raise DataError("there are no answers", file=files[0] if files else own, hint=hint)
    return answers


def _lying_in(folder: Path) -> Iterator[Path]:
    """The files of answers in a folder; of others but those that systems and spreadsheets leave it is said that they are not read."""
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in _READERS and not path.name.startswith((".", "~")):
            yield path
        elif path.is_file() and not path.name.lower().startswith((".", "~", "desktop.ini", "thumbs.db")):
            sys.stderr.write(f"warning: {path}: not read: answers are {', '.join(_READERS)} files\n")


def read_answers(paths: list[Path], key: pl.DataFrame) -> pl.DataFrame:
    """The answers in files, one row each: ``reader, code, answer, note, at`` (when, where the form knows) and the key's columns. Whose they
    are is said by a column ``reader``, else by the file's name, see `_whose`. DataError of an answer that is none, a row that is not in the
    key or has another text there, names that differ in capitals only, a reader who answers a row twice, or two lists, and of a copy that is
    called like another reader's."""
    table = pl.DataFrame([row for path in paths for row in _rows(path)], schema=_GIVEN)
    table = table.with_columns(pl.col(pl.String).fill_null("")).rename({text: f"given {text}" for text in _TEXTS})
    reader, default, written = pl.col("reader"), pl.col("default"), pl.col("id") != ""
    whose = {"reader": pl.when(reader == "").then(default).otherwise(reader), "told": reader != ""}
    table = table.with_columns(pl.col(ANSWER).str.to_uppercase(), code="id", **whose)
    _refuse(table, ~written & (pl.col(ANSWER) != ""), "an answer without an id", _HINT)
    _refuse(table, written & (reader == ""), "nobody knows whose answers these are", "call the file NAME-labels, or add a column reader")
    # The form appends, so that there the last word counts; elsewhere two rows are a fault, told with both at hand.
    last = ~pl.col("file").str.ends_with(".jsonl") | pl.struct("file", "reader", "code").is_last_distinct()
    table = table.filter(written & last).join(key, on="code", how="left", maintain_order="left")
    for row in table.filter(pl.col(ANSWER) == "", pl.col(NOTE) != "").iter_rows(named=True):
        sys.stderr.write(f"warning: {row['file']}:{row['line']}: a note without an answer: {row[NOTE]}\n")
    table = table.filter((pl.col(ANSWER) != "") | pl.col("task").is_null())
    rounded = pl.col("code").str.contains(r"^\d([.,]\d+)?[eE]\+\d+$")
    hint = "copy the column id from the list as it was exported; in workbooks (--as xlsx) ids stay as they are"
    _refuse(table, rounded, "{code}: a spreadsheet has taken the id for a number, and rounded it", hint)
    _refuse(table, pl.col("task").is_null(), "{code} is not of this review", "score it with the key of its own export")
    for name, task in TASKS.items():
        own = pl.col("task") == name
        hint = f"{name}: {', '.join(KEYS[name])}, or nothing"
        _refuse(table, own & ~pl.col(ANSWER).is_in(KEYS[name]), "{answer!r} is no answer", hint)
        for text, column in zip(task["texts"], TEXTS, strict=False):
            given = pl.col(f"given {text}")
            asked = pl.col(column).map_elements(visible, return_dtype=pl.String).str.strip_prefix("'")
            changed = own & (given != "") & (given.str.strip_prefix("'") != asked)
            _refuse(table, changed, f"{text} of {{code}} is not the text that was asked about", "export the list again, or mend the file")
    spelt = pl.col("reader").n_unique().over(pl.col("reader").str.to_lowercase()) > 1
    hint = "one person, one spelling; two people, two names (column reader, or the file's name)"
    _refuse(table, spelt, "{reader} is written with other capitals elsewhere", hint)
    again = pl.struct("reader", "code").is_duplicated() & ~pl.struct("reader", "code").is_first_distinct()
    twice = table.with_columns(first=pl.col("file").first().over("reader", "code"))
    _refuse(twice, again, "{reader} answers {code} twice, first in {first}", "keep one of the two")
    many = pl.col("list").n_unique().over("reader") > 1
    lists = table.with_columns(lists=pl.col("list").unique().sort().cast(pl.String).implode().over("reader").list.join(" and "))
    what, hint = "{reader} answers lists {lists}, which have items of the same contrast sets", "leave one out; two people need two names"
    _refuse(lists, many, what, f"{hint} (column reader, or the file's name)")
    _refuse_copies(table)
    return table.select("reader", "code", ANSWER, NOTE, "at", *key.columns[1:])


def record(answers: pl.DataFrame, report: Mapping[str, Any], path: Path, kind: str) -> int:
    """Write the answers of the readers who count (``kind``: human or model) as a reading (`cxgen report reading`), which the card tells;
    returns its rows."""
    counting = [name for name, row in report["readers"].items() if row["counts"]]
    sides = {"relation": PAIR, "prem_nat": PREMISE, "hyp_nat": HYPOTHESIS}
    cells = {name: pl.col("answer").filter(pl.col("side") == side).first() for name, side in sides.items()}
    chosen = pl.col("reader").is_in(counting) & pl.col("side").is_in(list(sides.values()))
    ours = answers.filter(chosen, kind=ITEM).group_by(pl.col("item").alias("id"), "reader")
    table = ours.agg(**cells).with_columns(kind=pl.lit(kind)).sort("id", "reader").select(*READING)
    if not table.height:
        raise CxgenError("nothing to record: a reading has labels and ratings", hint="`cxgen review score --json` has the rest")
    write_atomically(path, table.with_columns(pl.col("reader").map_elements(as_text, return_dtype=pl.String)).write_csv)
    return table.height


def _refuse(table: pl.DataFrame, wrong: pl.Expr, what: str, hint: str) -> None:
    rows = table.filter(wrong)
    if rows.height:
        row = rows.row(0, named=True)
        raise DataError(what.format(**row)[:200], file=Path(row["file"]), line=row["line"], hint=hint)


def _refuse_copies(table: pl.DataFrame) -> None:
    """Refuse a file with all the answers and notes of another one whose name is a part of its own; of other names, only warn."""
    said = pl.concat_str("code", ANSWER, NOTE, separator="\t").sort().str.join("\n")
    files = table.filter(~pl.col("told")).group_by("file", "task", maintain_order=True)
    own = files.agg(pl.col("reader", "line").first(), rows=pl.len(), said=said).filter(pl.col("rows") >= _ALIKE)
    same = own.join(own, on="said", suffix="_there", maintain_order="left").filter(pl.col("reader") != pl.col("reader_there"))
    name, other = (pl.col(column).str.to_lowercase() for column in ("reader", "reader_there"))
    what = "the same answers ({rows} of {task}) as in {file_there}: is one file a copy of the other?"
    _refuse(same, name.str.contains(other, literal=True), what, "take one of them away; of two people, name each in a column reader")
    for row in same.head(1).iter_rows(named=True):
        more = f" ({same.height // 2 - 1} more like it)" if same.height > 2 else ""
        sys.stderr.write(f"warning: {row['file']}: {what.format(**row)}{more}\n")


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file: their cells as texts, ``default`` (whose they are if no cell says so), ``file, line``."""
    if (ending := path.suffix.lower()) not in _READERS:
        raise DataError(f"unknown kind of file {path.suffix!r}", file=path, hint=f"answers are {', '.join(_READERS)} files")
    about = {"default": _whose(path), "file": str(path)}
    for line, row in _READERS[ending](path):
        yield {name: _cell(value) for name, value in row.items()} | about | {"line": line}


def _whose(path: Path) -> str:
    """Whose answers a file's name says they are: what stands before the task (``list-1-labels``), or words behind it; else the folder's."""
    before, *others = _TASK.split(_COPY.sub("", path.stem), maxsplit=1)
    behind = "".join(others)
    folder = "" if path.parent.name in {ANSWERS.name, *Kind} else path.parent.name  # which are called after no reader
    return _cell(before or (behind if any(map(str.isalpha, behind)) else folder or behind))


def _cell(value: Any) -> str:
    """A cell as text that can be seen, composed: spreadsheets make numbers of digits."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else visible(normalize("NFC", str(value)))


def _under_names(lines: list[tuple[int, Any]], path: Path) -> Iterator[Row]:
    """Rows whose cells have the names that the first line says."""
    names = [_cell(value) for value in lines[0][1]] if lines else []
    while names and not names[-1]:
        names.pop()
    if not {"id", ANSWER} <= set(names) or len(set(names)) < len(names):
        raise DataError(f"has the columns {', '.join(names[:8]) or 'none'}", file=path, line=1, hint=_HINT)
    return ((number, dict(zip(names, cells, strict=False))) for number, cells in lines[1:])


def _studio(path: Path) -> Iterator[Row]:
    """Label Studio's export: tasks, each with annotations, each by somebody. In an installation of one's own everybody is number 1: who is
    that, and alone, is called as the file is."""
    rows, people, number = list[tuple[int, Any, dict[str, Any]]](), set[Any](), None
    try:
        for number, task in enumerate(read_json(path, _HINT), 1):
            for annotation in task["annotations"]:
                if annotation.get("was_cancelled"):
                    continue
                by = annotation.get("completed_by")
                by = by.get("email") or by["id"] if isinstance(by, dict) else by
                values = {entry["from_name"]: entry["value"] for entry in annotation["result"]}
                answer, note = next(iter(values.get(ANSWER, {}).get("choices", ())), ""), values.get(NOTE, {}).get("text", "")
                row = {"id": task["data"]["id"], ANSWER: answer, NOTE: note if isinstance(note, str) else " / ".join(note)}
                rows.append((number, by, {**task["data"], **row}))
                people.add(by)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        hint = "export the project as JSON (not JSON-MIN)"
        raise DataError("not an export of Label Studio's", file=path, line=number, hint=hint) from error
    alone = people == {1} and _whose(path)
    return ((number, row | {"reader": "" if alone or by is None else f"annotator-{by}"}) for number, by, row in rows)


def _jsonl(path: Path) -> Iterator[Row]:
    """What the form writes begins with ``reader``, and may hold half lines, of runs that were killed; other files only at their end."""
    require_file(path, _HINT)
    with path.open("rb") as file:
        form = file.readline().startswith(b'{"reader"')
    return json_lines(path, _HINT, torn=form or None)


def _xlsx(path: Path) -> Iterator[Row]:
    with needs("Excel workbooks need the package openpyxl", "review"):
        from openpyxl import load_workbook
    require_file(path, _HINT)
    try:
        books = (load_workbook(path, read_only=True, data_only=kept) for kept in (True, False))
        lines, typed = (list(book.worksheets[0].iter_rows(values_only=True)) for book in books)
    except Exception as error:  # whatever a damaged archive makes of the library
        raise DataError(f"not an Excel workbook: {error}", file=path, hint=_HINT) from error
    for number, cells in enumerate(zip(lines, typed, strict=True), 1):
        if any(value is None and formula is not None for value, formula in zip(*cells, strict=True)):
            raise DataError("a formula whose value the file does not have", file=path, line=number, hint="write the answer itself")
    return _under_names(list(enumerate(lines, 1)), path)


_READERS: dict[str, Callable[[Path], Iterator[Row]]] = {
    **dict.fromkeys((".csv", ".tsv"), lambda path: _under_names(csv_lines(path, _HINT), path)),
    ".xlsx": _xlsx,
    ".jsonl": _jsonl,
    ".json": _studio,
}
