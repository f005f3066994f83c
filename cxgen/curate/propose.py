"""Candidates for a class: WordNet's neighbours of its members, by frequency band, less what was accepted or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from cxgen.curate.wordnet import open_wordnet
from cxgen.errors import UnknownNameError
from cxgen.lexicon.own import read_sources
from cxgen.lexicon.snapshot import near
from cxgen.lexicon.words import Cuts, Reference
from cxgen.schema import read_yaml

_BAD_DOMAINS = {
    "ethnic_slur.n.01",
    "disparagement.n.01",
    "obscenity.n.02",
    "archaism.n.01",
    "vulgarism.n.02",
    "trade_name.n.01",
}


def propose(folder: Path, name: str) -> pl.DataFrame:
    """Synonyms, sisters and hyponyms of the members of class ``name``.

    Only main senses (the candidate's first) are proposed; slurs, obscenities, archaisms and trade names by WordNet's usage
    domains are left out.

    Returns:
        ``band`` (str), ``zipf`` (f64), ``lemma``, ``sense``, ``because`` (the member it neighbours), ``gloss``; rarest band last.

    Raises:
        UnknownNameError: no such class.
    """
    sources = read_sources(folder)
    if name not in sources.classes:
        alike = near(name, sources.classes)
        raise UnknownNameError(
            f"unknown class {name!r}", hint=f"did you mean {' or '.join(alike)}?" if alike else "see `cxgen lexicon classes`"
        )
    entry = sources.classes[name]
    taken = {member.key for member in sources.members(name)} | entry.rejected
    cuts = Cuts(read_yaml(folder / "bands.yaml", "bands").data["percentiles"])
    found: dict[str, dict[str, Any]] = {}
    with open_wordnet() as wordnet:
        for key in sorted(k for k in taken if "%" in k):
            _neighbours(wordnet, key, taken, found)
    for row in found.values():
        row["band"] = cuts.band(entry.pos, row["zipf"])
    schema = {
        "band": pl.String,
        "zipf": pl.Float64,
        "lemma": pl.String,
        "sense": pl.String,
        "because": pl.String,
        "gloss": pl.String,
    }
    table = pl.DataFrame([{c: row[c] for c in schema} for row in found.values()], schema=schema)
    return table.sort(["zipf", "sense"], descending=[True, False])


def _neighbours(wordnet: Any, key: str, taken: set[str], found: dict[str, dict[str, Any]]) -> None:
    reference = Reference()
    synset = wordnet.lemma_from_key(key).synset()
    near = [synset, *synset.hyponyms(), *synset.similar_tos()]
    for parent in synset.hypernyms():
        near.extend(parent.hyponyms())
    for other in near:
        if {domain.name() for domain in other.usage_domains()} & _BAD_DOMAINS:
            continue
        for lemma in other.lemmas():
            main = wordnet.synsets(lemma.name(), other.pos())[:1] == [other]
            if main and lemma.key() not in taken and lemma.key() not in found:
                text = lemma.name().replace("_", " ")
                found[lemma.key()] = {
                    "zipf": reference.frequency(text)[0],
                    "lemma": text,
                    "sense": lemma.key(),
                    "because": key.partition("%")[0],
                    "gloss": other.definition()[:80],
                }
