"""Candidates: as rows, in groups of the same tags, with the labels of their groups, in files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from cxgen.errors import CxgenError, DataError
from cxgen.files import require_place, write_atomically
from cxgen.spreadsheet import as_text
from cxgen.tables import one_line

if TYPE_CHECKING:
    from spacy.tokens import Token

_SPANS = pl.List(pl.Struct({"name": pl.String, "start": pl.Int64, "end": pl.Int64, "text": pl.String}))
COLUMNS: dict[str, Any] = {
    **dict.fromkeys(("sentence", "group", "tags"), pl.String),
    "spans": _SPANS,
    **{"file": pl.String, "line": pl.Int64, "column": pl.Int64},
}
_READERS = {".jsonl": pl.read_ndjson, ".csv": pl.read_csv, ".parquet": pl.read_parquet}
_EXAMPLES, _LONG = 2, 160
_HINT = "columns group and label, as `cxgen mine ... --format csv` prints them, with labels filled in"


@dataclass(frozen=True)
class Candidate:
    """A candidate in a sentence.

    Attributes:
        group: the sequence of tags by which it is labelled together with others.
        spans: name, first and last token of its parts.
    """

    group: str
    spans: tuple[tuple[str, Token, Token], ...]

    def row(self, tokens: Sequence[Token], text: str) -> dict[str, Any]:
        """``sentence, group, tags`` (Penn Treebank tags) and ``spans``: name, start and end (characters of the sentence) and text.

        Args:
            tokens: the sentence's.
            text: of the passage that the sentence is in.
        """
        begin, end = tokens[0].idx, tokens[-1].idx + len(tokens[-1])
        sentence = text[begin:end]
        places = [(name, first.idx - begin, last.idx + len(last) - begin) for name, first, last in self.spans]
        spans = [{"name": name, "start": start, "end": stop, "text": sentence[start:stop]} for name, start, stop in places]
        return {"sentence": sentence, "group": self.group, "tags": " ".join(token.tag_ for token in tokens), "spans": spans}


def grouped(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Groups with ``group, count, examples`` (the first few sentences), the largest first."""
    groups: dict[str, dict[str, Any]] = {}
    for row in rows:
        group = groups.setdefault(row["group"], {"group": row["group"], "count": 0, "examples": []})
        group["count"] += 1
        if len(group["examples"]) < _EXAMPLES and row["sentence"][:_LONG] not in group["examples"]:
            group["examples"].append(row["sentence"][:_LONG])
    return sorted(groups.values(), key=lambda group: (-group["count"], group["group"]))


def require_output(path: Path, inputs: Iterable[Path]) -> None:
    """See that candidates can be written to ``path``, and that it is none of the files that are read.

    Raises:
        CxgenError: they cannot, or it is.
    """
    if path.suffix not in _READERS:
        raise CxgenError(f"unknown kind of file {path.suffix!r}", file=path, hint=f"candidates are {', '.join(_READERS)} files")
    if path.exists() and any(given.exists() and path.samefile(given) for given in inputs):
        raise CxgenError("would overwrite what is read", file=path, hint="-o with another name")
    require_place(path)


def write_candidates(rows: Sequence[Mapping[str, Any]], path: Path, more: Sequence[str] = ()) -> None:
    """Write candidates to a JSON lines, CSV (spans as JSON) or parquet file by its ending; ``more`` are further columns, of texts."""
    names = [*COLUMNS, *more]

    def write(temporary: Path) -> None:
        if path.suffix == ".parquet":
            pl.DataFrame(rows, schema=COLUMNS | dict.fromkeys(more, pl.String)).write_parquet(temporary)
            return
        with temporary.open("w", encoding="utf-8", newline="") as file:
            if path.suffix == ".jsonl":
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            else:
                texts = [{**row, "spans": json.dumps(row["spans"], ensure_ascii=False)} for row in rows]
                csv.writer(file, lineterminator="\n").writerows([names, *([as_text(row[name]) for name in names] for row in texts)])

    write_atomically(path, write)


def read_candidates(path: Path) -> pl.DataFrame:
    """A file that `write_candidates` wrote: `COLUMNS`.

    Raises:
        DataError: it is missing, damaged, or something else.
    """
    try:
        if path.suffix == ".jsonl":
            return pl.read_ndjson(path, schema=COLUMNS).select(*COLUMNS)
        if path.suffix == ".parquet":
            return pl.read_parquet(path).select(*COLUMNS).cast(pl.Schema(COLUMNS))
        texts = pl.read_csv(path, schema_overrides=dict.fromkeys(COLUMNS, pl.String)).select(*COLUMNS)
        spans = pl.Series("spans", [json.loads(text) for text in texts["spans"]], _SPANS)
        return texts.with_columns(spans).cast(pl.Schema(COLUMNS))
    except (OSError, ValueError, TypeError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        hint = "`cxgen mine CONSTRUCTION FILES` writes it; -o names it"
        raise DataError(f"no candidates that can be read: {one_line(error)}", file=path, hint=hint) from error


def read_labels(path: Path) -> dict[str, str]:
    """Group -> label of a CSV file with (at least) these columns; rows without a label are passed over.

    Raises:
        DataError: no such file or columns, no label at all, or two labels of one group.
    """
    try:
        rows = pl.read_csv(path, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"cannot read: {one_line(error)}", file=path, hint=_HINT) from error
    if not {"group", "label"} <= set(rows.columns):
        raise DataError(f"has the columns {', '.join(rows.columns) or 'none'}", file=path, hint=_HINT)
    labels: dict[str, str] = {}
    for line, (group, label) in enumerate(rows.select("group", pl.col("label").str.strip_chars()).iter_rows(), 2):
        if label and labels.setdefault(group, label) != label:
            raise DataError(f"two labels of the group {group!r}: {labels[group]}, {label}", file=path, line=line, hint=_HINT)
    if not labels:
        raise DataError("no group has a label", file=path, hint=_HINT)
    return labels


def labelled(candidates: pl.DataFrame, labels: Mapping[str, str], path: Path) -> list[dict[str, Any]]:
    """The candidates of labelled groups, with their ``label``; ``path`` is the labels' file, for messages.

    Raises:
        DataError: labels of groups that no candidate is in.
    """
    foreign = sorted(set(labels) - set(candidates["group"]))
    if foreign:
        hint = "are these the groups of these candidates? --candidates names their file"
        raise DataError(f"{len(foreign)} groups are no candidate's: {', '.join(map(repr, foreign[:3]))}", file=path, hint=hint)
    return [{**row, "label": labels[row["group"]]} for row in candidates.iter_rows(named=True) if row["group"] in labels]
