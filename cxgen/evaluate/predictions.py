"""Files of predictions: read, held against the questions that they are to answer, and written. Nothing is scored on a part of them.

A row has an item's ``id`` and either ``label`` (an answer by name, or by its position as in the dataset; ``undecided`` where there is
none) or a number for every answer, in columns named like the answers: for `nli` and its like probabilities ``entailment, neutral,
contradiction``, for `minimal_pairs` any scores ``good, bad``. The largest number wins; a tie is undecided. Other columns are not read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import DataError
from cxgen.families import FAMILIES
from cxgen.families.scoring import Scoring
from cxgen.files import json_lines, write_atomically
from cxgen.schema.door import MB, require_file
from cxgen.suites import SUITES, scoring_of
from cxgen.tables import one_line
from cxgen.vocabulary import UNDECIDED

MOST_BYTES = 512 * MB
ENDINGS = (".jsonl", ".csv", ".parquet")
_SHOWN = 3  # examples of each fault
_SLACK = 0.01  # by which probabilities may miss 1, printed with few digits as they often are
_SCORINGS = (*(family.scoring for family in FAMILIES.values()), *(suite.scoring for suite in SUITES.values()))
_NUMBERS = tuple(dict.fromkeys(answer for scoring in _SCORINGS for answer in scoring.answers))
_TELLING = (("label", "claim"), ("label", "derivation"))  # together they are the dataset's own, and its label is the right answer
_KNOWN = tuple(dict.fromkeys(("id", "label", *(name for pair in _TELLING for name in pair), *_NUMBERS)))
_FORMAT = "columns: id, and label or a number per answer (README, 'Score a model')"


def read_predictions(path: Path) -> pl.DataFrame:
    """The rows of a file of predictions, as they are.

    Args:
        path: JSON lines, CSV or parquet, by its ending.

    Returns:
        ``id, label`` (strings, null where a row has none) and those of the columns of numbers (f64) that the file has; an unreadable
        number is NaN.

    Raises:
        DataError: there is no such file, it is too large, damaged, or lacks the columns.
    """
    if path.suffix not in ENDINGS:
        raise DataError(f"unknown kind of file {path.suffix!r}", file=path, hint=f"predictions are {', '.join(ENDINGS)} files")
    require_file(path, MOST_BYTES, _FORMAT)
    try:
        rows = as_predictions(_read(path), path)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"not a readable {path.suffix} file: {one_line(error)}", file=path, hint=_FORMAT) from error
    return rows


def as_predictions(rows: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Rows with predictions, whatever else they have, as `read_predictions` gives them; ``path`` is for messages.

    Raises:
        DataError: they lack the columns.
    """
    numbers = [name for name in _NUMBERS if name in rows.columns]
    if "id" not in rows.columns or not ("label" in rows.columns or numbers):
        raise DataError(f"has the columns {', '.join(rows.columns[:8]) or 'none'}", file=path, hint=_FORMAT)
    if any(set(telling) <= set(rows.columns) for telling in _TELLING):
        hint = "write id and what the model says, without the dataset's other columns"
        raise DataError("has the dataset's own columns, whose label is the right answer, not a prediction", file=path, hint=hint)
    texts = [
        pl.col(name).cast(pl.String) if name in rows.columns else pl.lit(None, dtype=pl.String).alias(name) for name in ("id", "label")
    ]
    return rows.select(*texts, *(_number(name) for name in numbers))


def _read(path: Path) -> pl.DataFrame:
    if path.suffix == ".parquet":
        return pl.read_parquet(path, columns=[name for name in pl.read_parquet_schema(path) if name in _KNOWN])
    if path.suffix == ".csv":
        return pl.read_csv(path, infer_schema=False)
    return _table([row for _, row in json_lines(path, _FORMAT, finite=False)])


