"""Everything that a card states, read from the data, the metrics and the project's files; nothing here is typed by hand."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.constructicon import Construction
from cxgen.families import family_of
from cxgen.schema import TARGET
from cxgen.suites import columns_of
from cxgen.vocabulary import LABELS

Tables = Mapping[tuple[str, str], pl.DataFrame]


def stated(accepted: Tables, tables: Tables, constructions: Sequence[Construction]) -> dict[str, Any]:
    """What the card says of the tables.

    Args:
        accepted: (config, split) -> rows of the families' own configs.
        tables: those of all configs.
        constructions: that they are about.
    """
    described = constructicon(constructions, accepted)
    return {
        "total": sum(rows.height for rows in accepted.values()),
        "configs": list(dict.fromkeys(config for config, _ in tables)),
        "constructicon": described,
        "sources": sorted({source for item in described for source in item["sources"]}),
        "sizes": sizes(tables),
        "extended": extended(accepted),
        "recurrence": recurrence(accepted),
        "held_out": held_out(accepted),
        "bands": bands(accepted),
        "acceptability": acceptability(accepted),
        "verbs": verbs(accepted),
    }


def joined(tables: Tables, split: str = "") -> pl.DataFrame:
    """The rows of one split of every config, or of all splits; every family's premise is called ``premise``."""
    parts = (rows.with_columns(premise=family_of(config).text) for (config, name), rows in tables.items() if split in {"", name})
    return pl.concat(parts, how="diagonal")


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
    return [entry for construction in constructions for entry in _described(construction, shown)]


def _described(construction: Construction, shown: pl.DataFrame) -> Iterator[dict[str, Any]]:
    described = {str(document.data["name"]): document.data for document in construction.documents}
    others = shown.filter(TARGET.eq(construction.name))["construction"].unique().sort()
    for name in dict.fromkeys((*described, *others)):
        data = described.get(name, {"form": "", "meaning": ""})
        relation = "" if name == construction.name else f"{'looks like' if name in described else 'opposite of'} {construction.name}"
        yield {
            "name": name,
            "relation": relation,
            "form": data["form"],
            "meaning": " ".join(str(data["meaning"]).split()),
            "sources": list(data.get("sources", ())),
            "example": _example(shown.filter(pl.col("construction") == name), "prototypical"),
        }


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
    rows: list[dict[str, Any]] = []
    for config in dict.fromkeys(config for config, _ in tables):
        splits = {split: table for (name, split), table in tables.items() if name == config}
        for name in pl.concat([table["construction"] for table in splits.values()]).unique().sort():
            own = {split: table.filter(pl.col("construction") == name) for split, table in splits.items()}
            counts = own["test"]["verb"].value_counts()["count"].to_list() if "test" in own else []
            items, lemmas = (
                {split: count(table) for split, table in own.items()} for count in (len, lambda table: table["verb"].n_unique())
            )
            largest = max(counts, default=0) / max(sum(counts), 1)
            rows.append({"config": config, "construction": name, "items": items, "verbs": lemmas, "largest": largest})
    return rows


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
