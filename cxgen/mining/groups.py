"""Candidates in groups of the same tags; the groups' labels; the files of candidates."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import CxgenError, DataError
from cxgen.files import write_atomically
from cxgen.schema.door import MB, read_text, require_file
from cxgen.spreadsheet import as_text
from cxgen.tables import one_line

ENDINGS = (".jsonl", ".csv", ".parquet")
_SPAN = pl.Struct({"name": pl.String(), "start": pl.Int64(), "end": pl.Int64(), "text": pl.String()})
_TYPES: dict[str, pl.DataType] = {
    **dict.fromkeys(("sentence", "group", "tags"), pl.String()),
    "spans": pl.List(_SPAN),
    "file": pl.String(),
    **dict.fromkeys(("line", "column"), pl.Int64()),
}
COLUMNS = pl.Schema(_TYPES)
_EXAMPLES, _LONG = 2, 160
_MOST_BYTES = 4096 * MB
_MOST_LABELS = 64 * MB
_HINT = "columns group and label, as `cxgen mine ... --format csv` prints them, with labels filled in"


def require_ending(path: Path) -> None:
    """See that candidates can be written to ``path`` by its ending.

    Raises:
        CxgenError: they cannot.
    """
    if path.suffix not in ENDINGS:
        raise CxgenError(f"unknown kind of file {path.suffix!r}", file=path, hint=f"candidates are {', '.join(ENDINGS)} files")


def grouped(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Groups with ``group, count, examples`` (the first few sentences), the largest first."""
    found: dict[str, tuple[list[str], list[int]]] = {}
    for row in rows:
        examples, count = found.setdefault(row["group"], ([], [0]))
        count[0] += 1
        if len(examples) < _EXAMPLES and row["sentence"][:_LONG] not in examples:
            examples.append(row["sentence"][:_LONG])
    order = sorted(found, key=lambda group: (-found[group][1][0], group))
    return [{"group": group, "count": found[group][1][0], "examples": found[group][0]} for group in order]


def write_candidates(rows: Iterable[Mapping[str, Any]], path: Path, more: Iterable[str] = ()) -> None:
    """Write candidates, a row at a time, to a JSON lines, CSV or parquet file by its ending.

    Args:
        rows: with `COLUMNS` and ``more``; CSV has the spans as JSON.
        path: the file.
        more: further columns, of texts.
    """
    schema = pl.Schema(_TYPES | dict.fromkeys(more, pl.String()))

    def lines(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)

    def table(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(schema)
            for row in rows:
                writer.writerow([as_text(_flat(row[name])) for name in schema])

    def parquet(temporary: Path) -> None:
        middle = temporary.with_name(f"{temporary.name}.jsonl")
        try:
            lines(middle)
            pl.scan_ndjson(middle, schema=schema).sink_parquet(temporary, compression="zstd")
        finally:
            middle.unlink(missing_ok=True)

    write_atomically(path, {".jsonl": lines, ".csv": table, ".parquet": parquet}[path.suffix])


def _flat(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


def read_candidates(path: Path) -> pl.DataFrame:
    """A file that `write_candidates` wrote: `COLUMNS`.

    Raises:
        DataError: it is missing, damaged, or something else.
    """
    hint = "`cxgen mine CONSTRUCTION FILES` writes it; -o names it"
    require_ending(path)
    require_file(path, _MOST_BYTES, hint)
    try:
        if path.suffix == ".csv":
            texts = pl.read_csv(path, schema_overrides=dict.fromkeys(COLUMNS, pl.String)).select(*COLUMNS)
            spans = [json.loads(text) for text in texts["spans"]]
            return texts.with_columns(pl.Series("spans", spans, COLUMNS["spans"])).cast(COLUMNS)
        if path.suffix == ".parquet":
            return pl.read_parquet(path).select(*COLUMNS).cast(COLUMNS)
        return pl.read_ndjson(path, schema=COLUMNS).select(*COLUMNS)
    except (OSError, ValueError, TypeError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"no candidates that can be read: {one_line(error)}", file=path, hint=hint) from error


def read_labels(path: Path) -> dict[str, str]:
    """Group -> label of a CSV file with (at least) these columns; rows without a label are passed over.

    Raises:
        DataError: no such columns, no label at all, or two labels of one group.
    """
    reader = csv.DictReader(read_text(path, _MOST_LABELS).removeprefix("\ufeff").splitlines(keepends=True))
    if not {"group", "label"} <= set(reader.fieldnames or ()):
        raise DataError(f"has the columns {', '.join(reader.fieldnames or ()) or 'none'}", file=path, hint=_HINT)
    found: dict[str, str] = {}
    for row in reader:
        group, label = row["group"], (row["label"] or "").strip()
        if label and found.setdefault(group, label) != label:
            raise DataError(f"two labels of the group {group!r}: {found[group]}, {label}", file=path, line=reader.line_num, hint=_HINT)
    if not found:
        raise DataError("no group has a label", file=path, hint=_HINT)
    return found


def labelled(candidates: pl.DataFrame, labels: Mapping[str, str], path: Path) -> Iterator[dict[str, Any]]:
    """The candidates of labelled groups, with their ``label``; ``path`` is the labels' file, for messages.

    Raises:
        DataError: labels of groups that no candidate is in.
    """
    foreign = [group for group in labels if group not in set(candidates["group"])]
    if foreign:
        hint = "are these the groups of these candidates? --out names their file"
        raise DataError(f"{len(foreign)} groups are no candidate's: {', '.join(map(repr, foreign[:3]))}", file=path, hint=hint)
    for row in candidates.filter(pl.col("group").is_in(list(labels))).iter_rows(named=True):
        yield {**row, "label": labels[row["group"]]}
