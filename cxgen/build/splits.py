"""Which split each verb is in: ``lexicons/splits.tsv``, which only grows, so that a new verb moves no other one."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from cxgen import layout
from cxgen.errors import DataError
from cxgen.files import read_text, write_atomically
from cxgen.project import shipped_folder
from cxgen.vocabulary import SPLITS

COLUMNS = ("construction", "verb", "split")
Splits = dict[str, dict[str, str]]  # construction -> verb lemma -> split


def read_splits(root: Path) -> Splits:
    """The splits that are shipped, and those of the project in ``root``, whose own come first.

    Raises:
        DataError: a row is none, or puts a verb into a second split.
    """
    splits: Splits = {}
    for path in dict.fromkeys((shipped_folder() / layout.SPLITS, root / layout.SPLITS)):
        if path.exists():
            for construction, verbs in _read(path).items():
                splits.setdefault(construction, {}).update(verbs)
    return splits


def _read(path: Path) -> Splits:
    splits: Splits = {}
    hint = f"a row has {', '.join(COLUMNS)}, with tabs between; `cxgen splits propose` adds rows"
    for number, row in enumerate(csv.reader(read_text(path, hint).splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE), 1):
        if number == 1 and tuple(row) == COLUMNS:
            continue
        if number == 1 or len(row) != len(COLUMNS) or not all(row) or row[2] not in SPLITS:
            raise DataError(f"not a verb with its split: {row}"[:200], file=path, line=number, hint=hint)
        construction, verb, split = row
        if splits.setdefault(construction, {}).setdefault(verb, split) != split:
            raise DataError(f"{verb!r} of {construction} is in two splits", file=path, line=number, hint="take one of the rows out")
    return splits


def append(path: Path | None, known: Mapping[str, Mapping[str, str]], proposed: Mapping[str, Mapping[str, str]]) -> list[dict[str, str]]:
    """Append the verbs of ``proposed`` that are not ``known`` (construction -> verb -> split) to the file, if one is given; their
    rows."""
    rows = [
        (construction, verb, split)
        for construction, verbs in proposed.items()
        for verb, split in sorted(verbs.items())
        if verb not in known.get(construction, {})
    ]
    if rows and path:
        before = read_text(path) if path.exists() else _line(COLUMNS)
        text = before + "".join(map(_line, rows))
        write_atomically(path, lambda temporary: temporary.write_text(text, "utf-8"))
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def _line(row: Iterable[str]) -> str:
    return "\t".join(row) + "\n"
