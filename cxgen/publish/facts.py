"""Everything that a card states, read from the data, the metrics and the project's files; nothing here is typed by hand."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.constructicon import Construction
from cxgen.families import family_of
from cxgen.schema import TARGET
from cxgen.suites import columns_of
from cxgen.vocabulary import LABELS

Tables = Mapping[tuple[str, str], pl.DataFrame]


def joined(tables: Tables, split: str = "") -> pl.DataFrame:
    """The rows of one split of every config, or of all splits; every family's premise is called ``premise``."""
    found = [rows.with_columns(premise=family_of(config).text) for (config, name), rows in tables.items() if split in {"", name}]
    return pl.concat(found, how="diagonal")


def sizes(tables: Tables) -> list[dict[str, Any]]:
    """Per config and split: items, contrast sets, and how many carry each label."""
    return [
        {
            "config": config,
            "split": split,
            "items": rows.height,
            "sets": rows["contrast_set"].n_unique(),
            "labels": [rows.filter(pl.col("label") == label).height if _labelled(config) else "" for label in range(len(LABELS))],
        }
        for (config, split), rows in tables.items()
    ]


def _labelled(config: str) -> bool:
    """Whether the items of a config have labels of inference."""
    return any(column.name == "label" and column.labels for column in columns_of(config))


def constructicon(constructions: Iterable[Construction], tables: Tables) -> list[dict[str, Any]]:
    """Constructions, their look-alikes and opposites in the data: name, what it is to which, form, meaning, sources, a training premise."""
    shown = joined(tables, "train")
    found = []
    for item in constructions:
        described = {str(document.data["name"]): document.data for document in item.documents}
        others = shown.filter(TARGET.eq(item.name))["construction"].unique().sort()
        for name in (*described, *(other for other in others if other not in described)):
            data = described.get(name, {"form": "", "meaning": ""})
            relation = "" if name == item.name else f"{'looks like' if name in described else 'opposite of'} {item.name}"
            found.append(
                {
                    "name": name,
                    "relation": relation,
                    "form": data["form"],
                    "meaning": " ".join(str(data["meaning"]).split()),
                    "sources": list(data.get("sources", ())),
                    "example": _example(shown.filter(pl.col("construction") == name), "prototypical"),
                }
            )
    return found


def _example(rows: pl.DataFrame, acceptability: str) -> str:
    """A typical premise: of median length among those of the given acceptability, the first by id."""
    rows = rows.filter(pl.col("acceptability") == acceptability).unique("premise_id", keep="first", maintain_order=True)
    if not rows.height:
        return ""
    length = pl.col("premise").str.len_chars()
    return str(rows.sort((length - length.median()).abs(), "id")["premise"][0])


def extended(tables: Tables) -> dict[str, Any]:
    """The premises whose verb does not hold the construction's meaning: share of the items, an example and its construction."""
    rows = joined(tables, "train")
    mine = rows.filter(pl.col("acceptability") == "extended")
    if not mine.height:
        return {"share": 0.0, "construction": "", "example": ""}
    counts = mine["construction"].value_counts().sort("count", "construction", descending=[True, False])
    name = counts["construction"][0]
    return {
        "share": mine.height / rows.height,
        "construction": name,
        "example": _example(mine.filter(pl.col("construction") == name), "extended"),
    }


def verbs(tables: Tables) -> list[dict[str, Any]]:
    """Per config and construction: items and verbs of each split, and the largest share that one verb has of the test items."""
    found = []
    for config in dict.fromkeys(config for config, _ in tables):
        splits = {split: rows for (name, split), rows in tables.items() if name == config}
        for name in pl.concat([rows["construction"] for rows in splits.values()]).unique().sort():
            mine = {split: rows.filter(pl.col("construction") == name) for split, rows in splits.items()}
            counts = mine["test"]["verb"].value_counts()["count"].to_list() if "test" in mine else []
            found.append(
                {
                    "config": config,
                    "construction": name,
                    "items": {split: rows.height for split, rows in mine.items()},
                    "verbs": {split: rows["verb"].n_unique() for split, rows in mine.items()},
                    "largest": max(counts, default=0) / max(sum(counts), 1),
                }
            )
    return found


def recurrence(tables: Tables) -> dict[str, float]:
    """Shares of the test items whose verb, frame, or hypothesis sentence occurs in the training split, of whatever construction."""
    train, test = joined(tables, "train"), joined(tables, "test")
    names = [name for name in ("verb", "frame", "hypothesis") if name in train.columns]
    tested = {name: test.drop_nulls(name) for name in names}
    return {name: mine.join(train.select(name).unique(), on=name, how="semi").height / max(mine.height, 1) for name, mine in tested.items()}


def held_out(tables: Tables) -> dict[str, float]:
    """Shares of the test items (of families that have such a column) whose wording, or template, occurs in test only; above 0 only."""
    test = joined(tables, "test")
    marks = {what: f"{what}_held_out" for what in ("wording", "template")}
    counts = {what: test[column].drop_nulls() for what, column in marks.items() if column in test.columns}
    return {what: int(marked.sum()) / len(marked) for what, marked in counts.items() if marked.any()}


def bands(tables: Tables) -> dict[str, float]:
    """Frequency band -> share of the premises' fillers that have one."""
    fillers = joined(tables).unique("premise_id").select("slots").explode("slots").unnest("slots")
    counts = fillers.drop_nulls("band")["band"].value_counts().sort("band")
    return {band: count / counts["count"].sum() for band, count in counts.iter_rows()}


def interval(share: float, count: int) -> tuple[float, float]:
    """95% interval of a share (Wilson 1927, Probable inference, the law of succession, and statistical inference)."""
    z = 1.96
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return middle - half, min(middle + half, 1.0)


def acceptability(tables: Tables) -> list[dict[str, Any]]:
    """Per construction: premises, and the shares that are prototypical and extended."""
    table = joined(tables).unique("premise_id").group_by("construction")
    shares = {name: (pl.col("acceptability") == name).mean() for name in ("prototypical", "extended")}
    return table.agg(premises=pl.len(), **shares).sort("construction").to_dicts()


def file_hash(paths: Iterable[Path]) -> str:
    """SHA-256 over the contents of the files, in the given order."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
