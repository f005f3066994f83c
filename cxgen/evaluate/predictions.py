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
from cxgen.files import write_text
from cxgen.suites import SUITES, scoring_of
from cxgen.tables import read_rows
from cxgen.vocabulary import UNDECIDED

_SHOWN = 3  # examples of each fault
_SLACK = 0.01  # by which probabilities may miss 1, printed with few digits as they often are
_TELLING = ({"label", "claim"}, {"label", "derivation"})  # together they are the dataset's own, and its label is the right answer
_FORMAT = "columns: id, and label or a number per answer (README, 'Score a model')"
Fault = tuple[str, pl.Series]  # what is wrong, and the rows or ids of which it is


def read_predictions(path: Path) -> pl.DataFrame:
    """A file of predictions, see `read_rows` and `as_predictions`."""
    return as_predictions(read_rows(path, _FORMAT), path)


def as_predictions(rows: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Rows with predictions, whatever else they have; ``path`` is for messages.

    Returns:
        ``id, label`` (strings, null where a row has none) and those of the columns of numbers (f64) that there are; an unreadable number
        is NaN.

    Raises:
        DataError: they lack the columns.
    """
    scorings = (*(family.scoring for family in FAMILIES.values()), *(suite.scoring for suite in SUITES.values()))
    numbers = [name for name in dict.fromkeys(name for scoring in scorings for name in scoring.answers) if name in rows.columns]
    if "id" not in rows.columns or not ("label" in rows.columns or numbers):
        raise DataError(f"has the columns {', '.join(rows.columns[:8]) or 'none'}", file=path, hint=_FORMAT)
    if any(telling <= set(rows.columns) for telling in _TELLING):
        hint = "write id and what the model says, without the dataset's other columns"
        raise DataError("has the dataset's own columns, whose label is the right answer, not a prediction", file=path, hint=hint)
    label = pl.col("label").cast(pl.String) if "label" in rows.columns else pl.lit(None, dtype=pl.String).alias("label")
    values = (pl.col(name).cast(pl.Float64, strict=False).fill_null(float("nan")) for name in numbers)
    return rows.select(pl.col("id").cast(pl.String), label, *values)


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
    faults = [_counted(*fault) for fault in _faults_of_ids(predictions, questions) if len(fault[1])]
    rows = questions.select("id", "config").join(predictions, on="id", how="inner", maintain_order="left")
    parts = []
    for (config,), own in rows.group_by("config", maintain_order=True):
        scoring = scoring_of(str(config))
        faults += [f"{_counted(*fault)} ({config})" for fault in _faults_of_answers(own, scoring) if len(fault[1])]
        whole = set(scoring.answers) <= set(own.columns)
        numbers = pl.concat_list(scoring.answers) if whole else pl.lit(None, dtype=pl.List(pl.Float64))
        label = _position(scoring)
        answer = pl.when(pl.col("label").is_null()).then(_largest(scoring)).otherwise(label) if whole else label
        parts.append(own.select("id", answer.alias("answer"), numbers.alias("numbers")))
    if faults:
        raise DataError("; ".join(faults), file=path, hint=_hint(predictions, questions, elsewhere()))
    return questions.select("id").join(pl.concat(parts), on="id", how="left", maintain_order="left")


def _faults_of_ids(predictions: pl.DataFrame, questions: pl.DataFrame) -> Iterator[Fault]:
    ids, wanted = predictions["id"], questions["id"]
    given = ids.drop_nulls()
    yield "rows without an id", ids.filter(ids.is_null())
    yield "ids come more than once", given.filter(given.is_duplicated()).unique(maintain_order=True)
    yield "ids are not among the items to be scored", given.filter(~given.is_in(wanted.implode())).unique(maintain_order=True)
    yield "items have no prediction", wanted.filter(~wanted.is_in(given.implode()))


def _faults_of_answers(rows: pl.DataFrame, scoring: Scoring) -> Iterator[Fault]:
    """What is wrong with what predictions say of the questions of one config."""
    label, values = _position(scoring), [pl.col(name) for name in scoring.answers]
    wrong = rows.filter(pl.col("label").is_not_null() & label.is_null() & (pl.col("label") != UNDECIDED))
    yield f"labels are none of {', '.join((*scoring.answers, UNDECIDED))}", wrong["label"]
    if not set(scoring.answers) <= set(rows.columns):
        yield f"items have neither label nor the numbers {', '.join(scoring.answers)}", rows.filter(pl.col("label").is_null())["id"]
        return
    finite = pl.all_horizontal(value.is_finite() for value in values)
    yield "items have a number that is none (NaN, infinite or missing)", rows.filter(~finite)["id"]
    rows = rows.filter(finite)
    if scoring.probabilities:
        off = pl.any_horizontal(value < 0 for value in values) | ((pl.sum_horizontal(values) - 1).abs() > _SLACK)
        yield "items have probabilities that are negative or do not sum to 1", rows.filter(off)["id"]
    yield "items have a label that is not the one with the largest number", rows.filter(label != _largest(scoring))["id"]


def _counted(what: str, of: pl.Series) -> str:
    examples = of.drop_nulls().unique(maintain_order=True)
    shown = ", ".join(name if len(name) <= 40 else name[:37] + "..." for name in examples[:_SHOWN])
    return f"{len(of)} {what}" + (f": {shown}{', ...' if len(examples) > _SHOWN else ''}" if shown else "")


def _position(scoring: Scoring) -> pl.Expr:
    """The position that ``label`` names; null where it names none."""
    known = {name: number for number, answer in enumerate(scoring.answers) for name in (answer, str(number))}
    return pl.col("label").replace_strict(known, default=None, return_dtype=pl.Int8)


def _largest(scoring: Scoring) -> pl.Expr:
    """The position of the largest number; null for a tie."""
    values = [pl.col(name) for name in scoring.answers]
    tied = pl.sum_horizontal((value == pl.max_horizontal(values)).cast(pl.Int8) for value in values) > 1
    return pl.when(~tied).then(pl.concat_list(values).list.arg_max().cast(pl.Int8))


def _hint(predictions: pl.DataFrame, questions: pl.DataFrame, elsewhere: Mapping[str, str]) -> str:
    """Which part of the dataset the file is about, if it is another one; else what files must be like."""
    given, wanted = set(predictions["id"].drop_nulls()), set(questions["id"])
    parts = sorted({elsewhere[name] for name in given if name in elsewhere})
    configs = questions.filter(pl.col("id").is_in(list(given)))["config"].unique(maintain_order=True)
    if wanted - given and 0 < len(configs) < questions["config"].n_unique():
        return f"to score just what the file is about: {' '.join(f'--config {name}' for name in configs)}"
    if parts:
        return f"the file is {'also ' if len(configs) else ''}about {', '.join(parts)}"
    if wanted <= given:
        return _FORMAT
    if not given & wanted:
        return "the ids are those of no item of this dataset: were the predictions made for another version of it?"
    return "every item needs a prediction; write undecided where there is none"


def write_predictions(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write predictions as JSON lines: ``id, label`` and what else there is."""
    write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
