"""Which items which list of annotators gets to read, and the key, which says what stands on which list: annotators do not see it.

The lists are the columns of a Latin square: from every contrast set a list has one item at most, and from set to set the labels go round,
so that each list has as many of each label (Fisher 1935, The Design of Experiments, chapter 5). The sets whose sentences are rated are
others than those whose pairs are labelled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.errors import DataError
from cxgen.review.tasks import CHECK_PAIRS, CHECK_SENTENCES, LABELS, NATURAL, TASKS
from cxgen.schema import Column, Contract, polars_schema
from cxgen.streams import order_key, order_keys
from cxgen.tables import read_table, write_table

FILE, ANSWERS = Path("key.parquet"), Path("answers")
ITEM, CHECK, REAL = "item", "check", "real"
PAIR, PREMISE, HYPOTHESIS = "pair", "premise", "hypothesis"
KEY = Contract(
    (
        Column("code", pl.String, "what a row is called on its list"),
        Column("list", pl.Int32, "which list has it"),
        Column("task", pl.String, "what is asked", values=tuple(TASKS)),
        Column("kind", pl.String, "an item of the dataset, an attention check or a real sentence", values=(ITEM, CHECK, REAL)),
        Column("item", pl.String, "id of the item", null=True),
        Column("contrast_set", pl.String, "its contrast set", null=True),
        Column("group", pl.String, "its construction or look-alike", null=True),
        Column("side", pl.String, "what of it is shown", null=True, values=(PAIR, PREMISE, HYPOTHESIS)),
        Column("text", pl.String, "the sentence, or the first of two"),
        Column("second", pl.String, "the second", null=True),
        Column("right", pl.String, "the computed label's letter; of checks the answers that are right", null=True),
    ),
    key=("code",),
    least=1,
)
_REAL_SHARE = 3  # one sentence in so many besides ours is real


@dataclass(frozen=True)
class Design:
    """How a sample is drawn.

    Attributes:
        sets: contrast sets per construction, look-alike and group of `natural` whose pairs are labelled.
        sentences: those whose sentences are rated.
        lists: how many; an annotator gets one.
        checks: attention checks per list and task.
        seed: another seed, another sample.
    """

    sets: int = 20
    sentences: int = 10
    lists: int = 3
    checks: int = 4
    seed: int = 1


def sample(items: pl.DataFrame, design: Design, real: Sequence[str] = ()) -> pl.DataFrame:
    """The rows of all lists, each in the order in which it is read.

    Args:
        items: ``id, contrast_set, premise, hypothesis, label, group``, see `cxgen.report.reading.items_read`.
        design: how many of them.
        real: attested sentences to mix among those that are rated; no sentence comes twice.

    Returns:
        the columns of `KEY`.

    Raises:
        DataError: there is nothing to draw from.
    """
    numbered = _numbered(items, design.seed)
    labelled = square(numbered.filter(pl.col("number") < design.sets), design)
    rated = square(numbered.filter(pl.col("number").is_between(design.sets, design.sets + design.sentences - 1)), design)
    if not labelled.height and not rated.height:
        raise DataError("there are no items to review", hint="ask for at least one set or sentence, of a config and split that has items")
    rows = [*_pairs(labelled), *_sentences(rated), *_checks(design)]
    ours = Counter(row["list"] for row in rows if row["task"] == NATURAL.name and row["kind"] == ITEM)
    rows += _real(real, [ours[number] for number in range(1, design.lists + 1)], design.seed)
    present = {(row["list"], row["task"]) for row in rows if row["kind"] == ITEM}  # no checks where there is nothing to check
    kept = [_coded(row, design.seed) for row in rows if (row["list"], row["task"]) in present]
    kept.sort(key=lambda row: (row["list"], row["task"], order_key(design.seed, "order", row["code"])))
    return pl.DataFrame(kept, schema=polars_schema(KEY.columns))


def square(items: pl.DataFrame, design: Design) -> pl.DataFrame:
    """Items with the ``list`` that reads them (from 1), one of every set per list as far as the set goes.

    Args:
        items: with ``number``, their set's place within its group.
        design: its ``lists`` and ``seed`` count.
    """
    order = pl.Series("order", order_keys((design.seed, "item"), items["id"]))
    ranked = items.with_columns(order).with_columns(rank=pl.col("order").rank("ordinal").over("contrast_set", "label").cast(pl.Int64) - 1)
    place = pl.col("rank") * 3 + (pl.col("label").cast(pl.Int64) + pl.col("number")) % 3
    return ranked.with_columns(list=(place + 1).cast(pl.Int32)).filter(pl.col("list") <= design.lists).sort("list", "id")


def _numbered(items: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Items with their set's number within its group, in an order that the seed decides; a set counts for one group only."""
    sets = (
        items.select("contrast_set", "group")
        .unique()
        .sort("contrast_set", "group")
        .unique("contrast_set", keep="first", maintain_order=True)
    )
    sets = sets.with_columns(pl.Series("order", order_keys((seed, "set"), sets["contrast_set"]))).sort("order")
    sets = sets.with_columns(number=pl.int_range(pl.len()).over("group")).drop("order")
    return items.join(sets, on=["contrast_set", "group"], how="inner", maintain_order="left")


