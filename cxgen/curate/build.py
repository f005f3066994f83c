"""From curated YAML and WordNet to the committed snapshot. The same sources give the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from cxgen.curate.wordnet import open_wordnet
from cxgen.errors import SchemaError
from cxgen.files import write_atomically
from cxgen.lexicon.bands import Cuts
from cxgen.lexicon.reference import Reference
from cxgen.lexicon.rows import SCHEMA, blank, inflect, measure
from cxgen.lexicon.sources import Sources, fillers, lemma_of, read_sources
from cxgen.schema import read_yaml
from cxgen.tables import write_parquet

_WORDNET_POS = {"noun": "n", "verb": "v", "adjective": "a", "adverb": "r"}


def build(folder: Path) -> dict[str, int]:
    """Build ``folder/snapshot`` from the sources in ``folder``.

    Returns:
        Counts: lexemes, classes, frames.

    Raises:
        SchemaError: a source breaks its schema, names an unknown sense key or class, or uses a member of the wrong part of speech.
    """
    sources = read_sources(folder)
    bands = read_yaml(folder / "bands.yaml", "bands").data["percentiles"]
    reference = Reference()
    with open_wordnet() as wordnet:
        _settle(sources, wordnet)
        rows = _collect(sources)
        _attach_frames(sources, rows)
        for key in sorted(rows):
            _fill(rows[key], sources, wordnet, reference)
            measure(rows[key], Cuts(bands), reference)
    table = pl.DataFrame([rows[key] for key in sorted(rows)], schema=SCHEMA)
    document = {
        "bands": bands,
        "classes": _classes(sources, {key: number for number, key in enumerate(table["key"].to_list())}),
        "frames": {name: [raw for raw, _, _ in entries] for name, entries in sorted(sources.frames.items())},
        "overrides": sources.overrides,
    }
    text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"
    out = folder / "snapshot"
    write_parquet(table, out / "lexemes.parquet", compression="zstd", statistics=False)
    write_atomically(out / "classes.json", lambda path: path.write_text(text, "utf-8"))
    return {"lexemes": table.height, "classes": len(sources.classes), "frames": sum(map(len, sources.frames.values()))}


def _settle(sources: Sources, wordnet: Any) -> None:
    """Pin the plain words of frames: to the sense that a class has, else to the one that WordNet has first, its most frequent."""
    curated: dict[tuple[str, str], str] = {}
    for name in sources.classes:
        for member in sources.members(name):
            curated.setdefault(lemma_of(member.key), member.key)

    def find(lemma: str, pos: str) -> str | None:
        if (lemma, pos) not in curated and pos in _WORDNET_POS:
            named = lemma.replace(" ", "_")
            senses = (one for synset in wordnet.synsets(named, _WORDNET_POS[pos]) for one in synset.lemmas() if one.name() == named)
            curated[lemma, pos] = next((one.key() for one in senses), "")
        return curated.get((lemma, pos)) or None

    sources.settle(find)


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


def _collect(sources: Sources) -> dict[str, dict[str, Any]]:
    """Lexeme key -> row under construction, with classes and relations filled in."""
    rows: dict[str, dict[str, Any]] = {}
    for name, entry in sources.classes.items():
        if entry.extends and entry.extends not in sources.classes:
            line = entry.document.line(["classes", name, "extends"])
            raise SchemaError(f"class {name!r}: no class {entry.extends!r}", file=entry.document.path, line=line, hint="name another")
        for member in sources.members(name):
            row = _row(rows, member.key)
            row["classes"].append(name)
            row["gender"] = member.gender or row["gender"]
            row["sense"] = member.sense or row["sense"]
    for member in sources.words:
        _row(rows, member.key)
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
        row["lexfile"] = lemma.synset().lexname()
        if not row["lemma"]:
            row["lemma"] = lemma.name().replace("_", " ")
            related = {other.name().lower() for other in lemma.derivationally_related_forms()}
            row["derived"] = sorted(related - {row["lemma"].lower()})
    overrides = sources.overrides.get(row["pos"], {}).get(row["lemma"], {})
    inflect(row, overrides | sources.stated(row["key"]), reference)


def _unknown_sense(sense: str, sources: Sources) -> SchemaError:
    for document in sources.documents:
        line = document.line_with(sense)
        if line:
            return SchemaError(f"WordNet has no sense {sense}", file=document.path, line=line, hint="see `cxgen lexicon show LEMMA`")
    return SchemaError(f"WordNet has no sense {sense}")


def _attach_frames(sources: Sources, rows: dict[str, dict[str, Any]]) -> None:
    """Write into each lexeme's row which frames can draw it.

    Raises:
        SchemaError: a frame names a class that does not exist.
    """
    for construction, entries in sorted(sources.frames.items()):
        for raw, document, number in entries:
            label = f"{construction}/{raw['name']}"
            for slot, value in raw["slots"].items():
                for name, keys in fillers(value, ("frames", number, "slots", slot)):
                    for key in _keys(name, sources):
                        if key not in rows and "%" not in key:
                            raise SchemaError(
                                f"frame {raw['name']!r}, slot {slot!r}: no class {name!r}",
                                file=document.path,
                                line=document.line(keys),
                                hint="declare the class under classes/ or give a sense key",
                            )
                        row = _row(rows, key)
                        if label not in row["frames"]:
                            row["frames"].append(label)


def _keys(name: str, sources: Sources) -> list[str]:
    """The lexemes that a class holds, or the one that ``name`` itself names."""
    return [member.key for member in sources.members(name)] if name in sources.classes else [name]
