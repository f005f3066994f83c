"""Candidates for a class: WordNet's neighbours of its members, by frequency band, less what was accepted or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from cxgen.curate.sources import member_key, read_sources
from cxgen.curate.wordnet import open_wordnet
from cxgen.errors import unknown
from cxgen.lexicon import Lexicon

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
        raise unknown("class", name, sources.classes)
    entry = sources.classes[name]
    taken = {member_key(m) for m in entry["members"]} | set(entry.get("extended", [])) | set(entry.get("rejected", {}))
    lexicon = Lexicon.load(folder / "snapshot")
    cuts = _cuts(lexicon, entry["pos"])
    found: dict[str, dict[str, Any]] = {}
    with open_wordnet() as wordnet:
        for key in sorted(k for k in taken if "%" in k):
            _neighbours(wordnet, key, taken, found)
    for row in found.values():
        row["band"] = "low" if row["zipf"] < cuts[0] else "mid" if row["zipf"] <= cuts[1] else "high"
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


def _cuts(lexicon: Lexicon, pos: str) -> tuple[float, float]:
    """The zipf values at which mid begins and ends for ``pos`` in the present lexicon."""
    zipf = lexicon.table.filter(pl.col("pos") == pos)["zipf"]
    return float(zipf.quantile(0.2) or 0.0), float(zipf.quantile(0.6) or 0.0)


def _neighbours(wordnet: Any, key: str, taken: set[str], found: dict[str, dict[str, Any]]) -> None:
    from wordfreq import zipf_frequency

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
                    "zipf": float(zipf_frequency(text.lower(), "en")),
                    "lemma": text,
                    "sense": lemma.key(),
                    "because": key.partition("%")[0],
                    "gloss": other.definition()[:80],
                }
