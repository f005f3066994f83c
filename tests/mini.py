"""The mini lexicon of the tests: the words of ``data/mini/words.csv`` in the files of a snapshot."""

import json
import shutil
from pathlib import Path

import polars as pl
import yaml

DATA = Path(__file__).parent / "data" / "mini"
ROOT = Path(__file__).resolve().parent.parent
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
    data = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8")) | {"judge": {"backend": "rules"}}
    for name, value in changes.items():
        data[name] = {**data[name], **value} if isinstance(value, dict) else value
    (folder / "params.yaml").write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), "utf-8")


def words() -> pl.DataFrame:
    """The lexeme table, one row per line of ``words.csv``, with the columns of the shipped one."""
    schema = pl.read_parquet_schema(ROOT / "lexicons/snapshot/lexemes.parquet")
    coded, noun = pl.col("pos").replace_strict(_CODES, default=None), pl.when(pl.col("pos") == "noun")
    sense = pl.when(coded.is_not_null()).then(pl.col("lemma").str.replace(" ", "_") + "%" + coded)
    rank = pl.col("zipf").rank("ordinal").over("pos") / pl.len().over("pos")
    table = pl.read_csv(DATA / "words.csv").with_columns(
        key=pl.coalesce(sense, pl.col("pos") + ":" + pl.col("lemma")),
        sense=sense,
        percentile=(rank * 100).round(2),
        band=pl.col("zipf").cut([3.7, 4.4], labels=["low", "mid", "high"], left_closed=True),
        top10k=pl.col("zipf") >= 4,
        countability=noun.then(pl.lit("count")),
        article=pl.when(pl.col("lemma").str.contains("(?i)^[aeiou]")).then(pl.lit("an")).otherwise(pl.lit("a")),
        plural=noun.then(pl.col("lemma") + "s"),
    )
    rest = {name: pl.lit([] if dtype == pl.List else None, dtype=dtype) for name, dtype in schema.items() if name not in table.columns}
    return table.with_columns(**rest).select(pl.col(name).cast(dtype) for name, dtype in schema.items()).sort("key")


def write_snapshot(folder: Path) -> None:
    """Lexemes, classes and pseudowords, as the curated lexicon's snapshot has them."""
    folder.mkdir(parents=True)
    table = words()
    table.write_parquet(folder / "lexemes.parquet")
    named = pl.read_csv(DATA / "words.csv").select("lemma", "pos", "class")
    rows = table.with_row_index().join(named, on=["lemma", "pos"]).sort("index").group_by("class", maintain_order=True)
    grouped = rows.agg("index", pl.col("pos").first()).select("class", "index", "pos").iter_rows()
    classes = {name: {"pos": pos, "ids": ids} for name, ids, pos in grouped}
    (folder / "classes.json").write_text(json.dumps({"classes": classes}), "utf-8")
    schema = pl.read_parquet_schema(ROOT / "lexicons/snapshot/pseudowords.parquet")
    pl.DataFrame(_pseudowords(table), schema=schema).write_parquet(folder / "pseudowords.parquet")


def _pseudowords(table: pl.DataFrame) -> list[dict[str, object]]:
    """Two made-up words for every noun and verb, *balkom* and *baltud* for the first, regularly inflected."""
    rows = []
    for number, (key, pos) in enumerate(table.filter(pl.col("pos").is_in(list(_CODES))).select("key", "pos").iter_rows()):
        for variant, ending in enumerate(("kom", "tud")):
            lemma = STARTS[number % 10] + "aeiou"[number // 10 % 5] + "lr"[number // 50] + ending
            verb = {"third": f"{lemma}s", "ing": f"{lemma}ing", "past": f"{lemma}ed", "participle": f"{lemma}ed"}
            forms = verb if pos == "verb" else {"plural": f"{lemma}s"}
            rows.append({"key": key, "variant": variant, "lemma": lemma, "article": "an" if lemma[0] in "aeio" else "a", **forms})
    return rows
