"""From curated YAML and WordNet to the committed snapshot. The same sources give the same bytes."""

from __future__ import annotations

import json
import string
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.curate.inflect import FORMS, forms
from cxgen.curate.sources import Sources, member_key, read_sources
from cxgen.curate.wordnet import POS, open_wordnet
from cxgen.errors import CxgenError, SchemaError
from cxgen.lexicon.snapshot import RELATIONS
from cxgen.lexicon.spelling import article
from cxgen.project import write_atomically

_LISTS = (*RELATIONS, "touches", "derived", "classes", "frames")
_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("key", "lemma", "pos", "sense", "lexfile"), pl.String),
    "zipf": pl.Float64,
    "percentile": pl.Float64,
    "band": pl.String,
    "top10k": pl.Boolean,
    **dict.fromkeys(("countability", "gender", "article", *FORMS), pl.String),
    **dict.fromkeys(_LISTS, pl.List(pl.String)),
}


def build(folder: Path) -> dict[str, int]:
    """Build ``folder/snapshot`` from the sources in ``folder``.

    Returns:
        Counts: lexemes, classes, frames.

    Raises:
        SchemaError: a source breaks its schema, names an unknown sense key or class, or uses a member of the wrong part of speech.
    """
    sources = read_sources(folder)
    rows = _collect(sources)
    _check_frames(sources, rows)
    _attach_frames(sources, rows)
    with open_wordnet() as wordnet:
        for row in rows.values():
            _fill(row, sources, wordnet)
    table = _table(rows)
    index = {key: number for number, key in enumerate(table["key"].to_list())}
    classes = {
        name: {
            "pos": entry["pos"],
            "ids": [index[member_key(member)] for member in _members(entry)],
            "extended": [index[key] for key in entry.get("extended", [])],
        }
        for name, entry in sorted(sources.classes.items())
    }
    document = {"classes": classes, "frames": dict(sorted(sources.frames.items()))}
    text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"
    out = folder / "snapshot"
    write_atomically(out / "lexemes.parquet", lambda path: table.write_parquet(path, compression="zstd", statistics=False))
    write_atomically(out / "classes.json", lambda path: path.write_text(text, "utf-8"))
    return {"lexemes": table.height, "classes": len(classes), "frames": sum(len(f) for f in sources.frames.values())}


def _members(entry: dict[str, Any]) -> list[Any]:
    """Members, then extended members, each once."""
    seen: dict[str, Any] = {}
    for member in [*entry["members"], *entry.get("extended", [])]:
        seen.setdefault(member_key(member), member)
    return list(seen.values())


def _collect(sources: Sources) -> dict[str, dict[str, Any]]:
    """Lexeme key -> row under construction, with classes and relations filled in."""
    rows: dict[str, dict[str, Any]] = {}
    for name, entry in sources.classes.items():
        for member in _members(entry):
            row = _row(rows, member_key(member), entry["pos"])
            if row["pos"] != entry["pos"]:
                document = sources.origin[name]
                raise SchemaError(
                    f"class {name!r}: {row['key']} is a {row['pos']}, not a {entry['pos']}",
                    file=document.path,
                    line=_line_with(document.text, row["key"]),
                    hint="take a sense key of the right part of speech",
                )
            row["classes"].append(name)
            if isinstance(member, dict):
                row["gender"] = member.get("gender", row["gender"])
                row["sense"] = member.get("sense", row["sense"])
                row["touches"] = member.get("touches", row["touches"])
    for sense, relations in sources.relations.items():
        row = _row(rows, sense, "adjective")
        for relation, values in relations.items():
            row[relation] = list(values)
            for key in values:
                _row(rows, key, "adjective")
    return rows


def _row(rows: dict[str, dict[str, Any]], key: str, pos: str) -> dict[str, Any]:
    if key not in rows:
        kind, _, text = key.partition(":")
        free = kind in {"phrase", "name"}
        rows[key] = {column: [] if column in _LISTS else None for column in _SCHEMA} | {
            "key": key,
            "lemma": text if free else "",
            "pos": kind if free else POS.get(key.partition("%")[2][:1], pos),
            "sense": None if free else key,
        }
    return rows[key]


