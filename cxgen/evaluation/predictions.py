"""Predictions: read, held against the questions that they are to answer, asked of a user's function, and written. Nothing is scored on a
part of them."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import CxgenError, DataError, some
from cxgen.evaluation.scores import first_sets
from cxgen.families import CONFIGS
from cxgen.families.scoring import Item, Scoring
from cxgen.files import write_text
from cxgen.suites import SUITES, scoring_of
from cxgen.tables import as_texts, read_rows
from cxgen.version import DATA_VERSION
from cxgen.vocabulary import UNDECIDED

BEYOND = "items beyond --limit"  # what `Evaluated` calls them
_SLACK = 0.01  # by which probabilities may miss 1, printed with few digits as they often are
# The answers of whatever is asked, after which columns of numbers are called.
_NUMBERS = tuple(dict.fromkeys(name for config in (*CONFIGS, *SUITES) for name in scoring_of(config).answers))
_SAMPLES = ("doc", "filtered_resps")  # of lm-eval's
_FORMAT = "columns: id, and label or a number per answer (entailment ...; of pairs good, bad), so called: docs/evaluation.md"
_KINDS = "an answer by name or number, one number per answer in a list, or a mapping from answers to numbers"
Predict = Callable[[list[dict[str, str]]], Iterable[Any]]


def answers(
    source: Path | pl.DataFrame, questions: pl.DataFrame, parts: Callable[[], Mapping[str, str]], tell: Callable[[str], object] = str
) -> pl.DataFrame:
    """What predictions, of a file or in a table (see `_read`), say of the questions, in their order: ``id, answers`` (list of i8: the
    position of the answer; of several with the largest number all; none: undecided), ``numbers`` (one per answer, or null). Those of other
    parts are left out, and ``tell`` is called with how many; ``parts`` gives the ids of the dataset -> the options that name their part.
    DataError counts, with examples, ids and answers that are missing, foreign, repeated or none."""
    path = source if isinstance(source, Path) else Path("predictions")
    rows = read_rows(source, _FORMAT, ["id", "label", *_NUMBERS, *_SAMPLES]) if isinstance(source, Path) else source
    if {*_SAMPLES} <= {*rows.columns}:
        try:
            rows = _sampled(rows, questions, path)
        except (pl.exceptions.PolarsError, TypeError, IndexError) as error:
            hint = "those of the tasks that `cxgen export lm-eval` writes are"
            raise DataError("samples of lm-eval that are no answers to these items", file=path, hint=hint) from error
    predictions = _read(rows, path)
    ids, wanted = predictions["id"], questions["id"]
    given = ids.drop_nulls()
    foreign = given.filter(~given.is_in(wanted.implode()))
    known = parts() if len(foreign) else {}
    foreign = foreign.filter(~foreign.is_in(pl.Series(list(known), dtype=pl.String).implode()))
    faults = [
        _counted("rows without an id", ids.filter(ids.is_null())),
        _counted("ids come more than once", given.filter(given.is_duplicated()).unique(maintain_order=True)),
        _counted("ids are not among the items of this dataset", foreign.unique(maintain_order=True)),
        _counted("items have no prediction", wanted.filter(~wanted.is_in(given.implode()))),
    ]
    rows = questions.select("id", "config", "like").join(predictions, on="id", how="inner", maintain_order="left")
    tied, answered = pl.col("largest").list.len() > 1, []
    found = pl.when(pl.col("label").is_null() | tied).then("largest").otherwise(pl.lit([], pl.List(pl.Int8)))
    said = pl.when(pl.col("position").is_null()).then(found).otherwise(pl.concat_list("position"))
    for (config, like), part in rows.group_by("config", "like", maintain_order=True):
        scoring = scoring_of(str(like))
        answered.append(_with_positions(part, scoring).with_columns(answers=said))
        faults += [f"{fault} ({config})" for fault in _faults(answered[-1], scoring) if fault]
    if any(faults):
        raise DataError("; ".join(filter(None, faults)), file=path, hint=_hint(set(given), questions, known or parts()))
    if more := predictions.height - questions.height:
        about = sorted({known[name] for name in {*given} - {*questions["id"]} if name in known})
        tell(f"{path}: {more:,} predictions of other items are left out ({some(about, 2)})")
    told = pl.concat(answered)
    if ties := told.filter(pl.col("answers").list.len() > 1).height:
        tell(f"{path}: {ties:,} items have no one largest number: each counts as a guess among the largest (1/2, 1/3, or 0)")
    return questions.select("id").join(told.select("id", "numbers", "answers"), on="id", how="left", maintain_order="left")


def _sampled(rows: pl.DataFrame, questions: pl.DataFrame, path: Path) -> pl.DataFrame:
    """What lm-eval logs of its samples (``--log_samples``) as predictions: the answer with the largest number, as `exports` shows them.
    DataError counts those without a finite number for each answer."""
    numbers = pl.col("filtered_resps").list.eval(pl.element().list.first().cast(pl.Float64, strict=False).fill_null(math.nan))
    told = rows.select(pl.col("doc").struct.field("id", "answer"), numbers=numbers)
    likes, labels, odd = dict(questions.select("id", "like").iter_rows()), list[str](), list[str]()
    for name, answer, own in told.iter_rows():
        known = scoring_of(likes[name]).answers if name in likes else ()
        whole = bool(known) and len(own) == len(known) and all(map(math.isfinite, own))
        odd += [name] * bool(known and not whole)
        best = own.index(max(own)) if whole else 0
        place = best if len(known) != 2 else int(best != answer)  # of two, the item says which comes first
        labels.append(known[place] if whole else UNDECIDED)
    if fault := _counted("samples lack a finite number for each answer", pl.Series(odd, dtype=pl.String)):
        raise DataError(fault, file=path, hint="a model that overflows says NaN: run the harness again, with another --model_args dtype")
    return told.select("id", label=pl.Series(labels, dtype=pl.String))


def _read(rows: pl.DataFrame, path: Path) -> pl.DataFrame:
    """``id``, and ``label`` (an answer by name or position, ``undecided`` or null) or a number for every answer in columns named like it
    (f64, NaN where unreadable, null where there is no such column; of `nli` and its like probabilities): the largest wins."""
    numbers = [name for name in _NUMBERS if name in rows.columns]
    if "id" not in rows.columns or not ("label" in rows.columns or numbers):
        lacks = "label" if "id" in rows.columns else "id"
        raise DataError(f"has no column {lacks}, but {', '.join(rows.columns[:8]) or 'none at all'}", file=path, hint=_FORMAT)
    if "label" in rows.columns and {"claim", "derivation"} & set(rows.columns):
        hint = "write id and what the model says, without the dataset's other columns"
        raise DataError("has the dataset's own columns, whose label is the right answer, not a prediction", file=path, hint=hint)
    texts = as_texts(rows, [name for name in ("id", "label", *numbers) if name in rows.columns], path, _FORMAT)
    label = pl.col("label") if "label" in rows.columns else pl.lit(None, pl.String)
    values: dict[str, Any] = dict.fromkeys(_NUMBERS, pl.lit(None, pl.Float64))
    values |= {name: rows[name].cast(pl.Float64, strict=False).fill_null(float("nan")) for name in numbers}
    return texts.select(pl.col("id").str.strip_chars(), label=label.str.strip_chars().str.to_lowercase(), **values)


def _with_positions(rows: pl.DataFrame, scoring: Scoring) -> pl.DataFrame:
    """Rows with ``numbers``, ``position`` (that the label names; null where it names none) and ``largest`` (those of the largest)."""
    known = {name: number for number, answer in enumerate(scoring.answers) for name in (answer, str(number))}
    rows = rows.with_columns(position=pl.col("label").replace_strict(known, default=None, return_dtype=pl.Int8))
    numbers = pl.when(pl.all_horizontal(pl.col(scoring.answers).is_not_null())).then(pl.concat_list(scoring.answers))
    largest = numbers.list.eval((pl.element() == pl.element().max()).arg_true().cast(pl.Int8))
    return rows.with_columns(numbers=numbers, largest=largest)


def _faults(rows: pl.DataFrame, scoring: Scoring) -> Iterator[str]:
    label = pl.col("label")
    wrong = rows.filter(label.is_not_null() & pl.col("position").is_null() & (label != UNDECIDED))
    yield _counted(f"labels are none of {', '.join((*scoring.answers, UNDECIDED))}", wrong["label"])
    bare, rows = (rows.filter(pl.col("numbers").is_null() == lacking) for lacking in (True, False))
    yield _counted(f"items have neither label nor the numbers {', '.join(scoring.answers)}", bare.filter(label.is_null())["id"])
    finite = pl.all_horizontal(pl.col(scoring.answers).is_finite())
    yield _counted("items have a number that is none (NaN, infinite or missing)", rows.filter(~finite)["id"])
    rows = rows.filter(finite)
    if scoring.probabilities:
        off = pl.any_horizontal(pl.col(scoring.answers) < 0) | ((pl.sum_horizontal(scoring.answers) - 1).abs() > _SLACK)
        what = "items have probabilities that are negative or do not sum to 1 (of logits, take the softmax)"
        yield _counted(what, rows.filter(off)["id"])
    differ = rows.filter(~pl.col("largest").list.contains(pl.col("position")), pl.col("position").is_not_null())
    yield _counted("items have a label that is not the one with the largest number", differ["id"])


def _counted(what: str, of: pl.Series) -> str:
    """The fault with its number and examples; empty if there are none."""
    examples = of.drop_nulls().unique(maintain_order=True)
    told = [repr(name)[1:-1] for name in examples[:3]]  # letters that nobody sees, or that act on a terminal, by their numbers
    shown = [name if len(name) <= 40 else name[:37] + "..." for name in told] + ["..."] * (len(examples) > 3)
    return f"{len(of)} {what}" + (f": {', '.join(shown)}" if shown else "") if len(of) else ""


def _hint(given: set[str], questions: pl.DataFrame, parts: Mapping[str, str]) -> str:
    wanted = set(questions["id"])
    if given - wanted - parts.keys() and wanted - given:
        return f"were the predictions made for another version of the dataset? This one is {DATA_VERSION}: ask the model again"
    if wanted <= given:
        return _FORMAT
    about = sorted({parts[name] for name in given if name in parts})
    if about == [BEYOND]:
        return f"the file is about other items than those of this --limit: it has {len(given):,}; a harness is to run without a limit"
    options = [", ".join(about)] if about and not {parts.get(name) for name in wanted} <= set(about) else []
    if options := options + _limit(given, questions):
        return f"the file is about {' '.join(options)}: score it with the same, or ask the model again (kept answers are reused)"
    return "every item needs a prediction (undecided where there is none); of a sample, say the --limit that it was made with"


def _limit(given: set[str], questions: pl.DataFrame) -> list[str]:
    """The option ``--limit`` that leaves of the configs which any of ``given`` are of just these items, if one does."""
    asked = [(own, given & set(own["id"])) for own in questions.partition_by("config")]
    most = max(len(own) for _, own in asked)
    with suppress(DataError):  # they are less than one contrast set
        if any(len(own) < rows.height for rows, own in asked if own) and all(
            set(first_sets(rows, most)["id"]) == own for rows, own in asked if own
        ):
            return [f"--limit {most}"]
    return []


def write_predictions(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write predictions as JSON lines: ``id, label`` and what else there is."""
    write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def predicted(items: pl.DataFrame, scoring: Scoring, predict: Predict, batch: int) -> pl.DataFrame:
    """What ``predict`` says of items, ``batch`` at a time, as predictions; it gets what a model is shown of each. CxgenError: other numbers
    of answers than of items, or answers that are none."""
    rows: list[dict[str, Any]] = []
    for part in map(pl.DataFrame.to_dicts, items.select("id", *scoring.needs).iter_slices(batch)):
        given = predict([scoring.shown(item) for item in part])
        given = list(islice(given, len(part) + 1)) if isinstance(given, Iterable) else []
        if len(given) != len(part):
            count = f"{len(given)}{' or more' * (len(given) > len(part))}"
            raise CxgenError(f"the function gave {count} answers to {len(part)} items", hint="one for each, in their order")
        rows += [{"id": item["id"], **_answer(item, value, scoring)} for item, value in zip(part, given, strict=True)]
    if len({frozenset(row) for row in rows}) > 1:
        raise CxgenError("the function gave names for some items, and numbers for others", hint="give the same for all")
    return pl.DataFrame(rows, infer_schema_length=None)