def _row(task: str, kind: str, number: int, text: str, **more: Any) -> dict[str, Any]:
    return {"list": number, "task": task, "kind": kind, "text": text, **more}


def _pairs(items: pl.DataFrame) -> Iterator[dict[str, Any]]:
    for item in items.iter_rows(named=True):
        right = LABELS.keys[item["label"]]
        yield _row(LABELS.name, ITEM, item["list"], item["premise"], second=item["hypothesis"], side=PAIR, right=right, **_source(item))


def _sentences(items: pl.DataFrame) -> Iterator[dict[str, Any]]:
    for item in items.iter_rows(named=True):
        for side in (PREMISE, HYPOTHESIS):
            yield _row(NATURAL.name, ITEM, item["list"], item[side], side=side, **_source(item))


def _source(item: dict[str, Any]) -> dict[str, Any]:
    return {"item": item["id"], "contrast_set": item["contrast_set"], "group": item["group"]}


def _checks(design: Design) -> Iterator[dict[str, Any]]:
    for number in range(1, design.lists + 1):
        for first, second, right in _some(CHECK_PAIRS, design, number):
            yield _row(LABELS.name, CHECK, number, first, second=second, side=PAIR, right=right)
        for sentence, right in _some(CHECK_SENTENCES, design, number):
            yield _row(NATURAL.name, CHECK, number, sentence, right=right)


def _some(bank: Sequence[tuple[str, ...]], design: Design, number: int) -> Sequence[tuple[str, ...]]:
    """The list's share of a bank: each list begins elsewhere in it."""
    start = (number - 1) * design.checks
    return [bank[(start + each) % len(bank)] for each in range(min(design.checks, len(bank)))]


def _real(real: Sequence[str], ours: Sequence[int], seed: int) -> Iterator[dict[str, Any]]:
    """One real sentence for every three of ours; fewer per list where there are not enough."""
    pool = sorted(dict.fromkeys(real), key=lambda text: order_key(seed, "real", text))
    most = len(pool) // max(len(ours), 1)
    for number, count in enumerate(ours, 1):
        share = min(count // _REAL_SHARE, most)
        yield from (_row(NATURAL.name, REAL, number, pool.pop()) for _ in range(share))


def _coded(row: dict[str, Any], seed: int) -> dict[str, Any]:
    """The row with a code that says nothing of it."""
    parts = (row["task"], row["list"], row.get("item") or "", row.get("side") or "", row["text"], row.get("second") or "")
    return {**row, "code": order_key(seed, "code", *parts).hex()}


def write_key(key: pl.DataFrame, folder: Path) -> None:
    """Write the key of a review into its folder."""
    write_table(key, folder / FILE)


def read_key(folder: Path) -> pl.DataFrame:
    """The key of the review in ``folder``: the columns of `KEY`, the rows in the order in which they are read.

    Raises:
        DataError: there is none, or it is damaged.
    """
    return read_table(folder / FILE, KEY, f"`cxgen review export {folder}` writes it; it has to be where the lists came from")
