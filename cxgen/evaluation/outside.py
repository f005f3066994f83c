"""Items of one's own: a table of premises, hypotheses and labels, or of two sentences of which one is good."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from cxgen.errors import DataError
from cxgen.evaluation.scores import DIMENSIONS, FIXED
from cxgen.streams import address
from cxgen.suites import scoring_of
from cxgen.tables import as_texts, numbered_rows
from cxgen.vocabulary import LABELS

_FORMAT = """columns: premise, hypothesis, label (entailment, neutral, contradiction; E, N, C; 0, 1, 2); or good, bad (or sentence_good,
  sentence_bad) and, if there is one, context; if there are any, id, construction, and others for --by"""
_CODES = {name: code for code, label in enumerate(LABELS) for name in (label, label[0], str(code))}
# The config that such items are like -> its columns, with the names that they may have.
_COLUMNS: dict[str, dict[str, tuple[str, ...]]] = {
    "nli": {name: (name,) for name in ("premise", "hypothesis", "label")},
    "minimal_pairs": {f"diagnostic_{side}": (side, f"sentence_{side}", f"diagnostic_{side}") for side in ("good", "bad")},
}


def read_items(path: Path, by: Sequence[str] = ()) -> tuple[str, pl.DataFrame]:
    """The items of a table that a user brings, and the config that they are like: ``id`` (the table's own, or a digest of name, row and
    texts), what that config's scoring needs (``context`` is empty where there is none), ``construction`` ("all" where the table has none,
    "other" where a row has none), ``contrast_of`` (null) and those of `DIMENSIONS` and ``by`` that the table has (strings). DataError:
    file:line."""
    rows, lines = numbered_rows(path, _FORMAT)
    like, names = _named(rows, path, by)
    rows = as_texts(rows, [*names.values()], path, _FORMAT).select(
        pl.col(given).str.strip_chars().alias(name) for name, given in names.items()
    )
    if "label" in names:
        rows = rows.with_columns(pl.col("label").str.to_lowercase())
        faults = {"have a label that is none": (~pl.col("label").is_in(list(_CODES)), "label")}
    else:
        faults = {"have the same sentence twice": (pl.col("diagnostic_good") == pl.col("diagnostic_bad"), "diagnostic_good")}
    own = {name: pl.col(name).replace("", None) for name in (*_COLUMNS[like], *(["id"] if "id" in names else []))}
    faults = {f"have no {names[name]}": (value.is_null(), name) for name, value in own.items()} | faults
    faults |= {"share their id": (pl.col("id").is_duplicated(), "id")} if "id" in names else {}
    for what, (bad, shown) in faults.items():
        numbers = rows.select(bad.arg_true()).to_series()
        if len(numbers):
            message = f"{len(numbers)} rows {what}, this one first: {rows[shown][numbers[0]]!r}"
            raise DataError(message, file=path, line=lines[numbers[0]], hint=_FORMAT)
    needs = scoring_of(like).needs
    absent = {"construction": ("other", "all"), **({"context": ("", "")} if "context" in needs else {})}
    own = {name: pl.col(name).fill_null(row) if name in names else pl.lit(table) for name, (row, table) in absent.items()}
    rows = rows.with_columns(**own, contrast_of=pl.lit(None, dtype=pl.String))
    if "label" in names:
        rows = rows.with_columns(pl.col("label").replace_strict(_CODES, return_dtype=pl.Int8))
    if "id" not in names:
        digests = (address("outside", path.stem, number, *row) for number, row in enumerate(rows.select(needs).iter_rows()))
        rows = rows.with_columns(pl.Series("id", digests))
    return like, rows


def _named(rows: pl.DataFrame, path: Path, by: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The config that items are like, and what is read of them -> the column that has it."""
    found = {like: {name: [one for one in names if one in rows.columns] for name, names in own.items()} for like, own in _COLUMNS.items()}
    whole = [like for like, columns in found.items() if all(columns.values())]
    if len(whole) != 1 or any(len(columns) > 1 for columns in found[whole[0]].values()) or not rows.height:
        shown = f"has the columns {', '.join(rows.columns[:8]) or 'none'}" if rows.height or not rows.width else "has no rows"
        raise DataError(shown, file=path, hint=_FORMAT)
    names = {name: column for name, (column,) in found[whole[0]].items()}
    more = ("id", "construction", *(["context"] if whole[0] == "minimal_pairs" else []))
    names |= {name: name for name in more if name in rows.columns}
    names |= {name: name for name in (*DIMENSIONS, *by) if name in rows.columns and name not in {*names.values(), *FIXED}}
    return whole[0], names


def questions_about(rows: pl.DataFrame, name: str, like: str) -> pl.DataFrame:
    """Items of `read_items` as `cxgen.evaluation.scores.questions`, as far as these are known; those of a premise or context are resampled
    together, and are right as a whole or not."""
    scoring = scoring_of(like)
    text = pl.col(scoring.needs[0])
    together = pl.when(text == "").then("id").otherwise(text)
    return rows.select(
        pl.exclude("contrast_of", *scoring.needs),
        right=scoring.right().cast(pl.Int8),
        contrast_set=together,
        cluster=together,
        config=pl.lit(name),
        like=pl.lit(like),
    )