def _answer(item: Item, value: Any, scoring: Scoring) -> dict[str, Any]:
    """One answer as predictions have it: ``label``, or a number per answer."""
    shown = ["first", "second"] if "first" in scoring.shown(item) else list(scoring.answers)  # as they are shown
    scored = [value] if isinstance(value, Mapping) and "label" in value else value  # as a pipeline of transformers gives it
    if isinstance(scored, list) and scored and all(isinstance(one, Mapping) and {"label", "score"} <= {*one} for one in scored):
        value = scored[0]["label"] if len(scored) == 1 else {str(one["label"]).lower(): one["score"] for one in scored}
    value = value.tolist() if hasattr(value, "tolist") else value  # of numpy, of torch
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(shown):
        value = shown[value]
    if isinstance(value, str):
        name = value.strip().lower()
        if name in (*shown, UNDECIDED):
            return {"label": name if name == UNDECIDED else scoring.answers[scoring.meant(item, name)]}
    elif hasattr(value, "__getitem__") and len(value) == len(shown) and (not isinstance(value, Mapping) or {*value} == {*shown}):
        numbers = [value[name] for name in shown] if isinstance(value, Mapping) else value
        with suppress(TypeError, ValueError):
            return {scoring.answers[scoring.meant(item, name)]: float(number) for name, number in zip(shown, numbers, strict=True)}
    unnamed = " (LABEL_0 is not a name: the model's id2label says which it is)" if "LABEL_" in repr(value) else ""
    hint = f"one of {', '.join(shown)}: {_KINDS}{unnamed}"
    raise CxgenError(f"the function gave {repr(value)[:60]}, which is no answer", hint=hint)
