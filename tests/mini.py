"""The mini lexicon of the tests: the words of ``data/mini/words.csv`` in the files of a snapshot."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import yaml

DATA = Path(__file__).parent / "data" / "mini"
ROOT = Path(__file__).resolve().parent.parent
VARIANTS = 2
# What a release says of itself: not what cxgen's own data say.
OWN = {
    "title": "Reaching",
    "authors": ["the tests"],
    "provenance": "Made up for the tests.",
    "canary": "tests: keep out of training corpora",
}
STARTS = ("b", "av", "d", "op", "f", "em", "g", "ir", "k", "ab")
_CODES = {"noun": "n", "verb": "v"}


def write_project(folder: Path, **params) -> Path:
    """The mini project in ``folder``: templates, lexicon, and parameters that ask for the fewest rows; returns the folder."""
    shutil.copytree(DATA / "templates", folder / "templates")
    shutil.copytree(DATA / "lexicons", folder / "lexicons")
    write_snapshot(folder / "lexicons" / "snapshot")
    small = {"n_per_construction": 240, "n_per_lookalike": 120, "constructions": ["reach"], "generate": {"workers": 1}}
    publish = {**OWN, **params.pop("publish", {})}
    write_params(folder, **{**small, "publish": publish, **params})
    return folder


def write_params(folder: Path, **changes) -> None:
    """The shipped parameters with ``changes``, group by group, as the ``params.yaml`` of ``folder``."""
    data = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    for name, value in changes.items():
        data[name] = {**data[name], **value} if isinstance(value, dict) else value
    (folder / "params.yaml").write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), "utf-8")


def words() -> pl.DataFrame:
    """The lexeme table, one row per line of ``words.csv``, with the columns of the shipped one."""
    schema = pl.read_parquet_schema(ROOT / "lexicons/snapshot/lexemes.parquet")
    coded = pl.col("pos").replace_strict(_CODES, default=None)
    sense = pl.when(coded.is_not_null()).then(pl.col("lemma").str.replace(" ", "_") + "%" + coded)
    rank = pl.col("zipf").rank("ordinal").over("pos") / pl.len().over("pos")
    table = pl.read_csv(DATA / "words.csv").with_columns(
        key=pl.coalesce(sense, pl.col("pos") + ":" + pl.col("lemma")),
        sense=sense,
        percentile=(rank * 100).round(2),
        band=pl.when(pl.col("zipf") < 3.7).then(pl.lit("low")).when(pl.col("zipf") < 4.4).then(pl.lit("mid")).otherwise(pl.lit("high")),
        top10k=pl.col("zipf") >= 4,
        countability=pl.when(pl.col("pos") == "noun").then(pl.lit("count")),
        article=pl.when(pl.col("lemma").str.contains("(?i)^[aeiou]")).then(pl.lit("an")).otherwise(pl.lit("a")),
        plural=pl.when(pl.col("pos") == "noun").then(pl.col("lemma") + "s"),
    )
    rest = [
        pl.lit([] if dtype == pl.List else None, dtype=dtype).alias(name) for name, dtype in schema.items() if name not in table.columns
    ]
    return table.with_columns(rest).select(pl.col(name).cast(dtype) for name, dtype in schema.items()).sort("key")


def write_snapshot(folder: Path) -> None:
    """Lexemes, classes and pseudowords, as the curated lexicon's snapshot has them."""
    folder.mkdir(parents=True)
    table = words()
    table.write_parquet(folder / "lexemes.parquet")
    named = pl.read_csv(DATA / "words.csv").select("lemma", "pos", "class")
    rows = table.with_row_index().join(named, on=["lemma", "pos"]).sort("index").group_by("class", maintain_order=True)
    grouped = rows.agg("index", pl.col("pos").first()).select("class", "index", "pos").iter_rows()
    classes = {name: {"pos": pos, "ids": ids, "extended": []} for name, ids, pos in grouped}
    (folder / "classes.json").write_text(json.dumps({"classes": classes}), "utf-8")
    pseudowords(table).write_parquet(folder / "pseudowords.parquet")


def pseudowords(table: pl.DataFrame) -> pl.DataFrame:
    """Two made-up words for every noun and verb, *balkom* and *baltud* for the first, regularly inflected."""
    schema = pl.read_parquet_schema(ROOT / "lexicons/snapshot/pseudowords.parquet")
    rows = []
    for number, (key, pos) in enumerate(table.filter(pl.col("pos").is_in(list(_CODES))).select("key", "pos").iter_rows()):
        for variant in range(VARIANTS):
            lemma = STARTS[number % 10] + "aeiou"[number // 10 % 5] + "lr"[number // 50] + ("kom", "tud")[variant]
            article = "an" if lemma[0] in "aeio" else "a"
            verb = {"third": f"{lemma}s", "ing": f"{lemma}ing", "past": f"{lemma}ed", "participle": f"{lemma}ed"}
            forms = verb if pos == "verb" else {"plural": f"{lemma}s"}
            rows.append({"key": key, "variant": variant, "lemma": lemma, "article": article, **forms})
    return pl.DataFrame(rows, schema=schema)
