"""Which items which list of annotators gets to read, and the key, which says what stands on which list: annotators do not see it.

The lists are the columns of a Latin square (Fisher 1935, The Design of Experiments, chapter 5): from every contrast set a list has one item
at most, and from set to set the labels go round. The sets whose sentences are rated are others than those whose pairs are labelled. Of
items with two continuations a set gives one; participants, orders and sides go round (CxMP: Oba and Sugawara 2026, appendix C).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from cxgen.errors import DataError
from cxgen.families.scoring import Choices
from cxgen.schema import Column, Contract
from cxgen.streams import address, order_key, order_keys
from cxgen.tables import read_table, write_table

FILE, ANSWERS = Path("key.parquet"), Path("answers")
ITEM, CHECK, REAL = "item", "check", "real"
PAIR, PREMISE, HYPOTHESIS = "pair", "premise", "hypothesis"
LABELS, SENTENCES, CONTINUATIONS, MEMBERSHIP = "labels", "sentences", "continuations", "membership"
TEXTS = ("text", "second", "third")  # the columns of the key under a task's headings
NOBODY: Mapping[str, str] = {}
TASKS: dict[str, Any] = yaml.safe_load((files("cxgen.review") / "tasks.yaml").read_text("utf-8"))
GENERAL: list[str] = TASKS.pop("general")
KEYS = {name: [choice["key"] for choice in task["choices"]] for name, task in TASKS.items()}  # the answers, as they are written
_CHECKS = {name: task.pop("checks") for name, task in TASKS.items()}
# A row: what it is called on its list; the list; what is asked; item, check or real; one text, two or three. Of items: id, set,
# construction or look-alike, what is shown (pair, premise, hypothesis). The computed answer, or the answers to a check that are right.
_ALWAYS, _OF_ITEMS = ("code", "list", "task", "kind"), ("item", "contrast_set", "group", "side")
_SCHEMA = {name: pl.String() for name in (*_ALWAYS, *_OF_ITEMS, *TEXTS, "right")} | {"list": pl.Int32()}
_KEY = Contract(
    tuple(Column(name, kind, "", null=name not in {*_ALWAYS, "text"}) for name, kind in _SCHEMA.items()),
    key=("code",),
    optional=frozenset({"third"}),
    least=1,
)


@dataclass(frozen=True)
class Design:
    """How a sample is drawn: contrast sets per group (construction, look-alike, group of `natural`) and list whose pairs are labelled, or
    whose continuations are chosen (``sets``), and whose ``sentences`` are rated; ``lists``; attention ``checks`` per list and task;
    ``members``: of how many it is asked whether the premise is an instance of the construction."""

    sets: int = 20
    sentences: int = 10
    lists: int = 3
    checks: int = 4
    seed: int = 1
    members: int = 0


def sample(
    items: pl.DataFrame, design: Design, real: Sequence[str] = (), pairs: pl.DataFrame | None = None, told: Mapping[str, str] = NOBODY
) -> pl.DataFrame:
    """The rows of all lists, columns `_SCHEMA`, in the order in which they are read: of ``items`` (see `items_read`), with ``real``
    sentences among those that are rated, and of ``pairs`` (items with two continuations, and their ``group``). ``told``: what each
    construction is, in words, which is shown with ``members``."""
    numbered = _numbered(items, design.seed)
    labelled = _square(numbered.filter(pl.col("number") < design.sets), design)
    rated = _square(numbered.filter(pl.col("number").is_between(design.sets, design.sets + design.sentences - 1)), design)
    members = _square(numbered.filter(pl.col("number").sub(design.sets + design.sentences).is_between(0, design.members - 1)), design)
    chosen = [] if pairs is None else [_continued(pairs, design)]
    if not sum(table.height for table in (labelled, rated, members, *chosen)):
        raise DataError("there are no items to review", hint="ask for at least one set or sentence, of a config and split that has items")
    own = ("list", "contrast_set", "group", pl.col("id").alias("item"))
    letter = pl.col("label").replace_strict(dict(enumerate(KEYS[LABELS])), return_dtype=pl.String)
    inferred = labelled.select(*own, task=pl.lit(LABELS), side=pl.lit(PAIR), text=PREMISE, second=HYPOTHESIS, right=letter)
    sentences = (rated.select(*own, task=pl.lit(SENTENCES), side=pl.lit(side), text=side) for side in (PREMISE, HYPOTHESIS))
    what = pl.col("target").replace_strict(told, default=None, return_dtype=pl.String)
    member = pl.when("member").then(pl.lit("Y")).otherwise(pl.lit("N"))
    asked = members.select(*own, task=pl.lit(MEMBERSHIP), text=PREMISE, second=what, right=member)
    ours = pl.concat([inferred, *sentences, asked, *chosen], how="diagonal").with_columns(kind=pl.lit(ITEM))
    others = pl.DataFrame([*_checks(design), *_real(real, Counter(rated["list"]), design)], schema=_SCHEMA)
    rows = pl.concat([ours, others.drop("code")], how="diagonal").join(ours, on=["list", "task"], how="semi")  # no checks of nothing
    hashed = rows.select("task", "list", "item", "side", "text", "second").iter_rows()
    codes = [address(design.seed, "code", *(value or "" for value in row)) for row in hashed]  # says nothing of the row
    called = [f"r{code}" for code in codes]  # digits alone, or 12e4, a spreadsheet would take for a number, and round it
    order = pl.Series("order", order_keys((design.seed, "order"), codes))
    return rows.with_columns(order, code=pl.Series(called)).sort("list", "task", "order").select(_SCHEMA.keys())


def _numbered(items: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Items with their set's ``number`` within its group, in an order that the seed decides; a set counts for one group only."""
    sets = items.select("contrast_set", "group").unique().sort("contrast_set", "group")
    sets = sets.unique("contrast_set", keep="first", maintain_order=True)
    sets = sets.with_columns(pl.Series("order", order_keys((seed, "set"), sets["contrast_set"]))).sort("order")
    sets = sets.with_columns(number=pl.int_range(pl.len()).over("group")).drop("order")
    return items.join(sets, on=["contrast_set", "group"], how="inner", maintain_order="left")


