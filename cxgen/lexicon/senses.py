"""Which sense of WordNet's a word of a scene has: the first one, in WordNet's order, of the type that its slot asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

SENSES = "senses.parquet"  # of a snapshot: lemma (lower case), pos, sense (what follows % in the key); in WordNet's order
# The lexicographer files in the order of their numbers, with their parts of speech: lexnames(5).
LEXNAMES = (
    *("adj.all", "adj.pert", "adv.all"),
    *("noun.Tops", "noun.act", "noun.animal", "noun.artifact", "noun.attribute", "noun.body", "noun.cognition", "noun.communication"),
    *("noun.event", "noun.feeling", "noun.food", "noun.group", "noun.location", "noun.motive", "noun.object", "noun.person"),
    *("noun.phenomenon", "noun.plant", "noun.possession", "noun.process", "noun.quantity", "noun.relation", "noun.shape", "noun.state"),
    *("noun.substance", "noun.time"),
    *("verb.body", "verb.change", "verb.cognition", "verb.communication", "verb.competition", "verb.consumption", "verb.contact"),
    *("verb.creation", "verb.emotion", "verb.motion", "verb.perception", "verb.possession", "verb.social", "verb.stative", "verb.weather"),
    "adj.ppl",
)
NOUNS = frozenset(name.removeprefix("noun.") for name in LEXNAMES if name.startswith("noun."))
Senses = Mapping[tuple[str, str], list[str]]  # lemma in lower case and part of speech -> sense keys, the most frequent first


def read_senses(folder: Path | None, lemmas: Iterable[str]) -> Senses:
    """The senses of some lemmas.

    Args:
        folder: a snapshot; one without a table of senses has none.
        lemmas: in any case.
    """
    if folder is None or not (folder / SENSES).is_file():
        return {}
    wanted = sorted({lemma.lower() for lemma in lemmas})
    senses: dict[tuple[str, str], list[str]] = {}
    for lemma, pos, sense in pl.scan_parquet(folder / SENSES).filter(pl.col("lemma").is_in(wanted)).collect().iter_rows():
        senses.setdefault((lemma, pos), []).append(f"{lemma.replace(' ', '_')}%{sense}")
    return senses


def lexfile(key: str) -> str:
    """The lexicographer file of a sense key, such as ``noun.person``; empty of any other key."""
    _, _, sense = key.partition("%")
    number = sense.split(":")[1] if sense.count(":") == 4 else ""
    return LEXNAMES[int(number)] if number.isdigit() and int(number) < len(LEXNAMES) else ""


def fits(key: str, pin: str) -> bool:
    """Whether a sense is meant by ``pin``: lexicographer files without part of speech (``person/group``), or what follows % in its key."""
    return key.endswith(f"%{pin}") if ":" in pin else lexfile(key).partition(".")[2] in pin.split("/")
