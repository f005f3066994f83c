"""A function of the user's as answerer, and scores that print as a table."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from html import escape
from typing import Any

import polars as pl

from cxgen.errors import CxgenError
from cxgen.evaluation.report import Evaluated
from cxgen.evaluation.rows import divided, overview, text
from cxgen.families.scoring import Item, Scoring
from cxgen.vocabulary import UNDECIDED

Predict = Callable[[list[dict[str, str]]], Iterable[Any]]
_KINDS = "an answer by name or number, one number per answer in a list, or a mapping from answers to numbers"


class Scores(dict[str, Any]):
    """The figures of a config, a mapping that prints as a table: as a whole, and by the dimensions that were asked for; ``about``: the
    versions of cxgen and of the data, and the ``content_hash`` of what is packaged."""

    def __init__(self, config: str, figures: Mapping[str, Any], by: Sequence[str] = (), about: Mapping[str, Any] | None = None) -> None:
        super().__init__(figures)
        self.about = dict(about or {})
        self._report, self._by = {"configs": {config: figures}}, by

    def __repr__(self) -> str:
        tables = (*overview(self._report), *divided(self._report, self._by))
        return "\n\n".join(text(rows) for rows in tables if rows)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def predictions(evaluated: Evaluated, config: str, predict: Predict, batch: int) -> pl.DataFrame:
    """What ``predict`` says of the items of a config, ``batch`` at a time, as predictions; it gets what a model is shown of each.
    CxgenError: other numbers of answers than of items, or answers that are none."""
    scoring = evaluated.scoring(config)
    items = list(evaluated.items[config].select("id", *scoring.needs).iter_rows(named=True))
    rows: list[dict[str, Any]] = []
    for start in range(0, len(items), batch):
        part = items[start : start + batch]
        given = predict([scoring.shown(item) for item in part])
        given = list(given) if isinstance(given, Iterable) else []
        if len(given) != len(part):
            raise CxgenError(f"the function gave {len(given)} answers to {len(part)} items", hint="one for each, in their order")
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