def _square(items: pl.DataFrame, design: Design) -> pl.DataFrame:
    """Items with the ``list`` that reads them (from 1), one of every set per list as far as the set goes."""
    order = pl.Series("order", order_keys((design.seed, "item"), items["id"]))
    ranked = items.with_columns(order).with_columns(rank=pl.col("order").rank("ordinal").over("contrast_set", "label").cast(pl.Int64) - 1)
    turn = pl.col("number") + pl.col("group").rank("dense").cast(pl.Int64)  # so that one set of each group gives lists of all labels, too
    place = pl.col("rank") * 3 + (pl.col("label").cast(pl.Int64) + turn) % 3
    return ranked.with_columns(list=(place + 1).cast(pl.Int32)).filter(pl.col("list") <= design.lists)


def _continued(pairs: pl.DataFrame, design: Design) -> pl.DataFrame:
    """Rows of the key of pairs: one item of a set; of all cells (variant, entity type, order) as many, so that groups with fewer cells have
    fewer items. Which continuation is A depends on the item's id."""
    cell = pl.concat_str("variant", "entity_type", pl.col("switched").cast(pl.String), separator="/")
    order = pl.Series("order", order_keys((design.seed, "item"), pairs["id"]))
    rows = pairs.with_columns(order, cell=cell).sort("order").unique("contrast_set", keep="first", maintain_order=True)
    rows = rows.with_columns(rank=pl.int_range(pl.len()).over("group", "cell"), cells=pl.col("cell").n_unique().over("group"))
    rows = rows.with_columns(wanted=design.sets * design.lists * pl.col("cells") // pl.col("cells").max()).sort("group", "rank", "order")
    rows = rows.with_columns(number=pl.int_range(pl.len()).over("group")).filter(pl.col("number") < pl.col("wanted"))
    rows = rows.with_columns(list=(pl.col("number") * design.lists // pl.len().over("group") + 1).cast(pl.Int32))
    scoring, shown = Choices(), list[dict[str, Any]]()
    for item in rows.iter_rows(named=True):
        texts, right = scoring.shown(item), KEYS[CONTINUATIONS][("first", "second").index(scoring.verdict(item))]
        about = {"list": item["list"], "contrast_set": item["contrast_set"], "group": item["group"], "item": item["id"], "right": right}
        shown.append({**about, "task": CONTINUATIONS, "text": texts["context"], "second": texts["first"], "third": texts["second"]})
    return pl.DataFrame(shown, schema_overrides=_SCHEMA)


def _checks(design: Design) -> Iterator[dict[str, Any]]:
    """Attention checks: each list begins elsewhere in the bank."""
    for number in range(design.lists):
        for task, bank in _CHECKS.items():
            for place in range(min(design.checks, len(bank))):
                *texts, right = bank[(number * design.checks + place) % len(bank)]
                yield {"list": number + 1, "task": task, "kind": CHECK, **dict(zip(TEXTS, texts, strict=False)), "right": right}


def _real(real: Sequence[str], rated: Counter[int], design: Design) -> Iterator[dict[str, Any]]:
    """One real sentence for every three of ours (two of a rated item); fewer per list where there are not enough; none comes twice."""
    pool = sorted(dict.fromkeys(real), key=lambda text: order_key(design.seed, "real", text))
    most = len(pool) // design.lists
    for number in range(1, design.lists + 1):
        for _ in range(min(rated[number] * 2 // 3, most)):
            yield {"list": number, "task": SENTENCES, "kind": REAL, "text": pool.pop()}


def write_key(key: pl.DataFrame, folder: Path) -> None:
    """Write the key of a review into its folder, for its owner alone."""
    write_table(key, folder / FILE, private=True)


def read_key(folder: Path) -> pl.DataFrame:
    """The key of the review in ``folder``: the rows in the order in which they are read."""
    key = read_table(folder / FILE, _KEY, f"`cxgen review export {folder}` writes it; it has to be where the lists came from")
    return pl.concat([pl.DataFrame(schema=_SCHEMA), key], how="diagonal")  # keys of earlier versions have two texts