def _line_with(text: str, needle: str) -> int | None:
    for number, line in enumerate(text.splitlines(), 1):
        if needle in line:
            return number
    return None


def _fill(row: dict[str, Any], sources: Sources, wordnet: Any) -> None:
    """Lemma, lexicographer file, frequency and forms."""
    if row["sense"]:
        try:
            lemma = wordnet.lemma_from_key(row["sense"])
        except Exception as error:
            raise _unknown_sense(row["sense"], sources) from error
        row["lexfile"] = lemma.synset().lexname()
        if not row["lemma"]:
            row["lemma"] = lemma.name().replace("_", " ")
            related = {other.name().lower() for other in lemma.derivationally_related_forms()}
            row["derived"] = sorted(related - {row["lemma"].lower()})
    overrides = sources.overrides.get(row["pos"], {}).get(row["lemma"], {})
    row.update(forms(row["lemma"], row["pos"], overrides))
    row["article"] = overrides.get("article") or article(row["lemma"])
    if row["pos"] == "noun":
        row["countability"] = overrides.get("countability", "count")
        if row["countability"] != "count":
            row["plural"] = row["lemma"]
    row["zipf"], row["top10k"] = _frequency(row["lemma"])


def _unknown_sense(sense: str, sources: Sources) -> CxgenError:
    for document in sources.documents:
        line = _line_with(document.text, sense)
        if line:
            return SchemaError(f"WordNet has no sense {sense}", file=document.path, line=line, hint="see `cxgen lexicon show LEMMA`")
    return SchemaError(f"WordNet has no sense {sense}")


def _frequency(lemma: str) -> tuple[float, bool]:
    """Zipf value and whether the lemma is among the 10,000 most frequent tokens (wordfreq, its largest English list).

    The value of a multiword lemma is wordfreq's estimate from its parts.
    """
    from wordfreq import zipf_frequency

    text = lemma.strip(string.punctuation).lower()
    return float(zipf_frequency(text, "en")), text in _most_frequent()


@cache
def _most_frequent() -> frozenset[str]:
    from wordfreq import top_n_list

    return frozenset(top_n_list("en", 10_000))


def _check_frames(sources: Sources, rows: dict[str, dict[str, Any]]) -> None:
    for document in sources.documents:
        for number, frame in enumerate(document.data.get("frames", [])):
            for slot, value in frame["slots"].items():
                for name in [value] if isinstance(value, str) else value:
                    if name in sources.classes:
                        continue
                    if "%" in name:
                        _row(rows, name, "noun")
                        continue
                    raise SchemaError(
                        f"frame {frame['name']!r}, slot {slot!r}: no class {name!r}",
                        file=document.path,
                        line=document.line(["frames", number, "slots", slot]),
                        hint="declare the class under classes/ or give a sense key",
                    )


def _attach_frames(sources: Sources, rows: dict[str, dict[str, Any]]) -> None:
    for construction, frames in sorted(sources.frames.items()):
        for frame in frames:
            label = f"{construction}/{frame['name']}"
            for value in frame["slots"].values():
                for name in [value] if isinstance(value, str) else value:
                    keys = [member_key(m) for m in _members(sources.classes[name])] if name in sources.classes else [name]
                    for key in keys:
                        if label not in rows[key]["frames"]:
                            rows[key]["frames"].append(label)


def _table(rows: dict[str, dict[str, Any]]) -> pl.DataFrame:
    """Percentiles are of zipf within part of speech (ties share the mean rank); bands: low < 20 <= mid <= 60 < high."""
    table = pl.DataFrame([rows[key] for key in sorted(rows)], schema=_SCHEMA)
    rank = pl.col("zipf").rank("average").over("pos")
    count = pl.len().over("pos")
    percentile = (100 * (rank - 0.5) / count).round(2)
    band = pl.when(percentile < 20).then(pl.lit("low")).when(percentile <= 60).then(pl.lit("mid")).otherwise(pl.lit("high"))
    return table.with_columns(percentile=percentile, band=band).select(list(_SCHEMA))
