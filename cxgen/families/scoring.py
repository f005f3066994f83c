"""How the items of a family are put to whoever is evaluated, and which answer is right."""

import re
from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

from cxgen.measures.fits import Floats
from cxgen.streams import order_key
from cxgen.vocabulary import LABELS

Item = Mapping[str, Any]


class Labels:
    """Items with one of the labels of inference."""

    answers: tuple[str, ...] = LABELS  # predictions name one, by name or position, or give a number for each: the largest wins
    probabilities = True  # whether these numbers are probabilities that sum to 1
    task = "answer"  # of the prompts that put an item to a model
    needs: tuple[str, ...] = ("premise", "hypothesis", "label")  # columns that an example must have

    def right(self) -> pl.Expr:
        """Over items: the position of the right answer (i8)."""
        return pl.col("label")

    def lured(self, columns: Collection[str]) -> pl.Expr:
        """Over items with these columns: the answer that a misreading gives, null where there is none."""
        return pl.col("target_label") if "target_label" in columns else pl.lit(None, dtype=pl.Int8)

    def shown(self, item: Item) -> dict[str, str]:
        """What a model is shown of an item: field of the prompt -> text."""
        return {"premise": item["premise"], "hypothesis": item["hypothesis"]}

    def verdict(self, item: Item) -> str:
        """What it should say of `shown`: a verdict of the prompt."""
        return self.answers[item["label"]]

    def meant(self, item: Item, verdict: str) -> int:
        """The answer that a verdict stands for, by position."""
        return self.answers.index(verdict)

    def continuations(self, item: Item, text: str, words: Mapping[str, str]) -> tuple[str, list[str]]:
        """``text`` with its fields filled in, and one continuation per answer, each with the space before it: its word of ``words``."""
        return filled(text, self.shown(item)), [f" {words[label]}" for label in LABELS]

    def texts(self, rows: pl.DataFrame) -> pl.DataFrame:
        """What a classifier learns from: ``premise, hypothesis`` (strings), ``class`` (i64); one or more texts per item."""
        return rows.select("premise", "hypothesis", pl.col("label").cast(pl.Int64).alias("class"))

    def decided(self, scores: Floats) -> Floats:
        """Scores of classes, text by text (as `texts` gives them), as scores of answers, item by item."""
        return scores


class Choices:
    """Items with a good and a bad continuation, for what see `Labels`. Which of the two a model sees first depends on both together: where
    participants change places, good and bad do, and the good one comes first in one of these two items."""

    answers: tuple[str, ...] = ("good", "bad")
    probabilities = False
    task = "choose"
    needs: tuple[str, ...] = ("context", "diagnostic_good", "diagnostic_bad")

    def right(self) -> pl.Expr:
        """The good one."""
        return pl.lit(0, dtype=pl.Int8)

    def lured(self, columns: Collection[str]) -> pl.Expr:
        """There is no misreading."""
        return pl.lit(None, dtype=pl.Int8)

    def shown(self, item: Item) -> dict[str, str]:
        """The context and both continuations, in the item's order."""
        return paired(item["context"], *(item[f"diagnostic_{self.answers[position]}"] for position in _order(item)))

    def verdict(self, item: Item) -> str:
        """Whether the first or the second is the good one."""
        return ("first", "second")[_order(item).index(0)]

    def meant(self, item: Item, verdict: str) -> int:
        """Which of the two stands there."""
        return _order(item)[("first", "second").index(verdict)]

    def continuations(self, item: Item, text: str, words: Mapping[str, str]) -> tuple[str, list[str]]:
        """The context and the item's own continuations; without a context, two texts."""
        before = filled(text, {"context": item["context"]})
        return before, [f"{' ' * bool(before)}{item[f'diagnostic_{answer}']}" for answer in self.answers]

    def texts(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Every context with its good continuation (class 1), then every context with its bad one (class 0)."""
        good, bad = (rows.select(premise="context", hypothesis=f"diagnostic_{answer}") for answer in self.answers)
        return pl.concat(side.with_columns(pl.lit(right, pl.Int64).alias("class")) for side, right in ((good, 1), (bad, 0)))

    def decided(self, scores: Floats) -> Floats:
        """How good each of the two continuations is."""
        return scores[:, 1].reshape(2, -1).T


Scoring = Labels | Choices


def _order(item: Item) -> tuple[int, int]:
    """The positions of the two answers in the order in which they are shown."""
    texts = sorted((item["diagnostic_good"], item["diagnostic_bad"]))
    return (0, 1) if texts[order_key("shown", *texts)[0] % 2] == item["diagnostic_good"] else (1, 0)


def paired(context: str, first: str, second: str) -> dict[str, str]:
    """The fields of a prompt that asks for one of two continuations: by themselves, and as whole texts with the context before them."""
    whole = {"whole_first": f"{context} {first}".lstrip(), "whole_second": f"{context} {second}".lstrip()}
    return {"context": context, "first": first, "second": second, **whole}


def filled(text: str, fields: Mapping[str, str]) -> str:
    """``text`` with its fields filled in, in one pass: braces in what is filled in stay as they are."""
    return re.sub(r"\{(\w+)\}", lambda match: fields.get(match[1], match[0]), text)
