"""Candidates: as rows, in groups of the same tags, with the labels of their groups, in files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from cxgen.errors import CxgenError, DataError
from cxgen.files import require_place, write_atomically
from cxgen.spreadsheet import as_text
from cxgen.tables import ENDINGS, one_line, read_rows

if TYPE_CHECKING:
    from spacy.tokens import Token

_SPANS = pl.List(pl.Struct({"name": pl.String, "start": pl.Int64, "end": pl.Int64, "text": pl.String}))
COLUMNS: dict[str, Any] = {
    **dict.fromkeys(("sentence", "group", "tags"), pl.String),
    "spans": _SPANS,
    **{"file": pl.String, "line": pl.Int64, "column": pl.Int64},
}
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
    if path.suffix not in ENDINGS:
        raise CxgenError(f"unknown kind of file {path.suffix!r}", file=path, hint=f"candidates are {', '.join(ENDINGS)} files")
    if path.exists() and any(given.exists() and path.samefile(given) for given in inputs):
        raise CxgenError("would overwrite what is read", file=path, hint="-o with another name")
    require_place(path)


def write_candidates(rows: pl.DataFrame, path: Path) -> None:
    """Write candidates to a JSON lines, CSV (spans as JSON) or parquet file by its ending."""
    if path.suffix == ".csv":
        spans = [json.dumps(spans, ensure_ascii=False) for spans in rows["spans"].to_list()]
        rows = rows.with_columns(pl.Series("spans", spans, pl.String))
        rows = rows.with_columns(pl.col(pl.String).map_elements(as_text, return_dtype=pl.String))
    write: dict[str, Any] = {".jsonl": rows.write_ndjson, ".csv": rows.write_csv, ".parquet": rows.write_parquet}
    write_atomically(path, write[path.suffix])


def read_candidates(path: Path) -> pl.DataFrame:
    """A file that `write_candidates` wrote.

    Raises:
        DataError: it is missing, damaged, or something else.
    """
    hint = "`cxgen mine CONSTRUCTION FILES` writes it; -o names it"
    rows = read_rows(path, hint)
    try:
        rows = rows.select(*COLUMNS) if rows.width else pl.DataFrame(schema=COLUMNS)
        if path.suffix == ".csv":
            rows = rows.with_columns(pl.Series("spans", [json.loads(text) for text in rows["spans"]], _SPANS))
        return rows.cast(pl.Schema(COLUMNS))
    except (ValueError, TypeError, pl.exceptions.PolarsError) as error:
        raise DataError(f"no candidates that can be read: {one_line(error)}", file=path, hint=hint) from error


def read_labels(path: Path) -> dict[str, str]:
    """Group -> label of a table with (at least) these columns; rows without a label are passed over.

    Raises:
        DataError: no such file or columns, no label at all, or two labels of one group.
    """
    rows = read_rows(path, _HINT)
    if not {"group", "label"} <= set(rows.columns):
        raise DataError(f"has the columns {', '.join(rows.columns) or 'none'}", file=path, hint=_HINT)
    labels: dict[str, str] = {}
    for line, (group, label) in enumerate(rows.select("group", pl.col("label").str.strip_chars()).iter_rows(), 2):
        if label and labels.setdefault(group, label) != label:
            raise DataError(f"two labels of the group {group!r}: {labels[group]}, {label}", file=path, line=line, hint=_HINT)
    if not labels:
        raise DataError("no group has a label", file=path, hint=_HINT)
    return labels


def labelled(candidates: pl.DataFrame, labels: Mapping[str, str], path: Path) -> pl.DataFrame:
    """The candidates of labelled groups, with their ``label``; ``path`` is the labels' file, for messages.

    Raises:
        DataError: labels of groups that no candidate is in.
    """
    foreign = sorted(set(labels) - set(candidates["group"]))
    if foreign:
        hint = "are these the groups of these candidates? --candidates names their file"
        raise DataError(f"{len(foreign)} groups are no candidate's: {', '.join(map(repr, foreign[:3]))}", file=path, hint=hint)
    label = pl.col("group").replace_strict(labels, default=None, return_dtype=pl.String)
    return candidates.with_columns(label=label).filter(pl.col("label").is_not_null())