def _table(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows of JSON as texts: whatever is no text or number is shown as JSON when it is refused."""
    names = [name for name in _KNOWN if any(name in row for row in rows)]
    columns = {name: [_text(row.get(name)) for row in rows] for name in names}
    return pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _number(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.Float64, strict=False).fill_null(float("nan"))


def answers(predictions: pl.DataFrame, questions: pl.DataFrame, path: Path, elsewhere: Callable[[], Mapping[str, str]]) -> pl.DataFrame:
    """What predictions say of the questions.

    Args:
        predictions: from `read_predictions`.
        questions: ``id, config``, all that is to be answered.
        path: the file, for messages.
        elsewhere: gives the ids of the dataset's other items -> their config and split, as options; asked for a message only.

    Returns:
        ``id`` (string), ``answer`` (i8, position; null: undecided), ``numbers`` (list of f64, one per answer; null where there are none),
        in the questions' order.

    Raises:
        DataError: ids are missing, foreign, repeated, or there are none; labels that are none; numbers that are none, or no
            probabilities: with counts and examples.
    """
    faults = list(_faults_of_ids(predictions, questions))
    rows = questions.select("id", "config").join(predictions, on="id", how="inner", maintain_order="left")
    parts = []
    for (config,), mine in rows.group_by("config", maintain_order=True):
        scoring = scoring_of(str(config))
        faults += [f"{fault} ({config})" for fault in _faults_of_answers(mine, scoring)]
        parts.append(mine.select("id", _answer(mine, scoring).alias("answer"), _given(mine, scoring).alias("numbers")))
    if faults:
        raise DataError("; ".join(faults), file=path, hint=_hint(predictions, questions, elsewhere()))
    return questions.select("id").join(pl.concat(parts), on="id", how="left", maintain_order="left")


def _faults_of_ids(predictions: pl.DataFrame, questions: pl.DataFrame) -> Iterator[str]:
    ids, wanted = predictions["id"], questions["id"]
    given = ids.drop_nulls()
    counts = (
        ("rows without an id", ids.filter(ids.is_null()), False),
        ("ids come more than once", given.filter(given.is_duplicated()).unique(maintain_order=True), True),
        ("ids are not among the items to be scored", given.filter(~given.is_in(wanted.implode())).unique(maintain_order=True), True),
        ("items have no prediction", wanted.filter(~wanted.is_in(given.implode())), True),
    )
    for what, found, shown in counts:
        if len(found):
            yield _counted(what, found if shown else [], len(found))


def _faults_of_answers(rows: pl.DataFrame, scoring: Scoring) -> Iterator[str]:
    """What is wrong with what predictions say of the questions of one config."""
    numbers = [name for name in scoring.answers if name in rows.columns]
    named = rows.filter(pl.col("label").is_not_null())
    wrong = named.filter(_position(scoring).is_null() & (pl.col("label") != UNDECIDED))
    if wrong.height:
        allowed = ", ".join((*scoring.answers, UNDECIDED))
        yield _counted(f"labels are none of {allowed}", wrong["label"].unique(maintain_order=True), wrong.height)
    if len(numbers) < len(scoring.answers):
        bare = rows.filter(pl.col("label").is_null())
        if bare.height:
            yield _counted(f"items have neither label nor the numbers {', '.join(scoring.answers)}", bare["id"])
        return
    values = [pl.col(name) for name in numbers]
    odd = rows.filter(pl.any_horizontal(~value.is_finite() for value in values))
    sound = rows.filter(pl.all_horizontal(value.is_finite() for value in values))
    if odd.height:
        yield _counted("items have a number that is none (NaN, infinite or missing)", odd["id"])
    if scoring.probabilities:
        sums = pl.sum_horizontal(values)
        negative = pl.any_horizontal(value < 0 for value in values)
        off = sound.filter(negative | ((sums - 1).abs() > _SLACK))
        if off.height:
            yield _counted("items have probabilities that are negative or do not sum to 1", off["id"])
    other = sound.filter(_position(scoring).is_not_null() & (_position(scoring) != _largest(scoring)))
    if other.height:
        yield _counted("items have a label that is not the one with the largest number", other["id"])


def _counted(what: str, found: Iterable[str], count: int | None = None) -> str:
    names = list(found)
    shown = ", ".join(name if len(name) <= 40 else name[:37] + "..." for name in names[:_SHOWN])
    return f"{len(names) if count is None else count} {what}" + (f": {shown}{', ...' if len(names) > _SHOWN else ''}" if shown else "")


def _position(scoring: Scoring) -> pl.Expr:
    """The position that ``label`` names; null where it names none."""
    known = {name: number for number, answer in enumerate(scoring.answers) for name in (answer, str(number))}
    return pl.col("label").replace_strict(known, default=None, return_dtype=pl.Int8)


def _largest(scoring: Scoring) -> pl.Expr:
    """The position of the largest number; null for a tie."""
    values = [pl.col(name) for name in scoring.answers]
    most = pl.max_horizontal(values)
    tied = pl.sum_horizontal((value == most).cast(pl.Int8) for value in values) > 1
    return pl.when(~tied).then(pl.concat_list(values).list.arg_max().cast(pl.Int8))


def _answer(rows: pl.DataFrame, scoring: Scoring) -> pl.Expr:
    if all(name in rows.columns for name in scoring.answers):
        return pl.when(pl.col("label").is_null()).then(_largest(scoring)).otherwise(_position(scoring))
    return _position(scoring)


def _given(rows: pl.DataFrame, scoring: Scoring) -> pl.Expr:
    """The numbers of the answers, in their order."""
    if all(name in rows.columns for name in scoring.answers):
        return pl.concat_list(scoring.answers)
    return pl.lit(None, dtype=pl.List(pl.Float64))


def _hint(predictions: pl.DataFrame, questions: pl.DataFrame, elsewhere: Mapping[str, str]) -> str:
    """Which part of the dataset the file is about, if it is another one; else what files must be like."""
    given = set(predictions["id"].drop_nulls())
    parts = {elsewhere[name] for name in given if name in elsewhere}
    missing = set(questions["id"]) - given
    if not parts and not missing:
        return _FORMAT
    if not parts and not given & set(questions["id"]):
        return "the ids are those of no item of this dataset: were the predictions made for another version of it?"
    configs = questions.filter(pl.col("id").is_in(list(given)))["config"].unique(maintain_order=True)
    if missing and len(configs) and len(configs) < questions["config"].n_unique():
        return f"to score just what the file is about: {' '.join(f'--config {name}' for name in configs)}"
    if parts:
        return f"the file is {'also ' if len(configs) else ''}about {', '.join(sorted(parts))}"
    return "every item needs a prediction; write undecided where there is none"


def write_predictions(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write predictions as JSON lines: ``id, label`` and what else there is."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_atomically(path, lambda temporary: temporary.write_text(text, "utf-8"))
