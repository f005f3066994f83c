"""From curated YAML and WordNet to the committed snapshot. The same sources give the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.curate.wordnet import all_senses, open_wordnet
from cxgen.errors import SchemaError
from cxgen.files import write_atomically
from cxgen.lexicon.own import Sources, read_sources
from cxgen.lexicon.snapshot import Lexicon
from cxgen.lexicon.words import SCHEMA, SENSES, Cuts, Reference, blank, inflect, lemma_of, measure
from cxgen.schema import read_yaml
from cxgen.tables import write_parquet


def build(folder: Path) -> dict[str, int]:
    """Build ``folder/snapshot`` from the sources in ``folder``.

    Returns:
        Counts: lexemes, classes, senses.

    Raises:
        SchemaError: a source breaks its schema, names an unknown sense key or class, or uses a member of the wrong part of speech.
    """
    sources = read_sources(folder)
    bands = read_yaml(folder / "bands.yaml", "bands").data["percentiles"]
    reference = Reference()
    senses = all_senses()
    write_parquet(senses, folder / "snapshot" / SENSES, compression="zstd", row_group_size=20_000)
    with open_wordnet() as wordnet:
        rows = _collect(sources, _words_of_scenes(folder))
        for key in sorted(rows):
            _fill(rows[key], sources, wordnet, reference)
            measure(rows[key], Cuts(bands), reference)
    table = pl.DataFrame([rows[key] for key in sorted(rows)], schema=SCHEMA)
    document = {
        "bands": bands,
        "classes": _classes(sources, {key: number for number, key in enumerate(table["key"].to_list())}),
        "overrides": sources.overrides,
    }
    text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"
    out = folder / "snapshot"
    write_parquet(table, out / "lexemes.parquet", compression="zstd", statistics=False)
    write_atomically(out / "classes.json", lambda path: path.write_text(text, "utf-8"))
    return {"lexemes": table.height, "classes": len(sources.classes), "senses": senses.height}


def _words_of_scenes(folder: Path) -> set[str]:
    """The keys of the words of all scenes."""
    lexicon = Lexicon(pl.DataFrame(schema=SCHEMA), {}, folders=(folder,))
    return {key for construction in lexicon.constructions for key in lexicon.scenes(construction).keys.values()}


def _classes(sources: Sources, index: dict[str, int]) -> dict[str, dict[str, Any]]:
    found = {}
    for name, entry in sorted(sources.classes.items()):
        extended = {key for one in sources.chain(name) for key in one.extended}
        ids = [index[member.key] for member in sources.members(name)]
        found[name] = {
            "pos": entry.pos,
            "gloss": entry.gloss,
            "ids": ids,
            "extended": [index[member.key] for member in sources.members(name) if member.key in extended],
        }
    return found


def _collect(sources: Sources, words: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Lexeme key -> row under construction, with relations filled in."""
    rows: dict[str, dict[str, Any]] = {}
    for name, entry in sources.classes.items():
        if entry.extends and entry.extends not in sources.classes:
            line = entry.document.line(["classes", name, "extends"])
            raise SchemaError(f"class {name!r}: no class {entry.extends!r}", file=entry.document.path, line=line, hint="name another")
        for member in sources.members(name):
            row = _row(rows, member.key)
            row["gender"] = member.changes.get("gender") or row["gender"]
            row["sense"] = member.sense or row["sense"]
    for key in words:
        _row(rows, key)
    for key, relations in sources.relations.items():
        row = _row(rows, key)
        for relation, values in relations.items():
            row[relation] = list(values)
            for other in values:
                _row(rows, other)
    return rows


def _row(rows: dict[str, dict[str, Any]], key: str) -> dict[str, Any]:
    if key not in rows:
        lemma, pos = lemma_of(key)
        free = "%" not in key
        rows[key] = blank(key, lemma if free else "", pos, None if free and not key.startswith("own:") else key)
    return rows[key]


def _fill(row: dict[str, Any], sources: Sources, wordnet: Any, reference: Reference) -> None:
    """Lemma, lexicographer file and forms."""
    if row["sense"] and "%" in row["sense"]:
        try:
            lemma = wordnet.lemma_from_key(row["sense"])
        except Exception as error:
            raise _unknown_sense(row["sense"], sources) from error
        if not row["lemma"]:
            row["lemma"] = lemma.name().replace("_", " ")
            related = {other.name().lower() for other in lemma.derivationally_related_forms()}
            row["derived"] = sorted(related - {row["lemma"].lower()})
    overrides = sources.overrides.get(row["pos"], {}).get(row["lemma"], {})
    inflect(row, overrides | sources.stated.get(row["key"], {}), reference)


def _unknown_sense(sense: str, sources: Sources) -> SchemaError:
    for document in sources.documents:
        line = document.line_with(sense)
        if line:
            return SchemaError(f"WordNet has no sense {sense}", file=document.path, line=line, hint="see `cxgen lexicon show LEMMA`")
    return SchemaError(f"WordNet has no sense {sense}")
